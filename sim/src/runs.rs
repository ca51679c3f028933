//! Runs of scenarios, on all cores; the outcome does not depend on how many those are.

use crate::results::FlowResults;
use crate::scenario::{Scenario, ScenarioError};
use crate::simulation::Simulation;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Virtual time between two tellings of progress.
const STEP: Duration = Duration::from_secs(1);

/// One run to be done.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What.
    pub scenario: &'a Scenario,
    /// Where its files are named from.
    pub folder: &'a Path,
    /// With which seed.
    pub seed: u64,
}

impl Job<'_> {
    /// Virtual time of the run.
    pub fn duration(&self) -> Duration {
        Duration::try_from_secs_f64(self.scenario.duration_s).unwrap_or_default()
    }

    /// Runs it. `progress` is told every second of virtual time.
    pub fn run(&self, progress: impl Fn(Duration)) -> Result<Vec<FlowResults>, ScenarioError> {
        let mut simulation = self.scenario.build(self.seed, self.folder)?;
        run_until(&mut simulation, self.duration(), progress);
        Ok(simulation.into_results())
    }
}

/// Runs a simulation until `end`. `progress` is told every second of virtual time.
pub fn run_until(simulation: &mut Simulation, end: Duration, progress: impl Fn(Duration)) {
    while simulation.now() < end {
        let before = simulation.now();
        simulation.run_until((before + STEP).min(end));
        progress(simulation.now() - before);
    }
}

/// Cores of this machine.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// CPU time that this process has used, to 10 ms; `None` where there is no `/proc`.
pub fn cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // proc(5): the name of the command ends with the last parenthesis; utime and stime are fields 14 and 15 of all.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: Vec<u64> = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse().ok())
        .collect();
    // USER_HZ is 100 on all architectures.
    Some(Duration::from_millis(10 * ticks.iter().sum::<u64>()))
}

/// Does `work` with every item on `threads` threads; what comes of them is in the order of the items.
pub fn in_parallel<I: Send, T: Send>(
    items: Vec<I>,
    threads: usize,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    let threads = threads.clamp(1, items.len().max(1));
    let items = Mutex::new(items.into_iter().enumerate());
    let results = Mutex::new(Vec::new());
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, item)) = next() {
                    let result = work(item);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs the jobs on `workers` threads and keeps of each what `keep` makes of its flows, in the order of the jobs.
pub fn run_all<T: Send>(
    jobs: &[Job<'_>],
    workers: usize,
    progress: impl Fn(Duration) + Sync,
    keep: impl Fn(usize, Vec<FlowResults>) -> T + Sync,
) -> Result<Vec<T>, ScenarioError> {
    let run = |(index, job): (usize, &Job<'_>)| Ok(keep(index, job.run(&progress)?));
    in_parallel(jobs.iter().enumerate().collect(), workers, run)
        .into_iter()
        .collect()
}
