//! Proximal policy optimisation with a clipped objective (Schulman et al., 2017) over discrete actions.

use super::adam::Adam;
use super::mlp::Mlp;
use crate::random::{Xoshiro256PlusPlus, stream};
use candle_core::{D, Device, Result, Tensor, Var};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Hyper-parameters. The defaults are those of PRISM's Table I; the last three are not in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hyperparameters {
    /// Discount γ.
    pub discount: f64,
    /// λ of the generalised advantage estimate.
    pub gae_lambda: f64,
    /// Clip range ε of the probability ratio.
    pub clip: f64,
    /// Weight of the entropy in the objective.
    pub entropy: f64,
    /// Learning rate.
    pub learning_rate: f64,
    /// Samples per update.
    pub batch: usize,
    /// Samples per gradient step.
    pub minibatch: usize,
    /// Passes over a batch.
    pub epochs: usize,
    /// Sizes of the two hidden layers of actor and critic.
    pub hidden: [usize; 2],
    /// Weight of the critic's squared error in the objective.
    pub value_weight: f64,
    /// Largest norm of a gradient.
    pub max_gradient_norm: f64,
    /// Scale of the actor's last layer at the start: small, so that the first policy is nearly uniform.
    pub initial_preference: f32,
}

impl Default for Hyperparameters {
    fn default() -> Self {
        Self {
            discount: 0.95,
            gae_lambda: 0.95,
            clip: 0.2,
            entropy: 0.02,
            learning_rate: 1e-3,
            batch: 512,
            minibatch: 64,
            epochs: 4,
            hidden: [128, 64],
            value_weight: 0.5,
            max_gradient_norm: 0.5,
            initial_preference: 0.01,
        }
    }
}

/// One decision and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// What was observed.
    pub state: Vec<f32>,
    /// Index of the action.
    pub action: u32,
    /// Logarithm of the probability with which it was chosen.
    pub log_probability: f32,
    /// Reward.
    pub reward: f64,
}

/// Consecutive decisions of one environment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    /// The decisions, oldest first.
    pub transitions: Vec<Transition>,
    /// The state after the last of them; `None` if the task ends there.
    pub next_state: Option<Vec<f32>>,
}

/// What an update did, means over its gradient steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// Clipped objective, negated.
    pub policy_loss: f64,
    /// Mean squared error of the critic.
    pub value_loss: f64,
    /// Entropy of the policy, nats.
    pub entropy: f64,
    /// Share of the samples whose probability ratio left the clip range.
    pub clip_fraction: f64,
    /// Estimate of the Kullback–Leibler divergence between the policy before and after: mean of (ratio − 1) − ln ratio.
    pub divergence: f64,
}

/// Samples with what the actor and the critic are to learn from them.
struct Batch {
    states: Tensor,
    actions: Tensor,
    log_probabilities: Tensor,
    advantages: Tensor,
    returns: Tensor,
}

/// Actor, critic and their optimiser.
#[derive(Debug)]
pub struct Learner {
    hyper: Hyperparameters,
    actor: Mlp,
    critic: Mlp,
    optimiser: Adam,
}

impl Learner {
    /// A learner for states of `inputs` numbers and `actions` actions; the seed determines its first parameters.
    pub fn new(hyper: Hyperparameters, inputs: usize, actions: usize, seed: u64) -> Result<Self> {
        let [a, b] = hyper.hidden;
        let random = |purpose| stream(seed, purpose, 0);
        let actor = Mlp::new(
            &[inputs, a, b, actions],
            hyper.initial_preference,
            &mut random("actor"),
        )?;
        let critic = Mlp::new(&[inputs, a, b, 1], 1.0, &mut random("critic"))?;
        let variables = actor.variables().chain(critic.variables()).cloned();
        let optimiser = Adam::new(
            variables.collect(),
            hyper.learning_rate,
            hyper.max_gradient_norm,
        )?;
        Ok(Self {
            hyper,
            actor,
            critic,
            optimiser,
        })
    }

