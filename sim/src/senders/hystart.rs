//! HyStart++: leaving slow start when the round-trip time rises (RFC 9406 section 4.2).

use std::time::Duration;

const MIN_RTT_THRESHOLD: Duration = Duration::from_millis(4);
const MAX_RTT_THRESHOLD: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u32 = 8;
/// Samples of a round before its least one counts.
const RTT_SAMPLES: u32 = 8;
/// Conservative slow start grows by 1/4 of what slow start does.
const CSS_GROWTH_DIVISOR: u64 = 4;
/// Rounds of conservative slow start before congestion avoidance.
const CSS_ROUNDS: u32 = 5;
/// L: growth per acknowledgement of an unpaced sender, in segments.
const GROWTH_LIMIT: u64 = 8;

/// State of one slow start.
#[derive(Clone, Copy, Debug, Default)]
pub struct HyStart {
    round_ends_at: u64,
    last_round: Option<Duration>,
    this_round: Option<Duration>,
    samples: u32,
    conservative: Option<Conservative>,
}

#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline: Duration,
    rounds: u32,
}

/// How slow start goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The window grows by this many octets.
    Grow(u64),
    /// Slow start is over: the window is the threshold now.
    Exit,
}

impl HyStart {
    /// An acknowledgement in slow start: `delivered` octets in all, `sent_delivered` by the time the newest acknowledged
    /// segment was sent.
    pub fn on_ack(
        &mut self,
        acked: u64,
        segment: u64,
        rtt: Option<Duration>,
        delivered: u64,
        sent_delivered: u64,
    ) -> Verdict {
        if sent_delivered >= self.round_ends_at {
            self.round_ends_at = delivered;
            self.last_round = self.this_round.take();
            self.samples = 0;
            if let Some(css) = &mut self.conservative {
                css.rounds += 1;
                if css.rounds >= CSS_ROUNDS {
                    return Verdict::Exit;
                }
            }
        }
        if let Some(rtt) = rtt {
            self.samples += 1;
            self.this_round = Some(self.this_round.map_or(rtt, |least| least.min(rtt)));
        }
        self.judge();
        let limited = acked.min(GROWTH_LIMIT * segment);
        Verdict::Grow(match self.conservative {
            None => limited,
            Some(_) => limited / CSS_GROWTH_DIVISOR,
        })
    }

    fn judge(&mut self) {
        let (Some(now), true) = (self.this_round, self.samples >= RTT_SAMPLES) else {
            return;
        };
        match (self.conservative, self.last_round) {
            // A round as fast as before: the rise was jitter.
            (Some(css), _) if now < css.baseline => self.conservative = None,
            (None, Some(before)) => {
                let threshold =
                    (before / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESHOLD, MAX_RTT_THRESHOLD);
                if now >= before + threshold {
                    self.conservative = Some(Conservative {
                        baseline: now,
                        rounds: 0,
                    });
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs rounds of ten acknowledgements with these RTTs in ms; the verdicts' growth per round, until the exit.
    fn rounds(rtts: &[u64]) -> Vec<u64> {
        let mut hystart = HyStart::default();
        let mut delivered = 0;
        let mut growth = Vec::new();
        for &rtt in rtts {
            let start = delivered;
            let mut sum = 0;
            for _ in 0..10 {
                delivered += 1000;
                let rtt = Some(Duration::from_millis(rtt));
                match hystart.on_ack(1000, 1000, rtt, delivered, start) {
                    Verdict::Grow(octets) => sum += octets,
                    Verdict::Exit => return growth,
                }
            }
            growth.push(sum);
        }
        growth
    }

    #[test]
    fn a_steady_rtt_grows_without_end() {
        assert_eq!(rounds(&[40; 20]), [10_000; 20]);
    }

    #[test]
    fn a_risen_rtt_slows_growth_and_ends_it_after_five_rounds() {
        let growth = rounds(&[40, 40, 46, 46, 46, 46, 46, 46, 46, 46]);
        assert_eq!(growth.len(), 7);
        assert_eq!(growth[6], 2_500);
    }

    #[test]
    fn a_passing_rise_does_not_end_it() {
        let growth = rounds(&[40, 40, 46, 40, 40, 40, 40, 40, 40]);
        assert_eq!(growth.len(), 9);
        assert_eq!(growth[8], 10_000);
    }
}
