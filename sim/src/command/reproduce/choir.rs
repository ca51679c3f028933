//! Choir's tables 2 to 4, a single flow over a fluctuating capacity, its ablations, and its form for E2.

use super::reference::{Reference, beside, figure};
use super::section::Section;
use super::{Failure, simulate};
use sim::frames::{FrameResults, FrameSummary};
use sim::plot::{Chart, Series};
use sim::results::{FlowResults, jain_index};
use sim::scenario::Selection;
use std::time::Duration;

/// Wired delays of the paper, ms.
const WIRED_MS: [u32; 3] = [1, 10, 20];

/// How much is run.
#[derive(Clone, Copy)]
pub struct Effort {
    seeds: u64,
    seconds: f64,
}

impl Effort {
    /// The full reproduction with so many seeds, or a first look.
    pub fn new(seeds: u64, quick: bool) -> Self {
        match quick {
            true => Self {
                seeds: 1,
                seconds: 15.0,
            },
            false => Self {
                seeds: seeds.min(5),
                seconds: 60.0,
            },
        }
    }

    fn selection(self, scenario: &str, settings: &[String]) -> Selection {
        let mut all = vec![format!("duration_s={}", self.seconds)];
        all.extend_from_slice(settings);
        Selection::new(scenario).with(&all)
    }
}

/// What is kept of a run.
#[derive(Clone)]
struct Outcome {
    frames: Option<FrameResults>,
    /// Goodput of each flow, Mbit/s.
    goodputs: Vec<f64>,
    jain: f64,
    /// One-way delay per packet, means over the flows, ms: mean, 95th percentile; of several runs their sums, as `jain`.
    packet_ms: (f64, f64),
    runs: f64,
}

impl Outcome {
    fn of(flows: &[FlowResults], seconds: f64) -> Self {
        let end = Duration::from_secs_f64(seconds);
        let summaries: Vec<_> = flows.iter().map(|flow| flow.summary(end)).collect();
        let goodputs: Vec<f64> = summaries.iter().map(|s| s.goodput_mbps).collect();
        let count = flows.len().max(1) as f64;
        let delay = |of: fn(&sim::results::DelaySummary) -> f64| {
            summaries.iter().map(|s| of(&s.packet_delay)).sum::<f64>() / count
        };
        let mut frames: Option<FrameResults> = None;
        for flow in flows.iter().filter_map(|flow| flow.frames.as_ref()) {
            match &mut frames {
                Some(all) => all.merge(flow),
                None => frames = Some(flow.clone()),
            }
        }
        Self {
            jain: jain_index(&goodputs),
            packet_ms: (delay(|d| d.mean_ms), delay(|d| d.p95_ms)),
            goodputs,
            frames,
            runs: 1.0,
        }
    }

    /// Seeds taken together.
    fn merge(mut self, other: Self) -> Self {
        if let (Some(all), Some(more)) = (&mut self.frames, &other.frames) {
            all.merge(more);
        }
        self.goodputs.extend(other.goodputs);
        self.jain += other.jain;
        self.packet_ms.0 += other.packet_ms.0;
        self.packet_ms.1 += other.packet_ms.1;
        self.runs += other.runs;
        self
    }

    fn goodput(&self) -> f64 {
        self.goodputs.iter().sum::<f64>() / self.goodputs.len().max(1) as f64
    }

    fn jain(&self) -> f64 {
        self.jain / self.runs
    }

    fn frames(&self) -> FrameSummary {
        self.frames
            .as_ref()
            .map(FrameResults::summary)
            .unwrap_or_default()
    }

    /// Name and figures of a video flow.
    fn row(&self, name: String) -> Vec<String> {
        let f = self.frames();
        vec![
            name,
            figure(f.bitrate_mbps, 2),
            figure(f.bitrate_deviation_mbps, 2),
            figure(f.mean_ms, 1),
            figure(f.p95_ms, 1),
            figure(f.p99_ms, 1),
            figure(f.p999_ms, 1),
        ]
    }
}

/// The scenario of one flow.
const SINGLE: &str = "choir-single";
/// The scenario of seven.
const SEVEN: &str = "choir-7";
const HEAD: [&str; 7] = [
    "",
    "bitrate, Mbit/s",
    "its deviation",
    "mean frame delay, ms",
    "p95",
    "p99",
    "p99.9",
];

fn outcomes(what: &str, selections: &[Selection], effort: Effort) -> Result<Vec<Outcome>, Failure> {
    let runs = simulate(what, selections, effort.seeds, |flows| {
        Outcome::of(&flows, effort.seconds)
    })?;
    let merged = runs
        .into_iter()
        .filter_map(|seeds| seeds.into_iter().reduce(Outcome::merge));
    Ok(merged.collect())
}

fn set(key: &str, value: impl std::fmt::Display) -> String {
    format!("{key}={value}")
}

