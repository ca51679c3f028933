//! What the direct link is told.

use std::time::Duration;

use transport::Address;

use crate::ran::ServiceModel;

/// Settings of the direct link.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where E2 nodes connect (E2AP's SCTP port is 36421).
    pub listen: Vec<Address>,
    /// Service models to subscribe to, where a node offers them.
    pub models: Vec<ServiceModel>,
    /// Reporting period of every subscription, ms; 1 to 10,000 (FlexRIC's agent aborts above).
    pub period_ms: u32,
    /// S-NSSAI whose UEs KPM style 4 reports: SST, and SD if the slice has one.
    pub slice: Slice,
    /// Whether ErrorIndication goes to nodes with FlexRIC's agent too, which aborts on it and takes the gNB along.
    pub error_indication_to_flexric: bool,
    /// Bounds.
    pub limits: Limits,
}

/// S-NSSAI (TS 23.003, 28.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Slice/service type.
    pub sst: u8,
    /// Slice differentiator (24 bits).
    pub sd: Option<u32>,
}

/// What one peer, or all of them, may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Associations at a time; further ones are closed at once.
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
    /// Indications waiting for their reader, over all nodes; beyond, the oldest are dropped.
    pub indications: usize,
    /// Their octets; beyond, the oldest are dropped.
    pub indication_octets: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: vec![Address {
                protocol: transport::Protocol::Sctp,
                host: "0.0.0.0".into(),
                port: 36421,
            }],
            models: vec![ServiceModel::Kpm, ServiceModel::Mac, ServiceModel::Rlc],
            period_ms: 100,
            slice: Slice { sst: 1, sd: None },
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
            indications: 4096,
            indication_octets: 64 << 20,
        }
    }
}