    /// The actor: its outputs are the logarithms of the actions' probabilities, up to a constant.
    pub fn actor(&self) -> &Mlp {
        &self.actor
    }

    /// The optimiser.
    pub fn optimiser(&self) -> &Adam {
        &self.optimiser
    }

    /// The optimiser, to restore it.
    pub fn optimiser_mut(&mut self) -> &mut Adam {
        &mut self.optimiser
    }

    /// All that is learned, the actor's first, in a fixed order.
    pub fn variables(&self) -> impl Iterator<Item = &Var> {
        self.actor.variables().chain(self.critic.variables())
    }

    /// Learns from trajectories that the present policy has made.
    pub fn update(
        &mut self,
        trajectories: &[Trajectory],
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<Update> {
        let batch = self.batch(trajectories)?;
        let samples = u32::try_from(batch.states.dim(0)?).unwrap_or(u32::MAX);
        let mut order: Vec<u32> = (0..samples).collect();
        let mut sum = Update::default();
        let mut steps = 0.0;
        for _ in 0..self.hyper.epochs {
            order.shuffle(random);
            for indices in order.chunks(self.hyper.minibatch.max(1)) {
                let indices = Tensor::new(indices, &Device::Cpu)?;
                let minibatch = batch.select(&indices)?;
                sum.add(&self.step(&minibatch)?);
                steps += 1.0;
            }
        }
        sum.divide(f64::max(steps, 1.0));
        Ok(sum)
    }

    fn batch(&self, trajectories: &[Trajectory]) -> Result<Batch> {
        let transitions = || trajectories.iter().flat_map(|t| &t.transitions);
        let states = rows(transitions().map(|t| &t.state[..]))?;
        let values = self.values(&states)?;
        let mut advantages = Vec::new();
        let mut returns = Vec::new();
        let mut values = &values[..];
        for trajectory in trajectories {
            let (own, rest) = values.split_at(trajectory.transitions.len());
            values = rest;
            let next = match &trajectory.next_state {
                Some(state) => self.values(&rows([&state[..]])?)?[0],
                None => 0.0,
            };
            let rewards: Vec<f64> = trajectory.transitions.iter().map(|t| t.reward).collect();
            let estimate = generalised_advantages(
                &rewards,
                own,
                next,
                self.hyper.discount,
                self.hyper.gae_lambda,
            );
            returns.extend(estimate.iter().zip(own).map(|(a, v)| (a + v) as f32));
            advantages.extend(estimate);
        }
        let actions: Vec<u32> = transitions().map(|t| t.action).collect();
        let log_probabilities: Vec<f32> = transitions().map(|t| t.log_probability).collect();
        let device = &Device::Cpu;
        Ok(Batch {
            states,
            actions: Tensor::new(actions, device)?,
            log_probabilities: Tensor::new(log_probabilities, device)?,
            advantages: Tensor::new(standardised(&advantages), device)?,
            returns: Tensor::new(returns, device)?,
        })
    }

    fn values(&self, states: &Tensor) -> Result<Vec<f64>> {
        let values = self.critic.forward(states)?.flatten_all()?;
        Ok(values
            .to_vec1::<f32>()?
            .into_iter()
            .map(f64::from)
            .collect())
    }

    fn step(&mut self, batch: &Batch) -> Result<Update> {
        let Hyperparameters {
            clip,
            entropy: entropy_weight,
            value_weight,
            ..
        } = self.hyper;
        let log_probabilities = log_softmax(&self.actor.forward(&batch.states)?)?;
        let chosen = log_probabilities
            .gather(&batch.actions.unsqueeze(1)?, 1)?
            .squeeze(1)?;
        let log_ratio = (&chosen - &batch.log_probabilities)?;
        let ratio = log_ratio.exp()?;
        let clipped = ratio.clamp(1.0 - clip, 1.0 + clip)?;
        let objective = (&ratio * &batch.advantages)?.minimum(&(clipped * &batch.advantages)?)?;
        let policy_loss = objective.mean_all()?.neg()?;
        let entropy = (log_probabilities.exp()? * &log_probabilities)?
            .sum(D::Minus1)?
            .mean_all()?
            .neg()?;
        let values = self.critic.forward(&batch.states)?.squeeze(1)?;
        let value_loss = (values - &batch.returns)?.sqr()?.mean_all()?;
        let loss =
            ((&policy_loss + (&value_loss * value_weight)?)? - (&entropy * entropy_weight)?)?;
        self.optimiser.step(&loss.backward()?)?;

        let number = |tensor: &Tensor| tensor.to_scalar::<f32>().map(f64::from);
        let ratios: Vec<f32> = ratio.to_vec1()?;
        let samples = ratios.len().max(1) as f64;
        let outside = ratios.iter().filter(|r| f64::from((*r - 1.0).abs()) > clip);
        let divergence = ratios.iter().map(|r| f64::from(r - 1.0 - r.ln()));
        Ok(Update {
            policy_loss: number(&policy_loss)?,
            value_loss: number(&value_loss)?,
            entropy: number(&entropy)?,
            clip_fraction: outside.count() as f64 / samples,
            divergence: divergence.sum::<f64>() / samples,
        })
    }
}

impl Batch {
    fn select(&self, indices: &Tensor) -> Result<Self> {
        let select = |tensor: &Tensor| tensor.index_select(indices, 0);
        Ok(Self {
            states: select(&self.states)?,
            actions: select(&self.actions)?,
            log_probabilities: select(&self.log_probabilities)?,
            advantages: select(&self.advantages)?,
            returns: select(&self.returns)?,
        })
    }
}

impl Update {
    fn each(&mut self) -> [&mut f64; 5] {
        [
            &mut self.policy_loss,
            &mut self.value_loss,
            &mut self.entropy,
            &mut self.clip_fraction,
            &mut self.divergence,
        ]
    }

