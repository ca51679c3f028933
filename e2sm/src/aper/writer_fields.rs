//! Writing strings and REAL.

use super::real::Real;
use super::{BitString, EncodeError, EncodeErrorKind, Writer};

type Result<T> = std::result::Result<T, EncodeError>;

impl Writer {
    /// OCTET STRING without size.
    pub fn octet_string(&mut self, octets: &[u8]) -> Result<()> {
        self.fragments(octets.len(), |w, range| {
            w.octets(octets.get(range).unwrap_or_default());
            Ok(())
        })
    }

    /// OCTET STRING (SIZE(N)): aligned only if longer than two octets.
    pub fn octet_array<const N: usize>(&mut self, octets: &[u8; N]) {
        if N > 2 {
            self.align();
        }
        for octet in octets {
            self.bits(u64::from(*octet), 8);
        }
    }

    /// BIT STRING (SIZE(count)) with at most 64 bits: aligned only if longer than 16 bits.
    pub fn bit_field(&mut self, value: u64, count: u32) -> Result<()> {
        let hi = if count == 0 {
            0
        } else {
            u64::MAX >> (64 - count)
        };
        if value > hi {
            return Err(EncodeError::new(EncodeErrorKind::OutOfRange {
                value,
                lo: 0,
                hi,
            }));
        }
        if count > 16 {
            self.align();
        }
        self.bits(value, count);
        Ok(())
    }

    /// BIT STRING (SIZE(lo..hi)), lo < hi < 65536.
    pub fn bit_string(&mut self, bits: &BitString, lo: u64, hi: u64) -> Result<()> {
        self.constrained(bits.len() as u64, lo, hi)?;
        self.aligned_bits(bits.octets(), bits.len());
        Ok(())
    }

    /// BIT STRING (SIZE(lo..hi, ...)).
    pub fn extensible_bit_string(&mut self, bits: &BitString, lo: u64, hi: u64) -> Result<()> {
        let inside = (lo..=hi).contains(&(bits.len() as u64));
        self.bit(!inside);
        if inside {
            self.bit_string(bits, lo, hi)
        } else {
            self.unbounded_bit_string(bits)
        }
    }

    /// BIT STRING without size.
    pub fn unbounded_bit_string(&mut self, bits: &BitString) -> Result<()> {
        self.fragments(bits.len(), |w, range| {
            w.aligned_bits(
                bits.octets().get(range.start / 8..).unwrap_or_default(),
                range.len(),
            );
            Ok(())
        })
    }

    fn aligned_bits(&mut self, octets: &[u8], count: usize) {
        let (whole, rest) = octets.split_at(octets.len().min(count / 8));
        self.octets(whole);
        let bits = (count % 8) as u32;
        if let (Some(last), 1..) = (rest.first(), bits) {
            self.bits(u64::from(*last) >> (8 - bits), bits);
        }
    }

    /// PrintableString (SIZE(lo..hi, ...)), one octet for each character; see
    /// [`super::Reader::printable_string`] for what stands outside of the alphabet.
    pub fn printable_string(&mut self, text: &str, lo: u64, hi: u64) -> Result<()> {
        let octets = latin1(text)?;
        let length = octets.len() as u64;
        let inside = (lo..=hi).contains(&length);
        self.bit(!inside);
        if !inside {
            return self.octet_string(&octets);
        }
        self.constrained(length, lo, hi)?;
        self.octets(&octets);
        Ok(())
    }

    /// PrintableString without size.
    pub fn unbounded_printable_string(&mut self, text: &str) -> Result<()> {
        self.octet_string(&latin1(text)?)
    }

    /// REAL (X.691 §15): base 2, everything minimal (X.690 §11.3.1).
    pub fn real(&mut self, value: f64) -> Result<()> {
        match Real::from(value) {
            Real::Zero => self.short_length(0),
            Real::Special(octet) => {
                self.short_length(1);
                self.bits(u64::from(octet), 8);
            }
            Real::Binary {
                negative,
                mantissa,
                exponent,
            } => {
                let exponent_octets: u32 = if i8::try_from(exponent).is_ok() { 1 } else { 2 };
                let mantissa_octets = (64 - mantissa.leading_zeros()).div_ceil(8);
                self.short_length((1 + exponent_octets + mantissa_octets) as usize);
                let sign = if negative { 0x40 } else { 0 };
                self.bits(0x80 | sign | u64::from(exponent_octets - 1), 8);
                self.bits(exponent as u64, exponent_octets * 8);
                self.bits(mantissa, mantissa_octets * 8);
            }
        }
        Ok(())
    }
}

fn latin1(text: &str) -> Result<std::borrow::Cow<'_, [u8]>> {
    if text.is_ascii() {
        return Ok(text.as_bytes().into());
    }
    let octet =
        |c: char| u8::try_from(c).map_err(|_| EncodeError::new(EncodeErrorKind::BadCharacter(c)));
    text.chars()
        .map(octet)
        .collect::<Result<Vec<u8>>>()
        .map(Into::into)
}
