//! What PRISM is trained in: scenarios whose guided flows run the production controller, with a gain that is explored.

use super::ppo::{Trajectory, Transition};
use super::reward::{Outcome, Reward};
use crate::radio::mcs::McsTable;
use crate::random::Xoshiro256PlusPlus;
use crate::scenario::{Scenario, ScenarioError};
use crate::simulation::Simulation;
use policies::controller::{Controller, Decision, Interval};
use policies::gain::GainPolicy;
use policies::model::{Card, Inference, Native, best};
use policies::prism::Prism;
use policies::report::UeReport;
use policies::windows::peak_prbs;
use rand::Rng;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A scenario with one guided flow that learns.
pub struct Environment {
    simulation: Simulation,
    explorer: Shared,
    control_interval: Duration,
    end: Duration,
}

impl Environment {
    /// The scenario with this seed. `random` draws the gains.
    ///
    /// # Errors
    /// When the scenario is wrong, or its flow cannot start.
    pub fn new(
        (scenario, folder): (&Scenario, &Path),
        seed: u64,
        card: &Arc<Card>,
        reward: Reward,
        random: Xoshiro256PlusPlus,
    ) -> Result<Self, ScenarioError> {
        let explorer = Shared::new(Exploration::Sampled(random), card, reward);
        Ok(Self {
            simulation: explorer.simulation(scenario, folder, seed, card)?,
            explorer,
            control_interval: card.control_interval(),
            end: Duration::try_from_secs_f64(scenario.duration_s).unwrap_or_default(),
        })
    }

    /// Runs on with this actor for `count` decisions and what followed from them, or until the scenario ends.
    pub fn collect(&mut self, actor: &Native, count: usize) -> Trajectory {
        self.explorer.lock().actor = Some(actor.clone());
        while self.explorer.lock().transitions.len() < count && self.simulation.now() < self.end {
            let next = self.simulation.now() + self.control_interval;
            self.simulation.run_until(next.min(self.end));
        }
        self.explorer.lock().trajectory()
    }
}

/// A run of the scenario in which the actor always takes its best gain: the simulation at its end, and what the actor
/// observed, one observation after the other.
///
/// # Errors
/// When the scenario is wrong, or its flow cannot start.
pub fn exploit(
    (scenario, folder): (&Scenario, &Path),
    seed: u64,
    card: &Arc<Card>,
    actor: &Native,
) -> Result<(Simulation, Vec<f32>), ScenarioError> {
    let explorer = Shared::new(Exploration::None, card, Reward::default());
    explorer.lock().actor = Some(actor.clone());
    let mut simulation = explorer.simulation(scenario, folder, seed, card)?;
    simulation.run_until(Duration::try_from_secs_f64(scenario.duration_s).unwrap_or_default());
    let trajectory = explorer.lock().trajectory();
    let states = trajectory.transitions.into_iter().flat_map(|t| t.state);
    Ok((simulation, states.collect()))
}

/// How a gain is drawn.
enum Exploration {
    /// By the actor's probabilities.
    Sampled(Xoshiro256PlusPlus),
    /// The most probable one.
    None,
}

/// What the controller in the simulation and the environment around it share.
struct Explorer {
    exploration: Exploration,
    actor: Option<Native>,
    reward: Reward,
    gains: Vec<f64>,
    max_gain: f64,
    /// The last decision; what follows from it is not known yet.
    pending: Option<Transition>,
    transitions: Vec<Transition>,
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Explorer>>);

