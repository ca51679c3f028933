//! Recorded decisions as files: what `cantor log export` writes and `cantor-sim replay` decides again.
//!
//! Files are tables with one row for each report that a decision was made from, and the decision's own columns
//! repeated in each; a decision without reports has one row, whose `window_…` columns are empty. The columns are
//! those of [`LoggedDecision`] and, after `window_`, of [`LoggedReport`](policies::decision_log::LoggedReport).

mod csv;
mod parquet;
mod rows;
mod shadow;

pub use shadow::{Shadow, ShadowedFlow, Step, Summary};

use policies::decision_log::LoggedDecision;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

/// Form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Comma-separated values (RFC 4180) with a heading.
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// By the ending of a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// A file that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk, or whatever it is.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is no Parquet file, or a damaged one.
    #[error("Parquet: {0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// What a line says is not understood.
    #[error("row {row}: {reason}")]
    Row {
        /// Counted from 1, without the heading.
        row: usize,
        /// Why.
        reason: String,
    },
    /// A column is missing.
    #[error("there is no column {0}: this is no log of decisions")]
    Column(&'static str),
    /// The name does not tell the form.
    #[error("the name ends neither in .csv nor in .parquet")]
    Ending,
}

/// Writes decisions to a file.
pub enum Writer<W: Write + Send> {
    /// As lines.
    Csv(csv::Writer<W>),
    /// As groups of columns.
    Parquet(Box<parquet::Writer<W>>),
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(format: Format, out: W) -> Result<Self, Error> {
        Ok(match format {
            Format::Csv => Self::Csv(csv::Writer::new(out)?),
            Format::Parquet => Self::Parquet(Box::new(parquet::Writer::new(out)?)),
        })
    }

    /// Adds a decision.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, decision: &LoggedDecision) -> Result<(), Error> {
        for row in rows::rows(decision) {
            match self {
                Self::Csv(csv) => csv.add(&row)?,
                Self::Parquet(parquet) => parquet.add(row)?,
            }
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written to its end.
    pub fn finish(self) -> Result<(), Error> {
        match self {
            Self::Csv(csv) => csv.finish(),
            Self::Parquet(parquet) => parquet.finish(),
        }
    }
}

/// All decisions of a file, in its order.
///
/// # Errors
/// When it cannot be read, or is no log of decisions.
pub fn read(path: &Path) -> Result<Vec<LoggedDecision>, Error> {
    let file = File::open(path)?;
    let mut decisions = rows::Decisions::default();
    match Format::of(path).ok_or(Error::Ending)? {
        Format::Csv => csv::read(BufReader::new(file), &mut decisions)?,
        Format::Parquet => parquet::read(file, &mut decisions)?,
    }
    decisions.finish()
}
