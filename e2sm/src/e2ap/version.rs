//! Versions of E2AP, and telling them apart.

use std::fmt;

use super::container::read_ie;
use super::{Outcome, header, ids};
use crate::aper::{DecodeError, Reader};

/// A version of E2AP, for encoding and decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Version {
    /// v1.01
    #[cfg_attr(feature = "serde", serde(rename = "1.01"))]
    V1_01,
    /// v2.03
    #[cfg_attr(feature = "serde", serde(rename = "2.03"))]
    V2_03,
    /// v3.01
    #[cfg_attr(feature = "serde", serde(rename = "3.01"))]
    V3_01,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Version; 3] = [Version::V1_01, Version::V2_03, Version::V3_01];

    /// Its number, such as `2.03`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Version::V1_01 => "1.01",
            Version::V2_03 => "2.03",
            Version::V3_01 => "3.01",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Guesses the version that a peer speaks from its first PDU: an E2 setup, or an E42 setup request or response.
/// `None` if it is neither.
///
/// An E2 setup without TransactionID is v1.01. v2.03 and v3.01 have the same E2 setup; the answer is then v2.03,
/// whose messages of E2AP read alike. E42 has other procedure codes in each version.
pub fn guess_version(octets: &[u8]) -> Option<Version> {
    let header = header(octets).ok()?;
    match (header.procedure_code, header.outcome) {
        (1, _) => Some(if has_transaction_id(octets).ok()? {
            Version::V2_03
        } else {
            Version::V1_01
        }),
        (12, Outcome::InitiatingMessage | Outcome::SuccessfulOutcome) => Some(Version::V1_01),
        (14, Outcome::InitiatingMessage | Outcome::SuccessfulOutcome) => Some(Version::V2_03),
        (17, Outcome::InitiatingMessage | Outcome::SuccessfulOutcome) => Some(Version::V3_01),
        _ => None,
    }
}

fn has_transaction_id(octets: &[u8]) -> Result<bool, DecodeError> {
    let mut r = Reader::new(octets);
    // CHOICE index, procedure code and criticality take one octet each.
    r.octets(3)?;
    r.open_type(|r| {
        r.octets(1)?;
        let count = r.constrained(0, 65535)?;
        let mut found = false;
        for _ in 0..count {
            read_ie(r, |id, _| {
                found |= Some(id) == ids::TRANSACTION_ID.in_version(Version::V2_03);
                Ok(None::<()>)
            })?;
        }
        Ok(found)
    })
}
