//! Identities that every E2 service model shares (O-RAN.WG3.E2SM-R003 clause 6.2, with the additions of later versions).

mod cell;
mod node;
mod plmn;
mod ue;

pub use cell::{Cgi, Guami, Gummei, SNssai};
pub use node::{EnbId, GlobalEnbId, GlobalGnbId, GlobalNgEnbId, GlobalNgRanNodeId, GnbId, NgEnbId};
pub use plmn::{NotAPlmn, Plmn};
pub use ue::{
    CellRnti, EnGnbUeId, EnbUeId, GnbCuUpUeId, GnbDuUeId, GnbUeId, NgEnbDuUeId, NgEnbUeId, RanUeId,
    UeId,
};

use crate::aper::{DecodeError, EncodeError, Reader, Writer};

/// A CHOICE alternative of a later version, kept as it came: it still tells two identities apart and is encoded alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UnknownChoice {
    /// Number of the alternative after the extension marker, from 0.
    pub addition: u32,
    /// Its encoding.
    #[cfg_attr(feature = "serde", serde(serialize_with = "hex"))]
    pub contents: Vec<u8>,
}

impl UnknownChoice {
    pub(crate) fn read(r: &mut Reader<'_>, addition: u32) -> Result<Self, DecodeError> {
        r.notes_mut().choice_alternatives += 1;
        Ok(Self {
            addition,
            contents: r.octet_string()?.into_owned(),
        })
    }

    pub(crate) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.enumerated_addition(self.addition)?;
        w.octet_string(&self.contents)
    }
}

/// ENUMERATED {true, ...}: its presence says it all; another value is counted and taken for presence.
pub(crate) fn read_flag(r: &mut Reader<'_>) -> Result<bool, DecodeError> {
    if let crate::aper::Alternative::Addition(_) = r.enumerated(1)? {
        r.notes_mut().enumerated_values += 1;
    }
    Ok(true)
}

pub(crate) fn write_flag(w: &mut Writer) -> Result<(), EncodeError> {
    w.enumerated(0, 1)
}

/// Contents of an extension addition that came with v4 of KPM or v5 of E2SM. Where an older or another version put something
/// else into the same place, it does not fit: then it is `None`, to be skipped as unknown.
pub(crate) fn read_late_addition<T>(
    r: &mut Reader<'_>,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Option<T> {
    read(r).ok().filter(|_| r.bits_left() < 8)
}

/// Serializes octets as a string of hexadecimal digits.
#[cfg(feature = "serde")]
pub(crate) fn hex<S: serde::Serializer>(
    octets: impl AsRef<[u8]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use std::fmt::Write;
    let mut text = String::new();
    for octet in octets.as_ref() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{octet:02x}");
    }
    serializer.serialize_str(&text)
}
