//! `cantor-sim reproduce`: published figures beside ours, as tables on the terminal and as a document.

mod choir;
mod fig2;
mod fig3;
mod fig4;
mod prism;
mod reference;
mod section;
mod sweeps;

use super::{Failure, progress_bar};
use clap::{Args as ClapArgs, ValueEnum};
use section::Section;
use sim::results::FlowResults;
use sim::runs::{self, Job};
use sim::scenario::{Selection, Variant};
use std::path::PathBuf;
use std::{fs, io};

const EXAMPLES: &str = "\
Examples:
  cantor-sim reproduce rapid
  cantor-sim reproduce choir --quick --out /tmp/reproduction
  cantor-sim reproduce rapid --only fig3 --out /tmp/reproduction";

/// Reproduce a paper's figures and put them beside the published ones
#[derive(ClapArgs)]
#[command(after_help = super::after_help(EXAMPLES))]
pub struct Args {
    /// Which paper
    #[arg(value_enum)]
    paper: Paper,
    /// Only this part; the rest of the document stays
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Seeds of PRISM's test; of Choir's, at most 5
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// A first look: one seed, short runs (Choir only)
    #[arg(long)]
    quick: bool,
    /// Folder of reproduction.md and its charts
    #[arg(long, value_name = "FOLDER", default_value = "docs")]
    out: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Paper {
    /// RAPID's figures 2 to 4, and its rows in PRISM's tables IV to VI
    Rapid,
    /// Choir's tables 2 to 4, a single flow, ablations, and its form for E2
    Choir,
}

/// A part of the reproduction.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// RAPID's figure 2: PRB use and delay against the send rate
    Fig2,
    /// RAPID's figure 3: transients for several gains and control intervals
    Fig3,
    /// RAPID's figure 4: its testbed
    Fig4,
    /// PRISM's tables IV to VI
    Prism,
    /// What the papers leave open
    Sweeps,
    /// Choir's tables 2 to 4
    ChoirTables,
    /// Choir: a single flow, its figures 12 to 14
    ChoirSingle,
    /// Choir over E2, and what its paper leaves open
    ChoirE2,
}

impl Part {
    fn paper(self) -> Paper {
        match self {
            Self::Fig2 | Self::Fig3 | Self::Fig4 | Self::Prism | Self::Sweeps => Paper::Rapid,
            Self::ChoirTables | Self::ChoirSingle | Self::ChoirE2 => Paper::Choir,
        }
    }
}

/// The document where there is none yet. Its text is written by hand; what is between the marks of a part is replaced.
const DOCUMENT: &str = include_str!("../../../../docs/reproduction.md");

pub fn run(args: Args) -> Result<(), Failure> {
    if let Some(part) = args.only.filter(|part| part.paper() != args.paper) {
        let name = part.to_possible_value();
        let name = name.as_ref().map_or("", |value| value.get_name());
        return Err(Failure::usage(anyhow::anyhow!(
            "--only {name}: no part of this paper"
        )));
    }
    let effort = choir::Effort::new(args.seeds, args.quick);
    let file = args.out.join("reproduction.md");
    let mut document = match fs::read_to_string(&file) {
        Ok(document) => document,
        Err(error) if error.kind() == io::ErrorKind::NotFound => DOCUMENT.to_owned(),
        Err(error) => return Err(Failure::running(error)),
    };
    for part in Part::value_variants() {
        if part.paper() != args.paper || args.only.is_some_and(|only| only != *part) {
            continue;
        }
        let section: Section = match part {
            Part::Fig2 => fig2::run()?,
            Part::Fig3 => fig3::run()?,
            Part::Fig4 => fig4::run(args.seeds)?,
            Part::Prism => prism::run(args.seeds)?,
            Part::Sweeps => sweeps::run(args.seeds.min(2))?,
            Part::ChoirTables => choir::tables(effort)?,
            Part::ChoirSingle => choir::single(effort)?,
            Part::ChoirE2 => choir::over_e2(effort)?,
        };
        super::print(format_args!("{}\n", section.text()))?;
        let images = args.out.join("img");
        section.write_charts(&images).map_err(Failure::running)?;
        let name = part.to_possible_value();
        let name = name.as_ref().map_or("", |value| value.get_name());
        document = replace(&document, name, &section.markdown());
        // After every part: the last ones take long.
        fs::write(&file, &document).map_err(Failure::running)?;
    }
    Ok(())
}

/// Replaces what is between the marks of a part.
fn replace(document: &str, part: &str, text: &str) -> String {
    let (begin, end) = (
        format!("<!-- {part} -->"),
        format!("<!-- end of {part} -->"),
    );
    let marks = document.split_once(&begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(&end)?;
        Some((before, after))
    });
    match marks {
        Some((before, after)) => format!("{before}{begin}\n\n{text}\n\n{end}{after}"),
        None => format!("{document}\n{begin}\n\n{text}\n\n{end}\n"),
    }
}

/// Every variant of the selections with seeds 1 to `seeds`, and what `keep` makes of each: `[variant][seed]`.
fn simulate<T: Send>(
    what: &str,
    selections: &[Selection],
    seeds: u64,
    keep: impl Fn(Vec<FlowResults>) -> T + Sync,
) -> Result<Vec<Vec<T>>, Failure> {
    let mut variants: Vec<(Variant, PathBuf)> = Vec::new();
    for selection in selections {
        let (found, folder) = selection.variants().map_err(Failure::usage)?;
        variants.extend(found.into_iter().map(|variant| (variant, folder.clone())));
    }
    let jobs: Vec<Job<'_>> = variants
        .iter()
        .flat_map(|(variant, folder)| {
            (1..=seeds).map(move |seed| Job {
                scenario: &variant.scenario,
                folder,
                seed,
            })
        })
        .collect();
    let bar = progress_bar(jobs.iter().map(Job::duration).sum());
    bar.println(what);
    let kept = runs::run_all(
        &jobs,
        runs::cores(),
        |done| bar.inc(done.as_millis() as u64),
        |_, flows| keep(flows),
    );
    bar.finish_and_clear();
    let mut kept = kept.map_err(Failure::usage)?.into_iter();
    let per_variant = |_| kept.by_ref().take(seeds as usize).collect();
    Ok((0..variants.len()).map(per_variant).collect())
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let document =
            "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n<!-- y -->\nkept\n<!-- end of y -->\n";
        let new = replace(document, "x", "new");
        assert_eq!(
            new,
            "a\n<!-- x -->\n\nnew\n\n<!-- end of x -->\nb\n<!-- y -->\nkept\n<!-- end of y -->\n"
        );
        assert_eq!(replace(&new, "x", "new"), new);
        assert!(replace("a", "z", "text").contains("text"));
    }
}
