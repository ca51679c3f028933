//! The figures of a demo.

use super::series::Series;
use super::{GUIDED_UES, Options, UNGUIDED_EXCESS, phase};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// One flow over a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSummary {
    /// Name.
    pub flow: String,
    /// Mean of the rate allowed, after settling, bit/s.
    pub rate_bps: f64,
    /// Goodput over the whole run, bit/s of IP packets.
    pub goodput_bps: f64,
    /// Mean one-way delay over the whole run, ms.
    pub delay_mean_ms: f64,
    /// Its 95th percentile.
    pub delay_p95_ms: f64,
    /// Its 99th percentile.
    pub delay_p99_ms: f64,
    /// Packets lost per packet sent.
    pub loss_ratio: f64,
    /// Mean PRBs per slot after settling, as the cell counted them.
    pub prbs: f64,
    /// Mean PRB target after settling; `None`: not guided.
    pub target_prbs: Option<f64>,
    /// Mean octets in the RLC queue after settling.
    pub queue_bytes: f64,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseSummary {
    /// The edge flows.
    pub flows: Vec<FlowSummary>,
    /// Mean PRBs per slot of the greedy UE after settling.
    pub greedy_prbs: f64,
    /// Slots that the cell left out because the machine was too slow.
    pub skipped_slots: u64,
}

