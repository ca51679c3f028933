//! RLC statistics, RAN function 143.

use super::{Model, wire::record};

record! {
    /// One data radio bearer of one UE in an RLC indication; signalling bearers are not reported.
    ///
    /// Packet and octet counters are cumulative since the RLC entity was set up, wrap at 2³² where they are `u32`, and start
    /// again with a new entity (re-establishment, handover). Despite their names, `rxsdu_*` are **downlink** SDUs arriving
    /// from PDCP, and `txsdu_bytes` those that the UE's RLC has acknowledged, while `txsdu_pkts` counts uplink SDUs in acknowledged mode.
    pub struct RlcBearer(Model::Rlc, 152 octets) {
        /// Downlink PDUs sent, status included, retransmissions not.
        pub txpdu_pkts: u32,
        /// Octets of those, RLC headers included.
        pub txpdu_bytes: u32,
        /// 0 in OAI.
        pub txpdu_wt_ms: u32,
        /// Downlink PDUs discarded; 0 in OAI even when SDUs are dropped.
        pub txpdu_dd_pkts: u32,
        /// Octets of those.
        pub txpdu_dd_bytes: u32,
        /// Downlink PDUs retransmitted by RLC.
        pub txpdu_retx_pkts: u32,
        /// Octets of those.
        pub txpdu_retx_bytes: u32,
        /// Downlink PDUs that carry a segment of an SDU.
        pub txpdu_segmented: u32,
        /// Status PDUs sent.
        pub txpdu_status_pkts: u32,
        /// Octets of those.
        pub txpdu_status_bytes: u32,
        /// Downlink queue now, octets, pending retransmissions included. Some OAI versions stop counting near 10⁶ per part.
        pub txbuf_occ_bytes: u32,
        /// Downlink queue in packets; not maintained by OAI (0).
        pub txbuf_occ_pkts: u32,
        /// Uplink PDUs received.
        pub rxpdu_pkts: u32,
        /// Octets of those.
        pub rxpdu_bytes: u32,
        /// Duplicate uplink PDUs.
        pub rxpdu_dup_pkts: u32,
        /// Octets of those.
        pub rxpdu_dup_bytes: u32,
        /// Uplink PDUs discarded.
        pub rxpdu_dd_pkts: u32,
        /// Octets of those.
        pub rxpdu_dd_bytes: u32,
        /// Uplink PDUs out of the receive window.
        pub rxpdu_ow_pkts: u32,
        /// Octets of those.
        pub rxpdu_ow_bytes: u32,
        /// Status PDUs received; 0 in OAI.
        pub rxpdu_status_pkts: u32,
        /// Octets of those.
        pub rxpdu_status_bytes: u32,
        /// In OAI the size of the pending status PDU, not received data.
        pub rxbuf_occ_bytes: u32,
        /// Uplink reassembly buffer in packets.
        pub rxbuf_occ_pkts: u32,
        /// **Uplink** SDUs delivered upwards (acknowledged mode).
        pub txsdu_pkts: u32 [pad 4],
        /// Octets of **downlink** SDUs acknowledged by the UE (acknowledged mode): in steps, one per RLC status report. What
        /// was sent until now is `rxsdu_bytes - txbuf_occ_bytes`.
        pub txsdu_bytes: u64,
        /// Mean time of SDUs in the queue, µs, over 100 ms; practically always 0, as each report empties the window first.
        pub txsdu_avg_time_to_tx: f64,
        /// Age of the SDU at the head of the downlink queue now, µs; 0 when empty.
        pub txsdu_wt_us: u32,
        /// **Downlink** SDUs that arrived from PDCP, those refused at a full queue included.
        pub rxsdu_pkts: u32,
        /// Octets of the downlink SDUs that were accepted.
        pub rxsdu_bytes: u64,
        /// SDUs discarded; 0 in OAI.
        pub rxsdu_dd_pkts: u32,
        /// Octets of those.
        pub rxsdu_dd_bytes: u32,
        /// C-RNTI.
        pub rnti: u32,
        /// 0 acknowledged, 1 unacknowledged, 2 transparent mode.
        pub mode: u8,
        /// Data radio bearer, 1 to 5 in OAI.
        pub rbid: u8 [pad 2],
    }
}
