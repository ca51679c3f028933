//! What arrived for a UE, in bins, and how well its own past predicts it.

use super::evidence::{Tracker, broad, scale};
use std::collections::VecDeque;

/// Reports are joined to bins of at least this length, seconds.
const BIN: f64 = 0.19;
/// Longer reports are no use for matching, seconds.
const LONGEST_BIN: f64 = 1.1;
/// Bins kept: those of about four seconds.
const KEPT: usize = 24;
/// Windows that lie apart by more than this do not follow on each other, seconds.
const GAP: f64 = 0.03;
/// Weight of the unpredictable before anything is known, and its memory in bins.
const SURPRISE: f64 = 0.1;
const SURPRISE_MEMORY: f64 = 50.0;

/// A bin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bin {
    /// Begin and end, seconds.
    pub(super) from: f64,
    pub(super) to: f64,
    /// Octets that arrived.
    pub(super) octets: f64,
    /// The queue was so old that it may have dropped what else arrived.
    pub(super) may_drop: bool,
    /// Density of `octets` by the UE's own past; `None`: there is none.
    pub(super) by_past: Option<f64>,
}

/// The bins of a UE.
#[derive(Clone, Debug)]
pub(super) struct Series {
    bins: VecDeque<Bin>,
    /// Number of the first bin kept.
    first: u64,
    open: Option<Bin>,
    past: Option<Tracker>,
    /// How often the past did not predict what came.
    surprise: f64,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            bins: VecDeque::new(),
            first: 0,
            open: None,
            past: None,
            surprise: SURPRISE,
        }
    }
}

impl Series {
    /// A report: `octets` arrived in the `length` seconds before `to`.
    pub(super) fn push(&mut self, to: f64, length: f64, octets: f64, may_drop: bool) {
        let from = to - length;
        let follows = self.open.is_some_and(|open| (from - open.to).abs() <= GAP);
        if !follows {
            self.open = None;
        }
        if length > LONGEST_BIN {
            return;
        }
        let bin = match self.open.take() {
            Some(open) => Bin {
                to: to.max(open.to),
                octets: open.octets + octets,
                may_drop: open.may_drop || may_drop,
                ..open
            },
            None => Bin {
                from,
                to,
                octets,
                may_drop,
                by_past: None,
            },
        };
        if bin.to - bin.from < BIN {
            self.open = Some(bin);
            return;
        }
        self.close(bin);
        // The next bin begins where this one ends.
        self.open = Some(Bin {
            from: bin.to,
            octets: 0.0,
            may_drop: false,
            ..bin
        });
    }

    fn close(&mut self, mut bin: Bin) {
        let own = scale(bin.octets, 0.0);
        if let Some(past) = &mut self.past {
            let predicted = past.density(bin.octets, own);
            let unpredictable = broad(bin.octets);
            bin.by_past = Some((1.0 - self.surprise) * predicted + self.surprise * unpredictable);
            let surprised = f64::from(u8::from(predicted < unpredictable));
            self.surprise += (surprised - self.surprise) / SURPRISE_MEMORY;
            self.surprise = self.surprise.clamp(0.01, 0.5);
            past.observe(bin.octets, own);
        } else {
            self.past = Some(Tracker::new(bin.octets, own));
        }
        self.bins.push_back(bin);
        if self.bins.len() > KEPT {
            self.bins.pop_front();
            self.first += 1;
        }
    }

    /// The bin of a number, which has not come yet, or is gone (`Err`: the number of the oldest one).
    pub(super) fn get(&self, number: u64) -> Result<Option<&Bin>, u64> {
        match number.checked_sub(self.first) {
            None => Err(self.first),
            Some(index) => Ok(self.bins.get(index as usize)),
        }
    }

    /// Number of the next bin to come.
    pub(super) fn next(&self) -> u64 {
        self.first + self.bins.len() as u64
    }

    /// Octets of the newest bins.
    pub(super) fn recent_octets(&self) -> f64 {
        self.bins.iter().map(|bin| bin.octets).sum()
    }
}
