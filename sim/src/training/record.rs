//! The record of a training: for people as CSV and charts, and to resume from.

use super::ppo::Update;
use super::{Error, Plan};
use crate::plot::{Chart, Page, Series};
use policies::model::Validation;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

const FILE: &str = "record.toml";

/// What happened so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What is carried out.
    pub plan: Plan,
    /// Decisions learned from.
    pub samples: u64,
    /// Smallest and largest normalised value of each feature.
    pub seen: Vec<[f32; 2]>,
    /// The updates, oldest first.
    pub updates: Vec<UpdateRow>,
    /// The checkpoints, oldest first.
    pub checkpoints: Vec<CheckpointRow>,
}

/// One update of the actor and the critic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpdateRow {
    /// The checkpoint it leads to.
    pub checkpoint: u32,
    /// Decisions learned from, with this update.
    pub samples: u64,
    /// Mean reward.
    pub reward: f64,
    /// Mean gain chosen.
    pub gain: f64,
    /// What the update did.
    #[serde(flatten)]
    pub update: Update,
}

/// One checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointRow {
    /// Number, from 1, and how it did in validation.
    #[serde(flatten)]
    pub validation: Validation,
    /// Largest of the report intervals' mean delays, ms.
    pub delay_max_ms: f64,
}

impl Record {
    /// Nothing has happened yet.
    pub fn new(plan: Plan) -> Self {
        Self {
            seen: vec![[1.0, 0.0]; plan.card.features.len()],
            samples: 0,
            updates: Vec::new(),
            checkpoints: Vec::new(),
            plan,
        }
    }

    /// Reads the record of the training in `folder`.
    ///
    /// # Errors
    /// When there is none.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let file = folder.join(FILE);
        let text = std::fs::read_to_string(&file).map_err(|error| Error::file(&file, error))?;
        toml::from_str(&text).map_err(|error| Error::file(&file, error))
    }

    /// The checkpoint with the highest score, the first of equals.
    pub fn best(&self) -> Option<&CheckpointRow> {
        let better = |best: &'_ CheckpointRow, row: &CheckpointRow| {
            row.validation.score > best.validation.score
        };
        self.checkpoints.iter().fold(None, |best, row| match best {
            Some(best) if !better(best, row) => Some(best),
            _ => Some(row),
        })
    }

    /// Takes note of normalised observations, of windows of features.
    pub fn see(&mut self, state: &[f32]) {
        let features = self.seen.len().max(1);
        for window in state.chunks_exact(features) {
            for (range, x) in self.seen.iter_mut().zip(window) {
                *range = [range[0].min(*x), range[1].max(*x)];
            }
        }
    }

    /// Writes the record, its tables and its charts.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let write = |name: &str, text: &str| {
            let file = folder.join(name);
            // A record that is cut off could not be resumed.
            let partial = folder.join(format!("{name}.partial"));
            std::fs::write(&partial, text)
                .and_then(|()| std::fs::rename(&partial, &file))
                .map_err(|error| Error::file(&file, error))
        };
        write("training.csv", &self.training_csv())?;
        write("validation.csv", &self.validation_csv())?;
        let mut page = Page::new(&format!("Training of {}", self.plan.card.name));
        for (name, chart) in self.charts() {
            write(&format!("{name}.svg"), &chart.svg()?)?;
            page.chart(&chart)?;
        }
        write("index.html", &page.finish())?;
        let text = toml::to_string(self);
        let text = text.map_err(|error| Error::file(&folder.join(FILE), error))?;
        write(FILE, &text)
    }

    fn training_csv(&self) -> String {
        let mut text = String::from(
            "checkpoint,samples,reward,gain,policy_loss,value_loss,entropy,clip_fraction,divergence\n",
        );
        for row in &self.updates {
            let u = &row.update;
            let _ = writeln!(
                text,
                "{},{},{:.4},{:.4},{:.5},{:.5},{:.4},{:.4},{:.5}",
                row.checkpoint,
                row.samples,
                row.reward,
                row.gain,
                u.policy_loss,
                u.value_loss,
                u.entropy,
                u.clip_fraction,
                u.divergence
            );
        }
        text
    }

    fn validation_csv(&self) -> String {
        let mut text = String::from(
            "checkpoint,score,goodput_mbps,loss,delay_mean_ms,delay_p95_ms,delay_max_ms\n",
        );
        for row in &self.checkpoints {
            let v = &row.validation;
            let _ = writeln!(
                text,
                "{},{:.3},{:.2},{:.5},{:.3},{:.3},{:.3}",
                v.checkpoint,
                v.score,
                v.goodput_mbps,
                v.loss,
                v.delay_mean_ms,
                v.delay_p95_ms,
                row.delay_max_ms
            );
        }
        text
    }

    fn charts(&self) -> Vec<(&'static str, Chart)> {
        let chart = |title: &str, x_label: &str, series: Vec<Series>| Chart {
            title: title.to_owned(),
            x_label: x_label.to_owned(),
            series,
            ..Chart::default()
        };
        let updates = |label: &str, of: fn(&UpdateRow) -> f64| Series {
            label: label.to_owned(),
            points: smoothed(self.updates.iter().map(|u| (u.samples as f64, of(u)))),
            ..Series::default()
        };
        let checkpoints = |label: &str, of: fn(&CheckpointRow) -> f64| {
            let rows = self.checkpoints.iter();
            Series {
                label: label.to_owned(),
                points: rows
                    .map(|c| (f64::from(c.validation.checkpoint), of(c)))
                    .collect(),
                ..Series::default()
            }
        };
        let (samples, number) = ("decisions learned from", "checkpoint");
        vec![
            (
                "reward",
                chart("Reward", samples, vec![updates("", |u| u.reward)]),
            ),
            (
                "policy",
                chart(
                    "Policy",
                    samples,
                    vec![
                        updates("entropy, nats", |u| u.update.entropy),
                        updates("mean gain", |u| u.gain),
                        updates("share clipped", |u| u.update.clip_fraction),
                    ],
                ),
            ),
            (
                "critic",
                chart(
                    "Squared error of the critic",
                    samples,
                    vec![updates("", |u| u.update.value_loss)],
                ),
            ),
            (
                "score",
                chart(
                    "Validation",
                    number,
                    vec![
                        checkpoints("score", |c| c.validation.score),
                        checkpoints("goodput, Mbit/s", |c| c.validation.goodput_mbps),
                        checkpoints("mean delay, ms", |c| c.validation.delay_mean_ms),
                        checkpoints("p95 delay, ms", |c| c.validation.delay_p95_ms),
                    ],
                ),
            ),
        ]
    }
}

/// Means of so many updates that a chart stays readable.
fn smoothed(points: impl ExactSizeIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    const POINTS: usize = 200;
    let width = points.len().div_ceil(POINTS).max(1);
    let points: Vec<_> = points.collect();
    let mean = |points: &[(f64, f64)]| {
        let sum: f64 = points.iter().map(|(_, y)| y).sum();
        let last = points.last().map_or(0.0, |(x, _)| *x);
        (last, sum / points.len() as f64)
    };
    points.chunks(width).map(mean).collect()
}
