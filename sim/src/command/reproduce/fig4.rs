//! RAPID's figure 4: a CUBIC flow and two RAPID flows on its testbed.

use super::reference::{Reference, beside, figure};
use super::section::Section;
use super::{Failure, simulate};
use sim::results::{FlowResults, Pool};
use sim::scenario::Selection;
use std::time::Duration;

/// All three flows send, and RAPID has had time to settle.
const WINDOW: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(60));

pub fn run(seeds: u64) -> Result<Section, Failure> {
    let selection = Selection::new("rapid-fig4");
    let runs = simulate("RAPID, figure 4", &[selection], seeds, |flows| {
        pools(&flows)
    })?;
    let mut totals = vec![Pool::default(); 3];
    for pools in runs.into_iter().flatten() {
        for (total, pool) in totals.iter_mut().zip(pools) {
            total.merge(pool);
        }
    }
    let seconds = (WINDOW.1 - WINDOW.0).as_secs_f64() * seeds as f64;
    let paper = Reference::new(include_str!("../../../reference/rapid_fig4_testbed.csv"));
    let rows = paper.rows().zip(&totals).map(|(row, pool)| {
        let ours = pool.summary(seconds);
        let delays = pool.delays_s();
        let mean = ours.report_delay.mean_ms;
        let variance = delays.iter().map(|s| (1e3 * s - mean).powi(2)).sum::<f64>();
        let deviation = (variance / delays.len().max(1) as f64).sqrt();
        vec![
            row.text("flow").to_owned(),
            beside(ours.goodput_mbps, row.number("goodput_mbps"), 1),
            beside(mean, row.number("owd_mean_ms"), 1),
            beside(deviation, row.number("owd_pm_ms"), 0),
            beside(ours.prbs, row.number("prb_mean"), 0),
            figure(ours.report_delay.p99_ms, 1),
        ]
    });
    let mut section = Section::default();
    section.table(
        "Figure 4: ours / paper",
        &[
            "flow",
            "goodput, Mbit/s",
            "mean delay, ms",
            "its deviation, ms",
            "PRBs per downlink slot",
            "p99 delay, ms (ours)",
        ],
        rows.collect(),
    );
    Ok(section)
}

fn pools(flows: &[FlowResults]) -> Vec<Pool> {
    let pool = |flow: &FlowResults| {
        let mut pool = Pool::default();
        let rows = flow.rows().iter();
        pool.add(rows.filter(|r| r.at > WINDOW.0 && r.at <= WINDOW.1));
        pool
    };
    flows.iter().map(pool).collect()
}
