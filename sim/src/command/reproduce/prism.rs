//! PRISM's test scenario with RAPID and its peak variant: Tables IV to VI.

use super::reference::{Reference, Row, beside, figure};
use super::section::Section;
use super::{Failure, simulate};
use sim::plot::{Chart, Series, cumulative};
use sim::results::{FlowResults, Pool, WindowSummary};
use sim::scenario::{Selection, SenderKind};

const SCENARIO: &str = "prism-test";
/// Guided flows come first in the scenario.
const GUIDED: usize = 2;
const POLICIES: [(SenderKind, &str); 2] = [
    (SenderKind::Rapid, "RAPID"),
    (SenderKind::RapidPeak, "Intermediate"),
];

/// What is kept of a run, or of several.
#[derive(Clone, Default)]
struct Outcome {
    seconds: f64,
    /// The guided flows, always, and while 1 to 5 flows are active, with the time that this was so.
    guided: Pool,
    by_flows: [(f64, Pool); 6],
    /// Each flow while all five are active.
    contended: [Pool; 5],
}

impl Outcome {
    fn of(flows: &[FlowResults]) -> Self {
        let mut outcome = Self::default();
        let rows = flows.first().map_or(&[][..], FlowResults::rows);
        let mut previous = 0.0;
        for (index, row) in rows.iter().enumerate() {
            let active = |flow: &&FlowResults| row.at > flow.life().0 && row.at <= flow.life().1;
            let count = flows.iter().filter(active).count().min(5);
            let length = row.at.as_secs_f64() - previous;
            previous += length;
            outcome.seconds += length;
            outcome.by_flows[count].0 += length;
            for (number, flow) in flows.iter().enumerate().filter(|(_, flow)| active(flow)) {
                let Some(row) = flow.rows().get(index) else {
                    continue;
                };
                if number < GUIDED {
                    outcome.guided.add([row]);
                    outcome.by_flows[count].1.add([row]);
                }
                if count == 5 {
                    outcome.contended[number].add([row]);
                }
            }
        }
        outcome
    }

    fn merge(mut self, other: Self) -> Self {
        self.seconds += other.seconds;
        self.guided.merge(other.guided);
        for (mine, (seconds, pool)) in self.by_flows.iter_mut().zip(other.by_flows) {
            mine.0 += seconds;
            mine.1.merge(pool);
        }
        for (mine, pool) in self.contended.iter_mut().zip(other.contended) {
            mine.merge(pool);
        }
        self
    }
}

pub fn run(seeds: u64) -> Result<Section, Failure> {
    let selections = POLICIES.map(|(policy, _)| Selection {
        policy: Some(policy),
        ..Selection::new(SCENARIO)
    });
    let outcomes = simulate("PRISM's test", &selections, seeds, |flows| {
        Outcome::of(&flows)
    })?;
    let outcomes: Vec<Outcome> = outcomes
        .into_iter()
        .map(|runs| runs.into_iter().fold(Outcome::default(), Outcome::merge))
        .collect();
    let mut section = Section::default();
    section.table(
        &format!("Tables IV and VI, both guided flows, {seeds} seeds: ours / paper"),
        &[
            "scheme",
            "goodput, Mbit/s",
            "mean delay, ms",
            "p50",
            "p95",
            "p99",
            "loss, %",
        ],
        whole_test(&outcomes),
    );
    section.table(
        "Table V, RAPID by number of active flows: ours / paper; last column: the peak variant, ours",
        &[
            "n (target, PRBs)",
            "goodput, Mbit/s",
            "mean delay, ms",
            "p50",
            "p95",
            "p99",
            "peak variant: goodput; mean, p95 delay",
        ],
        contention(&outcomes),
    );
    section.table(
        "Per flow while all five are active: ours (means over the seeds), and ns-3's short runs",
        &[
            "flow",
            "goodput, Mbit/s",
            "mean delay, ms",
            "p95",
            "p99",
            "loss, %",
            "PRBs",
        ],
        five_flows(&outcomes),
    );
    section.chart("prism-delay", distribution(&outcomes));
    Ok(section)
}

