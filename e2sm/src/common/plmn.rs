//! PLMN identity.

use std::fmt;
use std::str::FromStr;

/// Public land mobile network: mobile country code (3 digits) and network code (2 or 3), as TS 38.413 clause 9.3.3.5 packs them.
///
/// ```
/// use e2sm::common::Plmn;
/// let plmn: Plmn = "505-01".parse().unwrap();
/// assert_eq!(plmn, Plmn([0x05, 0xf5, 0x10]));
/// assert_eq!(plmn.to_string(), "505-01");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Plmn(pub [u8; 3]);

impl Plmn {
    /// Digits in order, the third of the network code last; a filler is 15.
    fn digits(self) -> [u8; 6] {
        let Self([a, b, c]) = self;
        [a & 15, a >> 4, b & 15, c & 15, c >> 4, b >> 4]
    }
}

/// The text is not a PLMN such as `00101`, `001-01` or `310-410`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a PLMN: three digits of country code and two or three of network code, such as 001-01"
)]
pub struct NotAPlmn;

impl FromStr for Plmn {
    type Err = NotAPlmn;

    fn from_str(text: &str) -> Result<Self, NotAPlmn> {
        let plain = match text.split_once('-') {
            Some((mcc, mnc)) if mcc.len() == 3 => [mcc, mnc].concat(),
            Some(_) => return Err(NotAPlmn),
            None => text.to_owned(),
        };
        let digit = |c: char| c.to_digit(10).map(|d| d as u8);
        let digits: Vec<u8> = plain
            .chars()
            .map(digit)
            .collect::<Option<_>>()
            .ok_or(NotAPlmn)?;
        let (&[m1, m2, m3, n1, n2], n3) = (match digits.as_slice() {
            [five @ .., n3] if five.len() == 5 => (five.first_chunk::<5>().ok_or(NotAPlmn)?, *n3),
            five => (five.try_into().map_err(|_| NotAPlmn)?, 15),
        }) as (&[u8; 5], u8);
        Ok(Self([m2 << 4 | m1, n3 << 4 | m3, n2 << 4 | n1]))
    }
}

impl fmt::Display for Plmn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m1, m2, m3, n1, n2, n3] = self.digits();
        write!(f, "{m1:x}{m2:x}{m3:x}-{n1:x}{n2:x}")?;
        if n3 == 15 {
            Ok(())
        } else {
            write!(f, "{n3:x}")
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Plmn {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_and_three_digit_network_codes_survive_text_and_octets() {
        for (text, octets) in [
            ("001-01", [0x00, 0xf1, 0x10]),
            ("310-410", [0x13, 0x00, 0x14]),
            ("000-000", [0, 0, 0]),
        ] {
            let plmn = Plmn(octets);
            assert_eq!(plmn.to_string(), text);
            assert_eq!(text.parse(), Ok(plmn));
            assert_eq!(text.replace('-', "").parse(), Ok(plmn));
        }
        for bad in [
            "", "0010", "0010101", "00a01", "0010-1", "00-101", "001-01-",
        ] {
            assert_eq!(bad.parse::<Plmn>(), Err(NotAPlmn), "{bad}");
        }
    }
}
