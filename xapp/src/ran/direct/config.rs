//! What the direct link is told.

use std::time::Duration;

use transport::Address;

use crate::ran::{Bounds, Wishes};

/// Settings of the direct link.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where E2 nodes connect (E2AP's SCTP port is 36421).
    pub listen: Vec<Address>,
    /// What to subscribe to.
    pub wishes: Wishes,
    /// A node that reports nothing for this long is silent: its subscriptions are made anew.
    pub silent_after: Duration,
    /// Whether ErrorIndication goes to nodes with FlexRIC's agent too, which aborts on it and takes the gNB along.
    pub error_indication_to_flexric: bool,
    /// Bounds.
    pub limits: Limits,
}

/// What one peer, or all of them, may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Associations at a time; for a further one, one that has not set up is closed, or else itself.
    pub associations: usize,
    /// Longest PDU accepted, octets.
    pub pdu: usize,
    /// A peer that has not set up within this time is closed.
    pub setup_wait: Duration,
    /// How long a request waits for its answer.
    pub answer_wait: Duration,
    /// How long deleting subscriptions may take when Cantor stops.
    pub stop_wait: Duration,
    /// PDUs waiting to be sent to one peer; one that reads so slowly is closed.
    pub unsent: usize,
    /// Their octets.
    pub unsent_octets: usize,
    /// Indications waiting for their reader.
    pub queued: Bounds,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: vec![Address {
                protocol: transport::Protocol::Sctp,
                host: "0.0.0.0".into(),
                port: 36421,
            }],
            wishes: Wishes::default(),
            silent_after: Duration::from_secs(10),
            error_indication_to_flexric: false,
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            associations: 256,
            pdu: transport::DEFAULT_MAX_MESSAGE,
            setup_wait: Duration::from_secs(15),
            answer_wait: Duration::from_secs(3),
            stop_wait: Duration::from_secs(2),
            unsent: 256,
            unsent_octets: 8 << 20,
            queued: Bounds::default(),
        }
    }
}
