//! What the E42 link is told.

use std::time::Duration;

use e2sm::e2ap::Version;
use transport::{Address, Protocol};

use crate::ran::{Bounds, Wishes};

/// Settings of the E42 link.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where FlexRIC's RIC takes xApps (SCTP port 36422).
    pub ric: Address,
    /// Where it takes E2 nodes (SCTP port 36421), for the guard of E42 setups. `None`: the operator vouches that
    /// an E2 node is connected whenever Cantor sets up.
    pub guard: Option<Address>,
    /// The E2AP version that the RIC was built with. It aborts on any other.
    pub version: Version,
    /// What to subscribe to.
    pub wishes: Wishes,
    /// How long to wait for what.
    pub timing: Timing,
    /// Indications waiting for their reader.
    pub queued: Bounds,
}

/// How long the link waits for what.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// From connecting to the first E42 setup: agents come back to a restarted RIC within 3 s.
    pub settle: Duration,
    /// For an answer.
    pub answer: Duration,
    /// For an answer, until a further message is sent so that the RIC reads on, and another.
    pub nudge: Duration,
    /// For the answer of a node, from the moment when the RIC is known to have read the request.
    pub overdue: Duration,
    /// Between looks at the node list.
    pub refresh: Duration,
    /// Between attempts to connect, at first; doubles.
    pub retry: Duration,
    /// A node that reports nothing for this long is looked after (and for ten periods at least).
    pub silence: Duration,
    /// For everything when Cantor stops.
    pub stop: Duration,
}

impl Default for Config {
    fn default() -> Self {
        let at = |port| Address {
            protocol: Protocol::Sctp,
            host: "127.0.0.1".into(),
            port,
        };
        Config {
            ric: at(36422),
            guard: Some(at(36421)),
            version: Version::V2_03,
            wishes: Wishes::default(),
            timing: Timing::default(),
            queued: Bounds::default(),
        }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            settle: Duration::from_secs(4),
            answer: Duration::from_secs(5),
            nudge: Duration::from_millis(300),
            overdue: Duration::from_secs(1),
            refresh: Duration::from_secs(10),
            retry: Duration::from_secs(1),
            silence: Duration::from_secs(2),
            stop: Duration::from_secs(2),
        }
    }
}
