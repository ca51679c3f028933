//! A store in Redis. `docs/store.md` describes the keys.

mod address;
mod connection;
mod log;

pub use address::Address;
pub(super) use log::LogInRedis;

use super::backend::{Backend, Failure, Found, Write, Written};
use super::item::{Kind, Octets};
use super::settings::Settings;
use super::{lineage, record};
use connection::Connection;
use redis::{Pipeline, pipe};
use std::collections::HashMap;
use tracing::warn;

/// Keys that are asked for at once.
const CHUNK: usize = 64;
/// A flow that nobody decided for this long is forgotten, seconds.
const FLOW_EXPIRY: u64 = 86_400;
/// Flows that are read at most.
const MAX_FLOWS: usize = 65_536;
/// Set of the keys of flows, beside those of the items' kinds.
const FLOW: &str = "flow";

/// Redis as a backend.
pub(super) struct Redis {
    settings: Settings,
    address: Address,
    connection: Option<Connection>,
    /// Marks what was written here: another value, or none, means that Redis has lost it.
    lineage: String,
}

impl Redis {
    pub(super) fn new(settings: Settings, address: Address) -> Self {
        Self {
            settings,
            address,
            connection: None,
            lineage: lineage(),
        }
    }

    fn key(&self, name: &str) -> String {
        self.settings.naming.key(&self.settings.namespace, name)
    }

    fn item_key(&self, kind: &str, key: &str) -> String {
        self.key(&format!("{kind}:{key}"))
    }

    fn index_key(&self, kind: &str) -> String {
        self.key(&format!("index:{kind}"))
    }

    fn log_key(&self) -> String {
        self.key("log")
    }

    async fn query<T: redis::FromRedisValue>(&mut self, commands: &Pipeline) -> Result<T, Failure> {
        let connection = self.connection.as_mut();
        let connection = connection.ok_or_else(|| Failure::new("not connected"))?;
        connection.query(commands).await
    }

    /// The members of an index, up to a limit.
    async fn index(&mut self, kind: &str, limit: usize) -> Result<Vec<String>, Failure> {
        let index = self.index_key(kind);
        let (mut cursor, mut keys) = (0_u64, Vec::new());
        loop {
            let mut scan = pipe();
            scan.cmd("SSCAN")
                .arg(&index)
                .arg(cursor)
                .arg("COUNT")
                .arg(1000);
            let ((next, found),): ((u64, Vec<String>),) = self.query(&scan).await?;
            keys.extend(found);
            cursor = next;
            if cursor == 0 || keys.len() >= limit {
                break;
            }
        }
        if cursor != 0 || keys.len() > limit {
            warn!(
                index,
                limit, "more keys than are kept: the others are left out"
            );
            keys.truncate(limit);
        }
        // SSCAN may give a member twice.
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// The values under the keys of an index. Keys whose values are gone are taken out of it.
    async fn values(
        &mut self,
        kind: &str,
        limit: usize,
    ) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let keys = self.index(kind, limit).await?;
        let mut values = Vec::with_capacity(keys.len());
        for chunk in keys.chunks(CHUNK) {
            let mut get = pipe();
            get.cmd("MGET");
            for key in chunk {
                get.arg(self.item_key(kind, key));
            }
            let (found,): (Vec<Option<Vec<u8>>>,) = self.query(&get).await?;
            let mut gone = Vec::new();
            for (key, value) in chunk.iter().zip(found) {
                match value {
                    Some(value) => values.push((key.clone(), value)),
                    None => gone.push(key),
                }
            }
            if !gone.is_empty() {
                let mut remove = pipe();
                remove
                    .cmd("SREM")
                    .arg(self.index_key(kind))
                    .arg(gone)
                    .ignore();
                self.query::<()>(&remove).await?;
            }
        }
        Ok(values)
    }

    /// Takes over the mark of what is in Redis, or leaves one.
    async fn mark(&mut self) -> Result<(), Failure> {
        let key = self.key("lineage");
        let mut mark = pipe();
        mark.cmd("SET")
            .arg(&key)
            .arg(&self.lineage)
            .arg("NX")
            .ignore();
        mark.cmd("GET").arg(&key);
        let (lineage,): (Option<String>,) = self.query(&mark).await?;
        self.lineage = lineage.ok_or_else(|| Failure::new("the mark of the lineage is gone"))?;
        Ok(())
    }

