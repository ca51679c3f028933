//! What a replay found, in the end.

use super::Decided;
use crate::{
    measure::Counters,
    ran::{NodeId, ServiceModel},
};
use policies::UeId;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::Duration,
};

/// A node of a recording.
#[derive(Clone, Debug, Serialize)]
pub struct NodeSummary {
    /// Which node.
    pub node: NodeId,
    /// Length of the recording, seconds.
    pub seconds: f64,
    /// Indications used, by service model.
    pub indications: BTreeMap<ServiceModel, u64>,
    /// Indications of further subscriptions to the same models.
    pub passed_over: u64,
    /// What became of them.
    pub counters: Counters,
    /// PRBs per slot that the cell can give.
    pub cell_prbs: f64,
    /// Its UEs.
    #[serde(serialize_with = "by_name")]
    pub ues: BTreeMap<UeId, UeSummary>,
    /// UEs that it still lists, but has given up.
    #[serde(serialize_with = "names")]
    pub lost: BTreeSet<UeId>,
}

/// A UE of a recording.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UeSummary {
    /// Control intervals that ended with a decision.
    pub intervals: u64,
    /// Octets delivered.
    pub delivered_bytes: u64,
    /// Time in which they were counted, seconds.
    pub delivery_seconds: f64,
    /// Smallest rate that would have been guided, bit/s.
    pub rate_min_bps: Option<f64>,
    /// Mean of the rates that would have been guided, bit/s.
    pub rate_mean_bps: Option<f64>,
    /// Largest rate that would have been guided, bit/s.
    pub rate_max_bps: Option<f64>,
    /// When it was lost, since the first indication.
    pub lost_at: Option<Duration>,
}

impl UeSummary {
    pub(super) fn add(&mut self, decided: &Decided, delivered_bytes: u64, seconds: f64) {
        let rate = decided.rate_bps;
        let before = self.intervals as f64;
        self.intervals += 1;
        self.delivered_bytes = self.delivered_bytes.saturating_add(delivered_bytes);
        self.delivery_seconds += seconds;
        self.rate_min_bps = Some(self.rate_min_bps.map_or(rate, |least| least.min(rate)));
        self.rate_max_bps = Some(self.rate_max_bps.map_or(rate, |most| most.max(rate)));
        self.rate_mean_bps =
            Some((self.rate_mean_bps.unwrap_or(0.0) * before + rate) / (before + 1.0));
    }
}

impl fmt::Display for NodeSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { counters, .. } = self;
        writeln!(
            f,
            "node {}: {:.1} s, {:.1} PRBs per slot",
            self.node, self.seconds, self.cell_prbs
        )?;
        let used: Vec<_> = self
            .indications
            .iter()
            .map(|(model, count)| format!("{count} {}", format!("{model:?}").to_uppercase()))
            .collect();
        write!(f, "  indications: {}", used.join(", "))?;
        for (count, what) in [
            (counters.undecodable, "undecodable"),
            (counters.late, "late"),
            (self.passed_over, "of further subscriptions passed over"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        writeln!(f)?;
        writeln!(f, "  UE reports: {}", counters.reports)?;
        for (count, what) in [
            (counters.resets, "counters that began anew"),
            (counters.clock_steps, "jumps of the node's clock"),
            (
                counters.unsettled,
                "KPM values left out, as the node mixes them up",
            ),
        ] {
            if count > 0 {
                writeln!(f, "  {what}: {count}")?;
            }
        }
        self.quarantine(f)?;
        if self.ues.values().all(|ue| ue.intervals == 0) {
            writeln!(f, "  nothing would have been guided")?;
        }
        for (id, ue) in &self.ues {
            self.ue(f, *id, ue)?;
        }
        Ok(())
    }
}

impl NodeSummary {
    fn quarantine(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counters = &self.counters;
        if counters.quarantined.is_empty() {
            return writeln!(f, "  quarantined: nothing");
        }
        writeln!(
            f,
            "  quarantined: {} values; {} of {} records refused",
            counters.quarantined_total(),
            counters.refused,
            counters.records
        )?;
        for (reason, count) in &counters.quarantined {
            writeln!(f, "    {count:>7}  {reason}")?;
        }
        if counters.mostly_refused() {
            writeln!(
                f,
                "    Most records hold values that no radio has: not a real RAN, or another layout."
            )?;
        }
        Ok(())
    }

    fn ue(&self, f: &mut fmt::Formatter<'_>, id: UeId, ue: &UeSummary) -> fmt::Result {
        write!(f, "  UE {id}: {} intervals", ue.intervals)?;
        if let (Some(least), Some(mean), Some(most)) =
            (ue.rate_min_bps, ue.rate_mean_bps, ue.rate_max_bps)
        {
            write!(
                f,
                ", received {:.2} Mbit/s, guided {:.2} ({:.2} to {:.2}) Mbit/s",
                ue.delivered_bytes as f64 * 8e-6 / ue.delivery_seconds.max(1e-9),
                mean * 1e-6,
                least * 1e-6,
                most * 1e-6
            )?;
        }
        if let Some(at) = ue.lost_at {
            write!(f, ", LOST at {:.1} s", at.as_secs_f64())?;
            if !self.lost.contains(&id) {
                write!(f, " and back")?;
            }
        }
        writeln!(f)
    }
}

fn names<S: serde::Serializer>(ues: &BTreeSet<UeId>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ues.iter().map(UeId::to_string))
}

fn by_name<S: serde::Serializer>(
    ues: &BTreeMap<UeId, UeSummary>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(ues.iter().map(|(id, ue)| (id.to_string(), ue)))
}
