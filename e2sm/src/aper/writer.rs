//! Writing: bits, whole numbers, lengths and structure. Strings and REAL are in `writer_fields`.

use super::{EncodeError, EncodeErrorKind, FRAGMENT, Locate};

type Result<T> = std::result::Result<T, EncodeError>;

/// Contents of an extension addition that is present.
pub type Addition<'f> = &'f dyn Fn(&mut Writer) -> Result<()>;

/// Grows the octets of one PER encoding.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    /// Bits still free in the last octet.
    free: u32,
}

impl Writer {
    /// An empty encoding.
    pub fn new() -> Writer {
        Writer::default()
    }

    /// The complete encoding, at least one octet (X.691 §11.1.3).
    pub fn finish(mut self) -> Vec<u8> {
        if self.bytes.is_empty() {
            self.bytes.push(0);
        }
        self.bytes
    }

    /// The low `count` bits (at most 64) of `value`.
    #[inline]
    pub fn bits(&mut self, value: u64, count: u32) {
        if self.free == 0 && count.is_multiple_of(8) {
            let skip = 8 - count as usize / 8;
            self.bytes
                .extend_from_slice(value.to_be_bytes().get(skip..).unwrap_or_default());
            return;
        }
        let mut left = count;
        while left > 0 {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            let take = left.min(self.free);
            let part = (value >> (left - take)) & (0xff >> (8 - take));
            if let Some(last) = self.bytes.last_mut() {
                *last |= (part as u8) << (self.free - take);
            }
            self.free -= take;
            left -= take;
        }
    }

    /// One bit.
    pub fn bit(&mut self, bit: bool) {
        self.bits(u64::from(bit), 1);
    }

    /// Fills the last octet with zero bits.
    pub fn align(&mut self) {
        self.free = 0;
    }

    /// Whole octets after alignment.
    pub fn octets(&mut self, octets: &[u8]) {
        self.align();
        self.bytes.extend_from_slice(octets);
    }

    /// INTEGER (lo..hi), X.691 §11.5.
    pub fn constrained(&mut self, value: u64, lo: u64, hi: u64) -> Result<()> {
        if value < lo || value > hi {
            return Err(EncodeError::new(EncodeErrorKind::OutOfRange {
                value,
                lo,
                hi,
            }));
        }
        let (span, offset) = (hi - lo, value - lo);
        match span {
            0..=254 => self.bits(offset, 64 - span.leading_zeros()),
            255 => {
                self.align();
                self.bits(offset, 8);
            }
            256..=65535 => {
                self.align();
                self.bits(offset, 16);
            }
            _ => {
                let widest = u64::from(64 - span.leading_zeros()).div_ceil(8);
                let octets = u64::from(64 - offset.leading_zeros()).div_ceil(8).max(1);
                self.constrained(octets, 1, widest)?;
                self.align();
                self.bits(offset, octets as u32 * 8);
            }
        }
        Ok(())
    }

    /// INTEGER (lo..hi, ...): constrained if it fits, else behind the extension bit.
    pub fn extensible(&mut self, value: i64, lo: u64, hi: u64) -> Result<()> {
        match u64::try_from(value) {
            Ok(inside) if (lo..=hi).contains(&inside) => {
                self.bit(false);
                self.constrained(inside, lo, hi)
            }
            _ => {
                self.bit(true);
                self.unconstrained(value);
                Ok(())
            }
        }
    }

    /// INTEGER without constraint, X.691 §11.8: the fewest octets of two's complement.
    pub fn unconstrained(&mut self, value: i64) {
        let sign_bits = if value < 0 {
            value.leading_ones()
        } else {
            value.leading_zeros()
        };
        let octets = (65 - sign_bits).div_ceil(8);
        self.align();
        self.bits(u64::from(octets), 8);
        self.bits(value as u64, octets * 8);
    }

    /// INTEGER (lo..MAX), X.691 §11.7.
    pub fn semi_constrained(&mut self, value: u64, lo: u64) -> Result<()> {
        let Some(offset) = value.checked_sub(lo) else {
            return Err(EncodeError::new(EncodeErrorKind::OutOfRange {
                value,
                lo,
                hi: u64::MAX,
            }));
        };
        let octets = (64 - offset.leading_zeros()).div_ceil(8).max(1);
        self.align();
        self.bits(u64::from(octets), 8);
        self.bits(offset, octets * 8);
        Ok(())
    }

    /// Normally small non-negative whole number (X.691 §11.6): index of an extension value.
    pub fn small_number(&mut self, value: u32) -> Result<()> {
        if value < 64 {
            self.bits(u64::from(value), 7);
            return Ok(());
        }
        self.bit(true);
        self.semi_constrained(u64::from(value), 0)
    }

