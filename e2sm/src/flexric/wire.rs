//! Layout of the plain structs: field after field, little-endian, with explicit padding.

use super::Model;

/// Why a plain service model's octets could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("octet {offset}: {path}: {kind}")]
pub struct Error {
    /// Offset of the field in the octets given, from 0.
    pub offset: usize,
    /// Which field, such as `RLC / n`.
    pub path: String,
    /// What is wrong with it.
    pub kind: ErrorKind,
}

/// What is wrong with a field of a plain service model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The message has another length than its contents need: another layout than the one known here, or cut short.
    #[error("needs {expected} octets in all, has {found}: other version of the service model?")]
    Length {
        /// Octets that the contents need.
        expected: u64,
        /// Octets that are there.
        found: u64,
    },
    /// A tag has a value that names nothing.
    #[error("unknown value {0}")]
    UnknownValue(u32),
    /// A name is not UTF-8.
    #[error("name is not UTF-8")]
    NotUtf8,
}

impl Error {
    pub(super) fn length(path: &str, expected: u64, found: usize) -> Self {
        Self {
            offset: 0,
            path: path.to_owned(),
            kind: ErrorKind::Length {
                expected,
                found: found as u64,
            },
        }
    }
}

/// A record of a plain service model. Implemented by the record types of this module only.
pub trait Record: Sized + private::Layout {
    /// The service model that the record belongs to.
    const MODEL: Model;
}

/// Indication message of a service model with fixed-size records: MAC, RLC, PDCP or GTP.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Stats<R> {
    /// One record per UE (MAC, GTP) or per UE and bearer (RLC, PDCP).
    pub records: Vec<R>,
    /// When the node read the values: Unix time in µs. Divide counter differences by the difference of these.
    pub tstamp_us: i64,
}

impl<R: Record> Stats<R> {
    /// Reads a RIC indication message.
    ///
    /// # Errors
    /// Every length other than the exact one of the number of records announced is refused.
    pub fn decode(octets: &[u8]) -> Result<Self, Error> {
        let field = |name| format!("{} / {name}", R::MODEL.name());
        let mut rest = octets;
        let n = u32::get(&mut rest).ok_or_else(|| Error::length(&field("n"), 12, octets.len()))?;
        let expected = 4 + u64::from(n) * R::SIZE as u64 + 8;
        let wrong = || Error::length(&field("n"), expected, octets.len());
        if octets.len() as u64 != expected {
            return Err(wrong());
        }
        let mut records = Vec::with_capacity(n as usize);
        for _ in 0..n {
            records.push(R::read(&mut rest).ok_or_else(wrong)?);
        }
        let tstamp_us = i64::get(&mut rest).ok_or_else(wrong)?;
        Ok(Self { records, tstamp_us })
    }

    /// Octets of the RIC indication message; padding is zero.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + self.records.len() * R::SIZE + 8);
        (self.records.len() as u32).put(&mut out);
        for record in &self.records {
            record.write(&mut out);
        }
        self.tstamp_us.put(&mut out);
        out
    }
}

/// A number as C stores it on x86-64.
pub(super) trait Plain: Sized {
    const SIZE: usize = size_of::<Self>();
    fn get(from: &mut &[u8]) -> Option<Self>;
    fn put(&self, out: &mut Vec<u8>);
}

macro_rules! plain {
    ($($t:ty),*) => {$(
        impl Plain for $t {
            fn get(from: &mut &[u8]) -> Option<Self> {
                let (octets, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*octets))
            }
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
plain!(u8, i8, u16, u32, u64, i64, f32, f64);

impl<const N: usize> Plain for [u32; N] {
    fn get(from: &mut &[u8]) -> Option<Self> {
        let mut all = [0; N];
        for item in &mut all {
            *item = u32::get(from)?;
        }
        Some(all)
    }
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|item| item.put(out));
    }
}

pub(super) fn skip(from: &mut &[u8], octets: usize) -> Option<()> {
    *from = from.get(octets..)?;
    Some(())
}

pub(super) mod private {
    /// How a record lies in the octets.
    pub trait Layout: Sized {
        /// Octets of one record, padding included.
        const SIZE: usize;
        /// Reads one record from the front.
        fn read(from: &mut &[u8]) -> Option<Self>;
        /// Appends one record.
        fn write(&self, out: &mut Vec<u8>);
    }
}

/// Declares a record once, in wire order, and derives type, reader and writer from that.
///
/// `[pad N]` after a field is padding that C's alignment puts there; its octets are undefined.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident ($model:expr, $size:literal octets) {
            $( $(#[$fmeta:meta])* pub $field:ident : $t:ty $([pad $pad:literal])?, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub struct $name { $( $(#[$fmeta])* pub $field: $t, )* }

        const _: () = assert!(0 $( + <$t as $crate::flexric::wire::Plain>::SIZE $( + $pad )? )* == $size);

        impl $crate::flexric::wire::Record for $name {
            const MODEL: $crate::flexric::Model = $model;
        }

        impl $crate::flexric::wire::private::Layout for $name {
            const SIZE: usize = $size;

            fn read(from: &mut &[u8]) -> Option<Self> {
                $(
                    let $field = $crate::flexric::wire::Plain::get(from)?;
                    $( $crate::flexric::wire::skip(from, $pad)?; )?
                )*
                Some(Self { $($field),* })
            }

            fn write(&self, out: &mut Vec<u8>) {
                $(
                    $crate::flexric::wire::Plain::put(&self.$field, out);
                    $( out.extend_from_slice(&[0; $pad]); )?
                )*
            }
        }
    };
}
pub(super) use record;
