//! Who gets the resources of a slot.
//!
//! Proportional-fair OFDMA: PRBs go, group by group, to the UE with the highest ratio of achievable to average rate, the
//! average counting what the slot has already given. Round robin: unit by unit (PRB groups or symbols) to one UE after
//! the other.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A UE with data to send in this slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the UE.
    pub ue: usize,
    /// Octets that one PRB carries for it in this slot.
    pub octets_per_prb: f64,
    /// PRBs that would empty its queue.
    pub wanted: u16,
    /// PRBs given to it.
    pub granted: u16,
}

/// The scheduler and the average rates it keeps.
#[derive(Clone, Debug)]
pub struct ProportionalFair {
    /// Octets per downlink slot, exponentially averaged.
    averages: Vec<f64>,
    /// 1/T of the average.
    weight: f64,
    group: u16,
    /// Room for the order of one slot's candidates.
    turns: Vec<Turn>,
}

/// A candidate in the order of service: highest metric first, then lowest index.
#[derive(Clone, Copy, Debug)]
struct Turn {
    metric: f64,
    index: usize,
}

impl Ord for Turn {
    fn cmp(&self, other: &Self) -> Ordering {
        let metric = self.metric.total_cmp(&other.metric);
        metric.then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Turn {}

impl ProportionalFair {
    /// A scheduler for `ues` UEs that averages over about `window` downlink slots and gives PRBs in steps of `group`.
    pub fn new(ues: usize, window: f64, group: u16) -> Self {
        Self {
            averages: vec![0.0; ues],
            weight: 1.0 / window.max(1.0),
            group: group.max(1),
            turns: Vec::new(),
        }
    }

    /// Distributes `prbs` over the candidates: fills in [`Candidate::granted`].
    pub fn allocate(&mut self, candidates: &mut [Candidate], prbs: u16) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.clear();
        turns.extend((0..candidates.len()).filter_map(|index| self.turn(candidates, index)));
        // A heap: with many UEs, finding the best anew for every PRB group would take most of the slot.
        let mut turns = BinaryHeap::from(turns);
        let mut left = prbs;
        while left > 0
            && let Some(Turn { index, .. }) = turns.pop()
        {
            let chosen = &mut candidates[index];
            let step = self.group.min(left).min(chosen.wanted - chosen.granted);
            chosen.granted += step;
            left -= step;
            turns.extend(self.turn(candidates, index));
        }
        self.turns = turns.into_vec();
    }

    /// The candidate's turn, unless it has all it wants.
    fn turn(&self, candidates: &[Candidate], index: usize) -> Option<Turn> {
        let candidate = &candidates[index];
        (candidate.granted < candidate.wanted).then(|| Turn {
            metric: self.metric(candidate),
            index,
        })
    }

    /// Ratio of achievable to average rate.
    fn metric(&self, candidate: &Candidate) -> f64 {
        let given = candidate.octets_per_prb * f64::from(candidate.granted);
        let average = self.averages[candidate.ue];
        // The small constant decides between UEs that have never been served.
        candidate.octets_per_prb / (average + self.weight * (given - average) + 1e-9)
    }

    /// Ends a downlink slot in which UE `ue` was sent `octets(ue)` of new data; the averages of UEs for which that is
    /// `None` stay.
    pub fn end_slot(&mut self, mut octets: impl FnMut(usize) -> Option<f64>) {
        for (ue, average) in self.averages.iter_mut().enumerate() {
            if let Some(octets) = octets(ue) {
                *average += self.weight * (octets - *average);
            }
        }
    }
}

/// Round robin.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    /// UE that comes first in the next slot.
    next: usize,
}

impl RoundRobin {
    /// Distributes `units` in steps of `group` over the candidates, whose `wanted` and `granted` count the same units.
    pub fn allocate(&mut self, candidates: &mut [Candidate], units: u16, group: u16) {
        if candidates.is_empty() {
            return;
        }
        let start = candidates
            .iter()
            .position(|c| c.ue >= self.next)
            .unwrap_or(0);
        let (mut left, mut satisfied, mut turn) = (units, 0, start);
        while left > 0 && satisfied < candidates.len() {
            let index = turn % candidates.len();
            let candidate = &mut candidates[index];
            let step = group
                .max(1)
                .min(left)
                .min(candidate.wanted - candidate.granted);
            satisfied = if step == 0 { satisfied + 1 } else { 0 };
            candidate.granted += step;
            left -= step;
            turn += 1;
            self.next = candidate.ue + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(ue: usize, octets_per_prb: f64, wanted: u16) -> Candidate {
        Candidate {
            ue,
            octets_per_prb,
            wanted,
            granted: 0,
        }
    }

    /// Long-run PRB shares of UEs that always want `wanted` PRBs.
    fn shares(ues: &[(f64, u16)]) -> Vec<f64> {
        let mut scheduler = ProportionalFair::new(ues.len(), 100.0, 8);
        let mut totals = vec![0.0; ues.len()];
        for slot in 0..4000 {
            let mut candidates: Vec<_> = ues
                .iter()
                .enumerate()
                .map(|(ue, &(rate, wanted))| candidate(ue, rate, wanted))
                .collect();
            scheduler.allocate(&mut candidates, 106);
            scheduler.end_slot(|ue| {
                Some(candidates[ue].octets_per_prb * f64::from(candidates[ue].granted))
            });
            if slot >= 1000 {
                for c in &candidates {
                    totals[c.ue] += f64::from(c.granted) / 3000.0;
                }
            }
        }
        totals
    }

    #[test]
    fn backlogged_ues_share_prbs_equally_whatever_their_rates() {
        for share in shares(&[(99.0, 200), (40.0, 200), (10.0, 200)]) {
            assert!((share - 106.0 / 3.0).abs() < 0.5, "{share}");
        }
    }

    #[test]
    fn modest_ues_get_all_they_want_and_the_greedy_one_the_rest() {
        let shares = shares(&[(50.0, 20), (50.0, 10), (50.0, 200)]);
        for (share, expected) in shares.iter().zip([20.0, 10.0, 76.0]) {
            assert!((share - expected).abs() < 1e-9, "{share}");
        }
    }

    #[test]
    fn nobody_wants_anything() {
        let mut scheduler = ProportionalFair::new(1, 100.0, 8);
        let mut candidates = [candidate(0, 99.0, 0)];
        scheduler.allocate(&mut candidates, 106);
        assert_eq!(candidates[0].granted, 0);
    }

    #[test]
    fn round_robin_is_even_over_slots_and_leaves_what_is_not_wanted() {
        let mut scheduler = RoundRobin::default();
        let mut totals = [0; 3];
        for _ in 0..300 {
            let mut candidates = [
                candidate(0, 1.0, 50),
                candidate(1, 1.0, 50),
                candidate(2, 1.0, 1),
            ];
            scheduler.allocate(&mut candidates, 12, 1);
            for c in candidates {
                totals[c.ue] += c.granted;
            }
        }
        assert_eq!(totals[2], 300);
        assert_eq!(totals[0] + totals[1], 300 * 11);
        assert!(totals[0].abs_diff(totals[1]) < 60, "{totals:?}");
        let mut none = [candidate(0, 1.0, 0)];
        scheduler.allocate(&mut none, 12, 1);
        assert_eq!(none[0].granted, 0);
    }
}
