//! What a flow has sent: a cumulative curve, known at the ends of the edge's intervals.

use std::collections::VecDeque;

/// What is kept, seconds: the largest lag, and reports that come late.
const KEPT: f64 = 4.0;
/// Knots closer than this are one, seconds.
const LEAST_INTERVAL: f64 = 1e-3;
/// Part of a whole interval's octets that may lie on either side of a moment within it (variance): 1 would be a single
/// burst at a random time, 0 an even flow.
const BURSTINESS: f64 = 0.3;
/// How well times are known, seconds: half a step of the lag.
const JITTER: f64 = 0.0125;

#[derive(Clone, Copy, Debug)]
struct Knot {
    at: f64,
    total: f64,
}

/// Octets sent until a moment, and how uncertain that is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) total: f64,
    pub(super) variance: f64,
}

/// A cumulative curve. Times in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    knots: VecDeque<Knot>,
}

impl Curve {
    /// `octets` more were sent until `at`. Intervals that overtake each other are ignored in their order.
    pub(super) fn push(&mut self, at: f64, octets: f64) {
        let total = self.knots.back().map_or(0.0, |last| last.total) + octets;
        match self.knots.back_mut() {
            Some(last) if at < last.at + LEAST_INTERVAL => last.total = total,
            _ => self.knots.push_back(Knot { at, total }),
        }
        // One knot before what is kept: the interval after it reaches into it.
        while self
            .knots
            .get(1)
            .is_some_and(|second| second.at < at - KEPT)
        {
            self.knots.pop_front();
        }
    }

    /// What comes next does not follow on what was: the octets between are unknown.
    pub(super) fn restart(&mut self, at: f64) {
        self.knots.clear();
        self.knots.push_back(Knot { at, total: 0.0 });
    }

    /// Until when it is known; `None`: not at all.
    pub(super) fn end(&self) -> Option<f64> {
        self.knots.back().map(|last| last.at)
    }

    /// What was sent until `at`; `None` outside of what is known.
    pub(super) fn at(&self, at: f64) -> Option<Sent> {
        let after = self.knots.partition_point(|knot| knot.at < at);
        let (b, a) = (self.knots.get(after)?, after.checked_sub(1));
        let Some(a) = a.and_then(|a| self.knots.get(a)) else {
            return (b.at == at).then_some(Sent {
                total: b.total,
                variance: 0.0,
            });
        };
        let (length, octets) = (b.at - a.at, b.total - a.total);
        let part = (at - a.at) / length;
        let jitter = octets * (JITTER / length).min(1.0);
        Some(Sent {
            total: a.total + part * octets,
            variance: BURSTINESS * part * (1.0 - part) * octets * octets + jitter * jitter,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_knots_it_is_interpolated_and_uncertain() {
        let mut curve = Curve::default();
        curve.restart(1.0);
        curve.push(1.1, 1000.0);
        curve.push(1.2, 0.0);
        let middle = curve.at(1.05).unwrap();
        assert!((middle.total - 500.0).abs() < 1e-6);
        assert!(middle.variance > 300.0 * 300.0);
        let idle = curve.at(1.15).unwrap();
        assert_eq!((idle.total, idle.variance), (1000.0, 0.0));
        assert!(curve.at(0.9).is_none() && curve.at(1.3).is_none());
    }
}
