//! Reading structure: SEQUENCE, CHOICE, ENUMERATED, open types, lists.

use std::borrow::Cow;

use super::{Alternative, DecodeError, DecodeErrorKind, Locate, Reader};

type Result<T> = std::result::Result<T, DecodeError>;

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
