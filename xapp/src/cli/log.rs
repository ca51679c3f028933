//! `cantor log`: the decisions that were made, and from what.

use super::UsageError;
use super::xapp::{TIMEOUT, Xapp};
use crate::store::{LogReader, Naming, Settings};
use anyhow::Context as _;
use policies::decision_log::LoggedDecision;
use proto::operations::ReadLogRequest;
use proto::operations::log_service_client::LogServiceClient;
use sim::recorded::{Format, Writer};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::SystemTime;

const EXAMPLES: &str = "\
Examples:
  cantor log export --since 1h --output decisions.parquet
  cantor log export --since 2026-11-30T20:00:00Z --until 30m > decisions.csv
  cantor log export --store redis://127.0.0.1:6379 --output decisions.csv
  cantor log export --store file:/var/lib/cantor/state.redb --output decisions.csv

Times are so long ago (90s, 15m, 2h, 3d), or in UTC as 2026-11-30T20:00:00Z. What the columns mean: docs/store.md.
`cantor-sim replay FILE` lets another policy decide about the same.";

/// Some hundred decisions with all their reports.
const MAX_MESSAGE: usize = 64 << 20;

/// Read the log of decisions
#[derive(Debug, clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Export(Export),
}

/// Export decisions with the reports that they were made from
#[derive(Debug, clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
struct Export {
    /// Decisions from this time on; without it, from the first
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<i64>,

    /// Decisions up to this time; without it, up to now
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<i64>,

    /// Form of the file; without it, what the name of the file says, else csv
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// File to write; without it, standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    xapp: Xapp,

    /// Read a store directly, without the xApp: redis://…, redis-sentinel://…, redis-cluster://…, or file:PATH that no Cantor has open
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// Namespace of the store's keys in Redis
    #[arg(long, requires = "store", default_value = "cantor")]
    namespace: String,

    /// The store's keys are those of the Shared Data Layer (naming = "sdl")
    #[arg(long, requires = "store")]
    sdl: bool,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let Command::Export(export) = self.command;
        super::runtime()?.block_on(export.run())
    }
}

impl Export {
    async fn run(self) -> anyhow::Result<()> {
        let by_name = self.output.as_deref().and_then(Format::of);
        let format = self.format.or(by_name).unwrap_or(Format::Csv);
        if format == Format::Parquet && self.output.is_none() && io::stdout().is_terminal() {
            let text = "Parquet is not for terminals: give --output FILE";
            return Err(UsageError(text.into()).into());
        }
        let mut log = self.open().await?;
        let out: Box<dyn Write + Send> = match &self.output {
            Some(path) => {
                let file = File::create(path).with_context(|| path.display().to_string())?;
                Box::new(BufWriter::new(file))
            }
            None => Box::new(BufWriter::new(io::stdout())),
        };
        let mut count = 0_u64;
        let written = async {
            let mut writer = Writer::new(format, out)?;
            while let Some(decisions) = log.next().await? {
                for decision in &decisions {
                    writer.add(decision)?;
                    count += 1;
                }
            }
            writer.finish()?;
            anyhow::Ok(())
        };
        match written.await {
            Err(error) if is_broken_pipe(&error) => return Ok(()),
            result => result?,
        }
        if let Some(path) = &self.output {
            eprintln!("{count} decisions in {}", path.display());
        }
        Ok(())
    }

    async fn open(&self) -> anyhow::Result<Log> {
        let (since_us, until_us) = (self.since.unwrap_or(0), self.until.unwrap_or(i64::MAX));
        if let Some(store) = &self.store {
            let place = store.parse();
            let settings = Settings {
                place: place.map_err(|error| UsageError(format!("--store: {error}")))?,
                namespace: self.namespace.clone(),
                naming: if self.sdl {
                    Naming::Sdl
                } else {
                    Naming::Cantor
                },
                timeout: TIMEOUT,
                ..Settings::default()
            };
            let log = LogReader::open(&settings, since_us, until_us).await?;
            return Ok(Log::Store(Box::new(log)));
        }
        let channel = self.xapp.connect(None).await?;
        let mut client = LogServiceClient::new(channel).max_decoding_message_size(MAX_MESSAGE);
        let request = ReadLogRequest { since_us, until_us };
        let stream = client.read_log(request).await.map_err(super::plain)?;
        Ok(Log::Xapp(Box::new(stream.into_inner())))
    }
}

/// Where decisions come from, some at a time.
enum Log {
    Store(Box<LogReader>),
    Xapp(Box<tonic::Streaming<proto::operations::ReadLogResponse>>),
}

impl Log {
    async fn next(&mut self) -> anyhow::Result<Option<Vec<LoggedDecision>>> {
        match self {
            Self::Store(log) => Ok(log.next().await?),
            Self::Xapp(stream) => {
                let Some(response) = stream.message().await.map_err(super::plain)? else {
                    return Ok(None);
                };
                let decisions = response.decisions.iter();
                let decisions = decisions.map(|decision| serde_json::from_str(decision));
                Ok(Some(decisions.collect::<Result<_, _>>()?))
            }
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes
        .into_iter()
        .any(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Unix time in microseconds, of a time that is so long ago or given in UTC.
fn time(text: &str) -> Result<i64, String> {
    let ago = |number: &str, seconds: i64| Some(number.parse::<u32>().ok()? as i64 * seconds);
    let (number, unit) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
    let ago = match unit {
        "s" => ago(number, 1),
        "m" => ago(number, 60),
        "h" => ago(number, 3600),
        "d" => ago(number, 86_400),
        _ => None,
    };
    let seconds = match ago {
        Some(ago) => now_s() - ago,
        None => utc(text).ok_or_else(|| {
            format!("{text:?} is no time: write 90s, 15m, 2h or 3d ago, or 2026-11-30T20:00:00Z")
        })?,
    };
    Ok(seconds * 1_000_000)
}

fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

/// Unix time in seconds of `YYYY-MM-DDThh:mm:ssZ` (RFC 3339, UTC).
fn utc(text: &str) -> Option<i64> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(clock, ':')?;
    let days_in = [
        31,
        28 + i64::from(is_leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let month_index = usize::try_from(month - 1).ok()?;
    let valid = (1970..=9999).contains(&year)
        && (1..=*days_in.get(month_index)?).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    let years: i64 = (1970..year)
        .map(|year| 365 + i64::from(is_leap(year)))
        .sum();
    let months: i64 = days_in[..month_index].iter().sum();
    let days = years + months + day - 1;
    valid.then_some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let numbers = text.split(between).map(|part| {
        let digits = part.len() <= 4 && part.chars().all(|c| c.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    });
    numbers.collect::<Option<Vec<i64>>>()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(utc("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(utc("2026-11-30T20:00:00Z"), Some(1_796_068_800));
        assert_eq!(utc("2024-02-29T12:34:56Z"), Some(1_709_210_096));
        let ago = now_s() - time("2h").unwrap() / 1_000_000;
        assert!((7200..7260).contains(&ago), "{ago}");
        for wrong in [
            "",
            "h",
            "1w",
            "-1h",
            "2023-02-29T00:00:00Z",
            "2026-11-30T24:00:00Z",
            "2026-11-30",
            "é",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
