//! The pure-Rust executor: small, always there, and the same bits on every machine but for tanh and exp.

use super::network::{Activation, Layer, Network};
use super::{Inference, Refusal};
use std::sync::Arc;

/// Observations that go through the layers together: their activations stay in the first-level cache.
const ROWS: usize = 32;
/// Outputs that are computed together: four SSE registers of four floats, for each of two observations.
const LANES: usize = 16;

/// Runs a [`Network`]. Clones share the weights.
#[derive(Clone, Debug)]
pub struct Native {
    inputs: usize,
    outputs: usize,
    steps: Arc<[Step]>,
    /// Activations of up to [`ROWS`] observations, before and after a layer.
    front: Vec<f32>,
    back: Vec<f32>,
    scores: Vec<f32>,
}

/// A layer as it is computed.
#[derive(Debug)]
enum Step {
    Dense(Dense),
    Affine {
        scale: Vec<f32>,
        shift: Vec<f32>,
    },
    Activation {
        activation: Activation,
        width: usize,
    },
}

/// A dense layer with its weights in panels of [`LANES`] outputs, padded with zeros.
#[derive(Debug)]
struct Dense {
    inputs: usize,
    outputs: usize,
    /// For each panel and input: the weights to the outputs of the panel.
    panels: Vec<[f32; LANES]>,
    /// For each panel.
    bias: Vec<[f32; LANES]>,
}

impl Native {
    /// Prepares a network.
    pub fn new(network: &Network) -> Self {
        let widest = network.layers().iter().map(Layer::outputs).max();
        let widest = widest.unwrap_or(0).max(network.inputs());
        Self {
            inputs: network.inputs(),
            outputs: network.outputs(),
            steps: network.layers().iter().map(Step::new).collect(),
            front: vec![0.0; ROWS * widest],
            back: vec![0.0; ROWS * widest],
            scores: Vec::new(),
        }
    }
}

impl Inference for Native {
    fn engine(&self) -> &'static str {
        "native"
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn infer(&mut self, batch: &[f32]) -> Result<&[f32], Refusal> {
        if !batch.len().is_multiple_of(self.inputs) {
            return Err(Refusal::Engine {
                engine: "native",
                reason: format!(
                    "{} numbers are no whole number of observations of {}",
                    batch.len(),
                    self.inputs
                ),
            });
        }
        self.scores.clear();
        for chunk in batch.chunks(ROWS * self.inputs) {
            let rows = chunk.len() / self.inputs;
            self.front[..chunk.len()].copy_from_slice(chunk);
            for step in self.steps.iter() {
                step.run(rows, &mut self.front, &mut self.back);
            }
            self.scores
                .extend_from_slice(&self.front[..rows * self.outputs]);
        }
        Ok(&self.scores)
    }
}

impl Step {
    fn new(layer: &Layer) -> Self {
        match layer {
            Layer::Dense {
                inputs,
                outputs,
                weights,
                bias,
            } => Self::Dense(Dense::new(*inputs, *outputs, weights, bias)),
            Layer::Affine { scale, shift } => Self::Affine {
                scale: scale.clone(),
                shift: shift.clone(),
            },
            Layer::Activation { activation, width } => Self::Activation {
                activation: *activation,
                width: *width,
            },
        }
    }

    /// Replaces the activations in `front`; `back` is room to work in.
    fn run(&self, rows: usize, front: &mut Vec<f32>, back: &mut Vec<f32>) {
        match self {
            Self::Dense(dense) => {
                dense.run(rows, front, back);
                std::mem::swap(front, back);
            }
            Self::Affine { scale, shift } => {
                for row in front.chunks_exact_mut(scale.len()).take(rows) {
                    for ((x, scale), shift) in row.iter_mut().zip(scale).zip(shift) {
                        *x = *x * scale + shift;
                    }
                }
            }
            Self::Activation { activation, width } => {
                for row in front.chunks_exact_mut(*width).take(rows) {
                    activation.apply(row);
                }
            }
        }
    }
}

impl Dense {
    fn new(inputs: usize, outputs: usize, weights: &[f32], bias: &[f32]) -> Self {
        let panels = outputs.div_ceil(LANES);
        let mut dense = Self {
            inputs,
            outputs,
            panels: vec![[0.0; LANES]; panels * inputs],
            bias: vec![[0.0; LANES]; panels],
        };
        for output in 0..outputs {
            let (panel, lane) = (output / LANES, output % LANES);
            dense.bias[panel][lane] = bias[output];
            for input in 0..inputs {
                dense.panels[panel * inputs + input][lane] = weights[output * inputs + input];
            }
        }
        dense
    }

    fn run(&self, rows: usize, x: &[f32], y: &mut [f32]) {
        let mut row = 0;
        while row + 2 <= rows {
            self.rows::<2>(row, x, y);
            row += 2;
        }
        if row < rows {
            self.rows::<1>(row, x, y);
        }
    }

    /// `N` observations from `row` on. Each sum runs over the inputs in order, whatever the batch: its result depends on nothing else.
    fn rows<const N: usize>(&self, row: usize, x: &[f32], y: &mut [f32]) {
        let inputs: [&[f32]; N] =
            std::array::from_fn(|n| &x[(row + n) * self.inputs..][..self.inputs]);
        for (panel, bias) in self.bias.iter().enumerate() {
            let weights = &self.panels[panel * self.inputs..][..self.inputs];
            let mut sums = [*bias; N];
            for (input, weights) in weights.iter().enumerate() {
                for (sum, x) in sums.iter_mut().zip(inputs) {
                    let x = x[input];
                    for (sum, weight) in sum.iter_mut().zip(weights) {
                        *sum += x * weight;
                    }
                }
            }
            let first = panel * LANES;
            let width = LANES.min(self.outputs - first);
            for (n, sums) in sums.iter().enumerate() {
                y[(row + n) * self.outputs + first..][..width].copy_from_slice(&sums[..width]);
            }
        }
    }
}

impl Activation {
    fn apply(self, row: &mut [f32]) {
        match self {
            Self::Relu => row
                .iter_mut()
                // Not `max`, which would turn NaN into 0.
                .for_each(|x| *x = if *x < 0.0 { 0.0 } else { *x }),
            Self::LeakyRelu(slope) => row
                .iter_mut()
                .for_each(|x| *x = if *x < 0.0 { *x * slope } else { *x }),
            Self::Tanh => row.iter_mut().for_each(|x| *x = x.tanh()),
            Self::Sigmoid => row.iter_mut().for_each(|x| *x = 1.0 / (1.0 + (-*x).exp())),
            Self::Softmax => softmax(row),
        }
    }
}

fn softmax(row: &mut [f32]) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|x| *x = (*x - largest).exp());
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|x| *x /= sum);
}