/// Tables 2 to 4, and the same cell with other senders.
pub fn tables(effort: Effort) -> Result<Section, Failure> {
    let reference = Reference::new(include_str!("../../../reference/choir_tables2_4.csv"));
    let selections: Vec<Selection> = reference
        .rows()
        .map(|row| {
            let scenario = format!("choir-{}", row.text("flows"));
            let wired = set("delays.wired_ms", row.text("wired_delay_ms"));
            effort.selection(&scenario, &[wired])
        })
        .collect();
    let ours = outcomes("Choir, tables 2 to 4", &selections, effort)?;
    let rows = reference.rows().zip(&ours).map(|(paper, ours)| {
        let f = ours.frames();
        vec![
            format!(
                "{} flows, {} ms",
                paper.text("flows"),
                paper.text("wired_delay_ms")
            ),
            beside(f.bitrate_mbps, paper.number("bitrate_per_flow_mbps"), 2),
            beside(f.mean_ms, paper.number("mean_ms"), 1),
            beside(f.p95_ms, paper.number("p95_ms"), 1),
            beside(f.p999_ms, paper.number("p999_ms"), 1),
            figure(ours.jain(), 4),
            f.lost.to_string(),
        ]
    });
    let mut section = Section::default();
    section.table(
        "Tables 2 to 4, all flows: ours / paper",
        &[
            "flows, wired delay",
            "bitrate per flow, Mbit/s",
            "mean frame delay, ms",
            "p95",
            "p99.9",
            "Jain's index",
            "frames lost",
        ],
        rows.collect(),
    );
    section.chart("choir-delay", distribution(&ours));
    others(effort, &mut section)?;
    Ok(section)
}

/// Frame delay of the seven flows by wired delay.
fn distribution(ours: &[Outcome]) -> Chart {
    let seven = ours.iter().step_by(2).zip(WIRED_MS);
    let series = seven.filter_map(|(outcome, wired)| {
        Some(Series {
            label: format!("7 flows, {wired} ms"),
            points: outcome.frames.as_ref()?.distribution(),
            ..Series::default()
        })
    });
    Chart {
        title: "Frame delay of seven Choir flows".to_owned(),
        x_label: "frame delay, ms".to_owned(),
        y_label: "share of the frames".to_owned(),
        series: series.collect(),
        ..Chart::default()
    }
}

/// Seven flows of other senders in the same cell.
fn others(effort: Effort, section: &mut Section) -> Result<(), Failure> {
    const SENDERS: [&str; 4] = ["scone", "cubic", "bbr1", "bbr3"];
    let selections =
        SENDERS.map(|sender| effort.selection("choir-7", &[set("flows.*.sender", sender)]));
    let ours = outcomes("Other senders in Choir's cell", &selections, effort)?;
    let rows = SENDERS.iter().zip(&ours).map(|(sender, outcome)| {
        let frames = outcome.frames.as_ref().map(FrameResults::summary);
        let of =
            |value: fn(&FrameSummary) -> f64| figure(frames.as_ref().map_or(f64::NAN, value), 1);
        vec![
            (*sender).to_owned(),
            figure(outcome.goodput(), 2),
            figure(outcome.jain(), 4),
            of(|f| f.mean_ms),
            of(|f| f.p95_ms),
            of(|f| f.p999_ms),
            figure(outcome.packet_ms.0 / outcome.runs, 1),
            figure(outcome.packet_ms.1 / outcome.runs, 1),
        ]
    });
    section.table(
        "Seven flows of other senders in the same cell, 1 ms: ours",
        &[
            "sender",
            "goodput per flow, Mbit/s",
            "Jain's index",
            "mean frame delay, ms",
            "p95",
            "p99.9",
            "mean packet delay, ms",
            "p95",
        ],
        rows.collect(),
    );
    Ok(())
}

/// A single flow over a fluctuating capacity: wired delay, ε, feedback, encoder.
pub fn single(effort: Effort) -> Result<Section, Failure> {
    let mut section = Section::default();
    let mut variants: Vec<(String, Vec<String>)> = Vec::new();
    for wired in WIRED_MS {
        for sender in ["choir-tti", "scone"] {
            variants.push((
                format!("{sender}, {wired} ms"),
                vec![set("flows.0.sender", sender), set("delays.wired_ms", wired)],
            ));
        }
    }
    table(
        &mut section,
        "One flow over a fluctuating capacity of 20 Mbit/s in the mean: ours",
        SINGLE,
        &variants,
        effort,
    )?;
    let epsilons = [1, 5, 10, 20].map(|epsilon| {
        (
            format!("ε = {epsilon}"),
            vec![set("flows.0.smoothing", epsilon)],
        )
    });
    table(
        &mut section,
        "Smoothing (figure 14), 1 ms: ours",
        SINGLE,
        &epsilons,
        effort,
    )?;
    let feedback = [2.5, 16.667, 33.333, 50.0].map(|ms| {
        let name = match ms {
            2.5 => "every 2.5 ms".to_owned(),
            _ => format!("every {:.0} frame(s)", ms / 16.667),
        };
        (name, vec![set("flows.0.feedback_ms", ms)])
    });
    table(
        &mut section,
        "Feedback frequency (figure 13), 1 ms: ours",
        SINGLE,
        &feedback,
        effort,
    )?;
    let encoders = [1, 2, 3].map(|frames| {
        (
            format!("{frames} frame(s)"),
            vec![set("flows.0.response_frames", frames)],
        )
    });
    table(
        &mut section,
        "Frames until the encoder has the bitrate, 1 ms: ours",
        SINGLE,
        &encoders,
        effort,
    )?;
    section.chart(SINGLE, bitrates(effort)?);
    Ok(section)
}