impl Shared {
    fn new(exploration: Exploration, card: &Card, reward: Reward) -> Self {
        Self(Arc::new(Mutex::new(Explorer {
            exploration,
            actor: None,
            reward,
            max_gain: card.gains.iter().copied().fold(f64::MIN, f64::max),
            gains: card.gains.clone(),
            pending: None,
            transitions: Vec::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Explorer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scenario, its first guided flow in the hands of the explorer.
    fn simulation(
        &self,
        scenario: &Scenario,
        folder: &Path,
        seed: u64,
        card: &Arc<Card>,
    ) -> Result<Simulation, ScenarioError> {
        let mut simulation = scenario.build(seed, folder)?;
        let guided = simulation.flows().iter().position(|flow| flow.guided());
        let Some(flow) = guided else {
            return Err(ScenarioError::Value {
                key: "flows".to_owned(),
                reason: "must have a guided flow, which learns".to_owned(),
            });
        };
        let initial = simulation.flows()[flow].rate_bps().unwrap_or_default();
        let prism = Prism::new(card.clone(), initial)
            .map_err(|error| ScenarioError::Controller { flow, error })?;
        let controller = Exploring {
            prism,
            explorer: self.clone(),
            observation: Vec::new(),
        };
        simulation.set_controller(flow, Box::new(controller));
        Ok(simulation)
    }
}

impl Explorer {
    /// Chooses a gain for what was observed, and its index.
    fn choose(&mut self, observation: &[f32]) -> Option<usize> {
        let scores = self.actor.as_mut()?.infer(observation).ok()?;
        let chosen = match &mut self.exploration {
            Exploration::None => best(scores)?,
            Exploration::Sampled(random) => {
                // The largest of scores with Gumbel noise is a draw from their softmax (Gumbel, 1954).
                let noise = || {
                    let uniform: f32 = random.random_range(f32::MIN_POSITIVE..1.0);
                    -(-uniform.ln()).ln()
                };
                let noise = std::iter::repeat_with(noise);
                let noisy = scores.iter().zip(noise).map(|(score, noise)| score + noise);
                best(&noisy.collect::<Vec<f32>>())?
            }
        };
        self.pending = Some(Transition {
            state: observation.to_vec(),
            action: u32::try_from(chosen).ok()?,
            log_probability: log_probability(scores, chosen),
            reward: 0.0,
        });
        Some(chosen)
    }

    /// What followed from the last decision.
    fn conclude(&mut self, outcome: Option<Outcome>) {
        let Some(mut transition) = self.pending.take() else {
            return;
        };
        // Without a report nobody knows what the decision did.
        let gain = self.gains.get(transition.action as usize);
        if let (Some(outcome), Some(gain)) = (outcome, gain) {
            transition.reward = self.reward.of(*gain, self.max_gain, outcome);
            self.transitions.push(transition);
        }
    }

    fn trajectory(&mut self) -> Trajectory {
        Trajectory {
            transitions: std::mem::take(&mut self.transitions),
            next_state: self.pending.as_ref().map(|pending| pending.state.clone()),
        }
    }
}

fn log_probability(scores: &[f32], chosen: usize) -> f32 {
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let total: f32 = scores.iter().map(|score| (score - most).exp()).sum();
    scores[chosen] - most - total.ln()
}

/// The controller of the flow that learns: PRISM's, asking the explorer instead of a model.
struct Exploring {
    prism: Prism,
    explorer: Shared,
    observation: Vec<f32>,
}

impl Controller for Exploring {
    fn policy(&self) -> GainPolicy {
        GainPolicy::Prism
    }

    fn decide(&mut self, interval: &Interval<'_>) -> Decision {
        self.observation.clear();
        let observed = self.prism.observe(interval, &mut self.observation);
        let mut explorer = self.explorer.lock();
        // What this interval shows is what followed from the decision before it, not from the one to come.
        explorer.conclude(outcome(interval, self.prism.card()));
        let gain = observed
            .then(|| explorer.choose(&self.observation))
            .flatten();
        self.prism.decide_with(interval, gain)
    }

    fn rate_bps(&self) -> f64 {
        self.prism.rate_bps()
    }

    fn set_rate_bps(&mut self, rate_bps: f64) {
        self.prism.set_rate_bps(rate_bps);
    }
}

fn outcome(interval: &Interval<'_>, card: &Card) -> Option<Outcome> {
    let target = interval.target.prbs();
    (target > 0.0).then_some(Outcome {
        peak: peak_prbs(interval.reports, card.report_interval())?,
        target,
        efficiency: efficiency(interval.reports)?,
    })
}

/// η/η_max: mean spectral efficiency of the reports' MCSs, relative to the largest of the table.
fn efficiency(reports: &[UeReport]) -> Option<f64> {
    let rows = McsTable::Qam64.rows();
    let of = |mcs: f64| Some(rows.get(mcs.round() as usize)?.spectral_efficiency());
    let known: Vec<f64> = reports.iter().filter_map(|r| of(r.mcs?)).collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    (!known.is_empty()).then_some(mean / rows.last()?.spectral_efficiency())
}
