//! FlexRIC's plain service models: MAC, RLC, PDCP, GTP and SLICE statistics.
//!
//! These are not ASN.1. FlexRIC copies C structs, as an x86-64 lays them out (little-endian), into the E2AP octet strings:
//! the event trigger is the period in ms, there is no action definition, the indication header is four zero octets, and the
//! message is `u32 n`, `n` records of a fixed size, `i64 tstamp`. **There is no version field**: the only check that both ends
//! mean the same layout is the length, so it must match exactly.
//!
//! The meaning of each field is what OpenAirInterface (OAI) puts there, measured on a running gNB; other agents may differ.
//!
//! ```
//! use e2sm::flexric::{MacUe, Stats};
//! let sent = Stats { records: vec![MacUe { rnti: 0xf0db, dl_mcs1: 28, ..MacUe::default() }], tstamp_us: 1_796_061_419_094_548 };
//! let octets = sent.encode();
//! assert_eq!(octets.len(), 4 + 176 + 8);
//! assert_eq!(Stats::<MacUe>::decode(&octets)?, sent);
//! # Ok::<(), e2sm::flexric::Error>(())
//! ```

mod gtp;
mod mac;
mod pdcp;
mod rlc;
mod slice;
mod wire;

pub use gtp::GtpTunnel;
pub use mac::MacUe;
pub use pdcp::PdcpBearer;
pub use rlc::RlcBearer;
pub use slice::{
    DirectionSlices, EdfParams, Nvs, Scn19, Slice, SliceIndication, SliceParams, StaticSlice,
    UeSlices,
};
pub use wire::{Error, ErrorKind, Record, Stats};

/// The four octets FlexRIC sends as indication header of every plain service model; they carry nothing.
pub const INDICATION_HEADER: [u8; 4] = [0; 4];

/// RAN function revision that FlexRIC announces for its plain service models.
pub const RAN_FUNCTION_REVISION: u16 = 1;

/// FlexRIC's service models that are plain structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Model {
    /// MAC scheduler statistics per UE.
    Mac,
    /// RLC statistics per UE and data radio bearer.
    Rlc,
    /// PDCP statistics per UE and data radio bearer.
    Pdcp,
    /// RAN slices of a cell. OAI fills it with random test data.
    Slice,
    /// Traffic control. OAI fills it with random test data; its messages are not decoded here.
    Tc,
    /// GTP-U tunnels per UE.
    Gtp,
}

impl Model {
    /// Every model, by RAN function id.
    pub const ALL: [Self; 6] = [
        Self::Mac,
        Self::Rlc,
        Self::Pdcp,
        Self::Slice,
        Self::Tc,
        Self::Gtp,
    ];

    /// RAN function id, fixed by FlexRIC.
    pub const fn ran_function_id(self) -> u16 {
        match self {
            Self::Mac => 142,
            Self::Rlc => 143,
            Self::Pdcp => 144,
            Self::Slice => 145,
            Self::Tc => 146,
            Self::Gtp => 148,
        }
    }

    /// RAN function OID that FlexRIC announces.
    pub const fn oid(self) -> &'static str {
        match self {
            Self::Mac => "0.0.0.0.0.0.0.0.1.142.0",
            Self::Rlc => "0.0.0.0.0.0.0.0.1.143.0",
            Self::Pdcp => "0.0.0.0.0.0.0.0.1.144.0",
            Self::Slice => "0.0.0.0.0.0.0.0.1.145.0",
            Self::Tc => "0.0.0.0.0.0.0.0.1.146.0",
            Self::Gtp => "0.0.0.0.0.0.0.0.1.148.0",
        }
    }

    /// Name, as in error messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mac => "MAC",
            Self::Rlc => "RLC",
            Self::Pdcp => "PDCP",
            Self::Slice => "SLICE",
            Self::Tc => "TC",
            Self::Gtp => "GTP",
        }
    }

    /// RAN function definition: these characters are the whole octet string.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Mac => "MAC_STATS_V0",
            Self::Rlc => "RLC_STATS_V0",
            Self::Pdcp => "PDCP_STATS_V0",
            Self::Slice => "SLICE_STATS_V0",
            Self::Tc => "TC_STATS_V0",
            Self::Gtp => "GTP_STATS_V0",
        }
    }

    /// The model that a RAN function's OID names.
    pub fn from_oid(oid: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.oid() == oid)
    }

    /// The model behind a RAN function id, for agents that announce no OID (E2AP v1.01).
    pub fn from_ran_function_id(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.ran_function_id() == id)
    }
}

/// Event trigger of every plain service model: report periodically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EventTrigger {
    /// Report period in ms. FlexRIC's agent aborts above 10000; with 0 it accepts and never reports.
    pub period_ms: u32,
}

impl EventTrigger {
    /// Octets of the RIC event trigger definition.
    pub const fn encode(self) -> [u8; 4] {
        self.period_ms.to_le_bytes()
    }

    /// Reads a RIC event trigger definition, which must hold exactly four octets.
    pub fn decode(octets: &[u8]) -> Result<Self, Error> {
        let exact = <[u8; 4]>::try_from(octets)
            .map_err(|_| Error::length("eventTrigger", 4, octets.len()))?;
        Ok(Self {
            period_ms: u32::from_le_bytes(exact),
        })
    }
}