    fn add(&mut self, other: &Self) {
        let mut other = *other;
        for (sum, value) in self.each().into_iter().zip(other.each()) {
            *sum += *value;
        }
    }

    fn divide(&mut self, by: f64) {
        for sum in self.each() {
            *sum /= by;
        }
    }
}

/// Generalised advantage estimates of consecutive decisions (Schulman et al., 2016, equation 16): `values` are the critic's of
/// their states, `next` that of the state after the last.
pub fn generalised_advantages(
    rewards: &[f64],
    values: &[f64],
    next: f64,
    discount: f64,
    lambda: f64,
) -> Vec<f64> {
    let mut advantages = vec![0.0; rewards.len()];
    let (mut after, mut advantage) = (next, 0.0);
    for (index, (reward, value)) in rewards.iter().zip(values).enumerate().rev() {
        let surprise = reward + discount * after - value;
        advantage = surprise + discount * lambda * advantage;
        advantages[index] = advantage;
        after = *value;
    }
    advantages
}

/// Mean 0, deviation 1.
fn standardised(values: &[f64]) -> Vec<f32> {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    let scale = 1.0 / (variance.sqrt() + 1e-8);
    values.iter().map(|v| ((v - mean) * scale) as f32).collect()
}

fn log_softmax(logits: &Tensor) -> Result<Tensor> {
    let shifted = logits.broadcast_sub(&logits.detach().max_keepdim(D::Minus1)?)?;
    let total = shifted.exp()?.sum_keepdim(D::Minus1)?.log()?;
    shifted.broadcast_sub(&total)
}

fn rows<'a>(rows: impl IntoIterator<Item = &'a [f32]>) -> Result<Tensor> {
    let mut all = Vec::new();
    let mut count = 0;
    for row in rows {
        all.extend_from_slice(row);
        count += 1;
    }
    let columns = all.len() / count.max(1);
    Tensor::from_vec(all, (count, columns), &Device::Cpu)
}
