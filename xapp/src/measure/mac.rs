//! MAC records: which of them can be true.

use super::{
    CellConfig,
    counters::{Counters, Reason},
    window::Snapshot,
};
use e2sm::flexric::{MacUe, Stats};
use std::{collections::BTreeMap, time::Duration};

/// The believable records of a MAC report.
///
/// A record with one impossible value is refused whole: the values around it come from the same place. All of its
/// impossible values are counted, so that the reasons show.
pub(super) fn snapshot(
    stats: &Stats<MacUe>,
    received: Duration,
    config: &CellConfig,
    counters: &mut Counters,
) -> Snapshot {
    let mut ues = BTreeMap::new();
    counters.records += stats.records.len() as u64;
    for record in &stats.records {
        let Some(rnti) = believable(record, config, counters) else {
            counters.refused += 1;
            continue;
        };
        if ues.insert(rnti, record.clone()).is_some() {
            counters.quarantine(Reason::Duplicate);
        }
    }
    Snapshot {
        tstamp_us: stats.tstamp_us,
        received,
        ues,
        rlc: None,
    }
}

fn believable(ue: &MacUe, config: &CellConfig, counters: &mut Counters) -> Option<u16> {
    let fraction = |bler: f32| (0.0..=1.0).contains(&bler);
    let harq = &ue.dl_harq;
    let checks = [
        (c_rnti(ue.rnti).is_some(), Reason::Rnti),
        (ue.dl_mcs1 <= 31, Reason::Mcs),
        (ue.wb_cqi <= 15, Reason::Cqi),
        (fraction(ue.dl_bler), Reason::Bler),
        (
            harq[..4].windows(2).all(|rounds| rounds[1] <= rounds[0]) && harq[4] <= harq[0],
            Reason::HarqRounds,
        ),
        (
            ue.frame < 1024 && u32::from(ue.slot) < config.slots_per_frame(),
            Reason::FrameNumber,
        ),
    ];
    let mut good = true;
    for (_, reason) in checks.iter().filter(|(passed, _)| !passed) {
        counters.quarantine(*reason);
        good = false;
    }
    c_rnti(ue.rnti).filter(|_| good)
}

/// TS 38.321 table 7.1-1.
pub(super) fn c_rnti(value: u32) -> Option<u16> {
    u16::try_from(value)
        .ok()
        .filter(|rnti| (1..=0xfff2).contains(rnti))
}
