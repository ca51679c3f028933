//! The part of all slots that carries downlink, as far as it was seen in use.

/// The largest use of the carrier over half a second.
#[derive(Debug, Default)]
pub(super) struct LearnedShare {
    prbs: f64,
    slots: f64,
    share: f64,
}

impl LearnedShare {
    /// What was seen; 0 at first.
    pub(super) fn share(&self) -> f64 {
        self.share
    }

    /// All UEs together used `prbs` per slot over a window.
    pub(super) fn observe(&mut self, prbs: f64, slots: f64, carrier_prbs: f64) {
        const SLOTS: f64 = 1000.0;
        self.prbs += prbs * slots;
        self.slots += slots;
        if self.slots >= SLOTS {
            let share = self.prbs / self.slots / carrier_prbs;
            self.share = self.share.max(share).min(1.0);
            (self.prbs, self.slots) = (0.0, 0.0);
        }
    }
}
