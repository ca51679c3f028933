//! Cumulative MAC counts of a UE, as E2 service models report them.

/// Weight of the newest update in the block error rate (FlexRIC's `dl_bler` on OAI).
const BLER_WEIGHT: f64 = 0.1;
/// Time between updates of the block error rate, in microseconds: 10 frames.
const BLER_UPDATE_US: u64 = 100_000;

/// Cumulative MAC counts of one UE.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MacCounters {
    /// Octets of transport blocks, first transmissions.
    pub tbs_octets: u64,
    /// PRBs × slots of first transmissions.
    pub prbs: u64,
    /// PRBs × slots of retransmissions.
    pub retx_prbs: u64,
    /// PRBs × symbols of first transmissions: where blocks do not take whole slots, the measure of what they take.
    pub prb_symbols: u64,
    /// PRBs × symbols of retransmissions.
    pub retx_prb_symbols: u64,
    /// Transmissions in HARQ round 0 to 3; the last one counts blocks that failed for good.
    pub harq: [u64; 5],
    /// Octets of the transport block of the last slot, 0 if none.
    pub current_tbs_octets: u32,
    /// PRBs of the last slot, retransmissions included, 0 if none.
    pub current_prbs: u16,
    /// First retransmissions per first transmission, exponentially averaged.
    pub bler: f64,
    bler_base: [u64; 2],
    bler_updated_us: u64,
}

impl MacCounters {
    /// All transmissions, first ones and retransmissions.
    pub fn transmissions(&self) -> u64 {
        self.harq[..4].iter().sum()
    }

    /// HARQ retransmissions.
    pub fn retransmissions(&self) -> u64 {
        self.harq[1..4].iter().sum()
    }

    pub(super) fn update_bler(&mut self, now_us: u64) {
        if now_us < self.bler_updated_us + BLER_UPDATE_US {
            return;
        }
        self.bler_updated_us = now_us;
        let [first, second] = [self.harq[0], self.harq[1]];
        let sent = first - self.bler_base[0];
        if sent > 0 {
            let ratio = (second - self.bler_base[1]) as f64 / sent as f64;
            self.bler += BLER_WEIGHT * (ratio - self.bler);
        }
        self.bler_base = [first, second];
    }
}
