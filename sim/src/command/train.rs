//! `cantor-sim train`: learned policies, trained in the simulation.

use super::Failure;
use clap::{Args as ClapArgs, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use sim::runs;
use sim::training::record::Record;
use sim::training::{Plan, Progress, Trainer};
use std::path::PathBuf;

/// Train a learned policy and write its model bundle
#[derive(ClapArgs)]
pub struct Args {
    /// Which policy
    #[arg(value_enum)]
    policy: Policy,
    /// Folder of the bundle; the log, the charts and the checkpoints are in its folder `training`
    #[arg(long, value_name = "FOLDER", default_value = "prism-v1")]
    out: PathBuf,
    /// Name of the model
    #[arg(long, default_value = "prism-v1")]
    name: String,
    /// Seed of everything that is drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Checkpoints; each is made after one run per environment, and validated
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    checkpoints: u32,
    /// Runs of the training scenario side by side; the outcome depends on it
    #[arg(long)]
    environments: Option<usize>,
    /// Training scenario: a file, or the name of a built-in one
    #[arg(long, value_name = "SCENARIO")]
    scenario: Option<String>,
    /// Validation scenario
    #[arg(long, value_name = "SCENARIO")]
    validation: Option<String>,
    /// Change a setting of both scenarios: key.path=value
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Go on after the last checkpoint in the folder
    #[arg(long)]
    resume: bool,
    /// Threads; by default one per core. The outcome does not depend on it
    #[arg(long)]
    threads: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    /// PRISM: the gain of a rate law on the peak PRB use, by proximal policy optimisation
    Prism,
}

impl Args {
    fn plan(&self) -> Plan {
        let Policy::Prism = self.policy;
        let mut plan = Plan::prism(self.seed);
        plan.card.name.clone_from(&self.name);
        plan.checkpoints = self.checkpoints;
        plan.environments = self.environments.unwrap_or(plan.environments);
        for (source, scenario) in [
            (&mut plan.training, &self.scenario),
            (&mut plan.validation, &self.validation),
        ] {
            if let Some(scenario) = scenario {
                source.scenario.clone_from(scenario);
            }
            source.settings.clone_from(&self.settings);
        }
        plan
    }

    /// The command that repeats the training.
    fn command(&self) -> String {
        let mut command = format!(
            "cantor-sim train prism --seed {} --checkpoints {}",
            self.seed, self.checkpoints
        );
        if let Some(environments) = self.environments {
            command += &format!(" --environments {environments}");
        }
        for (option, value) in [
            ("scenario", &self.scenario),
            ("validation", &self.validation),
        ] {
            if let Some(value) = value {
                command += &format!(" --{option} {value}");
            }
        }
        for setting in &self.settings {
            command += &format!(" --set {setting}");
        }
        command
    }
}

pub fn run(args: Args) -> Result<(), Failure> {
    let threads = args.threads.unwrap_or_else(runs::cores);
    let plan = args.plan();
    let training = args.out.join("training");
    let trainer = match args.resume {
        true => Trainer::resume(plan, &training, threads),
        false => Trainer::new(plan, &training, threads),
    };
    let mut trainer = trainer.map_err(Failure::usage)?;
    let bar = bar();
    trainer
        .run(|progress| tell(&bar, &progress))
        .map_err(Failure::running)?;
    bar.finish_and_clear();
    print!("{}", validations(trainer.record()));
    let bundle = trainer.bundle(&args.command()).map_err(Failure::running)?;
    bundle.write(&args.out).map_err(Failure::running)?;
    println!("model: {}", args.out.display());
    Ok(())
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    match ProgressStyle::with_template("{bar:30} {percent:>3} %  {eta} left  {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn tell(bar: &ProgressBar, progress: &Progress<'_>) {
    let Progress { record, update, of } = *progress;
    let checkpoints = record.plan.checkpoints as usize;
    bar.set_length((checkpoints * of) as u64);
    bar.set_position((record.checkpoints.len() * of + update) as u64);
    let Some(last) = record.updates.last() else {
        return;
    };
    let mut text = format!(
        "checkpoint {} of {checkpoints}: reward {:.3}  entropy {:.2}  clipped {:.2}",
        last.checkpoint, last.reward, last.update.entropy, last.update.clip_fraction
    );
    if let (Some(newest), Some(best)) = (record.checkpoints.last(), record.best()) {
        let (newest, best) = (newest.validation, best.validation);
        text += &format!(
            "  score {:.2} (best {:.2} at {})",
            newest.score, best.score, best.checkpoint
        );
    }
    bar.set_message(text);
}

/// The checkpoints as a table; the best is marked.
fn validations(record: &Record) -> String {
    let best = record.best().map(|row| row.validation.checkpoint);
    let mut text = String::from(
        "checkpoint    score   goodput Mbit/s   loss %   delay ms mean      p95      max\n",
    );
    for row in &record.checkpoints {
        let v = &row.validation;
        let mark = if best == Some(v.checkpoint) {
            "  best"
        } else {
            ""
        };
        text += &format!(
            "{:>10} {:>8.2} {:>16.1} {:>8.3} {:>15.2} {:>8.1} {:>8.1}{mark}\n",
            v.checkpoint,
            v.score,
            v.goodput_mbps,
            100.0 * v.loss,
            v.delay_mean_ms,
            v.delay_p95_ms,
            row.delay_max_ms
        );
    }
    text
}
