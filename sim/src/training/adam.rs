//! Adam (Kingma and Ba, 2015), with its moments open to checkpoints.

use candle_core::backprop::GradStore;
use candle_core::{Result, Tensor, Var};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The optimiser.
#[derive(Debug)]
pub struct Adam {
    rate: f64,
    /// Largest norm of the gradient over all variables; a longer one is shortened to it.
    max_norm: f64,
    variables: Vec<Var>,
    moments: Vec<[Tensor; 2]>,
    steps: u32,
}

impl Adam {
    /// An optimiser of these variables.
    pub fn new(variables: Vec<Var>, rate: f64, max_norm: f64) -> Result<Self> {
        let moments = variables.iter().map(|variable| {
            let zeros = variable.zeros_like()?;
            Ok([zeros.clone(), zeros])
        });
        Ok(Self {
            rate,
            max_norm,
            moments: moments.collect::<Result<_>>()?,
            variables,
            steps: 0,
        })
    }

    /// Moves the variables against their gradients.
    pub fn step(&mut self, gradients: &GradStore) -> Result<()> {
        let scale = (self.max_norm / self.norm(gradients)?).min(1.0);
        self.steps += 1;
        let correct = |beta: f64| 1.0 - beta.powi(self.steps as i32);
        let (correct1, correct2) = (correct(BETA1), correct(BETA2));
        for (variable, [mean, variance]) in self.variables.iter().zip(&mut self.moments) {
            let Some(gradient) = gradients.get(variable) else {
                continue;
            };
            let gradient = (gradient * scale)?;
            *mean = ((&*mean * BETA1)? + (&gradient * (1.0 - BETA1))?)?;
            *variance = ((&*variance * BETA2)? + (gradient.sqr()? * (1.0 - BETA2))?)?;
            let deviation = ((&*variance / correct2)?.sqrt()? + EPSILON)?;
            let step = ((&*mean * (self.rate / correct1))? / deviation)?;
            variable.set(&(variable.as_tensor() - step)?)?;
        }
        Ok(())
    }

    fn norm(&self, gradients: &GradStore) -> Result<f64> {
        let mut squares = 0.0;
        for variable in &self.variables {
            if let Some(gradient) = gradients.get(variable) {
                squares += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
            }
        }
        Ok(squares.sqrt().max(f64::MIN_POSITIVE))
    }

    /// Steps taken.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// First and second moments, in the order of the variables.
    pub fn moments(&self) -> &[[Tensor; 2]] {
        &self.moments
    }

    /// Goes on from an earlier state.
    pub fn restore(&mut self, steps: u32, moments: Vec<[Tensor; 2]>) {
        self.steps = steps;
        self.moments = moments;
    }
}
