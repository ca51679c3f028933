//! What the papers leave open: each parameter alone, in PRISM's test with all five flows.

use super::reference::figure;
use super::section::Section;
use super::{Failure, simulate};
use sim::results::{FlowResults, Pool};
use sim::scenario::{Selection, SenderKind};
use std::time::Duration;

/// All flows start early, so that most of a short run has five of them.
const FIVE_FLOWS: [&str; 8] = [
    "duration_s=180",
    "flows.1.start_s=2",
    "flows.2.start_s=10",
    "flows.3.start_s=12",
    "flows.4.start_s=14",
    "flows.2.stop_s=180",
    "flows.3.stop_s=180",
    "flows.4.stop_s=180",
];
const FROM: Duration = Duration::from_secs(30);
const SECONDS: f64 = 150.0;
const GUIDED: usize = 2;
const POLICIES: [SenderKind; 2] = [SenderKind::Rapid, SenderKind::RapidPeak];

/// A parameter: what it is, its key, its values; the default is marked with an asterisk.
struct Parameter {
    what: &'static str,
    key: &'static str,
    values: &'static [&'static str],
    default: &'static str,
}

const PARAMETERS: [Parameter; 12] = [
    Parameter {
        what: "Rate ceiling, Mbit/s",
        key: "flows.guided.max_mbps",
        values: &["20", "30", "40", "100", "1000"],
        default: "60",
    },
    Parameter {
        what: "Start rate, Mbit/s",
        key: "flows.guided.initial_mbps",
        values: &["10", "50"],
        default: "1",
    },
    Parameter {
        what: "Anti-windup: ceiling over what was delivered",
        key: "flows.guided.anti_windup",
        values: &["1.1", "1.25", "1.5", "2", "4"],
        default: "none",
    },
    Parameter {
        what: "RLC queue, octets",
        key: "ues.*.queue_limit_bytes",
        values: &["100000", "300000", "500000", "2000000"],
        default: "1000000",
    },
    Parameter {
        what: "PRB use relative to",
        key: "control.denominator",
        values: &["all_slots"],
        default: "downlink_slots",
    },
    Parameter {
        what: "Packet size, octets of payload",
        key: "flows.guided.payload",
        values: &["400", "1400"],
        default: "1252",
    },
    Parameter {
        what: "γ, Mbit/s per PRB",
        key: "flows.guided.gamma_mbps",
        values: &["0.106"],
        default: "1",
    },
    Parameter {
        what: "K",
        key: "flows.guided.k",
        values: &["0.1", "0.25", "1", "2", "5"],
        default: "0.5",
    },
    Parameter {
        what: "Channel drawn anew every, s",
        key: "channel.redraw_s",
        values: &["0.1", "1", "10"],
        default: "never",
    },
    Parameter {
        what: "Report interval δ, ms",
        key: "control.report_interval_ms",
        values: &["10", "20", "100", "200"],
        default: "50",
    },
    Parameter {
        what: "PRB target factor f",
        key: "control.target_factor",
        values: &["0.7", "0.8", "0.85", "0.95"],
        default: "0.9",
    },
    Parameter {
        what: "Reports come",
        key: "control.feedback",
        values: &["base_station"],
        default: "uplink",
    },
];

pub fn run(seeds: u64) -> Result<Section, Failure> {
    let base = Selection::new("prism-test").with(&FIVE_FLOWS);
    let mut selections = Vec::new();
    let mut select = |selection: Selection| {
        for policy in POLICIES {
            selections.push(Selection {
                policy: Some(policy),
                ..selection.clone()
            });
        }
    };
    select(base.clone());
    for Parameter { key, values, .. } in &PARAMETERS {
        for value in *values {
            select(base.clone().with(&[format!("{key}={value}")]));
        }
    }
    let runs = simulate("What the papers leave open", &selections, seeds, |flows| {
        guided(&flows)
    })?;
    let mut pools = runs.into_iter().map(|runs| {
        runs.into_iter().fold(Pool::default(), |mut all, pool| {
            all.merge(pool);
            all
        })
    });
    let mut cells = || {
        let mut cells = Vec::new();
        for pool in pools.by_ref().take(POLICIES.len()) {
            let s = pool.summary(SECONDS * seeds as f64);
            cells.extend([
                figure(s.goodput_mbps, 1),
                figure(s.report_delay.mean_ms, 1),
                figure(s.report_delay.p95_ms, 0),
                figure(s.loss_percent, 2),
            ]);
        }
        cells
    };
    let mut section = Section::default();
    let default = cells();
    for parameter in &PARAMETERS {
        let row = |value: String, cells: Vec<String>| [vec![value], cells].concat();
        let mut rows = vec![row(
            format!("{} (default)", parameter.default),
            default.clone(),
        )];
        for value in parameter.values {
            rows.push(row((*value).to_owned(), cells()));
        }
        section.table(
            &format!("{} (`{}`)", parameter.what, parameter.key),
            &[
                "value",
                "RAPID: Mbit/s",
                "mean delay, ms",
                "p95",
                "loss, %",
                "peak: Mbit/s",
                "mean delay, ms",
                "p95",
                "loss, %",
            ],
            rows,
        );
    }
    Ok(section)
}

/// The guided flows while all five are active.
fn guided(flows: &[FlowResults]) -> Pool {
    let mut pool = Pool::default();
    for flow in flows.iter().take(GUIDED) {
        pool.add(flow.rows().iter().filter(|r| r.at > FROM));
    }
    pool
}
