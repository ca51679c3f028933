//! Which C-RNTI a UE of RRC has.
//!
//! PDCP, GTP and KPM reports name a UE by the id that RRC gave it, MAC and RLC reports by its C-RNTI, and no E2 message
//! has both. But every packet that PDCP gives to RLC is counted by both: the two counts of a UE differ by a constant for
//! as long as the RLC entity lives (0 at an OAI gNB until it is made anew). The RLC reports before and after a PDCP
//! report bound that constant from both sides; for the wrong UE the bounds contradict each other as soon as one of the
//! two gets a packet that the other does not.
//!
//! A pair is believed when it was never contradicted while each pair that would exclude it was, again and again.

use super::mac::c_rnti;
use e2sm::flexric::{PdcpBearer, RlcBearer, Stats};
use std::collections::{BTreeMap, VecDeque};

/// RLC reports kept for PDCP reports that come after them: those of 64 ms at the shortest period.
const RLC_KEPT: usize = 64;
/// PDCP reports that may wait for the RLC report after them.
const PDCP_WAITING: usize = 8;
/// Pairs under comparison: 64 UEs, each under two names. Of more, none is joined.
const MAX_PAIRS: usize = 4096;
/// A jump of the node's clock by more than this is a restart.
const CLOCK_STEP_US: u64 = 30_000_000;
/// Comparisons, and packets in them, that speak for a pair.
const CHECKS: u32 = 3;
const PACKETS: u32 = 10;
/// Contradictions that exclude a pair.
const CONTRADICTIONS: usize = 3;
/// Packets of one RLC report's time that cannot be: the counter began anew.
const MOST_PACKETS: u32 = 1 << 24;

/// The names of the UEs of one node.
#[derive(Debug, Default)]
pub(super) struct Join {
    rlc: VecDeque<Counts<u16>>,
    waiting: VecDeque<Counts<u32>>,
    pairs: BTreeMap<(u32, u16), Pair>,
    joined: BTreeMap<u32, u16>,
    /// Number of comparisons so far.
    checks: u64,
}

/// Packets so far, of all bearers of each UE.
#[derive(Debug)]
struct Counts<Id> {
    tstamp_us: i64,
    packets: BTreeMap<Id, u32>,
}

/// A UE of RRC and a C-RNTI that might be one UE.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Bounds of the difference of both counts.
    low: i64,
    high: i64,
    /// Comparisons without a contradiction, the first of them, and PDCP's count then.
    fits: u32,
    since: u64,
    first: u32,
    /// PDCP's count now.
    last: u32,
    /// The last comparisons that contradicted, the latest first; 0: none.
    contradicted: [u64; CONTRADICTIONS],
}

impl Join {
    /// A PDCP report. RLC reports are of no use before the first.
    pub(super) fn pdcp(&mut self, stats: &Stats<PdcpBearer>) {
        let bearers = stats.records.iter();
        let counts = Counts::new(
            stats.tstamp_us,
            bearers.map(|bearer| (bearer.rnti, bearer.txpdu_pkts)),
        );
        if self.waiting.len() == PDCP_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(counts);
        self.compare();
    }

    /// An RLC report.
    pub(super) fn rlc(&mut self, stats: &Stats<RlcBearer>) {
        if self.waiting.is_empty() && self.checks == 0 {
            return;
        }
        let newest = self.rlc.back().map(|newest| newest.tstamp_us);
        if newest.is_some_and(|newest| newest.abs_diff(stats.tstamp_us) > CLOCK_STEP_US) {
            *self = Self::default();
            return;
        }
        let bearers = stats.records.iter();
        let counts = Counts::new(
            stats.tstamp_us,
            bearers.filter_map(|bearer| Some((c_rnti(bearer.rnti)?, bearer.rxsdu_pkts))),
        );
        let at = self
            .rlc
            .partition_point(|rlc| rlc.tstamp_us <= counts.tstamp_us);
        self.rlc.insert(at, counts);
        if self.rlc.len() > RLC_KEPT {
            self.rlc.pop_front();
        }
        self.compare();
    }

    /// The C-RNTIs of the UEs of RRC, of those that are known beyond doubt.
    pub(super) fn joined(&self) -> &BTreeMap<u32, u16> {
        &self.joined
    }

