//! A list that grows while others wait for what it will hold.

use crate::within_patience;
use std::fmt::Debug;
use std::sync::Arc;
use tokio::sync::watch;

/// Adds to a [`Record`]; it can be cloned, and the record ends with the last clone.
#[derive(Debug)]
pub struct Recorder<T>(Arc<watch::Sender<Vec<T>>>);

impl<T> Clone for Recorder<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Recorder<T> {
    /// Adds an entry.
    pub fn add(&self, entry: T) {
        self.0.send_modify(|entries| entries.push(entry));
    }
}

/// What was recorded so far.
#[derive(Clone, Debug)]
pub struct Record<T>(watch::Receiver<Vec<T>>);

impl<T: Clone + Debug> Record<T> {
    /// An empty record, and what adds to it.
    pub fn new() -> (Recorder<T>, Self) {
        let (sender, receiver) = watch::channel(Vec::new());
        (Recorder(Arc::new(sender)), Self(receiver))
    }

    /// The entries so far.
    pub fn entries(&self) -> Vec<T> {
        self.0.borrow().clone()
    }

    /// Number of entries so far.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first entry from number `from` on that is `wanted`, with its number; waits until there is one.
    ///
    /// # Panics
    /// When the record ends, or patience does: `what` was not found.
    pub async fn find(&self, what: &str, from: usize, wanted: impl Fn(&T) -> bool) -> (usize, T) {
        let mut entries = self.0.clone();
        let position = |entries: &Vec<T>| {
            let rest = entries.get(from..)?;
            Some(from + rest.iter().position(&wanted)?)
        };
        let found = async {
            let entries = entries
                .wait_for(|entries| position(entries).is_some())
                .await
                .ok()?;
            let at = position(&entries)?;
            Some((at, entries[at].clone()))
        };
        match within_patience(what, found).await {
            Some(found) => found,
            None => panic!("the record ended without {what}: {:#?}", self.entries()),
        }
    }

    /// Waits until nothing can be added any more.
    pub async fn ended(&self) {
        let mut entries = self.0.clone();
        within_patience("the end of a record", async {
            while entries.changed().await.is_ok() {}
        })
        .await;
    }
}
