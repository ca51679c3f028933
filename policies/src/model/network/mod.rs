//! A network as a chain of layers, read from ONNX and written to it.

mod read;
mod write;

use super::Refusal;

/// Weights of a network at most: a bundle is a small network, whatever its file claims.
const MAX_WEIGHTS: usize = 1 << 20;
/// Width of a layer at most.
const MAX_WIDTH: usize = 4096;

/// A chain of layers.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    layers: Vec<Layer>,
}

/// What is done to all activations at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// y = W·x + b.
    Dense {
        /// Length of x.
        inputs: usize,
        /// Length of y.
        outputs: usize,
        /// W, row by row: the weights of the first output first.
        weights: Vec<f32>,
        /// b.
        bias: Vec<f32>,
    },
    /// y = scale·x + shift, element by element.
    Affine {
        /// Factors.
        scale: Vec<f32>,
        /// Summands.
        shift: Vec<f32>,
    },
    /// y = f(x).
    Activation {
        /// f.
        activation: Activation,
        /// Length of x and y.
        width: usize,
    },
}

/// A function of activations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// max(x, 0).
    Relu,
    /// x where positive, else x times this slope.
    LeakyRelu(f32),
    /// tanh x.
    Tanh,
    /// 1 / (1 + e^−x).
    Sigmoid,
    /// e^x, divided by the sum over the layer.
    Softmax,
}

impl Layer {
    /// Numbers that go in.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Dense { inputs, .. } => *inputs,
            Self::Affine { scale, .. } => scale.len(),
            Self::Activation { width, .. } => *width,
        }
    }

    /// Numbers that come out.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Dense { outputs, .. } => *outputs,
            _ => self.inputs(),
        }
    }

    fn fault(&self) -> Option<String> {
        let numbers: [&[f32]; 2] = match self {
            Self::Dense {
                inputs,
                outputs,
                weights,
                bias,
            } => {
                if inputs.checked_mul(*outputs) != Some(weights.len()) || bias.len() != *outputs {
                    return Some(format!(
                        "{} weights and {} biases are no dense layer from {inputs} to {outputs}",
                        weights.len(),
                        bias.len()
                    ));
                }
                [weights, bias]
            }
            Self::Affine { scale, shift } => {
                if scale.len() != shift.len() {
                    return Some(format!(
                        "{} factors and {} summands",
                        scale.len(),
                        shift.len()
                    ));
                }
                [scale, shift]
            }
            Self::Activation { .. } => [&[], &[]],
        };
        let infinite = numbers.concat().into_iter().find(|x| !x.is_finite());
        infinite.map(|x| format!("a weight is {x}"))
    }
}

impl Network {
    /// A chain of these layers.
    ///
    /// # Errors
    /// When there is none, a layer does not fit its neighbour, a weight is no finite number, or it is too large to be a policy.
    pub fn new(layers: Vec<Layer>) -> Result<Self, Refusal> {
        let refuse = |reason| Err(Refusal::Onnx { reason });
        if layers.is_empty() {
            return refuse("a network without layers".into());
        }
        for (index, layer) in layers.iter().enumerate() {
            if let Some(fault) = layer.fault() {
                return refuse(format!("layer {index}: {fault}"));
            }
            let before = index.checked_sub(1).and_then(|i| layers.get(i));
            if let Some(before) = before.filter(|b| b.outputs() != layer.inputs()) {
                return refuse(format!(
                    "layer {index} takes {} numbers, the one before gives {}",
                    layer.inputs(),
                    before.outputs()
                ));
            }
            let widths = [layer.inputs(), layer.outputs()];
            if widths.iter().any(|w| !(1..=MAX_WIDTH).contains(w)) {
                return refuse(format!(
                    "layer {index} is {} to {} wide, not 1 to {MAX_WIDTH}",
                    widths[0], widths[1]
                ));
            }
        }
        let network = Self { layers };
        let weights = network.weights();
        if weights > MAX_WEIGHTS {
            return refuse(format!("{weights} weights, more than {MAX_WEIGHTS}"));
        }
        Ok(network)
    }

    /// Its layers, the first first.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Numbers that go in.
    pub fn inputs(&self) -> usize {
        self.layers.first().map_or(0, Layer::inputs)
    }

    /// Numbers that come out.
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(0, Layer::outputs)
    }

    /// Number of its weights and biases.
    pub fn weights(&self) -> usize {
        let weights = self.layers.iter().map(|layer| match layer {
            Layer::Dense { weights, bias, .. } => weights.len() + bias.len(),
            Layer::Affine { scale, shift } => scale.len() + shift.len(),
            Layer::Activation { .. } => 0,
        });
        weights.sum()
    }
}
