//! GTP-U tunnels, RAN function 148.

use super::{Model, wire::record};

record! {
    /// The tunnel of one UE's last PDU session in a GTP indication.
    pub struct GtpTunnel(Model::Gtp, 12 octets) {
        /// In OAI the UE id of RRC in the CU, **not** the C-RNTI.
        pub rnti: u32,
        /// Tunnel endpoint id at the gNB (downlink).
        pub teidgnb: u32,
        /// QoS flow id.
        pub qfi: u8,
        /// Tunnel endpoint id at the UPF, cut to one octet: of no use.
        pub teidupf: u8 [pad 2],
    }
}
