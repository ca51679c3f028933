//! `cantor replay`: the main job on a recorded session.

use super::{UsageError, decode};
use crate::{
    capture::{Capture, Framing},
    config,
    models::Model,
    replay::{Decided, Event, NodeSummary, Options, Replay, Start},
};
use e2sm::e2ap::Version;
use policies::model::Folder;
use serde_json::{Value, json};
use std::{
    ffi::OsString,
    io::{self, BufWriter, Write},
    path::PathBuf,
    sync::Arc,
};

const EXAMPLES: &str = "\
Examples:
  cantor replay session.pcap
  cantor replay recording.e2.jsonl.gz --policy rapid-peak --dl-share 0.75
  cantor replay recording.e2.jsonl.gz --json | jq 'select(.event == \"decision\") | .rate_bps'
  cantor replay session.pcap --set control.interval_ms=100 --summary

Decodes the indications of a packet capture or a recorder's stream, makes UE reports of them as
`cantor run` does, and shows per UE and control interval what would have been guided. Settings
are those of `cantor run`: its file, its environment variables, and the options here.
The recording does not follow the guidance: by default every interval starts at the rate at
which data really arrived, so that each line is one step of the law from what was.";

/// Show what would have been guided in a recorded session
#[derive(Debug, clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
pub struct Args {
    /// Packet capture (pcap, pcapng) or recorder's stream (.e2.jsonl), also gzipped; - for standard input
    #[arg(value_name = "FILE|-")]
    input: String,

    /// One JSON object a line: events, decisions, summaries
    #[arg(long)]
    json: bool,

    /// Show the summary only
    #[arg(long)]
    summary: bool,

    /// Show every UE report, too (with --json)
    #[arg(long, requires = "json")]
    reports: bool,

    /// Gain policies in order of preference: rapid, rapid-peak, prism (with --set models.prism=DIR)
    #[arg(
        long,
        value_name = "POLICY",
        value_delimiter = ',',
        help_heading = "Settings"
    )]
    policy: Vec<String>,

    /// PRBs of the carrier
    #[arg(long, value_name = "N", help_heading = "Settings")]
    carrier_prbs: Option<u32>,

    /// Numerology: 0 for 15 kHz, 1 for 30 kHz, 2 for 60 kHz
    #[arg(long, value_name = "N", help_heading = "Settings")]
    numerology: Option<u8>,

    /// Part of all slots that carries downlink, e.g. 0.8
    #[arg(long, value_name = "SHARE", help_heading = "Settings")]
    dl_share: Option<f64>,

    /// PRB target factor
    #[arg(long, value_name = "F", help_heading = "Settings")]
    target_factor: Option<f64>,

    /// Gain K of RAPID
    #[arg(long, value_name = "K", help_heading = "Settings")]
    gain: Option<f64>,

    /// Any other setting of the configuration file, e.g. control.interval_ms=100
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Settings")]
    settings: Vec<String>,

    /// Configuration file of `cantor run`
    #[arg(long, value_name = "FILE", help_heading = "Settings")]
    config: Option<PathBuf>,

    /// Rate at which each control interval starts
    #[arg(long, value_enum, value_name = "RATE", default_value_t = Start::Arrivals)]
    start: Start,

    /// Report period to listen to, in ms, where a recording has several [default: the first that reports]
    #[arg(long, value_name = "MS")]
    period: Option<u32>,

    /// Use what FlexRIC's near-RT RIC forwarded to its xApps, not what the nodes sent
    #[arg(long)]
    e42: bool,

    /// E2AP version, where it is not to be told from the PDUs
    #[arg(long, value_name = "VERSION", value_parser = decode::version)]
    e2ap_version: Option<Version>,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let overrides = std::env::vars_os().chain(self.overrides()?);
        let config = config::load(self.config.as_deref(), overrides)?.config;
        let model = match config.models.folder() {
            None => None,
            Some(folder) => {
                let files = Folder::read(folder)?;
                let model = Model::new(files, folder, &config.models.engines())?;
                Some(Arc::new(model))
            }
        };
        let options = Options {
            config,
            model,
            start: self.start,
            period_ms: self.period,
            e42: self.e42,
            version: self.e2ap_version,
        };
        let capture = decode::open(std::slice::from_ref(&self.input), Framing::E2ap)?;
        let mut out = BufWriter::new(io::stdout().lock());
        let result = self
            .replay(capture, Replay::new(options), &mut out)
            .and_then(|failed| {
                out.flush()?;
                Ok(failed)
            });
        match result {
            Ok(0) => Ok(()),
            Ok(failed) => anyhow::bail!("{failed} PDUs could not be used"),
            // The reader has seen enough (`| head`).
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The options as the environment variables of `cantor run`, which are checked with everything else.
    fn overrides(&self) -> Result<Vec<(OsString, OsString)>, UsageError> {
        let list = format!(
            "[{}]",
            self.policy
                .iter()
                .map(|p| format!("{p:?}"))
                .collect::<Vec<_>>()
                .join(", ")
        );
        let named = [
            (
                "control.policies",
                (!self.policy.is_empty()).then_some(list),
            ),
            (
                "cell.carrier_prbs",
                self.carrier_prbs.map(|v| v.to_string()),
            ),
            ("cell.numerology", self.numerology.map(|v| v.to_string())),
            (
                "cell.downlink_share",
                self.dl_share.map(|v| format!("{v:?}")),
            ),
            (
                "control.target_factor",
                self.target_factor.map(|v| format!("{v:?}")),
            ),
            ("control.gain", self.gain.map(|v| format!("{v:?}"))),
        ];
        let mut settings: Vec<(String, String)> = named
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect();
        for setting in &self.settings {
            let (key, value) = setting
                .split_once('=')
                .ok_or_else(|| UsageError(format!("--set {setting:?}: expected KEY=VALUE")))?;
            settings.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        let variable = |key: &str| format!("CANTOR_{}", key.replace('.', "__").to_uppercase());
        Ok(settings
            .into_iter()
            .map(|(key, value)| (variable(&key).into(), value.into()))
            .collect())
    }

    /// Replays all PDUs; gives the number of those that could not be used.
    fn replay(
        &self,
        mut capture: Capture,
        mut replay: Replay,
        out: &mut impl Write,
    ) -> io::Result<u64> {
        let mut failed = 0;
        let mut events = Vec::new();
        let mut table = Table::default();
        for pdu in capture.by_ref() {
            let result = match &pdu {
                Ok(pdu) => replay
                    .pdu(pdu, &mut events)
                    .map_err(|error| format!("{}: {error}", pdu.place)),
                Err(error) => Err(error.to_string()),
            };
            for event in events.drain(..) {
                self.show(&event, &mut table, out)?;
            }
            if let Err(error) = result {
                failed += 1;
                super::tell(format_args!("cantor: {error}"));
            }
        }
        for (what, count) in capture.skipped() {
            super::tell(format_args!("cantor: passed over {count} packets: {what}"));
        }
        let summaries = replay.summaries();
        if summaries.is_empty() {
            super::tell(format_args!(
                "cantor: no indication of KPM, MAC or RLC in the recording"
            ));
        }
        summaries
            .iter()
            .try_for_each(|summary| self.summary(summary, out))?;
        Ok(failed)
    }

    fn show(&self, event: &Event, table: &mut Table, out: &mut impl Write) -> io::Result<()> {
        if matches!(event, Event::Report(_)) && !self.reports || self.summary {
            return Ok(());
        }
        if self.json {
            let mut value = seconds(serde_json::to_value(event)?);
            if let Event::Report(report) = event {
                value["ue"] = report.ue.to_string().into();
            }
            return writeln!(out, "{value}");
        }
        table.show(event, out)
    }

    fn summary(&self, summary: &NodeSummary, out: &mut impl Write) -> io::Result<()> {
        if self.json {
            let mut value = json!({ "event": "summary" });
            if let (Value::Object(all), Value::Object(fields)) =
                (&mut value, seconds(serde_json::to_value(summary)?))
            {
                all.extend(fields);
            }
            return writeln!(out, "{value}");
        }
        if !self.summary {
            writeln!(out)?;
        }
        write!(out, "{summary}")
    }
}

/// Durations as seconds.
fn seconds(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let part = |name| fields.get(name).and_then(Value::as_u64);
            match (part("secs"), part("nanos")) {
                (Some(secs), Some(nanos)) if fields.len() == 2 => {
                    json!(secs as f64 + nanos as f64 * 1e-9)
                }
                _ => fields
                    .into_iter()
                    .map(|(name, value)| (name, seconds(value)))
                    .collect(),
            }
        }
        Value::Array(items) => items.into_iter().map(seconds).collect(),
        plain => plain,
    }
}

