//! A store in one file, safe against crashes (redb).

use super::backend::{Backend, Failure, Found, Write, Written};
use super::item::{Kind, Octets};
use super::record;
use policies::decision_log::LoggedDecision;
use redb::{
    Database, ReadableDatabase as _, ReadableTable as _, ReadableTableMetadata as _,
    TableDefinition, TableError,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use tracing::warn;

/// Items under `KIND:KEY`.
const ITEMS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("items");
/// Last decisions of flows under their keys.
const FLOWS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("flows");
/// Decisions under their numbers in the log.
const LOG: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
/// A flow that nobody decided for this long is forgotten.
const FLOW_EXPIRY_US: i64 = 86_400_000_000;

/// A database that is open in this process, for those who write and those who read it.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    path: Arc<Path>,
    database: Arc<Mutex<Option<Arc<Database>>>>,
}

impl Shared {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path: path.into(),
            database: Arc::default(),
        }
    }

    /// Opens the file, and makes it if there is none.
    pub(super) fn open(&self) -> Result<(), Failure> {
        let mut database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        // The file is locked as long as it is open.
        *database = None;
        let opened = Database::create(&*self.path).map_err(|error| match error {
            redb::DatabaseError::DatabaseAlreadyOpen => {
                Failure::new("another process has opened the file; each Cantor needs its own")
            }
            error => Failure::new(error),
        })?;
        *database = Some(Arc::new(opened));
        Ok(())
    }

    fn get(&self) -> Result<Arc<Database>, Failure> {
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        database.clone().ok_or_else(|| Failure::new("not open"))
    }

    /// Runs what takes its time on a thread that may wait.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, redb::Error> + Send + 'static,
    ) -> Result<T, Failure> {
        let database = self.get()?;
        let done = tokio::task::spawn_blocking(move || work(&database));
        match done.await {
            Ok(result) => result.map_err(Failure::new),
            Err(ended) => Err(Failure::new(ended)),
        }
    }

    /// Decisions of the log from a number on, up to `max`, and the number after them.
    pub(super) async fn log(
        &self,
        from: u64,
        max: usize,
    ) -> Result<(Vec<LoggedDecision>, u64), Failure> {
        self.run(move |database| {
            let read = database.begin_read()?;
            let log = match read.open_table(LOG) {
                Err(TableError::TableDoesNotExist(_)) => return Ok((Vec::new(), from)),
                log => log?,
            };
            let (mut decisions, mut next) = (Vec::new(), from);
            for entry in log.range(from..)?.take(max) {
                let (number, octets) = entry?;
                next = number.value() + 1;
                decisions.extend(record::readable(octets.value()));
            }
            Ok((decisions, next))
        })
        .await
    }
}

/// A file as a backend.
#[derive(Debug)]
pub(super) struct File {
    shared: Shared,
    log_length: u64,
}

impl File {
    pub(super) fn new(shared: Shared, log_length: usize) -> Self {
        Self {
            shared,
            log_length: log_length as u64,
        }
    }
}

impl Backend for File {
    fn place(&self) -> String {
        format!("file:{}", self.shared.path.display())
    }

    async fn open(&mut self) -> Result<(), Failure> {
        // It is open already when the process begins: then whoever started it was told what was wrong.
        if self.shared.get().is_ok() {
            return Ok(());
        }
        let shared = self.shared.clone();
        let opened = tokio::task::spawn_blocking(move || shared.open());
        opened
            .await
            .unwrap_or_else(|ended| Err(Failure::new(ended)))
    }

    async fn read(&mut self) -> Result<Found, Failure> {
        let oldest_us = unix_us() - FLOW_EXPIRY_US;
        self.shared
            .run(move |database| read(database, oldest_us))
            .await
    }

    async fn keys(&mut self) -> Result<Vec<(Kind, String)>, Failure> {
        self.shared
            .run(|database| {
                let found = read(database, i64::MAX)?;
                let items = found.items.into_iter();
                Ok(items.map(|(kind, key, _)| (kind, key)).collect())
            })
            .await
    }

    async fn write(&mut self, write: Write) -> Result<Written, Failure> {
        if write.changes.is_empty() && write.flows.is_empty() && write.log.is_empty() {
            return Ok(Written::Here);
        }
        let log_length = self.log_length;
        let result = self
            .shared
            .run(move |database| commit(database, &write, log_length))
            .await;
        if result.is_err() {
            // After a failure (the disk is full …) redb wants to be opened again.
            let slot = &self.shared.database;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        result.map(|()| Written::Here)
    }

    /// The file's room is the disk's: it does not tell that it is full in a way that could be trusted.
    async fn make_room(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// All items, and the flows decided after `oldest_us`.
fn read(database: &Database, oldest_us: i64) -> Result<Found, redb::Error> {
    let mut found = Found::default();
    let read = database.begin_read()?;
    match read.open_table(ITEMS) {
        Err(TableError::TableDoesNotExist(_)) => return Ok(found),
        items => {
            for entry in items?.iter()? {
                let (name, octets) = entry?;
                match split(name.value()) {
                    Some((kind, key)) => {
                        found
                            .items
                            .push((kind, key.to_owned(), Octets::from(octets.value())));
                    }
                    None => warn!(
                        item = name.value(),
                        "item of an unknown kind is left as it is"
                    ),
                }
            }
        }
    }
    for entry in read.open_table(FLOWS)?.iter()? {
        let flow = record::readable(entry?.1.value());
        found
            .flows
            .extend(flow.filter(|flow| flow.time_us >= oldest_us));
    }
    Ok(found)
}

fn commit(database: &Database, write: &Write, log_length: u64) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    {
        let mut items = transaction.open_table(ITEMS)?;
        for change in &write.changes {
            let name = format!("{}:{}", change.kind.name(), change.key);
            match &change.item {
                Some(octets) => items.insert(name.as_str(), &octets[..])?,
                None => items.remove(name.as_str())?,
            };
        }
        let mut flows = transaction.open_table(FLOWS)?;
        for (key, decision) in &write.flows {
            flows.insert(key.as_str(), &decision[..])?;
        }
        let mut log = transaction.open_table(LOG)?;
        let next = log.last()?.map_or(0, |(number, _)| number.value() + 1);
        for (number, decision) in (next..).zip(&write.log) {
            log.insert(number, &decision[..])?;
        }
        while log.len()? > log_length {
            log.pop_first()?;
        }
    }
    transaction.commit()?;
    Ok(())
}

fn split(name: &str) -> Option<(Kind, &str)> {
    let (kind, key) = name.split_once(':')?;
    let kind = Kind::ALL.into_iter().find(|known| known.name() == kind)?;
    Some((kind, key))
}

fn unix_us() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    })
}
