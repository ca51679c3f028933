//! Errors of the codecs, with the place where they happened.

use std::fmt;

/// Why octets could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The value goes on behind the end of its container.
    #[error("ends too early: {needed} bits wanted, {left} left")]
    Truncated {
        /// Bits that the next field takes.
        needed: u64,
        /// Bits left in the container.
        left: u64,
    },
    /// A number or a size outside its constraint.
    #[error("{value} is outside {lo}..{hi}")]
    OutOfRange {
        /// What was read.
        value: u64,
        /// Smallest value allowed.
        lo: u64,
        /// Largest value allowed.
        hi: u64,
    },
    /// A list announces more items than the rest of the message can hold.
    #[error("{count} items announced, the {left} bits left cannot hold them")]
    TooManyItems {
        /// Items announced.
        count: u64,
        /// Bits left in the container.
        left: u64,
    },
    /// An INTEGER that does not fit into 64 bits.
    #[error("an INTEGER of {octets} octets is wider than 64 bits")]
    IntegerTooWide {
        /// Length of its encoding.
        octets: u64,
    },
    /// A length determinant with a fragment multiplier outside 1..4 (X.691 §11.9.3.8).
    #[error("length octet {0:#04x} announces no valid fragment")]
    BadFragment(u8),
    /// REAL contents octets that X.690 §8.5 does not define.
    #[error("REAL contents are not valid: first octet {0:#04x}")]
    BadReal(u8),
    /// A CHOICE alternative that is not known where the value cannot be left out.
    #[error("CHOICE alternative {0} is not known")]
    UnknownAlternative(u32),
    /// A procedure code without a message of this kind in this version.
    #[error("procedure code {code} has no such message in this version")]
    UnknownProcedure {
        /// The procedure code.
        code: u8,
    },
    /// Mandatory IEs are not there; their ProtocolIE-IDs.
    #[error("mandatory IEs {0:?} are missing")]
    MissingIes(Vec<u16>),
}

/// Why a value could not be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeErrorKind {
    /// A number or a size outside its constraint.
    #[error("{value} is outside {lo}..{hi}")]
    OutOfRange {
        /// What should be written.
        value: u64,
        /// Smallest value allowed.
        lo: u64,
        /// Largest value allowed.
        hi: u64,
    },
    /// A string holds a character that has no single-octet encoding.
    #[error("character {0:?} has no encoding in a PrintableString")]
    BadCharacter(char),
    /// The value exists, but not in the version asked for.
    #[error("{0} does not exist in this version")]
    NotInVersion(&'static str),
    /// The value was decoded without keeping its contents, so it cannot be written again.
    #[error("an unknown {0} cannot be encoded")]
    Unknown(&'static str),
}

/// One step on the way to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// A message, IE or component by name.
    Name(&'static str),
    /// An item of a list, from 0.
    Index(usize),
}

/// A decode error: what, where in the octets, where in the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError(Box<Located<DecodeErrorKind>>);

/// An encode error: what, and where in the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodeError(Box<Located<EncodeErrorKind>>);

/// Boxed, so that the way of success carries one pointer only; the path grows while the error travels out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Located<K> {
    kind: K,
    bit: u64,
    inner_first: Vec<Segment>,
}

impl<K> Located<K> {
    fn path(&self) -> String {
        let mut text = String::new();
        for segment in self.inner_first.iter().rev() {
            match segment {
                Segment::Name(name) if text.is_empty() => text.push_str(name),
                Segment::Name(name) => {
                    text.push_str(" / ");
                    text.push_str(name);
                }
                Segment::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }
}

impl DecodeError {
    /// An error at a bit position counted from the start of the octets given to the decoder.
    #[cold]
    pub fn new(kind: DecodeErrorKind, bit: u64) -> DecodeError {
        DecodeError(Box::new(Located {
            kind,
            bit,
            inner_first: Vec::new(),
        }))
    }

    /// What is wrong.
    pub fn kind(&self) -> &DecodeErrorKind {
        &self.0.kind
    }

    /// Octet at which reading stopped, from 0. Inside an open type that came in fragments it counts from the
    /// first fragment and leaves out the length octets between them.
    pub fn octet(&self) -> u64 {
        self.0.bit / 8
    }

    /// Bit in that octet, 0 being the most significant one.
    pub fn bit(&self) -> u64 {
        self.0.bit % 8
    }

    /// The way to the value, such as `RICindication / RICindicationMessage / measData[3]`.
    pub fn path(&self) -> String {
        self.0.path()
    }
}

impl EncodeError {
    /// An error without a path yet.
    #[cold]
    pub fn new(kind: EncodeErrorKind) -> EncodeError {
        EncodeError(Box::new(Located {
            kind,
            bit: 0,
            inner_first: Vec::new(),
        }))
    }

    /// What is wrong.
    pub fn kind(&self) -> &EncodeErrorKind {
        &self.0.kind
    }

    /// The way to the value.
    pub fn path(&self) -> String {
        self.0.path()
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "octet {}", self.octet())?;
        if self.bit() != 0 {
            write!(f, " bit {}", self.bit())?;
        }
        if !self.0.inner_first.is_empty() {
            write!(f, ", {}", self.path())?;
        }
        write!(f, ": {}", self.0.kind)
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.inner_first.is_empty() {
            write!(f, "{}: ", self.path())?;
        }
        write!(f, "{}", self.0.kind)
    }
}

impl std::error::Error for DecodeError {}
impl std::error::Error for EncodeError {}

/// Names the place of an error while it travels outwards; costs nothing on success.
pub trait Locate {
    /// The error happened in the component `name`.
    fn at(self, name: &'static str) -> Self;
    /// The error happened in item `index` of a list.
    fn at_index(self, index: usize) -> Self;
}

impl<T> Locate for Result<T, DecodeError> {
    fn at(mut self, name: &'static str) -> Self {
        if let Err(error) = &mut self {
            error.0.inner_first.push(Segment::Name(name));
        }
        self
    }

    fn at_index(mut self, index: usize) -> Self {
        if let Err(error) = &mut self {
            error.0.inner_first.push(Segment::Index(index));
        }
        self
    }
}

impl<T> Locate for Result<T, EncodeError> {
    fn at(mut self, name: &'static str) -> Self {
        if let Err(error) = &mut self {
            error.0.inner_first.push(Segment::Name(name));
        }
        self
    }

    fn at_index(mut self, index: usize) -> Self {
        if let Err(error) = &mut self {
            error.0.inner_first.push(Segment::Index(index));
        }
        self
    }
}
