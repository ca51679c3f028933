//! What to do about a node that reports nothing: pure, with time passed in.
//!
//! The RIC tells no xApp that a node is gone, and OAI reports nothing while no UE is attached. So a silent node is
//! first looked for in the RIC's list; one that is listed and stays silent may have restarted, and forgotten its
//! subscriptions. Both get rarer: each look costs the RIC one of its xApp ids, each renewal request ids.

use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Silence {
    /// A node may be silent for this long.
    patience: Duration,
    /// When it last reported, or was begun with.
    since: Instant,
    looks: u32,
    next_look: Instant,
    renewals: u32,
    next_renewal: Instant,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    None,
    /// Look whether the RIC still lists the node.
    Look,
    /// Look, and make new subscriptions.
    Renew,
}

const LAST_LOOK: Duration = Duration::from_secs(30);
const LAST_RENEWAL: Duration = Duration::from_secs(3600);

impl Silence {
    pub(super) fn new(patience: Duration, now: Instant) -> Silence {
        Silence {
            patience,
            since: now,
            looks: 0,
            next_look: now + patience,
            renewals: 0,
            next_renewal: now + 2 * patience,
        }
    }

    /// What is due at `now`; the next step is due later.
    pub(super) fn step(&mut self, reported: Option<Instant>, now: Instant) -> Step {
        if let Some(at) = reported
            && at > self.since
        {
            *self = Silence::new(self.patience, at);
        }
        if now >= self.next_renewal {
            self.renewals = (self.renewals + 1).min(16);
            let pause = self.patience * 2 * 4u32.saturating_pow(self.renewals);
            self.next_renewal = now + pause.min(LAST_RENEWAL.max(2 * self.patience));
            self.looked(now);
            Step::Renew
        } else if now >= self.next_look {
            self.looked(now);
            Step::Look
        } else {
            Step::None
        }
    }

    fn looked(&mut self, now: Instant) {
        self.looks = (self.looks + 1).min(16);
        let pause = self.patience * 2u32.saturating_pow(self.looks);
        self.next_look = now + pause.min(LAST_LOOK.max(self.patience));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(2);

    /// Seconds at which something was due.
    fn due(silence: &mut Silence, start: Instant, seconds: u64) -> (Vec<u64>, Vec<u64>) {
        let (mut looks, mut renewals) = (Vec::new(), Vec::new());
        for second in 0..seconds {
            match silence.step(None, start + Duration::from_secs(second)) {
                Step::None => {}
                Step::Look => looks.push(second),
                Step::Renew => renewals.push(second),
            }
        }
        (looks, renewals)
    }

    #[test]
    fn a_silent_node_is_looked_for_often_and_renewed_ever_more_rarely() {
        let start = Instant::now();
        let (looks, renewals) = due(&mut Silence::new(PATIENCE, start), start, 100_000);
        assert_eq!(looks[..3], [2, 12, 50]);
        assert_eq!(renewals[..5], [4, 20, 84, 340, 1364]);
        assert!(looks.len() < 3400, "xApp ids: {}", looks.len());
        assert!(renewals.len() < 35, "request ids: {}", renewals.len());
    }

    #[test]
    fn a_report_begins_everything_anew() {
        let start = Instant::now();
        let mut silence = Silence::new(PATIENCE, start);
        due(&mut silence, start, 1000);
        let later = start + Duration::from_secs(2000);
        assert_eq!(silence.step(Some(later), later), Step::None);
        assert_eq!(silence.step(Some(later), later + PATIENCE), Step::Look);
        assert_eq!(silence.step(Some(later), later + 2 * PATIENCE), Step::Renew);
    }
}
