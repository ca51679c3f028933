//! RLC records: which of them can be true, per data radio bearer.

use super::{
    counters::{Counters, Reason},
    mac::c_rnti,
};
use e2sm::flexric::{RlcBearer, Stats};
use std::{collections::BTreeMap, sync::Arc};

/// The believable part of an RLC report.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub(super) tstamp_us: i64,
    /// By C-RNTI and data radio bearer.
    pub(super) bearers: Arc<BTreeMap<(u16, u8), Bearer>>,
}

/// What is used of a bearer's record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bearer {
    /// Downlink octets that the UE's RLC has acknowledged, cumulative.
    pub(super) delivered: u64,
    /// Downlink octets accepted from PDCP, cumulative. (OAI counts from RLC's point of view: rxsdu are arrivals.)
    pub(super) arrived: u64,
    /// Downlink queue, octets.
    pub(super) queue: u32,
    /// Age of its oldest SDU, µs.
    pub(super) head_of_line_us: u32,
}

pub(super) fn report(stats: &Stats<RlcBearer>, counters: &mut Counters) -> Report {
    let mut bearers = BTreeMap::new();
    counters.records += stats.records.len() as u64;
    for record in &stats.records {
        let Some(key) = believable(record, counters) else {
            counters.refused += 1;
            continue;
        };
        let bearer = Bearer {
            delivered: record.txsdu_bytes,
            arrived: record.rxsdu_bytes,
            queue: record.txbuf_occ_bytes,
            head_of_line_us: record.txsdu_wt_us,
        };
        if bearers.insert(key, bearer).is_some() {
            counters.quarantine(Reason::Duplicate);
        }
    }
    Report {
        tstamp_us: stats.tstamp_us,
        bearers: Arc::new(bearers),
    }
}

fn believable(record: &RlcBearer, counters: &mut Counters) -> Option<(u16, u8)> {
    let checks = [
        (c_rnti(record.rnti).is_some(), Reason::Rnti),
        // Data bearers are acknowledged (0) or unacknowledged (1), never transparent (TS 38.322 clause 4.2.1).
        (record.mode <= 1, Reason::RlcMode),
        ((1..=32).contains(&record.rbid), Reason::Bearer),
    ];
    let mut good = true;
    for (_, reason) in checks.iter().filter(|(passed, _)| !passed) {
        counters.quarantine(*reason);
        good = false;
    }
    Some((c_rnti(record.rnti)?, record.rbid)).filter(|_| good)
}

/// The bearers of one UE together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Ue {
    pub(super) queue: u64,
    pub(super) head_of_line_us: u32,
    /// Octets delivered and arrived since the earlier report; `None` if a counter began anew or is new.
    pub(super) delivered: Option<u64>,
    pub(super) arrived: Option<u64>,
}

impl Report {
    fn of_ue(&self, rnti: u16) -> impl Iterator<Item = (&(u16, u8), &Bearer)> {
        self.bearers.range((rnti, 0)..=(rnti, u8::MAX))
    }

    /// What happened to a UE since `earlier`; `None` if it has no bearer.
    pub(super) fn ue(
        &self,
        rnti: u16,
        earlier: Option<&Self>,
        counters: &mut Counters,
    ) -> Option<Ue> {
        let mut ue = Ue {
            delivered: earlier.map(|_| 0),
            arrived: earlier.map(|_| 0),
            ..Ue::default()
        };
        let mut bearers = 0;
        for (key, bearer) in self.of_ue(rnti) {
            bearers += 1;
            ue.queue += u64::from(bearer.queue);
            ue.head_of_line_us = ue.head_of_line_us.max(bearer.head_of_line_us);
            let Some(before) = earlier.and_then(|earlier| earlier.bearers.get(key)) else {
                (ue.delivered, ue.arrived) = (None, None);
                continue;
            };
            let delivered = bearer.delivered.checked_sub(before.delivered);
            let arrived = bearer.arrived.checked_sub(before.arrived);
            counters.resets += u64::from(delivered.is_none() || arrived.is_none());
            ue.delivered = sum(ue.delivered, delivered);
            ue.arrived = sum(ue.arrived, arrived);
        }
        (bearers > 0).then_some(ue)
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a?.checked_add(b?)
}