    /// Compares the PDCP reports that RLC reports are there for.
    fn compare(&mut self) {
        while let Some(pdcp) = self.waiting.pop_front() {
            let after = self
                .rlc
                .partition_point(|rlc| rlc.tstamp_us < pdcp.tstamp_us);
            if after == self.rlc.len() {
                self.waiting.push_front(pdcp);
                return;
            }
            let Some(before) = after.checked_sub(1) else {
                continue;
            };
            let Self {
                rlc,
                pairs,
                joined,
                checks,
                ..
            } = self;
            let (before, after) = (&rlc[before].packets, &rlc[after].packets);
            *checks += 1;
            if pdcp.packets.len() * after.len() > MAX_PAIRS {
                pairs.clear();
                joined.clear();
                continue;
            }
            let listed = |ue: u32, rnti: u16| {
                pdcp.packets.contains_key(&ue)
                    && before.contains_key(&rnti)
                    && after.contains_key(&rnti)
            };
            pairs.retain(|&(ue, rnti), _| listed(ue, rnti));
            for (&ue, &given) in &pdcp.packets {
                for (&rnti, &most) in after {
                    let Some(&least) = before.get(&rnti) else {
                        continue;
                    };
                    let pair = pairs
                        .entry((ue, rnti))
                        .or_insert_with(|| Pair::new(*checks, given));
                    pair.observe(*checks, given, least, most);
                }
            }
            joined.retain(|ue, rnti| {
                pairs
                    .get(&(*ue, *rnti))
                    .is_some_and(|pair| !pair.has_ended(*checks))
            });
            self.believe();
        }
    }

    fn believe(&mut self) {
        for (&(ue, rnti), pair) in &self.pairs {
            let taken = self.joined.contains_key(&ue) || self.joined.values().any(|r| *r == rnti);
            if taken || !pair.fits() {
                continue;
            }
            let alone = self.pairs.iter().all(|(&(other_ue, other_rnti), other)| {
                let excludes = (other_ue == ue) != (other_rnti == rnti);
                !excludes || other.is_excluded_since(pair.since)
            });
            if alone {
                self.joined.insert(ue, rnti);
            }
        }
    }
}

impl<Id: Ord> Counts<Id> {
    fn new(tstamp_us: i64, bearers: impl Iterator<Item = (Id, u32)>) -> Self {
        let mut packets: BTreeMap<Id, u32> = BTreeMap::new();
        for (ue, count) in bearers {
            let sum = packets.entry(ue).or_default();
            *sum = sum.wrapping_add(count);
        }
        Self { tstamp_us, packets }
    }
}

impl Pair {
    fn new(check: u64, given: u32) -> Self {
        Self {
            low: i64::MIN,
            high: i64::MAX,
            fits: 0,
            since: check,
            first: given,
            last: given,
            contradicted: [0; CONTRADICTIONS],
        }
    }

    /// PDCP has `given` so many packets to RLC, while RLC's count went from `least` to `most`.
    fn observe(&mut self, check: u64, given: u32, least: u32, most: u32) {
        let grown = most.wrapping_sub(least);
        // The reports' times are those of their beginning: some packets come until a count is read.
        let slack = 2 + i64::from(grown / 4);
        let difference = |count: u32| i64::from(given.wrapping_sub(count) as i32);
        let (low, high) = (difference(most) - slack, difference(least) + slack);
        let narrowed = (self.low.max(low), self.high.min(high));
        let anew = grown > MOST_PACKETS;
        if anew || narrowed.0 > narrowed.1 {
            let [latest, next, _] = self.contradicted;
            *self = Self {
                contradicted: [check, latest, next],
                ..Self::new(check, given)
            };
            if !anew {
                (self.low, self.high) = (low, high);
            }
            return;
        }
        (self.low, self.high) = narrowed;
        self.fits += 1;
        self.last = given;
    }

    fn fits(&self) -> bool {
        self.fits >= CHECKS && self.last.wrapping_sub(self.first) >= PACKETS
    }

    fn is_excluded_since(&self, check: u64) -> bool {
        self.contradicted.iter().all(|at| *at > check)
    }

    /// One contradiction may be an accident, two of three comparisons are none.
    fn has_ended(&self, check: u64) -> bool {
        let last_but_one = self.contradicted[1];
        last_but_one > 0 && last_but_one + 2 >= check
    }
}
