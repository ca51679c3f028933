//! MAC statistics, RAN function 142.

use super::{Model, wire::record};

record! {
    /// One UE in a MAC indication.
    ///
    /// `aggr` counters are cumulative since the UE appeared and start again with a new C-RNTI. On the air a UE used
    /// `dl_aggr_prb + dl_aggr_retx_prb`. The record of a lost UE stays, frozen, until the core releases it: it is lost when
    /// `dl_harq[0]` stands still while its RLC queue is not empty.
    pub struct MacUe(Model::Mac, 176 octets) {
        /// Octets of downlink transport blocks, initial transmissions only; cumulative.
        pub dl_aggr_tbs: u64,
        /// Octets of uplink transport blocks received; cumulative.
        pub ul_aggr_tbs: u64,
        /// Octets of downlink SDUs of LCID 3 only. OAI's data bearers are LCID 4 and above, so always 0 there.
        pub dl_aggr_bytes_sdus: u64,
        /// Octets of uplink SDUs of LCID 3 only: always 0 in OAI.
        pub ul_aggr_bytes_sdus: u64,
        /// Octets of the downlink transport block of the current slot, 0 if none: a snapshot, not a rate.
        pub dl_curr_tbs: u64,
        /// Octets of the uplink transport block of the current slot; nearly always 0.
        pub ul_curr_tbs: u64,
        /// PRBs scheduled downlink in the current slot: a snapshot.
        pub dl_sched_rb: u64,
        /// PRBs scheduled uplink in the current slot; nearly always 0.
        pub ul_sched_rb: u64,
        /// SNR of the last PUSCH, dB, in steps of 0.5. Frozen for a lost UE.
        pub pusch_snr: f32,
        /// SNR of the last PUCCH, dB, in steps of 0.5.
        pub pucch_snr: f32,
        /// Moving average (0.9 old + 0.1 new, every 10 frames or more) of first retransmissions per transmission, downlink. Frozen when nothing is sent.
        pub dl_bler: f32,
        /// The same, uplink.
        pub ul_bler: f32,
        /// `[0..=3]` downlink transmissions of HARQ round 0 to 3, `[4]` transport blocks lost after the last round; cumulative.
        pub dl_harq: [u32; 5],
        /// The same, uplink.
        pub ul_harq: [u32; 5],
        /// Rounds filled in `dl_harq`: 4.
        pub dl_num_harq: u32,
        /// Rounds filled in `ul_harq`: 4.
        pub ul_num_harq: u32,
        /// C-RNTI.
        pub rnti: u32,
        /// PRBs of downlink initial transmissions; cumulative, wraps at 2³².
        pub dl_aggr_prb: u32,
        /// PRBs of uplink initial transmissions; cumulative, wraps at 2³².
        pub ul_aggr_prb: u32,
        /// Downlink MAC SDUs, RLC segments and status PDUs included; cumulative.
        pub dl_aggr_sdus: u32,
        /// Uplink MAC SDUs; cumulative.
        pub ul_aggr_sdus: u32,
        /// PRBs of downlink retransmissions, not contained in `dl_aggr_prb`; cumulative.
        pub dl_aggr_retx_prb: u32,
        /// PRBs of uplink retransmissions; cumulative.
        pub ul_aggr_retx_prb: u32,
        /// Uplink octets estimated to wait minus octets scheduled. Underflows constantly: read it as `i32` and clamp at 0.
        pub bsr: u32,
        /// System frame number, 0 to 1023.
        pub frame: u16,
        /// Slot of the frame; newer OAI always says 0.
        pub slot: u16,
        /// Wideband CQI, 1 to 15; 0 is no value (no CSI report yet, or one antenna port).
        pub wb_cqi: u8,
        /// Downlink MCS index (TS 38.214 clause 5.1.3.1) of the BLER-driven link adaptation, not of the last grant; idles back to 9.
        pub dl_mcs1: u8,
        /// Uplink MCS index of the link adaptation.
        pub ul_mcs1: u8,
        /// MCS of a second downlink codeword: 0.
        pub dl_mcs2: u8,
        /// MCS of a second uplink codeword: 0.
        pub ul_mcs2: u8,
        /// Power headroom, dB; 0 in OAI.
        pub phr: i8 [pad 6],
    }
}
