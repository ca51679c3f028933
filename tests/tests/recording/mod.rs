//! A recorded session of a real gNB: its phases, what a replay makes of it, and what was really received.

mod receiver;

use policies::{UeId, UeReport};
use receiver::SDU_OCTETS;
pub use receiver::{Bearer, IP_OCTETS, Receiver};
use serde::{Deserialize, de::DeserializeOwned};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};
pub use xapp::replay::Options;
use xapp::{
    capture::{Capture, Framing},
    config::Config,
    replay::{Decided, Event, NodeSummary, Replay, Start},
};

/// What is left out at the begin of a phase, seconds: traffic and noise change there, and the link adaptation needs a
/// moment. The published figures of the phases leave it out, too.
const SETTLING: f64 = 0.3;
/// Windows of throughput in a phase, each a sample of the truth later than the one before.
const WINDOWS: usize = 5;

/// Name, begin and end (seconds) of a phase.
pub struct Phase {
    pub name: String,
    pub begin: f64,
    pub end: f64,
}

#[derive(Deserialize)]
struct Operation {
    op: String,
    #[serde(default)]
    name: String,
    t: f64,
    #[serde(default)]
    sec: f64,
}

/// What traffic generator and sinks counted, every 100 ms.
#[derive(Deserialize)]
struct Truth {
    t: f64,
    ue: Vec<TruthOfUe>,
}

#[derive(Deserialize)]
struct TruthOfUe {
    dl_tx: u64,
    dl_rx: u64,
    delay_ms: Option<f64>,
}

/// A run: truth and phases.
pub struct Run {
    pub phases: Vec<Phase>,
    truth: Vec<Truth>,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings")
}

fn lines<T: DeserializeOwned>(text: &str) -> Vec<T> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

impl Run {
    pub fn open(run: &str) -> Self {
        let operations: Vec<Operation> =
            lines(&std::fs::read_to_string(folder().join(format!("{run}_phases.jsonl"))).unwrap());
        let phases = operations
            .into_iter()
            .filter(|op| op.op == "phase")
            .map(|op| Phase {
                name: op.name,
                begin: op.t + SETTLING,
                end: op.t + op.sec,
            });
        let mut truth = String::new();
        let file = File::open(folder().join(format!("{run}_truth.jsonl.gz"))).unwrap();
        flate2::read::GzDecoder::new(file)
            .read_to_string(&mut truth)
            .unwrap();
        Self {
            phases: phases.collect(),
            truth: lines(&truth),
        }
    }

    pub fn phase(&self, name: &str) -> &Phase {
        self.phases.iter().find(|phase| phase.name == name).unwrap()
    }

    /// IP octets sent to the UE (in order of attach): the times at which they were counted, and how many by then.
    pub fn sent(&self, ue: usize) -> impl Iterator<Item = (f64, u64)> + '_ {
        let of_ue = move |sample: &Truth| Some((sample.t, sample.ue.get(ue)?.dl_tx));
        self.truth.iter().filter_map(of_ue)
    }

    /// IP octets received by the UE, as [`Self::sent`].
    pub fn received(&self, ue: usize) -> impl Iterator<Item = (f64, u64)> + '_ {
        let of_ue = move |sample: &Truth| Some((sample.t, sample.ue.get(ue)?.dl_rx));
        self.truth.iter().filter_map(of_ue)
    }

    /// Windows in a phase that begin and end at samples of the truth, and the IP octets that the UE (in order of attach)
    /// received in them. What PDCP delivers at once, a tenth of a second's traffic, comes into one of them a sample
    /// earlier or later; in their mean this matters little.
    pub fn windows(&self, ue: usize, phase: &Phase) -> Vec<(Phase, f64)> {
        let inside = |sample: &&Truth| (phase.begin..=phase.end).contains(&sample.t);
        let samples: Vec<_> = self.truth.iter().filter(inside).collect();
        let windows = samples.iter().zip(&samples[samples.len() - WINDOWS..]);
        windows
            .map(|(from, to)| {
                let received = (to.ue[ue].dl_rx - from.ue[ue].dl_rx) as f64;
                let window = Phase {
                    name: phase.name.clone(),
                    begin: from.t,
                    end: to.t,
                };
                (window, received)
            })
            .collect()
    }

    /// One-way delay of what the UE received around `t`, seconds; of what it received next, if that was nothing.
    pub fn delay(&self, ue: usize, t: f64) -> f64 {
        const SAMPLES: usize = 4;
        let after = self.truth.partition_point(|sample| sample.t <= t);
        let next = self.truth.iter().skip(after).take(SAMPLES);
        let delay = next.filter_map(|sample| sample.ue.get(ue)?.delay_ms).next();
        delay.unwrap_or(0.0) * 1e-3
    }
}

