//! E2SM-KPM, the service model of performance measurements (O-RAN.WG3.E2SM-KPM-R003-v03.00, clause 8).
//!
//! v2.03 and v3.00 differ in the length of the time stamp only; what v3 and v4 added stands behind extension markers, so one
//! set of types reads and writes all of them. FlexRIC before 25 January 2024 moved some of these additions into the
//! roots, which is another encoding of the same types: [`Dialect::FlexRic2023`].
//!
//! Clauses named at the types are those of v03.00. Unknown extension additions, alternatives and values are stepped over and
//! counted in the [`Notes`] that every decoder returns; the rest is used.
//!
//! ```
//! use e2sm::kpm::{Dialect, IndicationMessage, MeasReport, MeasValue};
//! let report = MeasReport::single([("DRB.UEThpDl", MeasValue::Real(1001.072)), ("RRU.PrbTotDl", MeasValue::Integer(1574))]);
//! let octets = IndicationMessage::Format1(report).encode(Dialect::Standard)?;
//!
//! let (message, notes) = IndicationMessage::decode(&octets, Dialect::Standard)?;
//! let values: Vec<_> = message.measurements(&[]).map(|m| (m.measure.name(), m.value.as_f64())).collect();
//! assert_eq!(values, [(Some("DRB.UEThpDl"), Some(1001.072)), (Some("RRU.PrbTotDl"), Some(1574.0))]);
//! assert_eq!(notes.skipped(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From v4 on, `LogicalOR` has two root values and with that one bit more: conditions chained by it in message format 2 and
//! action format 3 are understood up to v3 only.

mod action;
mod bins;
mod condition;
mod description;
mod header;
mod label;
mod measure;
mod message;
mod record;
mod report;
mod trigger;

pub use action::{ActionDefinition, ActionFormat, BinRangeFor, CellAction};
pub use bins::{BinRange, BinRangeDefinition, BinRangeValue};
pub use condition::{
    MatchingCondition, MatchingConditionItem, MeasCondition, TestCondition, TestExpression,
    TestType, TestValue, UeCondition,
};
pub use description::{
    EventTriggerStyle, MeasInfoAction, RanFunctionDescription, RanFunctionName, ReportStyle,
};
pub use header::{IndicationHeader, TimeStamp};
pub use label::{BeamId, Label, MeasurementLabel, StartEnd};
pub use measure::{MeasInfo, MeasurementType, ReportCondition};
pub use message::{
    ConditionReport, ConditionUes, IndicationMessage, MatchedPerPeriod, UeMeasReport,
};
pub use record::{MeasData, MeasRecord, MeasValue};
pub use report::{MeasReport, Measurement};
pub use trigger::EventTrigger;

use crate::aper::{DecodeError, Locate, Notes, Reader};

/// Reads one whole value from octets.
fn whole<'a, T>(
    octets: &'a [u8],
    name: &'static str,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<(T, Notes), DecodeError> {
    let mut r = Reader::new(octets);
    let value = read(&mut r).at(name)?;
    Ok((value, r.finish()))
}

/// Which of the two time stamps a node writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Version {
    /// v2.00 to v2.03: 4 octets.
    V2,
    /// v3.00 and later: 8 octets.
    V3,
}

impl Version {
    /// Version that a RAN function's OID announces: `1.3.6.1.4.1.53148.1.<major>.2.2` (O-RAN, E2, version, E2SM, KPM).
    ///
    /// `None` if it is not the OID of KPM, or that of v1, which is another service model. There are nodes that announce 2
    /// and send what v3 says, so take this as a hint ([`IndicationHeader::decode`] does).
    pub fn from_oid(oid: &str) -> Option<Self> {
        let major = oid
            .strip_prefix("1.3.6.1.4.1.53148.1.")?
            .strip_suffix(".2.2")?;
        match major.parse::<u32>().ok()? {
            0 | 1 => None,
            2 => Some(Self::V2),
            _ => Some(Self::V3),
        }
    }

    /// The OID that announces this version.
    pub const fn oid(self) -> &'static str {
        match self {
            Self::V2 => "1.3.6.1.4.1.53148.1.2.2.2",
            Self::V3 => "1.3.6.1.4.1.53148.1.3.2.2",
        }
    }
}

/// Which encoding of the types a node speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Dialect {
    /// As the standard says.
    #[default]
    Standard,
    /// FlexRIC v2.0.0 and its master branch until 25 January 2024: message format 3, action formats 4 and 5, the later test
    /// types, `valueReal`, `distMeasBinRangeInfo`, `binRangeDef` of conditions and `matchingUEidPerGP` stand in the root.
    FlexRic2023,
}

impl Dialect {
    /// The dialect that goes with a RAN function's short name. FlexRIC's old agents call themselves `ORAN-E2SM-KPM-v02.03`.
    ///
    /// Before the first subscription nothing else tells them apart, and an agent aborts on the wrong dialect.
    pub fn from_short_name(short_name: &str) -> Self {
        if short_name == "ORAN-E2SM-KPM-v02.03" {
            Self::FlexRic2023
        } else {
            Self::Standard
        }
    }

    /// The dialect of an indication message; `None` if it can be either, or is none.
    ///
    /// A format 3 message begins with `40 00` in the standard and with `20` in the dialect; where the first octet does not
    /// decide, the one dialect in which the message ends where its octets end is the answer.
    pub fn of_message(octets: &[u8]) -> Option<Self> {
        match octets {
            [0x40, ..] | [0x08 | 0x0c | 0x28, ..] => return Some(Self::Standard),
            [0x02 | 0x06 | 0x10 | 0x14, ..] => return Some(Self::FlexRic2023),
            _ => {}
        }
        let fits = |dialect| {
            IndicationMessage::decode(octets, dialect).is_ok_and(|(_, notes)| notes.skipped() == 0)
        };
        match (fits(Self::Standard), fits(Self::FlexRic2023)) {
            (true, false) => Some(Self::Standard),
            (false, true) => Some(Self::FlexRic2023),
            _ => None,
        }
    }

    fn moved(self) -> bool {
        self == Self::FlexRic2023
    }
}
