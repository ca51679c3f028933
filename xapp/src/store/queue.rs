//! Decisions on their way into the log, or the log itself where it is kept in memory.

use crate::cell::DecisionRecord;
use std::collections::VecDeque;
use std::sync::Arc;

/// The oldest ones give way to new ones when there is no room, and are counted.
#[derive(Debug)]
pub(super) struct Queue {
    entries: VecDeque<Arc<DecisionRecord>>,
    max: usize,
    /// Number of the first entry: all that ever came are numbered.
    first: u64,
    dropped: u64,
}

impl Queue {
    /// Room for `max` decisions.
    pub(super) fn new(max: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            max,
            first: 0,
            dropped: 0,
        }
    }

    pub(super) fn push(&mut self, decision: Arc<DecisionRecord>) {
        if self.max == 0 {
            return;
        }
        if self.entries.len() >= self.max {
            self.entries.pop_front();
            self.first += 1;
            self.dropped += 1;
        }
        self.entries.push_back(decision);
    }

    /// The first `max` entries, and the number of the one after them. They stay until they are [`written`](Self::written).
    pub(super) fn first(&self, max: usize) -> (Vec<Arc<DecisionRecord>>, u64) {
        self.from(self.first, max)
    }

    /// Entries from a number on (or from the first that is still there), and the number of the one after them.
    pub(super) fn from(&self, number: u64, max: usize) -> (Vec<Arc<DecisionRecord>>, u64) {
        let start = number.max(self.first);
        let skip = usize::try_from(start - self.first).unwrap_or(usize::MAX);
        let entries: Vec<_> = self.entries.iter().skip(skip).take(max).cloned().collect();
        let next = start + entries.len() as u64;
        (entries, next)
    }

    /// All before this number are written.
    pub(super) fn written(&mut self, next: u64) {
        while self.first < next && self.entries.pop_front().is_some() {
            self.first += 1;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Entries that gave way before they were written.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::decision;

    #[test]
    fn the_oldest_give_way_also_while_they_are_written() {
        let mut queue = Queue::new(3);
        for n in 1..=3 {
            queue.push(Arc::new(decision("a", n)));
        }
        let (taken, next) = queue.first(2);
        assert_eq!(taken.len(), 2);
        queue.push(Arc::new(decision("a", 4)));
        assert_eq!(queue.dropped(), 1);
        queue.written(next);
        let (rest, _) = queue.first(9);
        let rest: Vec<_> = rest.iter().map(|decision| decision.sequence).collect();
        assert_eq!(rest, [3, 4]);
    }
}
