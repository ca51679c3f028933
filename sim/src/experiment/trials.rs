//! Runs an experiment in virtual time: each seed is a cell of its own, all of them in one experiment.

use crate::results::FlowResults;
use crate::runs;
use crate::scenario::{Scenario, ScenarioError};
use policies::UeId;
use policies::experiment::trial::Snapshot;
use policies::experiment::{Experiment, Report, State, Trial};
use policies::slice::FlowFacts;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// What is run.
#[derive(Clone, Debug)]
pub struct Rig<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// In which cell, with which flows.
    pub scenario: &'a Scenario,
    /// Where the scenario's files are named from.
    pub folder: &'a Path,
    /// One cell each.
    pub seeds: Range<u64>,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the experiment has shown.
    pub report: Report,
    /// Results of the flows of each cell.
    pub flows: Vec<Vec<FlowResults>>,
}

/// Runs it on `workers` threads; the outcome does not depend on how many those are. `progress` is told of virtual time.
///
/// # Errors
/// Whatever is wrong with the scenario, or an arm that cannot run in it.
pub fn run(
    rig: &Rig<'_>,
    workers: usize,
    progress: impl Fn(Duration) + Sync,
) -> Result<Outcome, ScenarioError> {
    let end = Duration::try_from_secs_f64(rig.scenario.duration_s).unwrap_or_default();
    let seeds: Vec<u64> = rig.seeds.clone().collect();
    let assigned = assigned(rig, &seeds);
    let cells = runs::in_parallel(seeds.clone(), workers, |seed| {
        let trial = Trial::restore(running(rig), assigned.assigned().clone(), Vec::new());
        let mut simulation = rig
            .scenario
            .build_experiment(seed, rig.folder, trial, &cell(seed))?;
        runs::run_until(&mut simulation, end, &progress);
        let (arms, flows) = simulation.into_experiment();
        Ok::<_, ScenarioError>((arms.map(|arms| arms.into_trial(end)), flows))
    });
    let mut observations = Vec::new();
    let mut stopped_arms = std::collections::BTreeMap::new();
    let mut flows = Vec::new();
    for cell in cells {
        let (trial, of_cell) = cell?;
        if let Some(trial) = trial {
            observations.extend_from_slice(trial.observations());
            stopped_arms.extend(trial.stopped_arms().clone());
        }
        flows.push(of_cell);
    }
    // As one xApp over all cells would have seen them come.
    observations.sort_by_key(|observation| observation.ended);
    let snapshot = Snapshot {
        state: State::Stopped {
            since: Duration::ZERO,
            until: end,
            why: "the end of the scenario".to_owned(),
        },
        stopped_arms,
        ..running(rig)
    };
    let trial = Trial::restore(snapshot, assigned.assigned().clone(), observations);
    Ok(Outcome {
        report: Report::new(&trial, seeds.len()),
        flows,
    })
}

fn running(rig: &Rig<'_>) -> Snapshot {
    Snapshot {
        experiment: rig.experiment.clone(),
        state: State::Running {
            since: Duration::ZERO,
        },
        stopped_arms: std::collections::BTreeMap::new(),
    }
}

fn cell(seed: u64) -> String {
    format!("cell {seed}")
}

/// All cells and UEs, given their arms as one xApp would have given them.
fn assigned(rig: &Rig<'_>, seeds: &[u64]) -> Trial {
    let mut trial = Trial::restore(running(rig), [], Vec::new());
    for seed in seeds {
        for flow in rig
            .scenario
            .flows
            .iter()
            .filter(|flow| flow.sender.guided())
        {
            let facts = FlowFacts {
                slice: None,
                cell: cell(*seed).into(),
                ue: UeId::CRnti(u16::try_from(flow.ue).unwrap_or(u16::MAX)),
                address: None,
            };
            trial.choose(Duration::ZERO, &facts, "");
        }
    }
    trial
}
