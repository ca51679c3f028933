//! Reads the log of decisions, wherever it is kept.

use super::Store;
use super::backend::Failure;
use super::file;
use super::record;
use super::redis::LogInRedis;
use super::settings::{Place, Settings};
use policies::decision_log::LoggedDecision;

/// Decisions that are read at once.
const CHUNK: usize = 100;

/// Why the log cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct LogError {
    place: String,
    reason: String,
}

/// Where the log is.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Memory,
    File(file::Shared),
    Redis(Settings),
}

/// The decisions of a time, in the order of the log, some at a time.
#[derive(Debug)]
pub struct LogReader {
    log: Log,
    place: String,
    since_us: i64,
    until_us: i64,
    /// Decisions before this number of the log were read.
    next: u64,
    ended: bool,
}

#[derive(Debug)]
enum Log {
    Memory(Store),
    File(file::Shared),
    Redis(Box<LogInRedis>),
}

impl LogReader {
    /// The log of a store that another process may be writing. Of a file, none may.
    ///
    /// # Errors
    /// When the place cannot be opened, or has no log.
    pub async fn open(settings: &Settings, since_us: i64, until_us: i64) -> Result<Self, LogError> {
        let place = settings.place.to_string();
        let error = |reason: String| LogError {
            place: place.clone(),
            reason,
        };
        let log = match &settings.place {
            Place::Memory => {
                return Err(error(
                    "only the running process has it: ask its operations API".into(),
                ));
            }
            Place::File(path) => {
                if !path.exists() {
                    return Err(error("there is no such file".into()));
                }
                let shared = file::Shared::new(path.clone());
                shared.open().map_err(|failure| error(failure.reason))?;
                Log::File(shared)
            }
            Place::Redis(address) => {
                let log = LogInRedis::open(settings.clone(), address, since_us).await;
                Log::Redis(Box::new(log.map_err(|failure| error(failure.reason))?))
            }
        };
        Ok(Self::new(log, place, since_us, until_us))
    }

    /// The log of a store of this process.
    pub(super) async fn of(store: &Store, since_us: i64, until_us: i64) -> Result<Self, LogError> {
        match store.source() {
            Source::Memory => {
                let log = Log::Memory(store.clone());
                Ok(Self::new(log, "memory".into(), since_us, until_us))
            }
            Source::File(shared) => {
                let log = Log::File(shared.clone());
                Ok(Self::new(log, "file".into(), since_us, until_us))
            }
            Source::Redis(settings) => Self::open(settings, since_us, until_us).await,
        }
    }

    fn new(log: Log, place: String, since_us: i64, until_us: i64) -> Self {
        Self {
            log,
            place,
            since_us,
            until_us,
            next: 0,
            ended: false,
        }
    }

    /// The next decisions; `None`: there are no more.
    ///
    /// # Errors
    /// When the log cannot be read further.
    pub async fn next(&mut self) -> Result<Option<Vec<LoggedDecision>>, LogError> {
        while !self.ended {
            let mut decisions = self.read().await.map_err(|failure| LogError {
                place: self.place.clone(),
                reason: failure.reason,
            })?;
            decisions.retain(|d| (self.since_us..=self.until_us).contains(&d.time_us));
            if !decisions.is_empty() {
                return Ok(Some(decisions));
            }
        }
        Ok(None)
    }

    async fn read(&mut self) -> Result<Vec<LoggedDecision>, Failure> {
        let (decisions, next) = match &mut self.log {
            Log::Memory(store) => {
                let (decisions, next) = store.log_from(self.next, CHUNK);
                (decisions.iter().map(|d| record::logged(d)).collect(), next)
            }
            Log::File(shared) => shared.log(self.next, CHUNK).await?,
            Log::Redis(log) => {
                let decisions = log.next(CHUNK).await?;
                let next = self.next + u64::from(!log.ended());
                (decisions, next)
            }
        };
        self.ended = next == self.next;
        self.next = next;
        Ok(decisions)
    }
}
