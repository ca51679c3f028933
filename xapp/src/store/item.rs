//! Items: small records under a key, each with the version of its layout.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
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
    /// An A1 policy, by its type and identifier.
    A1Policy,
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
    pub const ALL: [Self; 6] = [
        Self::Policy,
        Self::A1Policy,
        Self::Binding,
        Self::Experiment,
        Self::Assignment,
        Self::Observation,
    ];

    /// The name in keys and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::A1Policy => "a1-policy",
            Self::Binding => "binding",
            Self::Experiment => "experiment",
            Self::Assignment => "assignment",
            Self::Observation => "observation",
        }
    }

    /// Items of this kind that are kept at most.
    pub fn limit(self) -> usize {
        match self {
            Self::Policy | Self::A1Policy | Self::Binding => 65_536,
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

pub(super) fn encode<T: Stored>(key: &str, record: &T) -> Result<Octets, Error> {
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

/// An item as it is written.
pub(super) type Octets = Arc<[u8]>;

/// A change that is not written yet: the item to put, or `None` to delete it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) kind: Kind,
    pub(super) key: String,
    pub(super) item: Option<Octets>,
}

/// How the items stand to those of the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// There is no backend.
    Alone,
    /// The backend has not been read yet. What is changed here wins over what is found there.
    Unread,
    /// Both are equal but for the changes that wait.
    Known,
    /// What the backend has is uncertain: all of it will be written again.
    Uncertain,
}

/// All items, and which of them have to be written. Newest wins: a change replaces one of the same key that waits.
#[derive(Debug)]
pub(super) struct Items {
    items: [BTreeMap<String, Octets>; Kind::ALL.len()],
    waiting: [BTreeSet<String>; Kind::ALL.len()],
    standing: Standing,
}

impl Items {
    pub(super) fn new(backend: bool) -> Self {
        Self {
            items: Default::default(),
            waiting: Default::default(),
            standing: if backend {
                Standing::Unread
            } else {
                Standing::Alone
            },
        }
    }

    pub(super) fn put(&mut self, kind: Kind, key: &str, octets: Octets) -> Result<(), Error> {
        let (items, waiting) = (&mut self.items[kind.index()], &self.waiting[kind.index()]);
        if let Some(item) = items.get_mut(key) {
            *item = octets;
        } else if items.len().max(waiting.len()) >= kind.limit() {
            return Err(Error::TooMany { kind });
        } else {
            items.insert(key.to_owned(), octets);
        }
        self.wait(kind, key);
        Ok(())
    }

    pub(super) fn delete(&mut self, kind: Kind, key: &str) -> bool {
        let known = self.items[kind.index()].remove(key).is_some();
        if known {
            self.wait(kind, key);
        }
        known
    }

    fn wait(&mut self, kind: Kind, key: &str) {
        if matches!(self.standing, Standing::Unread | Standing::Known) {
            self.waiting[kind.index()].insert(key.to_owned());
        }
    }

    pub(super) fn get(&self, kind: Kind, key: &str) -> Option<Octets> {
        self.items[kind.index()].get(key).cloned()
    }

    pub(super) fn all(&self, kind: Kind) -> Vec<(String, Octets)> {
        let items = self.items[kind.index()].iter();
        items
            .map(|(key, item)| (key.clone(), item.clone()))
            .collect()
    }

    /// Whether the backend was never read.
    pub(super) fn is_unread(&self) -> bool {
        self.standing == Standing::Unread
    }

    /// The backend was read for the first time. Items that were changed meanwhile stay as they are. Returns the kinds
    /// that something came to.
    pub(super) fn found(&mut self, found: Vec<(Kind, String, Octets)>) -> BTreeSet<Kind> {
        let mut kinds = BTreeSet::new();
        for (kind, key, octets) in found {
            let items = &mut self.items[kind.index()];
            if items.len() < kind.limit()
                && !items.contains_key(&key)
                && !self.waiting[kind.index()].contains(&key)
            {
                items.insert(key, octets);
                kinds.insert(kind);
            }
        }
        self.standing = Standing::Known;
        kinds
    }

    /// What the backend has is uncertain from now on.
    pub(super) fn lost(&mut self) {
        if self.standing == Standing::Known {
            self.standing = Standing::Uncertain;
            self.waiting = Default::default();
        }
    }

    /// The backend is back, and has items with these keys: all is written again, and what is not here is deleted.
    pub(super) fn back(&mut self, there: Vec<(Kind, String)>) {
        self.standing = Standing::Known;
        for (waiting, items) in self.waiting.iter_mut().zip(&self.items) {
            *waiting = items.keys().cloned().collect();
        }
        for (kind, key) in there {
            self.waiting[kind.index()].insert(key);
        }
    }

    /// Takes changes to write, up to `max`.
    pub(super) fn take(&mut self, max: usize) -> Vec<Change> {
        let mut taken = Vec::new();
        for kind in Kind::ALL {
            let (items, waiting) = (&self.items[kind.index()], &mut self.waiting[kind.index()]);
            while taken.len() < max
                && let Some(key) = waiting.pop_first()
            {
                let item = items.get(&key).cloned();
                taken.push(Change { kind, key, item });
            }
        }
        taken
    }

    /// Number of items that are not written yet.
    pub(super) fn waiting(&self) -> usize {
        match self.standing {
            Standing::Alone => 0,
            Standing::Unread | Standing::Known => self.waiting.iter().map(BTreeSet::len).sum(),
            Standing::Uncertain => self.items.iter().map(BTreeMap::len).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind::Policy;

    fn octets(text: &str) -> Octets {
        text.as_bytes().into()
    }

    fn change(key: &str, item: Option<&str>) -> Change {
        Change {
            kind: KIND,
            key: key.into(),
            item: item.map(octets),
        }
    }

    fn put(items: &mut Items, key: &str, item: &str) {
        items.put(KIND, key, octets(item)).unwrap();
    }

    #[test]
    fn the_newest_of_each_key_is_all_that_waits() {
        let mut items = Items::new(true);
        items.found(Vec::new());
        for n in 0..1000 {
            put(&mut items, "a", &n.to_string());
            put(&mut items, "b", "1");
        }
        items.delete(KIND, "b");
        assert_eq!(items.waiting(), 2);
        let (a, b) = (change("a", Some("999")), change("b", None));
        assert_eq!(items.take(1), [a]);
        assert_eq!(items.take(9), [b]);
        assert_eq!(items.waiting(), 0);
    }

    #[test]
    fn what_was_changed_before_the_backend_was_read_wins() {
        let mut items = Items::new(true);
        put(&mut items, "ours", "new");
        put(&mut items, "deleted", "new");
        items.delete(KIND, "deleted");
        let found = ["ours", "deleted", "theirs"];
        let found = found.map(|key| (KIND, key.to_owned(), octets("old")));
        assert_eq!(items.found(found.to_vec()), [KIND].into());
        assert_eq!(items.get(KIND, "ours"), Some(octets("new")));
        assert_eq!(items.get(KIND, "deleted"), None);
        assert_eq!(items.get(KIND, "theirs"), Some(octets("old")));
        let written = items.take(9);
        assert_eq!(
            written,
            [change("deleted", None), change("ours", Some("new"))]
        );
    }

    #[test]
    fn after_an_outage_all_is_written_and_what_was_deleted_meanwhile_is_deleted() {
        let mut items = Items::new(true);
        items.found(Vec::new());
        put(&mut items, "kept", "1");
        put(&mut items, "deleted", "1");
        assert_eq!(items.take(9).len(), 2);
        items.lost();
        items.delete(KIND, "deleted");
        put(&mut items, "new", "1");
        assert_eq!(items.waiting(), 2);
        let there = ["kept", "deleted"].map(|key| (KIND, key.to_owned()));
        items.back(there.to_vec());
        assert_eq!(
            items.take(9),
            [
                change("deleted", None),
                change("kept", Some("1")),
                change("new", Some("1"))
            ]
        );
    }

    #[test]
    fn changes_of_ever_new_keys_during_an_outage_take_no_memory() {
        for read in [false, true] {
            let mut items = Items::new(true);
            if read {
                items.found(Vec::new());
                items.lost();
            }
            let mut refused = 0;
            for n in 0..2 * KIND.limit() {
                let key = n.to_string();
                refused += usize::from(items.put(KIND, &key, octets("1")).is_err());
                items.delete(KIND, &key);
            }
            assert!(items.waiting() <= KIND.limit());
            // Before the backend was read, each of them may be there and has to be deleted: some are refused.
            assert_eq!(refused == 0, read);
        }
    }
}
