//! Who gets the resources of a slot.
//!
//! Proportional-fair OFDMA: PRBs go, group by group, to the UE with the highest ratio of achievable to average rate, the
//! average counting what the slot has already given. Round robin: unit by unit (PRB groups or symbols) to one UE after
//! the other.
//!
//! For a UE to which one PRB carries r octets, whose average is a and who has been given g PRBs in this slot, that ratio is
//! r / ((1 − w)·a + w·r·g): it falls with the level d + g, where d = (1 − w)·a / (w·r). So the PRBs are poured like water
//! into vessels whose floors are at d: always into the lowest.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

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

/// A candidate in the order of service: lowest level first, then lowest index. The greatest comes first.
#[derive(Clone, Copy, Debug)]
struct Turn {
    level: f64,
    index: usize,
}

impl Ord for Turn {
    fn cmp(&self, other: &Self) -> Ordering {
        let lower = other.level.total_cmp(&self.level);
        lower.then(other.index.cmp(&self.index))
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
        let wanted: u64 = candidates.iter().map(|c| u64::from(c.wanted)).sum();
        if wanted <= u64::from(prbs) {
            candidates.iter_mut().for_each(|c| c.granted = c.wanted);
            return;
        }
        let mut turns = std::mem::take(&mut self.turns);
        turns.clear();
        turns.extend(
            candidates
                .iter()
                .enumerate()
                .map(|(index, candidate)| Turn {
                    level: self.floor(candidate),
                    index,
                }),
        );
        let mut left = prbs;
        // Pouring most of the water at once is worth its while only if there is more than a group for each.
        if candidates.len() * usize::from(self.group) < usize::from(prbs)
            && let Some(water) = water(&turns, candidates, f64::from(prbs))
        {
            for turn in &mut turns {
                let candidate = &mut candidates[turn.index];
                let groups = (water - turn.level).max(0.0) as u16 / self.group;
                candidate.granted = (groups * self.group).min(candidate.wanted);
                turn.level += f64::from(candidate.granted);
                left -= candidate.granted;
            }
        }
        turns.retain(|turn| candidates[turn.index].granted < candidates[turn.index].wanted);
        // A heap: with many UEs, finding the best anew for every PRB group would take most of the slot.
        let mut turns = BinaryHeap::from(turns);
        while left > 0
            && let Some(mut turn) = turns.peek_mut()
        {
            let chosen = &mut candidates[turn.index];
            let step = self.group.min(left).min(chosen.wanted - chosen.granted);
            chosen.granted += step;
            left -= step;
            turn.level += f64::from(step);
            if chosen.granted == chosen.wanted {
                PeekMut::pop(turn);
            }
        }
        self.turns = turns.into_vec();
    }

    /// The level of a candidate that has not been given anything yet.
    fn floor(&self, candidate: &Candidate) -> f64 {
        // The small constant decides between UEs that have never been served.
        let average = (1.0 - self.weight) * self.averages[candidate.ue] + 1e-9;
        average / (self.weight * candidate.octets_per_prb)
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

/// Level up to which the candidates can be filled with at most `prbs` PRBs, less a few, if one is found. They want more
/// than that.
fn water(floors: &[Turn], candidates: &[Candidate], prbs: f64) -> Option<f64> {
    /// Enough for Newton's method, which needs a step for each bend of the volume on its way: mostly one or two.
    const STEPS: usize = 8;
    let levels = || floors.iter().map(|turn| turn.level);
    // The level sought lies between these two.
    let mut low = levels().fold(f64::INFINITY, f64::min);
    let mut high = levels().fold(0.0, f64::max) + prbs;
    let mut level = (levels().sum::<f64>() + prbs) / floors.len() as f64;
    let mut found = None;
    for _ in 0..STEPS {
        let (mut volume, mut open) = (0.0, 0);
        for (turn, candidate) in floors.iter().zip(candidates) {
            let (depth, wanted) = (level - turn.level, f64::from(candidate.wanted));
            volume += depth.clamp(0.0, wanted);
            open += u32::from(depth > 0.0 && depth < wanted);
        }
        let room = prbs - volume;
        if room < 0.0 {
            high = level;
        } else {
            low = level;
            found = Some(level);
            if room < 1.0 {
                break;
            }
        }
        // Half a PRB short, lest rounding take one too many.
        let next = level + (room - 0.5) / f64::from(open);
        level = if low < next && next < high {
            next
        } else {
            f64::midpoint(low, high)
        };
    }
    found
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
    use proptest::prelude::*;

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

    /// The definition: every group to the UE with the highest ratio of achievable to average rate.
    fn one_by_one(scheduler: &ProportionalFair, candidates: &mut [Candidate], prbs: u16) {
        let mut left = prbs;
        while left > 0 {
            let ratio = |c: &Candidate| {
                let (w, given) = (scheduler.weight, c.octets_per_prb * f64::from(c.granted));
                c.octets_per_prb / ((1.0 - w) * scheduler.averages[c.ue] + w * given + 1e-9)
            };
            let open = candidates.iter_mut().filter(|c| c.granted < c.wanted);
            let Some(best) =
                open.max_by(|a, b| ratio(a).total_cmp(&ratio(b)).then(b.ue.cmp(&a.ue)))
            else {
                return;
            };
            let step = scheduler.group.min(left).min(best.wanted - best.granted);
            best.granted += step;
            left -= step;
        }
    }

    proptest! {
        #[test]
        fn water_finds_its_level_as_prb_by_prb(
            ues in prop::collection::vec((0.0..9000.0, 1.0..100.0, 0..150_u16), 1..12),
            group in 1..9_u16,
            prbs in 1..=106_u16,
        ) {
            let mut scheduler = ProportionalFair::new(ues.len(), 99.0, group);
            let mut candidates = Vec::new();
            for (ue, &(average, octets_per_prb, wanted)) in ues.iter().enumerate() {
                scheduler.averages[ue] = average;
                candidates.push(candidate(ue, octets_per_prb, wanted));
            }
            let mut expected = candidates.clone();
            one_by_one(&scheduler, &mut expected, prbs);
            scheduler.allocate(&mut candidates, prbs);
            prop_assert_eq!(candidates, expected);
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
