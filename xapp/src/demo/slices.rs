//! Two slices with different delay objectives in one cell; then an operator applies a policy, and one of them changes.

use super::Options;
use super::phase::{self, Progress, Sending};
use super::series::{FlowSeries, Series};
use anyhow::Context as _;
use policies::SNssai;
use proto::operations::ApplyPoliciesRequest;
use proto::operations::policy_service_client::PolicyServiceClient;
use serde::Serialize;
use std::fmt;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The policies at the start: one slice keeps to a delay; the other never sends slower than 40 Mbit/s, which is more than
/// its part of the cell carries.
pub const FIRST: &str = r#"apiVersion: cantor.io/v1
kind: SlicePolicy
metadata: { name: interactive }
spec:
  scope: { slice: { sst: 1, sd: "000001" } }
  latency: { statistic: p99, ms: 20, delay: one-way }
---
apiVersion: cantor.io/v1
kind: SlicePolicy
metadata: { name: downloads }
spec:
  scope: { slice: { sst: 1, sd: "000002" } }
  flowRate: { minBps: 40_000_000 }
"#;

/// What is applied at half time: downloads get the same objective.
pub const SECOND: &str = r#"apiVersion: cantor.io/v1
kind: SlicePolicy
metadata: { name: downloads }
spec:
  scope: { slice: { sst: 1, sd: "000002" } }
  latency: { statistic: p99, ms: 20, delay: one-way }
"#;

/// The policy of each flow, in the order of the UEs.
const POLICIES: [&str; 2] = ["interactive", "downloads"];

/// Slice of the flow to a guided UE.
pub(super) fn slice(ue: usize) -> SNssai {
    SNssai {
        sst: 1,
        sd: Some(ue as u32 + 1),
    }
}

/// Applies policies as an operator does.
pub(super) async fn apply(xapp: String, text: &str) -> anyhow::Result<()> {
    let mut client = PolicyServiceClient::connect(xapp).await?;
    let request = ApplyPoliciesRequest {
        text: text.to_owned(),
        name: "demo".into(),
        dry_run: false,
    };
    client.apply_policies(request).await?;
    Ok(())
}

/// One slice before or after the change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SliceSummary {
    /// Its policy.
    pub policy: String,
    /// Goodput, bit/s of IP packets.
    pub goodput_bps: f64,
    /// Mean one-way delay, ms.
    pub delay_mean_ms: f64,
    /// Median of the 99th percentiles of each 100 ms, ms.
    pub delay_p99_ms: f64,
    /// Mean PRB target.
    pub target_prbs: f64,
}

/// Both slices before and after the change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SliceOutcome {
    /// Transport of E2.
    pub transport: String,
    /// Length of the run, seconds.
    pub seconds: f64,
    /// Before the change.
    pub before: Vec<SliceSummary>,
    /// After it.
    pub after: Vec<SliceSummary>,
}

/// Runs the demo of slices; `watch` sees how it goes, twice a second.
///
/// # Errors
/// When a socket cannot be opened, a part fails, or `stop` is cancelled before the end.
pub async fn run(
    options: &Options,
    stop: &CancellationToken,
    watch: &mut dyn FnMut(&Progress),
) -> anyhow::Result<SliceOutcome> {
    let series = tokio::select! {
        biased;
        () = stop.cancelled() => anyhow::bail!("interrupted"),
        series = phase::run(options, Sending::Sliced, stop, watch) => series?,
    };
    let first = series.flows.iter().filter_map(|flow| flow.sent.first());
    let start_us = first
        .map(|s| s.start_us)
        .min()
        .context("nothing was sent")?;
    let half = options.length / 2;
    // What follows the start and the change at once belongs to neither.
    let settling = options.settling();
    let part = |from: Duration, to: Duration| {
        let us = |at: Duration| start_us + at.as_micros() as i64;
        summaries(&series, us(from), us(to))
    };
    Ok(SliceOutcome {
        transport: options.transport.scheme().to_owned(),
        seconds: options.length.as_secs_f64(),
        before: part(settling, half),
        after: part(half + settling, options.length),
    })
}

fn summaries(series: &Series, from_us: i64, to_us: i64) -> Vec<SliceSummary> {
    let flows = series.flows.iter().zip(POLICIES);
    flows
        .map(|(flow, policy)| summary(flow, policy, from_us, to_us))
        .collect()
}

fn summary(flow: &FlowSeries, policy: &str, from_us: i64, to_us: i64) -> SliceSummary {
    let within = |start_us: i64| (from_us..to_us).contains(&start_us);
    let received: Vec<_> = flow
        .received
        .iter()
        .filter(|s| within(s.start_us))
        .collect();
    let delays: Vec<_> = received.iter().filter_map(|s| s.delay.as_ref()).collect();
    let packets: u64 = delays.iter().map(|d| d.packets).sum();
    let delay_us: f64 = delays.iter().map(|d| d.mean_us * d.packets as f64).sum();
    let mut p99: Vec<_> = delays.iter().map(|d| d.p99_us).collect();
    p99.sort_unstable();
    let median = p99.get(p99.len() / 2).copied().unwrap_or_default();
    let goodput: f64 = received.iter().map(|s| s.goodput_bps).sum();
    let sent = flow.sent.iter().filter(|s| within(s.start_us));
    let targets: Vec<_> = sent.filter_map(|s| s.target_prbs).collect();
    SliceSummary {
        policy: policy.to_owned(),
        goodput_bps: goodput / received.len().max(1) as f64,
        delay_mean_ms: delay_us / packets.max(1) as f64 / 1e3,
        delay_p99_ms: median as f64 / 1e3,
        target_prbs: targets.iter().sum::<f64>() / targets.len().max(1) as f64,
    }
}

impl fmt::Display for SliceOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Two slices over E2 on {}, {:.0} s. `interactive` keeps the p99 of its one-way delay to 20 ms, `downloads` has \
             a rate floor of 40 Mbit/s, until at half time an operator applies for it the objective that `interactive` has.\n",
            self.transport, self.seconds
        )?;
        writeln!(
            f,
            "{:24}{:>16}{:>16}{:>12}{:>14}",
            "", "goodput Mbit/s", "delay ms mean", "p99", "target PRBs"
        )?;
        for (when, slices) in [("before", &self.before), ("after", &self.after)] {
            for slice in slices {
                writeln!(
                    f,
                    "{:24}{:>16.1}{:>16.1}{:>12.1}{:>14.1}",
                    format!("{when} {}", slice.policy),
                    slice.goodput_bps / 1e6,
                    slice.delay_mean_ms,
                    slice.delay_p99_ms,
                    slice.target_prbs
                )?;
            }
        }
        Ok(())
    }
}
