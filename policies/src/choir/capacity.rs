//! Eqs. 1 to 6: from PRBs to the bandwidth of a flow.

use std::collections::VecDeque;

/// PRB_i: PRBs per slot that a flow can use next (eqs. 1 and 2).
///
/// `own` are those that it used, `used` those that all used, of `cell`; unused ones are shared by the `active` flows, and no
/// flow gets less than its part among all flows (`total`). At the start, when nothing is used, eq. 2 is eq. 1.
pub fn allocation(own: f64, used: f64, cell: f64, active: u32, total: u32) -> f64 {
    let idle = (cell - used).max(0.0);
    let shared = own + idle / f64::from(active.max(1));
    shared.max(cell / f64::from(total.max(1)))
}

/// BW_i in bit/s (eqs. 4 and 6): `prbs` PRBs per slot, each worth `bps_per_prb`, of which `payload` is user data and
/// `retransmissions` are sent again per first transmission.
pub fn bandwidth_bps(prbs: f64, bps_per_prb: f64, payload: f64, retransmissions: f64) -> f64 {
    prbs * bps_per_prb * payload / (1.0 + retransmissions)
}

/// What was sent to a flow in a TTI or report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sent {
    /// Bits of transport blocks, first transmissions.
    pub block_bits: f64,
    /// Bits of user data in them.
    pub user_bits: f64,
    /// PRBs of first transmissions times seconds.
    pub prb_seconds: f64,
    /// First transmissions.
    pub blocks: f64,
    /// HARQ retransmissions (HN).
    pub retransmissions: f64,
}

/// The last transmissions: some TTIs or reports.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    sent: VecDeque<Sent>,
    capacity: usize,
    /// The last known values: a flow that pauses keeps them.
    known: Option<Known>,
}

/// What one PRB is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    /// Bits of transport blocks per PRB and second of its use.
    pub bps_per_prb: f64,
    /// γ: the part of them that is user data.
    pub payload: f64,
    /// R_ReTx (eq. 5). DN is taken of the flow itself, its first transmissions: with several UEs per slot the cell's slots are
    /// no measure of how much of this flow's share is spent on retransmissions.
    pub retransmissions: f64,
}

impl Recent {
    /// Looks back over so many TTIs or reports.
    pub fn new(capacity: usize) -> Self {
        Self {
            sent: VecDeque::new(),
            capacity: capacity.max(1),
            known: None,
        }
    }

    pub fn push(&mut self, sent: Sent) {
        if self.sent.len() == self.capacity {
            self.sent.pop_front();
        }
        self.sent.push_back(sent);
        let sum = |of: fn(&Sent) -> f64| self.sent.iter().map(of).sum::<f64>();
        let (block_bits, prb_seconds) = (sum(|s| s.block_bits), sum(|s| s.prb_seconds));
        if block_bits > 0.0 && prb_seconds > 0.0 {
            self.known = Some(Known {
                bps_per_prb: block_bits / prb_seconds,
                payload: (sum(|s| s.user_bits) / block_bits).min(1.0),
                retransmissions: sum(|s| s.retransmissions) / sum(|s| s.blocks).max(1.0),
            });
        }
    }

    pub fn known(&self) -> Option<Known> {
        self.known
    }
}