    fn add_changes(&self, commands: &mut Pipeline, write: &Write) {
        let mut indexed: HashMap<Kind, (Vec<&str>, Vec<&str>)> = HashMap::new();
        for change in &write.changes {
            let kind = change.kind.name();
            let key = self.item_key(kind, &change.key);
            let (put, deleted) = indexed.entry(change.kind).or_default();
            match &change.item {
                Some(item) => {
                    commands.cmd("SET").arg(key).arg(&item[..]).ignore();
                    put.push(&change.key);
                }
                None => {
                    commands.cmd("DEL").arg(key).ignore();
                    deleted.push(&change.key);
                }
            }
        }
        for (kind, (put, deleted)) in indexed {
            let index = self.index_key(kind.name());
            if !put.is_empty() {
                commands.cmd("SADD").arg(&index).arg(put).ignore();
            }
            if !deleted.is_empty() {
                commands.cmd("SREM").arg(&index).arg(deleted).ignore();
            }
        }
    }

    fn add_flows(&self, commands: &mut Pipeline, write: &Write) {
        if write.flows.is_empty() {
            return;
        }
        for (key, decision) in &write.flows {
            let key = self.item_key(FLOW, key);
            let set = commands.cmd("SET").arg(key).arg(&decision[..]);
            set.arg("EX").arg(FLOW_EXPIRY).ignore();
        }
        let keys: Vec<&str> = write.flows.iter().map(|(key, _)| key.as_str()).collect();
        commands
            .cmd("SADD")
            .arg(self.index_key(FLOW))
            .arg(keys)
            .ignore();
    }

    fn add_log(&self, commands: &mut Pipeline, write: &Write) {
        for decision in &write.log {
            let add = commands.cmd("XADD").arg(self.log_key());
            add.arg("MAXLEN").arg("~").arg(self.settings.log_length);
            add.arg("*").arg("decision").arg(&decision[..]).ignore();
        }
    }
}

impl Backend for Redis {
    fn place(&self) -> String {
        self.address.to_string()
    }

    async fn open(&mut self) -> Result<(), Failure> {
        self.connection = None;
        self.connection = Some(Connection::open(&self.address, self.settings.timeout).await?);
        Ok(())
    }

    async fn read(&mut self) -> Result<Found, Failure> {
        self.mark().await?;
        let mut found = Found::default();
        for kind in Kind::ALL {
            let values = self.values(kind.name(), kind.limit()).await?;
            let items = values.into_iter();
            found
                .items
                .extend(items.map(|(key, value)| (kind, key, Octets::from(value))));
        }
        let flows = self.values(FLOW, MAX_FLOWS).await?;
        let flows = flows
            .iter()
            .filter_map(|(_, value)| record::readable(value));
        found.flows.extend(flows);
        Ok(found)
    }

    async fn keys(&mut self) -> Result<Vec<(Kind, String)>, Failure> {
        self.mark().await?;
        let mut all = Vec::new();
        for kind in Kind::ALL {
            let keys = self.index(kind.name(), kind.limit()).await?;
            all.extend(keys.into_iter().map(|key| (kind, key)));
        }
        Ok(all)
    }

    async fn write(&mut self, write: Write) -> Result<Written, Failure> {
        let mut commands = pipe();
        commands.atomic();
        commands.cmd("GET").arg(self.key("lineage"));
        self.add_changes(&mut commands, &write);
        self.add_flows(&mut commands, &write);
        self.add_log(&mut commands, &write);
        let (lineage,): (Option<String>,) = self.query(&commands).await?;
        if lineage.as_ref() == Some(&self.lineage) {
            Ok(Written::Here)
        } else {
            Ok(Written::Elsewhere)
        }
    }

    async fn make_room(&mut self) -> Result<(), Failure> {
        let mut length = pipe();
        length.cmd("XLEN").arg(self.log_key());
        let (length,): (u64,) = self.query(&length).await?;
        let mut trim = pipe();
        let half = length / 2;
        trim.cmd("XTRIM")
            .arg(self.log_key())
            .arg("MAXLEN")
            .arg(half)
            .ignore();
        self.query::<()>(&trim).await?;
        warn!(
            place = self.place(),
            from = length,
            to = half,
            "Redis is full: the log of decisions is shortened"
        );
        Ok(())
    }
}
