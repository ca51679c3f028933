//! What became of the indications, and which values were quarantined.

use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// Counts since the node's measurements began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Indications decoded.
    pub decoded: u64,
    /// Indications whose message could not be decoded.
    pub undecodable: u64,
    /// Records of UEs and bearers examined.
    pub records: u64,
    /// Records of which nothing was used, as they hold impossible values.
    pub refused: u64,
    /// UE reports made.
    pub reports: u64,
    /// Indications older than one already used.
    pub late: u64,
    /// Jumps of the node's clock.
    pub clock_steps: u64,
    /// Cumulative counters that began anew (new RLC entity, re-establishment, restart).
    pub resets: u64,
    /// KPM values that a node mixes up: the first of a subscription, and those after each change of its UEs.
    pub unsettled: u64,
    /// Times that a UE was recognised as lost.
    pub lost: u64,
    /// Values that cannot be, by reason: never fed to a controller.
    pub quarantined: BTreeMap<Reason, u64>,
}

impl Counters {
    /// Counts a quarantined value.
    pub(super) fn quarantine(&mut self, reason: Reason) {
        *self.quarantined.entry(reason).or_default() += 1;
    }

    /// Whether more than half of all records were refused: then the sender is no real RAN, or its layout another one.
    pub fn mostly_refused(&self) -> bool {
        self.refused * 2 > self.records
    }

    /// All quarantined values.
    pub fn quarantined_total(&self) -> u64 {
        self.quarantined.values().sum()
    }
}

/// Why a value was quarantined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Not a C-RNTI (TS 38.321 table 7.1-1: 1 to 65522).
    Rnti,
    /// A UE or bearer twice in one message.
    Duplicate,
    /// MCS index above 31.
    Mcs,
    /// CQI above 15.
    Cqi,
    /// Block error rate not within 0 to 1.
    Bler,
    /// More transmissions in a HARQ round than in the one before it.
    HarqRounds,
    /// Frame or slot number out of range.
    FrameNumber,
    /// More PRBs than the carrier has.
    Prbs,
    /// More octets in the PRBs than modulation and coding allow.
    TransportBlocks,
    /// RLC mode that a data bearer cannot have.
    RlcMode,
    /// Not a data radio bearer identity (TS 38.331: 1 to 32).
    Bearer,
    /// More user data than the carrier can carry.
    Delivered,
    /// A UE without an identity that is known here.
    UeId,
    /// A number below 0, infinite, or none.
    KpmNumber,
    /// More than 100 percent.
    Percent,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rnti => "not a C-RNTI",
            Self::Duplicate => "UE or bearer twice in one message",
            Self::Mcs => "MCS index above 31",
            Self::Cqi => "CQI above 15",
            Self::Bler => "block error rate not within 0 to 1",
            Self::HarqRounds => "more transmissions in a HARQ round than in the one before",
            Self::FrameNumber => "frame or slot number out of range",
            Self::Prbs => "more PRBs than the carrier has",
            Self::TransportBlocks => "more octets in the PRBs than modulation and coding allow",
            Self::RlcMode => "RLC mode that a data bearer cannot have",
            Self::Bearer => "not a data radio bearer identity",
            Self::Delivered => "more user data than the carrier can carry",
            Self::UeId => "a UE without an identity that is known here",
            Self::KpmNumber => "a number below 0, infinite, or none",
            Self::Percent => "more than 100 percent",
        })
    }
}
