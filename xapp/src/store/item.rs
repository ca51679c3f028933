//! Items: small records under a key, each with the version of its layout.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Longest key, octets.
const MAX_KEY: usize = 512;
/// Largest item, octets.
const MAX_ITEM: usize = 1 << 20;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A slice policy, by its name.
    Policy,
    /// An operator's binding of an address to a UE, by the address.
    Binding,
    /// An experiment, by its name.
    Experiment,
    /// The arm of one unit of an experiment.
    Assignment,
    /// What was observed of one unit of an experiment.
    Observation,
}

impl Kind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::Policy,
        Self::Binding,
        Self::Experiment,
        Self::Assignment,
        Self::Observation,
    ];

    /// The name in keys and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Binding => "binding",
            Self::Experiment => "experiment",
            Self::Assignment => "assignment",
            Self::Observation => "observation",
        }
    }

    /// Items of this kind that are kept at most.
    pub fn limit(self) -> usize {
        match self {
            Self::Policy | Self::Binding => 65_536,
            Self::Experiment => 1024,
            Self::Assignment | Self::Observation => 262_144,
        }
    }

    pub(super) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A type whose values can be stored. A field that is added must have a default; any other change of the layout
/// needs another version, and an [`upgrade`](Self::upgrade) from those before.
pub trait Stored: Serialize + DeserializeOwned {
    /// What it is. Several types may share a kind if their keys differ.
    const KIND: Kind;
    /// Version of the layout, from 1.
    const VERSION: u32;

    /// Reads the layout of an earlier version; `None`: it cannot be read any more.
    fn upgrade(_version: u32, _record: serde_json::Value) -> Option<Self> {
        None
    }
}

/// An item that is not kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The key cannot be used.
    #[error("a key of {0} octets: give 1 to {MAX_KEY}, without control characters")]
    Key(usize),
    /// It is too large.
    #[error("a {kind} of {octets} octets: at most {MAX_ITEM} are stored")]
    TooLarge {
        /// What it is.
        kind: Kind,
        /// Its size.
        octets: usize,
    },
    /// There are too many.
    #[error("{} items of kind {kind} are stored already, and no more may be: delete some", kind.limit())]
    TooMany {
        /// What it is.
        kind: Kind,
    },
    /// It has no JSON form.
    #[error("the {kind} cannot be written as JSON: {cause}")]
    Encode {
        /// What it is.
        kind: Kind,
        /// Cause.
        cause: serde_json::Error,
    },
}

/// An item as it is written.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    v: u32,
    record: T,
}

pub(super) fn encode<T: Stored>(key: &str, record: &T) -> Result<Arc<[u8]>, Error> {
    if key.is_empty() || key.len() > MAX_KEY || key.chars().any(char::is_control) {
        return Err(Error::Key(key.len()));
    }
    let (kind, v) = (T::KIND, T::VERSION);
    let octets = serde_json::to_vec(&Versioned { v, record })
        .map_err(|cause| Error::Encode { kind, cause })?;
    if octets.len() > MAX_ITEM {
        let octets = octets.len();
        return Err(Error::TooLarge { kind, octets });
    }
    Ok(octets.into())
}

pub(super) fn decode<T: Stored>(octets: &[u8]) -> Result<T, String> {
    let Versioned { v, record } = serde_json::from_slice::<Versioned<serde_json::Value>>(octets)
        .map_err(|e| e.to_string())?;
    if v == T::VERSION {
        return serde_json::from_value(record).map_err(|e| e.to_string());
    }
    T::upgrade(v, record).ok_or_else(|| {
        format!(
            "its layout has version {v}, this Cantor reads {}",
            T::VERSION
        )
    })
}

/// All items, as they are written.
#[derive(Debug, Default)]
pub(super) struct Items([BTreeMap<String, Arc<[u8]>>; Kind::ALL.len()]);

impl Items {
    pub(super) fn put(&mut self, kind: Kind, key: &str, octets: Arc<[u8]>) -> Result<(), Error> {
        let items = &mut self.0[kind.index()];
        if let Some(item) = items.get_mut(key) {
            *item = octets;
        } else if items.len() >= kind.limit() {
            return Err(Error::TooMany { kind });
        } else {
            items.insert(key.to_owned(), octets);
        }
        Ok(())
    }

    pub(super) fn delete(&mut self, kind: Kind, key: &str) -> bool {
        self.0[kind.index()].remove(key).is_some()
    }

    pub(super) fn get(&self, kind: Kind, key: &str) -> Option<Arc<[u8]>> {
        self.0[kind.index()].get(key).cloned()
    }

    pub(super) fn all(&self, kind: Kind) -> Vec<(String, Arc<[u8]>)> {
        let items = self.0[kind.index()].iter();
        items
            .map(|(key, item)| (key.clone(), item.clone()))
            .collect()
    }
}
