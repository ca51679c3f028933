//! What a store is written to: the contract that a file and Redis fulfil.

use super::item::{Change, Kind, Octets};
use policies::decision_log::LoggedDecision;

/// Why the backend cannot be read or written now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// For people: what happened.
    pub(super) reason: String,
    /// It has no room.
    pub(super) full: bool,
}

impl Failure {
    pub(super) fn new(reason: impl ToString) -> Self {
        Self {
            reason: reason.to_string(),
            full: false,
        }
    }
}

/// What is written at once: all of it, or nothing.
#[derive(Debug, Default)]
pub(super) struct Write {
    /// Items put and deleted.
    pub(super) changes: Vec<Change>,
    /// The last decisions of flows, by the flow's key.
    pub(super) flows: Vec<(String, Vec<u8>)>,
    /// Decisions for the log, oldest first.
    pub(super) log: Vec<Vec<u8>>,
}

/// All that a backend has, but for the log.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Items.
    pub(super) items: Vec<(Kind, String, Octets)>,
    /// The last decisions of flows.
    pub(super) flows: Vec<LoggedDecision>,
}

/// Outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It is there.
    Here,
    /// It is there, but what was written before is not: the backend was emptied or exchanged.
    Elsewhere,
}

/// A file, or Redis. Every operation ends within a time of the backend's own; after a failure it is opened again.
pub(super) trait Backend: Send + 'static {
    /// Name and place, for people.
    fn place(&self) -> String;

    /// Opens it, or makes the connection.
    fn open(&mut self) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Reads all items and flows.
    fn read(&mut self) -> impl Future<Output = Result<Found, Failure>> + Send;

    /// The keys of all items.
    fn keys(&mut self) -> impl Future<Output = Result<Vec<(Kind, String)>, Failure>> + Send;

    /// Writes. An empty write asks whether the backend is still there.
    fn write(&mut self, write: Write) -> impl Future<Output = Result<Written, Failure>> + Send;

    /// Makes room, as far as the log of decisions takes it.
    fn make_room(&mut self) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// Key of a flow: unambiguous, whatever the names contain.
pub(super) fn flow_key(edge: &str, flow: &str) -> String {
    let edge = edge.replace('%', "%25").replace('/', "%2F");
    format!("{edge}/{flow}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_flows_have_different_keys() {
        let flows = [("a", "b/c"), ("a/b", "c"), ("a%2Fb", "c"), ("a%252Fb", "c")];
        let mut keys = flows.map(|(edge, flow)| flow_key(edge, flow)).to_vec();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), flows.len(), "{keys:?}");
    }
}