/// One table of variants of a scenario; of several flows, with Jain's index of their goodputs.
fn table(
    section: &mut Section,
    title: &str,
    scenario: &str,
    variants: &[(String, Vec<String>)],
    effort: Effort,
) -> Result<(), Failure> {
    let selections: Vec<Selection> = variants
        .iter()
        .map(|(_, settings)| effort.selection(scenario, settings))
        .collect();
    let ours = outcomes(title, &selections, effort)?;
    let several = scenario != SINGLE;
    let rows = variants.iter().zip(&ours).map(|((name, _), outcome)| {
        let mut row = outcome.row(name.clone());
        row.extend(several.then(|| figure(outcome.jain(), 4)));
        row
    });
    let jain: &[&str] = if several { &["Jain's index"] } else { &[] };
    section.table(title, &[&HEAD[..], jain].concat(), rows.collect());
    Ok(())
}

/// Bitrate over time by wired delay, first seed (figure 12).
fn bitrates(effort: Effort) -> Result<Chart, Failure> {
    let selections = WIRED_MS.map(|wired| {
        let settings = [
            set("delays.wired_ms", wired),
            set("control.report_interval_ms", 50),
        ];
        effort.selection(SINGLE, &settings)
    });
    let runs = simulate("Choir, figure 12", &selections, 1, |flows| {
        let rows = flows.first().map_or(&[][..], FlowResults::rows);
        let points = rows.iter().filter(|row| row.at < Duration::from_secs(10));
        let points = points.map(|row| (row.at.as_secs_f64(), row.rate_bps.unwrap_or(0.0) / 1e6));
        points.collect::<Vec<_>>()
    })?;
    let series = runs
        .into_iter()
        .flatten()
        .zip(WIRED_MS)
        .map(|(points, wired)| Series {
            label: format!("{wired} ms"),
            points,
            ..Series::default()
        });
    Ok(Chart {
        title: "Bitrate of one Choir flow over a fluctuating capacity".to_owned(),
        x_label: "time, s".to_owned(),
        y_label: "bitrate, Mbit/s".to_owned(),
        series: series.collect(),
        ..Chart::default()
    })
}

/// The law in the base station against its form for E2, and what the paper leaves open.
pub fn over_e2(effort: Effort) -> Result<Section, Failure> {
    let mut variants: Vec<(String, Vec<String>)> = Vec::new();
    for wired in WIRED_MS {
        let delay = set("delays.wired_ms", wired);
        variants.push((format!("every TTI, {wired} ms"), vec![delay.clone()]));
        for period in [1, 5, 10] {
            variants.push((
                format!("E2, reports every {period} ms, {wired} ms"),
                vec![
                    delay.clone(),
                    set("flows.*.sender", "choir"),
                    set("control.report_interval_ms", period),
                    set("control.control_interval_ms", period),
                ],
            ));
        }
    }
    let mut section = Section::default();
    table(
        &mut section,
        "Seven flows, in the base station and over E2: ours",
        SEVEN,
        &variants,
        effort,
    )?;
    let open = [
        ("as it is", None),
        (
            "uPRB and PRB_used of the last TTI",
            Some(("use_window_ms", "0")),
        ),
        ("averaged over one frame", Some(("use_window_ms", "16.667"))),
        (
            "DN: only TTIs that carried data",
            Some(("downlink_ttis", "used")),
        ),
        ("N_active of the last TTI", Some(("active_hold_ms", "0"))),
        (
            "frames in flight not as printed (eqs. 13, 14)",
            Some(("in_flight", "causal")),
        ),
        ("η = 0.9", Some(("eta", "0.9"))),
    ];
    for wired in [1, 10] {
        let variants = open.map(|(name, parameter)| {
            let mut settings = vec![set("delays.wired_ms", wired)];
            settings
                .extend(parameter.map(|(key, value)| set(&format!("flows.*.choir.{key}"), value)));
            (name.to_owned(), settings)
        });
        let title = format!("What the paper leaves open, seven flows, {wired} ms: ours");
        table(&mut section, &title, SEVEN, &variants, effort)?;
    }
    Ok(section)
}
