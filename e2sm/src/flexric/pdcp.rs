//! PDCP statistics, RAN function 144.

use super::{Model, wire::record};

record! {
    /// One data radio bearer of one UE in a PDCP indication.
    ///
    /// Named from PDCP's point of view: `rxsdu` and `txpdu` are downlink (from SDAP, to RLC), `rxpdu` and `txsdu` uplink.
    /// Counters are cumulative and wrap at 2³².
    pub struct PdcpBearer(Model::Pdcp, 68 octets) {
        /// Downlink PDUs given to RLC.
        pub txpdu_pkts: u32,
        /// Octets of those: 3 more per packet than the SDUs.
        pub txpdu_bytes: u32,
        /// Sequence number of the last one; wraps at 2¹² or 2¹⁸.
        pub txpdu_sn: u32,
        /// Uplink PDUs received.
        pub rxpdu_pkts: u32,
        /// Octets of those.
        pub rxpdu_bytes: u32,
        /// Sequence number of the last one.
        pub rxpdu_sn: u32,
        /// Uplink PDUs out of order.
        pub rxpdu_oo_pkts: u32,
        /// Octets of those.
        pub rxpdu_oo_bytes: u32,
        /// Uplink PDUs discarded.
        pub rxpdu_dd_pkts: u32,
        /// Octets of those.
        pub rxpdu_dd_bytes: u32,
        /// Uplink reorderings.
        pub rxpdu_ro_count: u32,
        /// Uplink SDUs delivered.
        pub txsdu_pkts: u32,
        /// Octets of those (IP packets).
        pub txsdu_bytes: u32,
        /// Downlink SDUs from SDAP: exactly what was offered to the bearer.
        pub rxsdu_pkts: u32,
        /// Octets of those (IP packets).
        pub rxsdu_bytes: u32,
        /// In OAI the UE id of RRC in the CU, **not** the C-RNTI.
        pub rnti: u32,
        /// RLC mode of the bearer, as in [`RlcBearer`](super::RlcBearer).
        pub mode: u8,
        /// Data radio bearer.
        pub rbid: u8 [pad 2],
    }
}
