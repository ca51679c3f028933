//! Goldens: observations, and the gain that the network chooses for each.

use super::{Inference, Native, Network, Refusal, best};
use std::fmt::Write;

/// Goldens of a bundle at least.
pub const GOLDENS: usize = 32;
/// And at most.
const MAX_GOLDENS: usize = 1024;
/// By so much the best score leads the second in a golden, relative to the spread of the scores: engines add up in
/// different orders, and must still agree.
const LEAD: f32 = 1e-3;

/// An observation and its gain.
#[derive(Clone, Debug, PartialEq)]
pub struct Golden {
    /// As the network takes it.
    pub observation: Vec<f32>,
    /// The gain chosen.
    pub gain: f64,
}

/// `goldens.csv`: a line per golden, the gain first.
#[derive(Clone, Debug, PartialEq)]
pub struct Goldens(Vec<Golden>);

impl Goldens {
    /// Chooses [`GOLDENS`] observations out of `candidates` (one after the other) for `network`: of each gain in turn,
    /// so that as many gains as possible are among them.
    ///
    /// # Errors
    /// When there are too few that are decided clearly.
    pub fn choose(network: &Network, gains: &[f64], candidates: &[f32]) -> Result<Self, Refusal> {
        let inputs = network.inputs();
        let mut native = Native::new(network);
        let scores = native.infer(candidates)?;
        let mut by_gain: Vec<Vec<&[f32]>> = vec![Vec::new(); gains.len()];
        for (scores, observation) in scores
            .chunks_exact(network.outputs())
            .zip(candidates.chunks_exact(inputs))
        {
            if let Some(chosen) = clearly_best(scores).and_then(|gain| by_gain.get_mut(gain)) {
                chosen.push(observation);
            }
        }
        let longest = by_gain.iter().map(Vec::len).max().unwrap_or(0);
        let in_turn = (0..longest).flat_map(|turn| {
            let row = by_gain.iter().zip(gains);
            row.filter_map(move |(observations, gain)| Some((*observations.get(turn)?, *gain)))
        });
        let goldens: Vec<_> = in_turn
            .take(GOLDENS)
            .map(|(observation, gain)| Golden {
                observation: observation.to_vec(),
                gain,
            })
            .collect();
        if goldens.len() < GOLDENS {
            return Err(Refusal::Goldens {
                reason: format!(
                    "{} of {} candidates are decided clearly, fewer than {GOLDENS}",
                    goldens.len(),
                    candidates.len() / inputs
                ),
            });
        }
        Ok(Self(goldens))
    }

    /// Reads the file.
    ///
    /// # Errors
    /// When a line is not one gain and `inputs` numbers, or there are too few or too many.
    pub fn parse(text: &str, inputs: usize) -> Result<Self, Refusal> {
        let refuse = |reason| Refusal::Goldens { reason };
        let mut goldens = Vec::new();
        for (row, line) in (1..).zip(text.lines()) {
            if row > MAX_GOLDENS {
                return Err(refuse(format!("more than {MAX_GOLDENS} rows")));
            }
            let (gain, observation) = line
                .split_once(',')
                .ok_or_else(|| refuse(format!("row {row} has no observation")))?;
            let number = |text: &str| text.trim().parse::<f32>().ok().filter(|x| x.is_finite());
            let observation: Option<Vec<f32>> = observation.split(',').map(number).collect();
            let observation = observation.filter(|o| o.len() == inputs);
            let gain = gain.trim().parse().ok();
            let golden = gain
                .zip(observation)
                .map(|(gain, observation)| Golden { observation, gain });
            goldens.push(
                golden.ok_or_else(|| {
                    refuse(format!("row {row} is not a gain and {inputs} numbers"))
                })?,
            );
        }
        if goldens.len() < GOLDENS {
            return Err(refuse(format!(
                "{} rows, fewer than {GOLDENS}",
                goldens.len()
            )));
        }
        Ok(Self(goldens))
    }

    /// As the text of the file.
    pub fn to_csv(&self) -> String {
        let mut text = String::new();
        for golden in &self.0 {
            let _ = write!(text, "{}", golden.gain);
            for x in &golden.observation {
                let _ = write!(text, ",{x}");
            }
            text.push('\n');
        }
        text
    }

    /// One after the other.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Golden> {
        self.0.iter()
    }

    /// Their observations as one batch.
    pub fn batch(&self) -> Vec<f32> {
        self.0
            .iter()
            .flat_map(|g| &g.observation)
            .copied()
            .collect()
    }
}

fn clearly_best(scores: &[f32]) -> Option<usize> {
    let best = best(scores)?;
    let rest = scores
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != best);
    let second = rest.map(|(_, score)| *score).reduce(f32::max)?;
    let least = scores.iter().copied().reduce(f32::min)?;
    (scores[best] - second > LEAD * (scores[best] - least)).then_some(best)
}
