//! Aligned basic PER (ITU-T X.691), the transfer syntax of E2AP and of the E2SM payloads.
//!
//! [`Reader`] and [`Writer`] mirror each other method by method; types are written by hand on top of them.
//! What a decoder meets and does not know (an extension addition, an IE, a CHOICE or ENUMERATED value) is
//! skipped and counted in the reader's [`Notes`], so that a newer peer is still understood.

mod error;
mod notes;
mod reader;
mod reader_fields;
mod reader_structure;
mod real;
mod writer;
mod writer_fields;

pub use error::{DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind, Locate, Segment};
pub use notes::{Criticality, Notes, UnknownIe};
pub use reader::Reader;
pub use reader_structure::Preamble;
use real::real_from_octets;
pub use writer::{Addition, Writer};

/// Items, octets or bits in one unit of fragmentation (X.691 §11.9.3.8).
pub(crate) const FRAGMENT: usize = 16 * 1024;

/// Position of a value in an extensible ENUMERATED or CHOICE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// A value before the extension marker, counted from 0.
    Root(u32),
    /// A value after the extension marker, counted from 0.
    Addition(u32),
}

/// A BIT STRING of any length; bit 0 is the most significant bit of the first octet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct BitString {
    octets: Vec<u8>,
    len: usize,
}

impl BitString {
    /// The first `len` bits of `octets`; `None` if there are fewer. Unused bits of the last octet become zero.
    pub fn new(mut octets: Vec<u8>, len: usize) -> Option<BitString> {
        if octets.len() < len.div_ceil(8) {
            return None;
        }
        octets.truncate(len.div_ceil(8));
        if let (Some(last), 1..) = (octets.last_mut(), len % 8) {
            *last &= 0xffu8 << (8 - len % 8);
        }
        Some(BitString { octets, len })
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bits, left-justified; unused bits of the last octet are zero.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for BitString {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hex: String = self
            .octets
            .iter()
            .map(|octet| format!("{octet:02x}"))
            .collect();
        serializer.serialize_str(&format!("{hex}/{}", self.len))
    }
}

/// A decoded value, and what was skipped on the way.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    /// What the octets held besides.
    pub notes: Notes,
}

/// Defines an extensible ENUMERATED: its root values in order, additions that are known, and `Unknown(n)` for the
/// n-th value (from 0) after the extension marker, so that newer peers are understood and re-encoded alike.
macro_rules! enumerated {
    ($(#[$meta:meta])* $name:ident {
        $($value:ident = $text:literal),+ $(,)?
        $(; $($addition:ident = $addition_text:literal),+ $(,)?)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")]
            #[cfg_attr(feature = "serde", serde(rename = $text))]
            $value,)+
            $($(#[doc = concat!("`", $addition_text, "`, an extension addition")]
            #[cfg_attr(feature = "serde", serde(rename = $addition_text))]
            $addition,)+)?
            /// The n-th value after the extension marker, which is not known here.
            Unknown(u32),
        }

        impl $name {
            /// The root values in the order of their encoding.
            pub const ROOT: &'static [$name] = &[$($name::$value),+];
            /// The known values after the extension marker, in the order of their encoding.
            pub const ADDITIONS: &'static [$name] = &[$($($name::$addition),+)?];

            /// Decodes the value; one that is not known is counted in the notes.
            pub fn decode(r: &mut $crate::aper::Reader<'_>) -> Result<$name, $crate::aper::DecodeError> {
                let (values, index) = match r.enumerated(Self::ROOT.len() as u32)? {
                    $crate::aper::Alternative::Root(index) => (Self::ROOT, index),
                    $crate::aper::Alternative::Addition(index) => (Self::ADDITIONS, index),
                };
                if let Some(value) = values.get(index as usize) {
                    return Ok(*value);
                }
                r.notes_mut().enumerated_values += 1;
                Ok($name::Unknown(index))
            }

            /// Encodes the value.
            pub fn encode(self, w: &mut $crate::aper::Writer) -> Result<(), $crate::aper::EncodeError> {
                if let Some(index) = Self::ROOT.iter().position(|root| *root == self) {
                    return w.enumerated(index as u32, Self::ROOT.len() as u32);
                }
                match (self, Self::ADDITIONS.iter().position(|addition| *addition == self)) {
                    (_, Some(index)) => w.enumerated_addition(index as u32),
                    ($name::Unknown(index), None) => w.enumerated_addition(index),
                    // Every other value is in one of the two tables.
                    (_, None) => Ok(()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($name::$value => f.write_str($text),)+
                    $($($name::$addition => f.write_str($addition_text),)+)?
                    $name::Unknown(index) => write!(f, "unknown addition {index}"),
                }
            }
        }
    };
}
pub(crate) use enumerated;
