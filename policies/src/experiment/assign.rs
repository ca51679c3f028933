//! Which arm a unit gets: sticky by keyed hash, and balanced.

use sha2::{Digest, Sha256};
use std::time::Duration;

/// Units by which an arm may be ahead of its share before others are filled up first.
const AHEAD: f64 = 2.0;

/// Gives arms to units.
///
/// Each unit has a number between 0 and 1 from a keyed hash, which names its arm by the arms' weights: the same after
/// every restart, in every replica, unknown to whoever does not know the key. Where chance would let an arm run ahead
/// of its share by more than two units, the arm that lacks most gets the unit (a biased coin; Efron: Forcing a
/// sequential experiment to be balanced, 1971). Whoever keeps the assignments makes them sticky for certain.
#[derive(Clone, Debug)]
pub struct Assigner {
    key: String,
    weights: Vec<f64>,
}

/// One time slot of a switchback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Number of the period since the start.
    pub index: u64,
    /// Its block: as many periods as there are arms, in which each arm has one.
    pub block: u64,
    /// The arm whose turn it is.
    pub arm: usize,
}

impl Assigner {
    /// For arms of these weights. The key keeps experiments apart.
    pub fn new(key: impl Into<String>, weights: Vec<f64>) -> Self {
        Self {
            key: key.into(),
            weights,
        }
    }

    /// The arm of a new unit, `counts` being the units that each arm has.
    pub fn assign(&self, unit: &str, counts: &[u64]) -> usize {
        let total: f64 = self.weights.iter().sum();
        let units: u64 = counts.iter().sum();
        let lead = |arm: usize| {
            let share = self.weights.get(arm).copied().unwrap_or(0.0) / total;
            let count = counts.get(arm).copied().unwrap_or(0);
            count as f64 + 1.0 - share * (units + 1) as f64
        };
        let arm = self.drawn(unit, total);
        if lead(arm) <= AHEAD {
            return arm;
        }
        (0..self.weights.len())
            .min_by(|a, b| lead(*a).total_cmp(&lead(*b)))
            .unwrap_or(arm)
    }

    fn drawn(&self, unit: &str, total: f64) -> usize {
        let mut point = uniform(&[self.key.as_bytes(), unit.as_bytes()]) * total;
        for (arm, weight) in self.weights.iter().enumerate() {
            if point < *weight {
                return arm;
            }
            point -= weight;
        }
        self.weights.len().saturating_sub(1)
    }

    /// Number of the period that a time since the start falls into.
    pub fn index(&self, since_start: Duration, length: Duration) -> u64 {
        let index = since_start.as_nanos() / length.as_nanos().max(1);
        u64::try_from(index).unwrap_or(u64::MAX)
    }

    /// The period of a cell that a time since the start falls into, and the time since it began. Within each block of
    /// each cell the order of the arms is drawn anew, so that nothing that comes and goes with time favours an arm.
    pub fn period(
        &self,
        cell: &str,
        since_start: Duration,
        length: Duration,
    ) -> (Period, Duration) {
        let index = self.index(since_start, length);
        let arms = self.weights.len().max(1);
        let block = index / arms as u64;
        let place = (index % arms as u64) as usize;
        let mut order: Vec<usize> = (0..arms).collect();
        // Fisher and Yates.
        for last in (1..arms).rev() {
            let parts = [
                self.key.as_bytes(),
                cell.as_bytes(),
                &block.to_be_bytes(),
                &(last as u64).to_be_bytes(),
            ];
            let other = (uniform(&parts) * (last + 1) as f64) as usize;
            order.swap(last, other.min(last));
        }
        let arm = order.get(place).copied().unwrap_or(0);
        let age = since_start.as_nanos() % length.as_nanos().max(1);
        let age = Duration::from_nanos(u64::try_from(age).unwrap_or(u64::MAX));
        (Period { index, block, arm }, age)
    }
}

/// A number in [0, 1) out of all parts.
fn uniform(parts: &[&[u8]]) -> f64 {
    let mut hash = Sha256::new();
    for part in parts {
        // The length keeps ("a", "bc") and ("ab", "c") apart.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let bits = digest
        .iter()
        .take(8)
        .fold(0u64, |bits, octet| bits << 8 | u64::from(*octet));
    // 53 bits are what a double holds.
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
