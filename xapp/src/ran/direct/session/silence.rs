//! A node that is connected and reports nothing: pure, with time passed in.
//!
//! SCTP's heartbeats tell that its host is there, not that its E2 agent works, nor that it still has the subscriptions.
//! So they are made anew: an agent that hangs does not answer, and its association is closed for that
//! ([`UNANSWERED`](super::UNANSWERED)); one that lost them reports again. Nothing worse is done to a node that
//! answers, because OAI's gNBs say nothing while no UE is attached. For their sake it also gets ever rarer.

use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Silence {
    /// A node may report nothing for this long.
    patience: Duration,
    /// How often its subscriptions were made anew since it last reported.
    renewals: u32,
    due: Instant,
}

const LAST_PAUSE: Duration = Duration::from_secs(300);

impl Silence {
    pub(super) fn new(patience: Duration, now: Instant) -> Self {
        Silence {
            patience,
            renewals: 0,
            due: now + patience,
        }
    }

    /// It has reported, or only now has something to report. Whether it had been silent for too long.
    pub(super) fn ends(&mut self, now: Instant) -> bool {
        let silent = self.is_silent();
        *self = Silence::new(self.patience, now);
        silent
    }

    /// It has been silent for too long.
    pub(super) fn is_silent(&self) -> bool {
        self.renewals > 0
    }

    /// When the subscriptions are to be made anew, should it stay silent.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// Whether that is now.
    pub(super) fn renew(&mut self, now: Instant) -> bool {
        if now < self.due {
            return false;
        }
        self.renewals = (self.renewals + 1).min(16);
        let pause = self.patience * 2u32.saturating_pow(self.renewals);
        self.due = now + pause.min(LAST_PAUSE.max(self.patience));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[test]
    fn renewals_get_rarer_until_the_node_reports() {
        let start = Instant::now();
        let mut silence = Silence::new(PATIENCE, start);
        let mut due = Vec::new();
        for _ in 0..8 {
            let at = silence.due();
            assert!(!silence.renew(at - Duration::from_millis(1)));
            assert!(silence.renew(at) && silence.is_silent());
            due.push((at - start).as_secs());
        }
        assert_eq!(due, [10, 30, 70, 150, 310, 610, 910, 1210]);
        let later = start + Duration::from_secs(2000);
        assert!(silence.ends(later));
        assert!(!silence.is_silent() && !silence.ends(later));
        assert_eq!(silence.due(), later + PATIENCE);
    }
}