/// What a replay gave.
pub struct Replayed {
    pub reports: Vec<UeReport>,
    pub decisions: Vec<Decided>,
    pub lost: Vec<(f64, UeId)>,
    pub summaries: Vec<NodeSummary>,
}

pub fn options() -> Options {
    Options {
        config: Config::default(),
        start: Start::Arrivals,
        period_ms: None,
        e42: false,
        version: None,
        model: None,
    }
}

pub fn replay(path: &Path, options: Options) -> Replayed {
    let mut replay = Replay::new(options);
    let mut events = Vec::new();
    for pdu in Capture::open(File::open(path).unwrap(), Framing::E2ap).unwrap() {
        replay.pdu(&pdu.unwrap(), &mut events).unwrap();
    }
    let mut replayed = Replayed {
        reports: Vec::new(),
        decisions: Vec::new(),
        lost: Vec::new(),
        summaries: replay.summaries(),
    };
    for event in events {
        match event {
            Event::Report(report) => replayed.reports.push(report),
            Event::Decision(decided) => replayed.decisions.push(decided),
            Event::UeLost { t, ue, .. } => replayed.lost.push((t.as_secs_f64(), ue)),
            Event::UeUp { .. } | Event::UeDown { .. } | Event::Policy { .. } => {}
        }
    }
    replayed
}

/// The reports of a UE within a phase, together.
#[derive(Debug, Default)]
pub struct Measured {
    pub mbps: f64,
    pub prbs: f64,
    pub retx_prbs: f64,
    pub sent: f64,
    pub retransmitted: f64,
    pub failed: f64,
    pub queue_mean: f64,
    pub queue_max: u64,
    pub head_of_line_ms: f64,
    pub mcs_min: f64,
    pub mcs_max: f64,
    pub seconds: f64,
}

/// End of a report's window on the node's clock, seconds.
fn end(report: &UeReport) -> f64 {
    report.ran_time_us.unwrap() as f64 * 1e-6
}

impl Replayed {
    pub fn of_ue(&self, ue: UeId) -> impl Iterator<Item = &UeReport> {
        self.reports.iter().filter(move |report| report.ue == ue)
    }

    /// Reports that lie partly in the phase count for that part.
    pub fn measured(&self, ue: UeId, phase: &Phase) -> Measured {
        let mut m = Measured {
            mcs_min: f64::MAX,
            ..Measured::default()
        };
        let mut octets = 0.0;
        for report in self.of_ue(ue) {
            let length = report.length.as_secs_f64();
            let (begin, end) = (end(report) - length, end(report));
            let seconds = end.min(phase.end) - begin.max(phase.begin);
            if seconds <= 0.0 {
                continue;
            }
            let part = seconds / length;
            m.seconds += seconds;
            octets += report.delivered_bytes.unwrap_or(0) as f64 * part;
            m.prbs += report.prbs.unwrap() * seconds;
            m.retx_prbs += report.retx_prbs.unwrap() * seconds;
            m.sent += report.tb_sent.unwrap() as f64 * part;
            m.retransmitted += report.tb_retx.unwrap() as f64 * part;
            m.failed += report.tb_failed.unwrap() as f64 * part;
            m.queue_mean += report.queue_bytes.unwrap_or(0) as f64 * seconds;
            m.queue_max = m.queue_max.max(report.queue_bytes.unwrap_or(0));
            m.head_of_line_ms +=
                report.head_of_line.unwrap_or_default().as_secs_f64() * 1e3 * seconds;
            m.mcs_min = m.mcs_min.min(report.mcs.unwrap());
            m.mcs_max = m.mcs_max.max(report.mcs.unwrap());
        }
        m.mbps = octets * 8e-6 / m.seconds * IP_OCTETS / SDU_OCTETS;
        for mean in [
            &mut m.prbs,
            &mut m.retx_prbs,
            &mut m.queue_mean,
            &mut m.head_of_line_ms,
        ] {
            *mean /= m.seconds;
        }
        m
    }

    /// Head-of-line age around `t`, seconds.
    pub fn head_of_line(&self, ue: UeId, t: f64) -> f64 {
        let at = self
            .of_ue(ue)
            .min_by(|a, b| (end(a) - t).abs().total_cmp(&(end(b) - t).abs()));
        at.and_then(|report| report.head_of_line)
            .unwrap_or_default()
            .as_secs_f64()
    }
}
