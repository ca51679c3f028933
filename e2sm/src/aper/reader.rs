//! Reading: bits, whole numbers, lengths and structure. Strings and REAL are in `reader_fields`.

use std::borrow::Cow;

use super::{Alternative, DecodeError, DecodeErrorKind, FRAGMENT, Locate, Notes};

type Result<T> = std::result::Result<T, DecodeError>;

/// A cursor over the octets of one PER encoding.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// Next bit.
    pos: usize,
    /// First bit behind the current container (always on an octet boundary).
    end: usize,
    /// Where `bytes` begins in the whole message, in octets; for error messages only.
    base: usize,
    notes: Notes,
}

/// Extension bit and presence bits of a SEQUENCE.
#[derive(Debug, Clone, Copy)]
#[must_use = "the extension additions have to be read or skipped"]
pub struct Preamble {
    extended: bool,
    options: u64,
    count: u32,
}

impl Preamble {
    /// Whether the OPTIONAL root component `index` (from 0, in order) is there.
    #[inline]
    pub fn has(&self, index: u32) -> bool {
        index < self.count && (self.options >> (self.count - 1 - index)) & 1 == 1
    }
}

impl Preamble {
    /// Whether of all OPTIONAL components and extension additions only the root component `index` is there.
    pub fn has_only(&self, index: u32) -> bool {
        !self.extended && self.has(index) && self.options.count_ones() == 1
    }
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
    fn truncated(&self, needed: usize) -> DecodeError {
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

    fn bit_at(&self, pos: usize) -> bool {
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

    /// SEQUENCE with an extension marker and `options` OPTIONAL root components (at most 63).
    #[inline]
    pub fn sequence(&mut self, options: u32) -> Result<Preamble> {
        let extended = self.bit()?;
        Ok(Preamble {
            extended,
            options: self.bits(options)?,
            count: options,
        })
    }

    /// SEQUENCE without an extension marker.
    pub fn closed_sequence(&mut self, options: u32) -> Result<Preamble> {
        Ok(Preamble {
            extended: false,
            options: self.bits(options)?,
            count: options,
        })
    }

    /// Reads the extension additions behind the root of a SEQUENCE. `read` gets the number of each addition
    /// that is present (from 0) and a reader of its contents; it answers `false` for one it does not know.
    pub fn additions(
        &mut self,
        preamble: Preamble,
        mut read: impl FnMut(u32, &mut Reader<'_>) -> Result<bool>,
    ) -> Result<()> {
        if !preamble.extended {
            return Ok(());
        }
        // Normally small length (X.691 §11.9.3.4): n - 1 in six bits, or a general length.
        let count = if self.bit()? {
            self.length()?.0
        } else {
            self.bits(6)? as usize + 1
        };
        if count > self.bits_left() {
            return Err(self.truncated(count));
        }
        let map = self.pos;
        self.pos += count;
        for index in 0..count {
            if self.bit_at(map + index)
                && !self
                    .open_type(|r| {
                        let known = read(index as u32, r)?;
                        if !known {
                            r.skip_rest();
                        }
                        Ok(known)
                    })
                    .at("extension addition")?
            {
                self.notes.extension_additions += 1;
            }
        }
        Ok(())
    }

    /// Skips the extension additions of a SEQUENCE that knows none.
    pub fn skip_additions(&mut self, preamble: Preamble) -> Result<()> {
        self.additions(preamble, |_, _| Ok(false))
    }

    /// Index of an extensible CHOICE with `root` root alternatives. The contents of an addition are an open
    /// type ([`Reader::open_type`], [`Reader::skip_open_type`]).
    pub fn choice(&mut self, root: u32) -> Result<Alternative> {
        self.enumerated(root)
    }

    /// Value of an extensible ENUMERATED with `root` root values.
    #[inline]
    pub fn enumerated(&mut self, root: u32) -> Result<Alternative> {
        if self.bit()? {
            return Ok(Alternative::Addition(self.small_number()?));
        }
        Ok(Alternative::Root(
            self.constrained(0, u64::from(root.saturating_sub(1)))? as u32,
        ))
    }

    /// Open type (X.691 §11.2): `read` sees its contents only; what it leaves over is skipped and counted.
    pub fn open_type<T>(&mut self, read: impl FnOnce(&mut Reader<'_>) -> Result<T>) -> Result<T> {
        self.align();
        let origin = self.base + self.pos / 8 + 1;
        match self.octet_string()? {
            Cow::Borrowed(contents) => self.narrowed(contents.len(), read),
            Cow::Owned(contents) => self.joined(&contents, origin, read),
        }
    }

    /// Open type whose value borrows from the message, unless it came in fragments: those are joined in a
    /// buffer of their own, and `read_owned` must not borrow.
    pub fn open_type_borrowed<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
        read_owned: impl FnOnce(&mut Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        self.align();
        let origin = self.base + self.pos / 8 + 1;
        match self.octet_string()? {
            Cow::Borrowed(contents) => self.narrowed(contents.len(), read),
            Cow::Owned(contents) => self.joined(&contents, origin, read_owned),
        }
    }

    /// Narrows this very reader to the octets it has just passed: no copy, and positions stay true.
    fn narrowed<T>(
        &mut self,
        octets: usize,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
    ) -> Result<T> {
        let (behind, outer_end) = (self.pos, self.end);
        self.pos = behind - octets * 8;
        self.end = behind;
        let value = read(self);
        if value.is_ok() {
            self.notes.trailing_octets += ((behind - self.pos) / 8) as u32;
        }
        self.pos = behind;
        self.end = outer_end;
        value
    }

    fn joined<T>(
        &mut self,
        contents: &[u8],
        origin: usize,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut inner = Reader::new(contents);
        inner.base = origin;
        inner.notes = std::mem::take(&mut self.notes);
        let value = read(&mut inner);
        self.notes = inner.finish();
        value
    }

    /// Steps over an open type.
    pub fn skip_open_type(&mut self) -> Result<()> {
        self.open_type(|r| {
            r.skip_rest();
            Ok(())
        })
    }

    /// Steps over the rest of the current container without counting it.
    pub fn skip_rest(&mut self) {
        self.pos = self.end;
    }

    /// SEQUENCE (SIZE(lo..hi)) OF: `item` reads one item, which takes at least `item_bits` bits; with that,
    /// memory is bounded by what the message can really hold. `hi >= 65536` uses the general length with
    /// fragments (X.691 §11.9.4.2).
    pub fn sequence_of<T>(
        &mut self,
        lo: u64,
        hi: u64,
        item_bits: usize,
        item: impl FnMut(&mut Reader<'a>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        self.sequence_of_into(&mut items, lo, hi, item_bits, item)?;
        Ok(items)
    }

    /// As [`Reader::sequence_of`], behind what `items` holds already.
    pub fn sequence_of_into<T>(
        &mut self,
        items: &mut Vec<T>,
        lo: u64,
        hi: u64,
        item_bits: usize,
        mut item: impl FnMut(&mut Reader<'a>) -> Result<T>,
    ) -> Result<()> {
        let start = items.len();
        loop {
            let (count, more) = if hi < 65536 {
                (self.constrained(lo, hi)? as usize, false)
            } else {
                self.length()?
            };
            if count.saturating_mul(item_bits.max(1)) > self.bits_left() {
                let left = self.bits_left() as u64;
                return Err(self.error(DecodeErrorKind::TooManyItems {
                    count: count as u64,
                    left,
                }));
            }
            items.reserve(count);
            for _ in 0..count {
                let value = item(self);
                items.push(value.at_index(items.len() - start)?);
            }
            if !more {
                return Ok(());
            }
        }
    }
}
