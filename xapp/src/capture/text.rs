//! Hex text, and octets as they are.

use super::{Error, Pdu, Place};
use std::iter;

/// How PDUs follow each other in hex text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// E2AP PDUs: one a line; one wrapped over several lines is told by its own length field.
    E2ap,
    /// One PDU of any kind, over all lines.
    Whole,
}

/// Octets of hex text: digits with white space, `:`, `,` and `0x` among them; what follows `#` is a comment.
///
/// # Errors
/// When something else is in it, or half an octet is left.
pub fn parse_hex(text: &str) -> Result<Vec<u8>, Error> {
    let mut octets = Vec::with_capacity(text.len() / 2);
    for (line, content) in (1..).zip(text.lines()) {
        octets.extend(hex_line(line, content)?);
    }
    Ok(octets)
}

fn hex_line(line: u64, content: &str) -> Result<Vec<u8>, Error> {
    let mut octets = Vec::with_capacity(content.len() / 2);
    let mut half: Option<u8> = None;
    let mut characters = (1..).zip(content.chars()).peekable();
    while let Some((column, character)) = characters.next() {
        match character {
            '#' => break,
            '0' if half.is_none()
                && characters
                    .next_if(|(_, c)| matches!(c, 'x' | 'X'))
                    .is_some() => {}
            ':' | ',' => {}
            c if c.is_whitespace() => {}
            c => {
                let digit = c.to_digit(16).and_then(|d| u8::try_from(d).ok());
                let digit = digit.ok_or(Error::Hex {
                    line,
                    column,
                    found: c,
                })?;
                match half.take() {
                    Some(high) => octets.push(high << 4 | digit),
                    None => half = Some(digit),
                }
            }
        }
    }
    match half {
        None => Ok(octets),
        Some(_) => Err(Error::OddHex { line }),
    }
}

/// PDUs of an input, one after the other.
pub(super) type Pdus = Box<dyn Iterator<Item = Result<Pdu, Error>>>;

/// PDUs of an input that is none of the known file formats.
pub(super) fn pdus(octets: Vec<u8>, framing: Framing) -> Pdus {
    let whole = |octets| Box::new(iter::once(Ok(pdu(Place::Whole, octets))));
    let text = match String::from_utf8(octets) {
        Ok(text) if text.chars().all(|c| !c.is_control() || c.is_whitespace()) => text,
        Ok(text) => return whole(text.into_bytes()),
        Err(binary) => return whole(binary.into_bytes()),
    };
    match framing {
        Framing::Whole => {
            let octets = parse_hex(&text);
            Box::new(iter::once(octets.map(|octets| pdu(Place::Whole, octets))))
        }
        Framing::E2ap => Box::new(Lines {
            text,
            at: 0,
            line: 0,
        }),
    }
}

/// E2AP PDUs of hex text. Not all at once: one of a few octets takes far more memory than its digits.
struct Lines {
    text: String,
    /// Octets of the text that were read.
    at: usize,
    /// Lines that were read.
    line: u64,
}

impl Iterator for Lines {
    type Item = Result<Pdu, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut open: Option<(u64, Vec<u8>)> = None;
        while let Some(content) = self.text.get(self.at..)?.split_inclusive('\n').next() {
            self.at += content.len();
            self.line += 1;
            match hex_line(self.line, content) {
                Ok(octets) if octets.is_empty() => {}
                Ok(octets) => {
                    let (_, message) = open.get_or_insert((self.line, Vec::new()));
                    message.extend(octets);
                    if e2ap_length(message).is_none_or(|length| message.len() >= length) {
                        break;
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
        open.map(|(line, message)| Ok(pdu(Place::Line(line), message)))
    }
}

/// Length of an E2AP PDU from its first octets (CHOICE index, procedure code, criticality, length of the open type).
fn e2ap_length(octets: &[u8]) -> Option<usize> {
    match octets {
        [0x00 | 0x20 | 0x40, _, 0x00 | 0x40 | 0x80, rest @ ..] => match *rest {
            [length @ 0..=0x7f, ..] => Some(4 + usize::from(length)),
            [high @ 0x80..=0xbf, low, ..] => {
                Some(5 + usize::from(u16::from_be_bytes([high & 0x3f, low])))
            }
            _ => None,
        },
        _ => None,
    }
}

fn pdu(place: Place, octets: Vec<u8>) -> Pdu {
    Pdu {
        place,
        time: None,
        association: 0,
        direction: None,
        route: None,
        payload_protocol: None,
        octets,
    }
}
