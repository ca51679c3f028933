//! `cantor-sim run … --experiment FILE`.

use super::super::{Failure, progress_bar};
use policies::experiment::Experiment;
use policies::slice::read;
use sim::experiment::{Rig, page, run, table};
use sim::scenario::Scenario;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// What is asked for.
pub(super) struct Request<'a> {
    pub file: &'a Path,
    pub scenario: &'a Scenario,
    pub folder: &'a Path,
    pub seeds: Range<u64>,
    pub threads: usize,
    pub json: bool,
    /// Folder for the report as a page.
    pub page: Option<&'a Path>,
}

impl Request<'_> {
    pub(super) fn run(self) -> Result<(), Failure> {
        let experiment = load(self.file)?;
        let rig = Rig {
            experiment: &experiment,
            scenario: self.scenario,
            folder: self.folder,
            seeds: self.seeds,
        };
        let cells = rig.seeds.end.saturating_sub(rig.seeds.start);
        let total = self.scenario.duration_s * cells as f64;
        let bar = progress_bar(Duration::try_from_secs_f64(total).unwrap_or_default());
        let outcome = run(&rig, self.threads, |done| bar.inc(done.as_millis() as u64));
        bar.finish_and_clear();
        let report = outcome.map_err(Failure::usage)?.report;
        if self.json {
            let json = serde_json::to_string_pretty(&report).map_err(Failure::running)?;
            println!("{json}");
        } else {
            print!("{}", table(&report));
        }
        if let Some(folder) = self.page {
            let page = page(&report).map_err(Failure::running)?;
            std::fs::create_dir_all(folder).map_err(Failure::running)?;
            let file = folder.join("experiment.html");
            std::fs::write(&file, page).map_err(Failure::running)?;
            eprintln!("{}", file.display());
        }
        Ok(())
    }
}

/// The one experiment of a file.
fn load(file: &Path) -> Result<Experiment, Failure> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(anyhow::anyhow!("{name}: {error}")))?;
    let mut experiments = read::<Experiment>(&text, &name).map_err(Failure::usage)?;
    match experiments.len() {
        1 => Ok(experiments.remove(0).0),
        count => Err(Failure::usage(anyhow::anyhow!(
            "{name}: {count} experiments in it: give one"
        ))),
    }
}
