//! Multilayer perceptrons with rectified hidden layers: actor and critic.

use crate::random::Xoshiro256PlusPlus;
use candle_core::{Device, Error, Result, Tensor, Var};
use policies::model::{self, Activation, Network};
use rand::Rng;

/// A multilayer perceptron.
#[derive(Clone, Debug)]
pub struct Mlp {
    layers: Vec<Layer>,
}

#[derive(Clone, Debug)]
struct Layer {
    /// `[outputs, inputs]`.
    weight: Var,
    bias: Var,
}

impl Mlp {
    /// A network of these layer sizes, inputs first.
    ///
    /// Weights are uniform with the variance 2/inputs that keeps the scale of rectified layers (He et al., 2015), those of
    /// the last layer multiplied by `last`; biases are 0.
    pub fn new(sizes: &[usize], last: f32, random: &mut Xoshiro256PlusPlus) -> Result<Self> {
        let count = sizes.len().saturating_sub(1);
        let layers = sizes.windows(2).enumerate().map(|(index, size)| {
            let (inputs, outputs) = (size[0], size[1]);
            let scale = if index + 1 == count { last } else { 1.0 };
            let limit = scale * (6.0 / inputs as f32).sqrt();
            let weight: Vec<f32> = (0..inputs * outputs)
                .map(|_| limit * random.random_range(-1.0..1.0))
                .collect();
            Ok(Layer {
                weight: Var::from_vec(weight, (outputs, inputs), &Device::Cpu)?,
                bias: Var::from_vec(vec![0.0f32; outputs], outputs, &Device::Cpu)?,
            })
        });
        Ok(Self {
            layers: layers.collect::<Result<_>>()?,
        })
    }

    /// Outputs, one row per row of `inputs`.
    pub fn forward(&self, inputs: &Tensor) -> Result<Tensor> {
        let mut x = inputs.clone();
        for (index, layer) in self.layers.iter().enumerate() {
            if index > 0 {
                x = x.relu()?;
            }
            x = x
                .matmul(&layer.weight.t()?)?
                .broadcast_add(layer.bias.as_tensor())?;
        }
        Ok(x)
    }

    /// Everything that is learned, in a fixed order.
    pub fn variables(&self) -> impl Iterator<Item = &Var> {
        self.layers.iter().flat_map(|l| [&l.weight, &l.bias])
    }

    /// The network as a model bundle keeps it and every engine runs it.
    pub fn to_model(&self) -> Result<Network> {
        let mut layers = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let (outputs, inputs) = layer.weight.dims2()?;
            if index > 0 {
                layers.push(model::Layer::Activation {
                    activation: Activation::Relu,
                    width: inputs,
                });
            }
            layers.push(model::Layer::Dense {
                inputs,
                outputs,
                weights: layer.weight.flatten_all()?.to_vec1()?,
                bias: layer.bias.to_vec1()?,
            });
        }
        Network::new(layers).map_err(Error::wrap)
    }
}
