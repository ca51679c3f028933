//! REAL contents octets (X.690 §8.5), the same in PER.

/// Value of REAL contents octets: binary with base 2, 8 or 16, any scale factor and any mantissa length;
/// decimal in the forms NR1 to NR3 of ISO 6093; the special values. `None` if they are not valid.
pub(super) fn real_from_octets(octets: &[u8]) -> Option<f64> {
    let Some((&first, rest)) = octets.split_first() else {
        return Some(0.0);
    };
    match first {
        0x40 => Some(f64::INFINITY),
        0x41 => Some(f64::NEG_INFINITY),
        0x42 => Some(f64::NAN),
        0x43 => Some(-0.0),
        0x80.. => binary(first, rest),
        0x01..=0x03 => decimal(rest),
        _ => None,
    }
}

fn binary(first: u8, rest: &[u8]) -> Option<f64> {
    let bits_per_digit = match first & 0x30 {
        0x00 => 1,
        0x10 => 3,
        0x20 => 4,
        _ => return None,
    };
    let scale = i64::from((first >> 2) & 3);
    let (exponent_octets, rest) = match first & 3 {
        3 => {
            let (&length, rest) = rest.split_first()?;
            rest.split_at_checked(usize::from(length))?
        }
        length => rest.split_at_checked(usize::from(length) + 1)?,
    };
    let negative_exponent = exponent_octets.first()? & 0x80 != 0;
    // Four octets reach far beyond any f64; longer exponents could overflow below.
    if exponent_octets.len() > 4 {
        return None;
    }
    let exponent = exponent_octets
        .iter()
        .fold(if negative_exponent { -1i64 } else { 0 }, |value, octet| {
            (value << 8) | i64::from(*octet)
        });

    let leading_zeros = rest.iter().take_while(|octet| **octet == 0).count();
    let significant = rest.get(leading_zeros..)?;
    let (kept, dropped) = significant.split_at(significant.len().min(8));
    let mut mantissa = kept
        .iter()
        .fold(0u64, |value, octet| (value << 8) | u64::from(*octet));
    // A sticky bit keeps rounding right when the mantissa is longer than 64 bits.
    if dropped.iter().any(|octet| *octet != 0) {
        mantissa |= 1;
    }
    let power = exponent * bits_per_digit + scale + dropped.len() as i64 * 8;
    let value = scale_by_power_of_two(mantissa as f64, power);
    Some(if first & 0x40 != 0 { -value } else { value })
}

/// x * 2^power with a single rounding, as C's `scalbn`.
fn scale_by_power_of_two(mut x: f64, power: i64) -> f64 {
    let mut power = power.clamp(-5000, 5000);
    while power > 1023 {
        x *= power_of_two(1023);
        power -= 1023;
    }
    while power < -1022 {
        // 53 bits less than the step keep x normal until the last multiplication.
        x *= power_of_two(-1022 + 53);
        power += 1022 - 53;
    }
    x * power_of_two(power)
}

fn power_of_two(power: i64) -> f64 {
    f64::from_bits(((power + 1023) as u64) << 52)
}

fn decimal(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?.trim().replace(',', ".");
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    if text.chars().all(plain) {
        text.parse().ok()
    } else {
        None
    }
}

/// A REAL as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Real {
    /// Plus zero: no contents at all.
    Zero,
    /// Infinities, not a number and minus zero: one octet.
    Special(u8),
    /// mantissa * 2^exponent, the mantissa odd.
    Binary {
        negative: bool,
        mantissa: u64,
        exponent: i64,
    },
}

impl From<f64> for Real {
    fn from(value: f64) -> Real {
        if value == 0.0 {
            return if value.is_sign_negative() {
                Real::Special(0x43)
            } else {
                Real::Zero
            };
        }
        if value.is_nan() {
            return Real::Special(0x42);
        }
        if value.is_infinite() {
            return Real::Special(if value > 0.0 { 0x40 } else { 0x41 });
        }
        let bits = value.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = match (bits >> 52) & 0x7ff {
            0 => (fraction, -1074),
            biased => (fraction | 1 << 52, biased as i64 - 1075),
        };
        let even = mantissa.trailing_zeros();
        Real::Binary {
            negative: value < 0.0,
            mantissa: mantissa >> even,
            exponent: exponent + i64::from(even),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aper::{Reader, Writer};

    #[test]
    fn binary_forms_that_peers_send_have_one_value() {
        // 5.3810 as FlexRIC writes it, then forms of 10 in base 2, 8 and 16, with scale and leading zeros.
        let oai =
            real_from_octets(&[0x80, 0xce, 0x15, 0x86, 0x2a, 0x9a, 0xb8, 0x9e, 0x75]).unwrap();
        assert!((oai - 5.3810).abs() < 1e-4, "{oai}");
        for octets in [
            &[0x80, 0x01, 0x05][..],
            &[0x80, 0x00, 0x0a],
            &[0x80, 0x00, 0x00, 0x00, 0x0a],
            &[0x84, 0x00, 0x05],
            &[0x81, 0x00, 0x01, 0x05],
            &[0x83, 0x01, 0x01, 0x05],
            &[0x90, 0x00, 0x0a],
            &[0xa0, 0xff, 0x00, 0xa0],
        ] {
            assert_eq!(real_from_octets(octets), Some(10.0), "{octets:02x?}");
        }
        assert_eq!(real_from_octets(&[0xd0, 0x01, 0x01]), Some(-8.0));
        assert_eq!(
            real_from_octets(&[0x80, 0xc0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            Some(256.0)
        );
    }

    #[test]
    fn decimal_forms_have_their_value_and_nonsense_has_none() {
        assert_eq!(real_from_octets(b"\x01  -12"), Some(-12.0));
        assert_eq!(real_from_octets(b"\x0212,5"), Some(12.5));
        assert_eq!(real_from_octets(b"\x0312345.E-3"), Some(12.345));
        for bad in [
            &b"\x03"[..],
            b"\x03inf",
            b"\x03nan",
            b"\x04 1",
            b"\x44",
            b"\x80",
            b"\x83",
            b"\xb0\x00\x01",
        ] {
            assert_eq!(real_from_octets(bad), None, "{bad:02x?}");
        }
    }

    #[test]
    fn written_values_are_minimal_and_read_back_exactly() {
        let written = |value: f64| {
            let mut w = Writer::new();
            w.real(value).unwrap();
            w.finish()
        };
        assert_eq!(written(0.0), [0]);
        assert_eq!(written(10.0), [3, 0x80, 0x01, 0x05]);
        assert_eq!(written(-1.25), [3, 0xc0, 0xfe, 0x05]);
        let tiny = f64::from_bits(1);
        for value in [
            0.1,
            -std::f64::consts::PI,
            f64::MAX,
            f64::MIN_POSITIVE,
            tiny,
            3.0 * tiny,
            1e300,
            -0.0,
            f64::INFINITY,
        ] {
            let back = Reader::new(&written(value)).real().unwrap();
            assert_eq!(back.to_bits(), value.to_bits(), "{value:e}");
        }
        assert!(Reader::new(&written(f64::NAN)).real().unwrap().is_nan());
    }
}