/// Decisions as a table with a heading now and then.
#[derive(Default)]
struct Table {
    lines: u64,
}

const HEADING: &str = "  time s  UE                PRBs  target   n   MCS  retx %  arrived  received   queue kB   HOL ms   guided  Mbit/s";

impl Table {
    fn show(&mut self, event: &Event, out: &mut impl Write) -> io::Result<()> {
        match event {
            Event::Decision(decided) => {
                if self.lines.is_multiple_of(40) {
                    writeln!(out, "{HEADING}")?;
                }
                self.lines += 1;
                writeln!(out, "{}", line(decided).trim_end())
            }
            Event::UeUp { t, ue, node } => {
                writeln!(out, "{:8.2}  {ue} is reported by {node}", t.as_secs_f64())
            }
            Event::UeDown { t, ue, .. } => {
                writeln!(out, "{:8.2}  {ue} is reported no more", t.as_secs_f64())
            }
            Event::UeLost { t, ue, .. } => writeln!(
                out,
                "{:8.2}  {ue} is LOST: its data waits, and no transport block is sent",
                t.as_secs_f64()
            ),
            Event::Policy {
                t,
                flow,
                policy,
                detail,
                ..
            } => {
                write!(out, "{:8.2}  {flow} ", t.as_secs_f64())?;
                match policy {
                    Some(policy) => write!(out, "runs on {policy}")?,
                    None => write!(out, "is not guided")?,
                }
                if detail.is_empty() {
                    writeln!(out)
                } else {
                    writeln!(out, ": {detail}")
                }
            }
            Event::Report(_) => Ok(()),
        }
    }
}

fn line(decided: &Decided) -> String {
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "-".into(), |v| format!("{v:.digits$}"))
    };
    let mbps = |bps: Option<f64>| number(bps.map(|bps| bps * 1e-6), 2);
    format!(
        "{:8.2}  {:14} {:>7} {:>7.1} {:>3} {:>5} {:>7} {:>8} {:>9} {:>10} {:>8} {:>8.2}  {}",
        decided.t.as_secs_f64(),
        decided.ue.to_string(),
        number(decided.prbs, 1),
        decided.target_prbs,
        decided.active_ues,
        number(decided.mcs, 0),
        number(decided.retransmission_ratio.map(|ratio| ratio * 100.0), 1),
        mbps(decided.arrival_bps),
        mbps(decided.throughput_bps),
        number(decided.queue_bytes.map(|octets| octets as f64 * 1e-3), 1),
        number(decided.head_of_line.map(|age| age.as_secs_f64() * 1e3), 1),
        decided.rate_bps * 1e-6,
        decided.note
    )
}
