//! Reading: bits, whole numbers and lengths. Structure is in `reader_structure`, strings and REAL in `reader_fields`.

use super::{DecodeError, DecodeErrorKind, FRAGMENT, Notes};

type Result<T> = std::result::Result<T, DecodeError>;

/// A cursor over the octets of one PER encoding.
#[derive(Debug)]
pub struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    /// Next bit.
    pub(super) pos: usize,
    /// First bit behind the current container (always on an octet boundary).
    pub(super) end: usize,
    /// Where `bytes` begins in the whole message, in octets; for error messages only.
    pub(super) base: usize,
    pub(super) notes: Notes,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader {
            bytes,
            pos: 0,
            end: bytes.len() * 8,
            base: 0,
            notes: Notes::default(),
        }
    }

    /// What was skipped so far.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// What was skipped so far, to add to it.
    pub fn notes_mut(&mut self) -> &mut Notes {
        &mut self.notes
    }

    /// Ends reading: counts complete octets that nobody read and hands out the notes.
    pub fn finish(mut self) -> Notes {
        self.notes.trailing_octets += ((self.end - self.pos) / 8) as u32;
        self.notes
    }

    /// Bits left in the current container.
    pub fn bits_left(&self) -> usize {
        self.end - self.pos
    }

    /// An error at the current position.
    #[cold]
    pub fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(kind, (self.base * 8 + self.pos) as u64)
    }

    /// An out-of-range error at the current position.
    #[cold]
    pub fn out_of_range(&self, value: u64, lo: u64, hi: u64) -> DecodeError {
        self.error(DecodeErrorKind::OutOfRange { value, lo, hi })
    }

    #[cold]
    pub(super) fn truncated(&self, needed: usize) -> DecodeError {
        self.error(DecodeErrorKind::Truncated {
            needed: needed as u64,
            left: self.bits_left() as u64,
        })
    }

    /// The next `count` bits (at most 64) as a number.
    #[inline]
    pub fn bits(&mut self, count: u32) -> Result<u64> {
        let count_bits = count as usize;
        if count_bits > self.end - self.pos {
            return Err(self.truncated(count_bits));
        }
        if count == 0 {
            return Ok(0);
        }
        let first = self.pos / 8;
        let shift = (self.pos % 8) as u32;
        let last = (self.pos + count_bits).div_ceil(8);
        self.pos += count_bits;
        let rest = self.bytes.get(first..).unwrap_or_default();
        if let (Some(eight), true) = (rest.first_chunk::<8>(), count + shift <= 64) {
            return Ok(u64::from_be_bytes(*eight) << shift >> (64 - count));
        }
        // Near the end, or nine octets wide.
        let octets = rest.get(..last - first).unwrap_or_default();
        let sum = octets
            .iter()
            .fold(0u128, |sum, octet| (sum << 8) | u128::from(*octet));
        let spare = octets.len() as u32 * 8 - shift - count;
        Ok(((sum >> spare) as u64) & (u64::MAX >> (64 - count)))
    }

    /// One bit.
    #[inline]
    pub fn bit(&mut self) -> Result<bool> {
        if self.pos >= self.end {
            return Err(self.truncated(1));
        }
        let bit = self.bit_at(self.pos);
        self.pos += 1;
        Ok(bit)
    }

    pub(super) fn bit_at(&self, pos: usize) -> bool {
        self.bytes
            .get(pos / 8)
            .is_some_and(|octet| octet & (0x80 >> (pos % 8)) != 0)
    }

    /// Goes to the next octet boundary.
    #[inline]
    pub fn align(&mut self) {
        self.pos = self.pos.next_multiple_of(8);
    }

    /// The next `count` octets after alignment.
    #[inline]
    pub fn octets(&mut self, count: usize) -> Result<&'a [u8]> {
        self.align();
        let start = self.pos / 8;
        if count > self.bits_left() / 8 {
            return Err(self.truncated(count.saturating_mul(8)));
        }
        self.pos += count * 8;
        Ok(self.bytes.get(start..start + count).unwrap_or_default())
    }

    /// INTEGER (lo..hi), X.691 §11.5.
    #[inline]
    pub fn constrained(&mut self, lo: u64, hi: u64) -> Result<u64> {
        let span = hi - lo;
        let offset = match span {
            0..=254 => self.bits(64 - span.leading_zeros())?,
            255 => {
                self.align();
                self.bits(8)?
            }
            256..=65535 => {
                self.align();
                self.bits(16)?
            }
            _ => {
                let widest = u64::from(64 - span.leading_zeros()).div_ceil(8);
                let octets = self.constrained(1, widest)?;
                self.align();
                self.bits(octets as u32 * 8)?
            }
        };
        match lo.checked_add(offset) {
            Some(value) if value <= hi => Ok(value),
            other => Err(self.out_of_range(other.unwrap_or(u64::MAX), lo, hi)),
        }
    }

    /// INTEGER (lo..hi, ...): constrained, or anything behind the extension bit.
    pub fn extensible(&mut self, lo: u64, hi: u64) -> Result<i64> {
        if self.bit()? {
            return self.unconstrained();
        }
        let value = self.constrained(lo, hi)?;
        i64::try_from(value).map_err(|_| self.out_of_range(value, lo, i64::MAX as u64))
    }

    /// INTEGER without constraint (X.691 §11.8), as far as it fits into 64 bits.
    pub fn unconstrained(&mut self) -> Result<i64> {
        let octets = self.octet_string()?;
        let negative = octets.first().is_some_and(|first| first & 0x80 != 0);
        let sign: u8 = if negative { 0xff } else { 0 };
        // Redundant sign octets are not canonical but mean what they say.
        let start = octets.len().saturating_sub(8);
        let (redundant, significant) = octets.split_at(start);
        let start_negative = significant.first().is_some_and(|first| first & 0x80 != 0);
        if redundant.iter().any(|octet| *octet != sign) || start_negative != negative {
            return Err(self.error(DecodeErrorKind::IntegerTooWide {
                octets: octets.len() as u64,
            }));
        }
        let initial: u64 = if negative { u64::MAX } else { 0 };
        Ok(significant
            .iter()
            .fold(initial, |value, octet| (value << 8) | u64::from(*octet)) as i64)
    }

    /// INTEGER (lo..MAX), X.691 §11.7.
    pub fn semi_constrained(&mut self, lo: u64) -> Result<u64> {
        let octets = self.octet_string()?;
        let start = octets.len().saturating_sub(8);
        let (redundant, significant) = octets.split_at(start);
        let offset = significant
            .iter()
            .fold(0, |value: u64, octet| (value << 8) | u64::from(*octet));
        match lo.checked_add(offset) {
            Some(value) if redundant.iter().all(|octet| *octet == 0) => Ok(value),
            _ => Err(self.error(DecodeErrorKind::IntegerTooWide {
                octets: octets.len() as u64,
            })),
        }
    }

    /// Normally small non-negative whole number (X.691 §11.6): index of an extension value.
    pub fn small_number(&mut self) -> Result<u32> {
        let value = if self.bit()? {
            self.semi_constrained(0)?
        } else {
            self.bits(6)?
        };
        u32::try_from(value).map_err(|_| self.out_of_range(value, 0, u64::from(u32::MAX)))
    }

    /// General length determinant (X.691 §11.9.3.5 to .8): the length, and whether another fragment follows.
    #[inline]
    pub fn length(&mut self) -> Result<(usize, bool)> {
        self.align();
        let first = self.bits(8)?;
        match first {
            0..=0x7f => Ok((first as usize, false)),
            0x80..=0xbf => Ok((((first & 0x3f) << 8 | self.bits(8)?) as usize, false)),
            0xc1..=0xc4 => Ok(((first & 0x3f) as usize * FRAGMENT, true)),
            _ => Err(self.error(DecodeErrorKind::BadFragment(first as u8))),
        }
    }
}
