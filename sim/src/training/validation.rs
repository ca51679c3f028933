//! Which of the checkpoints becomes the model: the score of a fixed scenario (arXiv 2611.02032, equation 7).

use super::environment::exploit;
use super::{Error, Task};
use crate::results::{FlowResults, Pool};
use crate::runs::in_parallel;
use policies::model::{Card, Native, Validation};
use std::sync::Arc;
use std::time::Duration;

/// What a validation found.
pub struct Validated {
    /// For the card; its checkpoint is 0.
    pub result: Validation,
    /// Largest of the report intervals' mean delays, ms.
    pub delay_max_ms: f64,
    /// What the actor observed, one observation after the other.
    pub observations: Vec<f32>,
}

/// Runs the scenario with seeds 1 to `seeds` and scores the guided flow while the others are there too, all seeds together.
///
/// # Errors
/// When the scenario is wrong.
pub fn validate(
    task: &Task,
    seeds: u64,
    card: &Arc<Card>,
    actor: &Native,
    threads: usize,
) -> Result<Validated, Error> {
    let runs = in_parallel((1..=seeds).collect(), threads, |seed| {
        let (simulation, observations) = exploit(task.parts(), seed, card, actor)?;
        let flows = simulation.into_results();
        let (pool, seconds) = overlap(&flows);
        Ok::<_, Error>((pool, seconds, observations))
    });
    let (mut pool, mut seconds, mut observations) = (Pool::default(), 0.0, Vec::new());
    for run in runs {
        let (part, length, seen) = run?;
        pool.merge(part);
        seconds += length;
        observations.extend(seen);
    }
    let summary = pool.summary(seconds);
    let delay = summary.report_delay;
    let loss = summary.loss_percent / 100.0;
    Ok(Validated {
        result: Validation {
            checkpoint: 0,
            score: score(summary.goodput_mbps, loss, delay.mean_ms, delay.p95_ms),
            goodput_mbps: summary.goodput_mbps,
            loss,
            delay_mean_ms: delay.mean_ms,
            delay_p95_ms: delay.p95_ms,
        },
        delay_max_ms: delay.max_ms,
        observations,
    })
}

/// The report intervals of the first flow in which all flows are there, and the length of that time, s.
fn overlap(flows: &[FlowResults]) -> (Pool, f64) {
    let lives = || flows.iter().map(FlowResults::life);
    let from = lives().map(|(start, _)| start).max().unwrap_or_default();
    let to = lives().map(|(_, stop)| stop).min().unwrap_or_default();
    let mut pool = Pool::default();
    if let Some(flow) = flows.first() {
        let rows = flow.rows().iter();
        pool.add(rows.filter(|row| row.at > from && row.at <= to));
    }
    let length: Duration = to.saturating_sub(from);
    (pool, length.as_secs_f64())
}

/// Goodput in Mbit/s, less what is lost, against the one-way delay in ms.
pub fn score(goodput_mbps: f64, loss: f64, delay_mean_ms: f64, delay_p95_ms: f64) -> f64 {
    goodput_mbps * (1.0 - loss) / (1.0 + delay_mean_ms / 5.0 + delay_p95_ms / 20.0)
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn scores_are_those_of_the_papers_table() {
        // Table III, checkpoints 1 and 10.
        for (goodput, mean, p95, wanted) in [(37.7, 7.01, 15.7, 11.82), (33.5, 3.26, 4.7, 17.74)] {
            let found = score(goodput, 0.0, mean, p95);
            assert!((found - wanted).abs() < 0.05, "{found} {wanted}");
        }
    }
}
