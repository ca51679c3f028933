//! Two snapshots of cumulative counters and the window between them.

use super::{
    CellConfig,
    counters::{Counters, Reason},
    rlc,
};
use e2sm::flexric::MacUe;
use policies::{UeId, UeReport};
use std::{collections::BTreeMap, time::Duration};

/// Windows below this many slots are left open: PRBs come in whole slots.
pub(super) const MIN_SLOTS: f64 = 2.0;

/// Most bits that one PRB of one slot can carry: 12 subcarriers, 14 symbols, 8 bits (256QAM), 4 layers.
pub(super) const MAX_BITS_PER_PRB: f64 = 12.0 * 14.0 * 8.0 * 4.0;
const MAX_OCTETS_PER_PRB: f64 = MAX_BITS_PER_PRB / 8.0;

/// Cumulative counters of a node at one tick.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// RAN time, Unix µs.
    pub(super) tstamp_us: i64,
    /// Receipt of the MAC report.
    pub(super) received: Duration,
    /// MAC records by C-RNTI.
    pub(super) ues: BTreeMap<u16, MacUe>,
    /// RLC report of the same tick.
    pub(super) rlc: Option<rlc::Report>,
}

/// A window between two snapshots.
pub(super) struct Window<'a> {
    base: &'a Snapshot,
    end: &'a Snapshot,
    length: Duration,
    /// Slots that the radio went through.
    pub(super) slots: f64,
    /// PRBs that the carrier has in those slots, with room for what is not known exactly.
    prb_limit: f64,
}

impl<'a> Window<'a> {
    pub(super) fn new(
        base: &'a Snapshot,
        end: &'a Snapshot,
        config: &CellConfig,
        slots_move: bool,
    ) -> Self {
        let length_us = u64::try_from(end.tstamp_us - base.tstamp_us).unwrap_or(0);
        let length = Duration::from_micros(length_us);
        let by_clock = length.as_secs_f64() * config.slots_per_second();
        let counted = slots_move
            .then(|| counted_slots(base, end, config, by_clock))
            .flatten();
        let (slots, possible) = match counted {
            // The report may be made before or after the scheduler's turn in its slot.
            Some(slots) => (slots, slots + 1.0),
            // A radio that fell behind catches up: 2.5 times as many slots as the clock has were seen over 2 ms.
            None => (by_clock, by_clock * 1.25 + 8.0),
        };
        Self {
            base,
            end,
            length,
            slots,
            prb_limit: possible * config.carrier_prbs,
        }
    }

    /// The report of a UE; `None` if the window has no usable beginning for it.
    pub(super) fn ue(
        &self,
        rnti: u16,
        now: &MacUe,
        cell_prbs: f64,
        counters: &mut Counters,
    ) -> Option<UeReport> {
        let before = self.base.ues.get(&rnti)?;
        let Some(mac) = Difference::between(before, now, self.prb_limit) else {
            counters.resets += 1;
            return None;
        };
        let prbs = (mac.prb + mac.retx_prb) as f64;
        if prbs > self.prb_limit {
            counters.quarantine(Reason::Prbs);
            return None;
        }
        if mac.tbs as f64 > mac.prb as f64 * MAX_OCTETS_PER_PRB {
            counters.quarantine(Reason::TransportBlocks);
            return None;
        }
        let rlc = self.rlc(rnti, counters);
        Some(UeReport {
            ue: UeId::CRnti(rnti),
            start: self.end.received.saturating_sub(self.length),
            length: self.length,
            ran_time_us: Some(self.end.tstamp_us),
            prbs: Some(prbs / self.slots),
            retx_prbs: Some(mac.retx_prb as f64 / self.slots),
            cell_prbs,
            used_prbs: None,
            mcs: Some(now.dl_mcs1.into()),
            tb_sent: Some(mac.sent),
            tb_retx: Some(mac.retransmitted),
            tb_failed: Some(mac.failed),
            sinr_db: None,
            // 0 comes before the first CSI report, and between good ones.
            cqi: Some(now.wb_cqi).filter(|cqi| *cqi > 0),
            delivered_bytes: rlc.and_then(|ue| ue.delivered),
            arrived_bytes: rlc.and_then(|ue| ue.arrived),
            queue_bytes: rlc.map(|ue| ue.queue),
            head_of_line: rlc.map(|ue| Duration::from_micros(ue.head_of_line_us.into())),
            rlc_delay: None,
            slice: None,
        })
    }

    fn rlc(&self, rnti: u16, counters: &mut Counters) -> Option<rlc::Ue> {
        let end = self.end.rlc.as_ref()?;
        let mut ue = end.ue(rnti, self.base.rlc.as_ref(), counters)?;
        let limit = self.prb_limit * MAX_OCTETS_PER_PRB;
        if ue.delivered.is_some_and(|octets| octets as f64 > limit) {
            counters.quarantine(Reason::Delivered);
            (ue.delivered, ue.arrived) = (None, None);
        }
        Some(ue)
    }
}

/// Slots by the frame and slot numbers of the records, whose period of 10.24 s the clock resolves.
///
/// They are better than the clock: a software radio under load falls behind it (2 to 10 %, and 60 % while a UE is
/// being lost), and what the scheduler can give comes in slots. `None` where they contradict the clock.
fn counted_slots(
    base: &Snapshot,
    end: &Snapshot,
    config: &CellConfig,
    by_clock: f64,
) -> Option<f64> {
    let per_frame = config.slots_per_frame();
    let cycle = 1024 * per_frame;
    let number = |ue: &MacUe| u32::from(ue.frame) * per_frame + u32::from(ue.slot);
    let (rnti, now) = end
        .ues
        .iter()
        .find(|(rnti, _)| base.ues.contains_key(rnti))?;
    let slots = (number(now) + cycle - number(base.ues.get(rnti)?)) % cycle;
    let slots = f64::from(slots);
    // Ahead of the clock by more than a burst of catching up, or too long a window to tell the cycle.
    let plausible = slots <= by_clock * 1.25 + 40.0 && by_clock < f64::from(cycle) * 0.75;
    plausible.then_some(slots)
}

/// Differences of a UE's cumulative MAC counters.
struct Difference {
    tbs: u64,
    prb: u64,
    retx_prb: u64,
    sent: u64,
    retransmitted: u64,
    failed: u64,
}

impl Difference {
    /// `None` if counters began anew. A 32-bit counter that wrapped goes on if what it then shows is possible.
    fn between(before: &MacUe, now: &MacUe, prb_limit: f64) -> Option<Self> {
        let wrapping = |before: u32, now: u32| {
            let difference = now.wrapping_sub(before);
            (now >= before || f64::from(difference) <= prb_limit).then_some(u64::from(difference))
        };
        let round = |i: usize| wrapping(before.dl_harq[i], now.dl_harq[i]);
        Some(Self {
            tbs: now.dl_aggr_tbs.checked_sub(before.dl_aggr_tbs)?,
            prb: wrapping(before.dl_aggr_prb, now.dl_aggr_prb)?,
            retx_prb: wrapping(before.dl_aggr_retx_prb, now.dl_aggr_retx_prb)?,
            sent: round(0)?,
            retransmitted: round(1)? + round(2)? + round(3)?,
            failed: round(4)?,
        })
    }
}