fn delays(ours: &WindowSummary, paper: Row<'_>) -> Vec<String> {
    let d = ours.report_delay;
    vec![
        beside(ours.goodput_mbps, paper.number("goodput_mbps"), 1),
        beside(d.mean_ms, paper.number("owd_mean_ms"), 1),
        beside(d.p50_ms, paper.number("owd_p50_ms"), 1),
        beside(d.p95_ms, paper.number("owd_p95_ms"), 1),
        beside(d.p99_ms, paper.number("owd_p99_ms"), 1),
    ]
}

fn whole_test(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let table4 = Reference::new(include_str!("../../../reference/prism_table4_test.csv"));
    let table6 = Reference::new(include_str!("../../../reference/prism_table6_ablation.csv"));
    let rows = POLICIES
        .iter()
        .zip(outcomes)
        .filter_map(|((_, name), outcome)| {
            // Table IV has the median, but not the intermediate scheme.
            let mut rows = table4.rows().chain(table6.rows());
            let paper = rows.find(|row| row.text("scheme") == *name)?;
            let ours = outcome.guided.summary(outcome.seconds);
            let mut cells = vec![(*name).to_owned()];
            cells.extend(delays(&ours, paper));
            cells.push(beside(ours.loss_percent, paper.number("loss_pct"), 2));
            Some(cells)
        });
    rows.collect()
}

fn contention(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let table5 = Reference::new(include_str!(
        "../../../reference/prism_table5_contention.csv"
    ));
    let rows = table5.rows().filter(|row| row.text("scheme") == "RAPID");
    let rows = rows.map(|row| {
        let n = row.text("n").parse::<usize>().unwrap_or(0).min(5);
        let summary = |outcome: &Outcome| {
            let (seconds, pool) = &outcome.by_flows[n];
            pool.summary(*seconds)
        };
        let peak = summary(&outcomes[1]);
        let mut cells = vec![format!("{n} ({})", row.text("p_eps"))];
        cells.extend(delays(&summary(&outcomes[0]), row));
        cells.push(format!(
            "{:.1}; {:.1}, {:.1}",
            peak.goodput_mbps, peak.report_delay.mean_ms, peak.report_delay.p95_ms
        ));
        cells
    });
    rows.collect()
}

fn five_flows(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    const FLOWS: [&str; 5] = ["guided 0", "guided 1", "CUBIC 2", "CUBIC 3", "BBR 4"];
    let mut rows = Vec::new();
    for ((_, name), outcome) in POLICIES.iter().zip(outcomes) {
        let seconds = outcome.by_flows[5].0;
        for (flow, pool) in FLOWS.iter().zip(&outcome.contended) {
            let s = pool.summary(seconds);
            rows.push(vec![
                format!("{name}: {flow}"),
                figure(s.goodput_mbps, 1),
                figure(s.report_delay.mean_ms, 1),
                figure(s.report_delay.p95_ms, 1),
                figure(s.report_delay.p99_ms, 1),
                figure(s.loss_percent, 2),
                figure(s.prbs, 1),
            ]);
        }
    }
    let ns3 = Reference::new(include_str!("../../../reference/ns3_prism.csv"));
    let five = ns3.rows().filter(|row| row.text("window") == "n5");
    // Gain as in RAPID's figure 3 (I1), PRB use relative to slots without uplink (dd).
    for row in
        five.filter(|row| row.text("run").starts_with("dd_") && row.text("run").contains("_I1_"))
    {
        rows.push(vec![
            format!(
                "ns-3 {}: {} {}",
                &row.text("run")[3..],
                row.text("type"),
                row.text("flow")
            ),
            figure(row.number("goodput_mbps"), 1),
            figure(row.number("owd50_mean"), 1),
            figure(row.number("owd50_p95"), 1),
            figure(row.number("owd50_p99"), 1),
            figure(row.number("loss_pct"), 2),
            figure(row.number("prb_mean"), 1),
        ]);
    }
    rows
}

fn distribution(outcomes: &[Outcome]) -> Chart {
    let series = POLICIES.iter().zip(outcomes).map(|((_, name), outcome)| {
        let delays = outcome.guided.delays_s().iter().map(|s| 1e3 * s);
        Series {
            label: (*name).to_owned(),
            points: cumulative(delays.collect(), 500),
            ..Series::default()
        }
    });
    Chart {
        title: "One-way delay of the guided flows, means of 50 ms".to_owned(),
        x_label: "one-way delay, ms".to_owned(),
        y_label: "share of the intervals".to_owned(),
        series: series.collect(),
        ..Chart::default()
    }
}