/// Both runs, and how they compare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Gain policy of the guided run.
    pub policy: String,
    /// Transport of E2.
    pub transport: String,
    /// Length of each run, seconds.
    pub seconds: f64,
    /// Seconds at the start of each run that rates, PRBs and queues leave out.
    pub settling_seconds: f64,
    /// With guidance.
    pub guided: PhaseSummary,
    /// With a fixed rate of [`UNGUIDED_EXCESS`] times the flow's share.
    pub unguided: PhaseSummary,
    /// The lowest PRBs per target of the guided flows.
    pub least_prbs_of_target: f64,
    /// The longest 99th percentile of the guided flows' one-way delay, ms.
    pub guided_delay_p99_ms: f64,
    /// Mean RLC queue of the unguided flows per that of the guided ones.
    pub queue_ratio: f64,
    /// Mean one-way delay of the unguided flows per that of the guided ones.
    pub delay_ratio: f64,
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), v| (sum + v, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

impl PhaseSummary {
    /// Summarises a run.
    pub fn of(series: &Series, settling: Duration) -> Self {
        let settling_s = settling.as_secs_f64();
        let cell = |ue: usize, value: fn(&sim::live::UeStats) -> f64| {
            let settled = series.settled(settling_s);
            mean(settled.filter_map(|s| s.ues.get(ue)).map(value)).unwrap_or(0.0)
        };
        let flows = series.flows.iter().enumerate().map(|(index, flow)| {
            let from = flow.sent.first().map_or(0, |s| s.start_us) + settling.as_micros() as i64;
            let settled = || flow.sent.iter().filter(|s| s.start_us >= from);
            let delay = flow.totals.as_ref().and_then(|t| t.delay.as_ref());
            FlowSummary {
                flow: phase::flow_name(index),
                rate_bps: mean(settled().map(|s| s.rate_bps)).unwrap_or(0.0),
                goodput_bps: flow.totals.as_ref().map_or(0.0, |t| t.goodput_bps),
                delay_mean_ms: delay.map_or(f64::NAN, |d| d.mean_us / 1e3),
                delay_p95_ms: delay.map_or(f64::NAN, |d| d.p95_us as f64 / 1e3),
                delay_p99_ms: delay.map_or(f64::NAN, |d| d.p99_us as f64 / 1e3),
                loss_ratio: flow.totals.as_ref().map_or(1.0, |t| t.loss_ratio),
                prbs: cell(index, |u| u.prbs),
                target_prbs: mean(settled().filter_map(|s| s.target_prbs)),
                queue_bytes: cell(index, |u| u.queue_bytes as f64),
            }
        });
        Self {
            flows: flows.collect(),
            greedy_prbs: cell(GUIDED_UES, |u| u.prbs),
            skipped_slots: series.cell.last().map_or(0, |s| s.skipped_slots),
        }
    }

    /// What an equal part of the cell carries for one UE, bit/s: the rate that a PRB carried, times the PRBs of the share.
    pub fn share_bps(&self) -> Option<f64> {
        let prbs: f64 = self.flows.iter().map(|f| f.prbs).sum();
        let rate: f64 = self.flows.iter().map(|f| f.rate_bps).sum();
        let share = (prbs + self.greedy_prbs) / (self.flows.len() + 1) as f64;
        (prbs > 0.0 && rate > 0.0).then(|| rate / prbs * share)
    }

    fn mean_of(&self, value: impl Fn(&FlowSummary) -> f64) -> f64 {
        mean(self.flows.iter().map(value)).unwrap_or(f64::NAN)
    }
}

impl Outcome {
    /// Compares the runs.
    pub fn new(options: &Options, guided: PhaseSummary, unguided: PhaseSummary) -> Self {
        let of_target = |f: &FlowSummary| f.target_prbs.map_or(f64::NAN, |t| f.prbs / t);
        // A guided queue may be empty whenever it is looked at: one octet keeps the ratio finite.
        let queue = |p: &PhaseSummary| p.mean_of(|f| f.queue_bytes).max(1.0);
        let delay = |p: &PhaseSummary| p.mean_of(|f| f.delay_mean_ms);
        Self {
            policy: options.policy.to_string(),
            transport: options.transport.scheme().to_owned(),
            seconds: options.length.as_secs_f64(),
            settling_seconds: options.settling().as_secs_f64(),
            least_prbs_of_target: guided
                .flows
                .iter()
                .map(of_target)
                .fold(f64::INFINITY, f64::min),
            guided_delay_p99_ms: guided
                .flows
                .iter()
                .map(|f| f.delay_p99_ms)
                .fold(0.0, f64::max),
            queue_ratio: queue(&unguided) / queue(&guided),
            delay_ratio: delay(&unguided) / delay(&guided),
            guided,
            unguided,
        }
    }
}

/// Head of the table that [`row`] fills.
pub(super) const HEAD: [&str; 10] = [
    "",
    "rate Mbit/s",
    "goodput",
    "delay ms mean",
    "p95",
    "p99",
    "loss %",
    "PRBs",
    "target",
    "queue kB",
];

/// One flow as a row of text.
pub(super) fn row(name: &str, f: &FlowSummary) -> Vec<String> {
    vec![
        format!("{name} {}", f.flow),
        format!("{:.1}", f.rate_bps / 1e6),
        format!("{:.1}", f.goodput_bps / 1e6),
        format!("{:.1}", f.delay_mean_ms),
        format!("{:.1}", f.delay_p95_ms),
        format!("{:.1}", f.delay_p99_ms),
        format!("{:.2}", f.loss_ratio * 100.0),
        format!("{:.1}", f.prbs),
        f.target_prbs.map_or("-".to_owned(), |t| format!("{t:.1}")),
        format!("{:.0}", f.queue_bytes / 1e3),
    ]
}

impl Outcome {
    /// The flows of both runs as rows of text, under [`HEAD`].
    pub(super) fn rows(&self) -> Vec<Vec<String>> {
        let guided = self.guided.flows.iter().map(|f| row("guided", f));
        let fixed = self.unguided.flows.iter().map(|f| row("unguided", f));
        guided.chain(fixed).collect()
    }

    /// What the comparison says, as sentences.
    pub(super) fn findings(&self) -> Vec<String> {
        let mut findings = vec![
            format!(
                "Guided flows use at least {:.0} % of their target PRBs; p99 one-way delay {:.1} ms.",
                self.least_prbs_of_target * 100.0,
                self.guided_delay_p99_ms
            ),
            format!(
                "Sent at {UNGUIDED_EXCESS} times their share without guidance, they queue {:.0} times as many octets, \
                 and packets take {:.0} times as long.",
                self.queue_ratio, self.delay_ratio
            ),
        ];
        let skipped = self.guided.skipped_slots + self.unguided.skipped_slots;
        if skipped > 0 {
            findings.push(format!(
                "The machine was too slow for real time: the cell left out {skipped} slots, which shows as delay."
            ));
        }
        findings
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} over E2 on {}; two runs of {:.0} s; rates, PRBs and queues are means after {:.0} s, goodput and \
             delay are of the whole run.\n",
            self.policy, self.transport, self.seconds, self.settling_seconds
        )?;
        write!(f, "{:16}", HEAD[0])?;
        for head in &HEAD[1..] {
            write!(f, "{head:>14}")?;
        }
        writeln!(f)?;
        for row in self.rows() {
            let (name, figures) = row
                .split_first()
                .map_or(("", &[][..]), |(n, r)| (n.as_str(), r));
            write!(f, "{name:16}")?;
            for figure in figures {
                write!(f, "{figure:>14}")?;
            }
            writeln!(f)?;
        }
        for finding in self.findings() {
            write!(f, "\n{finding}")?;
        }
        Ok(())
    }
}
