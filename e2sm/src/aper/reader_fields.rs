//! Reading strings and REAL.

use std::borrow::Cow;

use super::{BitString, DecodeError, DecodeErrorKind, Reader, real_from_octets};

type Result<T> = std::result::Result<T, DecodeError>;

impl<'a> Reader<'a> {
    /// OCTET STRING without size, or any octets behind a general length: borrowed unless they came in fragments.
    pub fn octet_string(&mut self) -> Result<Cow<'a, [u8]>> {
        let (length, more) = self.length()?;
        let first = self.octets(length)?;
        if !more {
            return Ok(Cow::Borrowed(first));
        }
        let mut joined = first.to_vec();
        loop {
            let (length, more) = self.length()?;
            joined.extend_from_slice(self.octets(length)?);
            if !more {
                return Ok(Cow::Owned(joined));
            }
        }
    }

    /// OCTET STRING (SIZE(N)): aligned only if longer than two octets.
    pub fn octet_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut octets = [0; N];
        if N > 2 {
            octets.copy_from_slice(self.octets(N)?);
            return Ok(octets);
        }
        for octet in &mut octets {
            *octet = self.bits(8)? as u8;
        }
        Ok(octets)
    }

    /// BIT STRING (SIZE(count)) with at most 64 bits, as a number: aligned only if longer than 16 bits.
    pub fn bit_field(&mut self, count: u32) -> Result<u64> {
        if count > 16 {
            self.align();
        }
        self.bits(count)
    }

    /// BIT STRING (SIZE(lo..hi)), lo < hi < 65536.
    pub fn bit_string(&mut self, lo: u64, hi: u64) -> Result<BitString> {
        let length = self.constrained(lo, hi)? as usize;
        self.aligned_bits(length)
    }

    /// BIT STRING (SIZE(lo..hi, ...)): any length behind the extension bit.
    pub fn extensible_bit_string(&mut self, lo: u64, hi: u64) -> Result<BitString> {
        if self.bit()? {
            self.unbounded_bit_string()
        } else {
            self.bit_string(lo, hi)
        }
    }

    /// BIT STRING without size.
    pub fn unbounded_bit_string(&mut self) -> Result<BitString> {
        let mut octets = Vec::new();
        let mut bits = 0;
        loop {
            let (length, more) = self.length()?;
            // Fragments hold whole octets, so joining them needs no shifting.
            octets.extend_from_slice(self.aligned_bits(length)?.octets());
            bits += length;
            if !more {
                return self.own_bits(octets, bits);
            }
        }
    }

    fn aligned_bits(&mut self, count: usize) -> Result<BitString> {
        self.align();
        let mut octets = self.octets(count / 8)?.to_vec();
        let rest = (count % 8) as u32;
        if rest > 0 {
            octets.push((self.bits(rest)? << (8 - rest)) as u8);
        }
        self.own_bits(octets, count)
    }

    fn own_bits(&self, octets: Vec<u8>, count: usize) -> Result<BitString> {
        let held = octets.len() as u64 * 8;
        BitString::new(octets, count).ok_or_else(|| {
            self.error(DecodeErrorKind::Truncated {
                needed: count as u64,
                left: held,
            })
        })
    }

    /// PrintableString (SIZE(lo..hi, ...)).
    ///
    /// Real peers send `_` and more outside of the PrintableString alphabet: every octet is taken as the
    /// Latin-1 character of that code, which [`super::Writer::printable_string`] turns back alike.
    pub fn printable_string(&mut self, lo: u64, hi: u64) -> Result<String> {
        self.printable_str(lo, hi).map(Cow::into_owned)
    }

    /// As [`Reader::printable_string`], borrowed from the message where that can be.
    pub fn printable_str(&mut self, lo: u64, hi: u64) -> Result<Cow<'a, str>> {
        if self.bit()? {
            return Ok(match self.octet_string()? {
                Cow::Borrowed(octets) => latin1(octets),
                Cow::Owned(octets) => latin1(&octets).into_owned().into(),
            });
        }
        let length = self.constrained(lo, hi)? as usize;
        self.octets(length).map(latin1)
    }

    /// PrintableString without size.
    pub fn unbounded_printable_string(&mut self) -> Result<String> {
        Ok(latin1(&self.octet_string()?).into_owned())
    }

    /// REAL (X.691 §15, contents as in X.690 §8.5).
    pub fn real(&mut self) -> Result<f64> {
        let octets = self.octet_string()?;
        real_from_octets(&octets).ok_or_else(|| {
            self.error(DecodeErrorKind::BadReal(
                octets.first().copied().unwrap_or(0),
            ))
        })
    }
}

fn latin1(octets: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(octets) {
        Ok(text) if octets.is_ascii() => Cow::Borrowed(text),
        _ => octets.iter().copied().map(char::from).collect(),
    }
}
