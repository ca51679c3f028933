//! Indication header (clause 8.2.1.3).

use super::{Version, whole};
use crate::aper::{
    Alternative, DecodeError, DecodeErrorKind, EncodeError, Locate, Notes, Reader, Writer,
};

/// When the collection began (clause 8.3.12), in the octets that came: what they mean depends on the node.
///
/// The standard counts as NTP does: seconds since 1900, and in v3 32 bits of fraction behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeStamp {
    /// v2: 4 octets.
    Short([u8; 4]),
    /// v3 and later: 8 octets.
    Long([u8; 8]),
}

/// Seconds from 1900 to 1970 (RFC 5905 clause 6).
const NTP_TO_UNIX_S: i64 = 2_208_988_800;

impl TimeStamp {
    /// Unix time in µs, read as the standard says (NTP, first era).
    pub fn ntp_unix_us(self) -> i64 {
        let (seconds, fraction) = match self {
            Self::Short(octets) => (u32::from_be_bytes(octets), 0),
            Self::Long([a, b, c, d, e, f, g, h]) => (
                u32::from_be_bytes([a, b, c, d]),
                u32::from_be_bytes([e, f, g, h]),
            ),
        };
        let us = (u64::from(fraction) * 1_000_000) >> 32;
        (i64::from(seconds) - NTP_TO_UNIX_S) * 1_000_000 + us as i64
    }

    /// Unix time in µs, read as OpenAirInterface and FlexRIC mean it: v2 holds seconds, least significant octet first;
    /// v3 holds µs as two 32-bit halves, the low one first and least significant octet first, the high one the other way round.
    ///
    /// FlexRIC's emulator puts the low 32 bits of µs into v2, which this cannot tell.
    pub fn flexric_unix_us(self) -> i64 {
        match self {
            Self::Short(octets) => i64::from(u32::from_le_bytes(octets)) * 1_000_000,
            Self::Long([a, b, c, d, e, f, g, h]) => {
                let low = u32::from_le_bytes([a, b, c, d]);
                let high = u32::from_be_bytes([e, f, g, h]);
                (i64::from(high) << 32) | i64::from(low)
            }
        }
    }

    /// The version that the length stands for.
    pub fn version(self) -> Version {
        match self {
            Self::Short(_) => Version::V2,
            Self::Long(_) => Version::V3,
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for TimeStamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Short(octets) => crate::common::hex(octets, serializer),
            Self::Long(octets) => crate::common::hex(octets, serializer),
        }
    }
}

/// Indication header, format 1 (clause 8.2.1.3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct IndicationHeader {
    /// When the collection began.
    pub collect_start_time: TimeStamp,
    /// Version of the file format, at most 15 characters as a rule.
    pub file_format_version: Option<String>,
    /// Name of the sender, at most 400 characters as a rule. OAI puts `_` into it, which is no PrintableString.
    pub sender_name: Option<String>,
    /// Type of the sender, at most 8 characters as a rule.
    pub sender_type: Option<String>,
    /// Vendor, at most 32 characters as a rule.
    pub vendor_name: Option<String>,
}

/// Largest size in the root of each string, in order.
const SIZES: [u64; 4] = [15, 400, 8, 32];

impl IndicationHeader {
    /// Reads a RIC indication header. `hint` is the version that the RAN function announces; as nodes announce one
    /// and send the other, the length of the time stamp that makes the header end where its octets end is taken.
    ///
    /// # Errors
    /// A format other than 1, or octets that are a header of neither version.
    pub fn decode(octets: &[u8], hint: Version) -> Result<(Self, Notes), DecodeError> {
        let hinted = Self::decode_as(octets, hint);
        let exact = |result: &Result<(Self, Notes), DecodeError>| {
            result
                .as_ref()
                .is_ok_and(|(_, notes)| notes.trailing_octets == 0)
        };
        if exact(&hinted) {
            return hinted;
        }
        let other = Self::decode_as(
            octets,
            match hint {
                Version::V2 => Version::V3,
                Version::V3 => Version::V2,
            },
        );
        if exact(&other) || (hinted.is_err() && other.is_ok()) {
            other
        } else {
            hinted
        }
    }

    /// Reads a RIC indication header whose version is known.
    ///
    /// # Errors
    /// A format other than 1, or malformed octets.
    pub fn decode_as(octets: &[u8], version: Version) -> Result<(Self, Notes), DecodeError> {
        whole(octets, "E2SM-KPM-IndicationHeader", |r| {
            Self::read(r, version)
        })
    }

    fn read(r: &mut Reader<'_>, version: Version) -> Result<Self, DecodeError> {
        let outer = r.sequence(0)?;
        if let Alternative::Addition(n) = r.choice(1)? {
            return Err(r.error(DecodeErrorKind::UnknownAlternative(n)));
        }
        let p = r.sequence(4)?;
        let collect_start_time = match version {
            Version::V2 => r.octet_array().map(TimeStamp::Short),
            Version::V3 => r.octet_array().map(TimeStamp::Long),
        }
        .at("colletStartTime")?;
        let [format, name, kind, vendor] = SIZES;
        let mut string = |index, largest, path| match p.has(index) {
            true => r.printable_string(0, largest).at(path).map(Some),
            false => Ok(None),
        };
        let header = Self {
            collect_start_time,
            file_format_version: string(0, format, "fileFormatversion")?,
            sender_name: string(1, name, "senderName")?,
            sender_type: string(2, kind, "senderType")?,
            vendor_name: string(3, vendor, "vendorName")?,
        };
        r.skip_additions(p)?;
        r.skip_additions(outer)?;
        Ok(header)
    }

    /// Octets of the RIC indication header. Leave an empty string out: its encoding is disputed between tools.
    ///
    /// # Errors
    /// A character beyond Latin-1.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut w = Writer::new();
        w.sequence(false, &[]);
        w.choice(0, 1)?;
        let strings = [
            &self.file_format_version,
            &self.sender_name,
            &self.sender_type,
            &self.vendor_name,
        ];
        w.sequence(false, &strings.map(Option::is_some));
        match &self.collect_start_time {
            TimeStamp::Short(octets) => w.octet_array(octets),
            TimeStamp::Long(octets) => w.octet_array(octets),
        }
        for (string, largest) in strings.into_iter().zip(SIZES) {
            if let Some(text) = string {
                w.printable_string(text, 0, largest)?;
            }
        }
        Ok(w.finish())
    }
}