    /// General length determinant below 16K.
    pub(super) fn short_length(&mut self, length: usize) {
        self.align();
        if length < 128 {
            self.bits(length as u64, 8);
        } else {
            self.bits(0x8000 | length as u64, 16);
        }
    }

    /// Splits `count` units (items, octets, bits) into fragments with a general length in front of each
    /// (X.691 §11.9.3.8); `write` gets the range of units of each fragment.
    pub fn fragments(
        &mut self,
        count: usize,
        mut write: impl FnMut(&mut Writer, std::ops::Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let mut start = 0;
        loop {
            let left = count - start;
            if left < FRAGMENT {
                self.short_length(left);
                return write(self, start..count);
            }
            let multiple = (left / FRAGMENT).min(4);
            self.align();
            self.bits(0xc0 | multiple as u64, 8);
            let end = start + multiple * FRAGMENT;
            write(self, start..end)?;
            start = end;
        }
    }

    /// Extension bit and presence bits of a SEQUENCE; `extended` if additions follow the root.
    pub fn sequence(&mut self, extended: bool, options: &[bool]) {
        self.bit(extended);
        for option in options {
            self.bit(*option);
        }
    }

    /// Extension additions behind the root, one entry for each addition of the type, absent ones as `None`.
    pub fn additions(&mut self, additions: &[Option<Addition<'_>>]) -> Result<()> {
        match additions.len() {
            0 => return Ok(()),
            count @ 1..=64 => self.bits(count as u64 - 1, 7),
            count => {
                self.bit(true);
                self.short_length(count);
            }
        }
        for addition in additions {
            self.bit(addition.is_some());
        }
        for addition in additions.iter().flatten() {
            self.open_type(|w| addition(w)).at("extension addition")?;
        }
        Ok(())
    }

    /// Root alternative of an extensible CHOICE with `root` root alternatives.
    pub fn choice(&mut self, index: u32, root: u32) -> Result<()> {
        self.enumerated(index, root)
    }

    /// Addition of an extensible CHOICE: its number behind the marker and its contents.
    pub fn choice_addition(
        &mut self,
        index: u32,
        write: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> Result<()> {
        self.enumerated_addition(index)?;
        self.open_type(write)
    }

    /// Root value of an extensible ENUMERATED with `root` root values.
    pub fn enumerated(&mut self, index: u32, root: u32) -> Result<()> {
        self.bit(false);
        self.constrained(u64::from(index), 0, u64::from(root.saturating_sub(1)))
    }

    /// Value of an extensible ENUMERATED behind its marker.
    pub fn enumerated_addition(&mut self, index: u32) -> Result<()> {
        self.bit(true);
        self.small_number(index)
    }

    /// Open type (X.691 §11.2): length, then the contents as an encoding of their own.
    pub fn open_type(&mut self, write: impl FnOnce(&mut Writer) -> Result<()>) -> Result<()> {
        self.align();
        // Written in place behind one length octet; longer lengths are put in afterwards.
        let start = self.bytes.len();
        self.bytes.push(0);
        write(self)?;
        self.align();
        if self.bytes.len() == start + 1 {
            self.bytes.push(0);
        }
        let length = self.bytes.len() - start - 1;
        if length < 128 {
            if let Some(determinant) = self.bytes.get_mut(start) {
                *determinant = length as u8;
            }
            return Ok(());
        }
        if length < FRAGMENT {
            self.bytes
                .splice(start..=start, (0x8000 | length as u16).to_be_bytes());
            return Ok(());
        }
        let contents = self.bytes.split_off(start + 1);
        self.bytes.truncate(start);
        self.octet_string(&contents)
    }

    /// SEQUENCE (SIZE(lo..hi)) OF. `hi >= 65536` uses the general length with fragments.
    pub fn sequence_of<T>(
        &mut self,
        items: &[T],
        lo: u64,
        hi: u64,
        mut item: impl FnMut(&mut Writer, &T) -> Result<()>,
    ) -> Result<()> {
        let count = items.len();
        let mut write = |w: &mut Writer, range: std::ops::Range<usize>| {
            let part = items.iter().enumerate().take(range.end).skip(range.start);
            for (index, value) in part {
                item(w, value).at_index(index)?;
            }
            Ok(())
        };
        if hi < 65536 {
            self.constrained(count as u64, lo, hi)?;
            return write(self, 0..count);
        }
        if (count as u64) < lo || count as u64 > hi {
            return Err(EncodeError::new(EncodeErrorKind::OutOfRange {
                value: count as u64,
                lo,
                hi,
            }));
        }
        self.fragments(count, write)
    }
}
