//! A small sorted set of disjoint ranges of numbers: segments of TCP, octets of RLC.

/// Disjoint, non-adjacent ranges [start, end), ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds [start, end) and calls `fresh` for every part of it that was not in the set.
    pub(crate) fn insert(&mut self, start: u64, end: u64, mut fresh: impl FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        let first = self.0.partition_point(|&(_, e)| e < start);
        let (mut merged, mut from, mut last) = ((start, end), start, first);
        while let Some(&(s, e)) = self.0.get(last)
            && s <= end
        {
            if from < s {
                fresh(from, s.min(end));
            }
            from = from.max(e);
            merged = (merged.0.min(s), merged.1.max(e));
            last += 1;
        }
        if from < end {
            fresh(from, end);
        }
        if last == first + 1 {
            self.0[first] = merged;
        } else {
            self.0.splice(first..last, [merged]);
        }
    }

    /// Removes everything below `bound`.
    pub(super) fn forget_below(&mut self, bound: u64) {
        let gone = self.0.partition_point(|&(_, e)| e <= bound);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(bound);
        }
    }

    /// The range that holds `seq`.
    pub(crate) fn containing(&self, seq: u64) -> Option<(u64, u64)> {
        let at = self.0.partition_point(|&(_, e)| e <= seq);
        self.0.get(at).copied().filter(|&(s, _)| s <= seq)
    }

    /// The ranges, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_plain_set(inserts in prop::collection::vec((0u64..60, 0u64..12), 1..30), bound in 0u64..70) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (start, len) in inserts {
                let mut fresh = BTreeSet::new();
                ranges.insert(start, start + len, |s, e| fresh.extend(s..e));
                let expected: BTreeSet<u64> = (start..start + len).filter(|n| set.insert(*n)).collect();
                prop_assert_eq!(fresh, expected);
            }
            ranges.forget_below(bound);
            set.retain(|n| *n >= bound);
            let all: Vec<u64> = ranges.iter().flat_map(|(s, e)| s..e).collect();
            prop_assert_eq!(all, set.iter().copied().collect::<Vec<_>>());
            for (a, b) in ranges.iter().zip(ranges.iter().skip(1)) {
                prop_assert!(a.1 < b.0);
            }
            for n in 0..80 {
                prop_assert_eq!(ranges.containing(n).is_some(), set.contains(&n));
            }
        }
    }
}
