//! A recorder's stream: one JSON object a line, `{"t": seconds, "dir": "node>ric", "hex": "…"}`.

use super::{Direction, Error, MAX_PDU, Pdu, Place, text};
use serde::Deserialize;
use std::{
    io::{BufRead, Read},
    time::Duration,
};

pub(super) struct Stream {
    input: Box<dyn BufRead>,
    line: u64,
    ended: bool,
}

#[derive(Deserialize)]
struct Line<'a> {
    t: Option<f64>,
    dir: Option<&'a str>,
    hex: &'a str,
}

impl Stream {
    pub(super) fn new(input: Box<dyn BufRead>) -> Self {
        Self {
            input,
            line: 0,
            ended: false,
        }
    }

    /// The next line's PDU. A bad line is an error and passed over; a bad file ends the stream.
    pub(super) fn next(&mut self) -> Option<Result<Pdu, Error>> {
        const MAX_LINE: u64 = 2 * MAX_PDU as u64 + 1024;
        while !self.ended {
            let mut text = Vec::new();
            match self
                .input
                .by_ref()
                .take(MAX_LINE)
                .read_until(b'\n', &mut text)
            {
                Ok(0) => self.ended = true,
                Ok(_) => {
                    self.line += 1;
                    if text.len() as u64 == MAX_LINE {
                        self.ended = true;
                        return Some(Err(self.error("longer than any PDU")));
                    }
                    if !text.trim_ascii().is_empty() {
                        return Some(self.parse(&text));
                    }
                }
                Err(e) => {
                    self.ended = true;
                    return Some(Err(e.into()));
                }
            }
        }
        None
    }

    fn parse(&self, text: &[u8]) -> Result<Pdu, Error> {
        let line: Line<'_> = serde_json::from_slice(text).map_err(|e| self.error(e))?;
        let direction = line
            .dir
            .map(|dir| match dir {
                "node>ric" => Ok(Direction::NodeToRic),
                "ric>node" => Ok(Direction::RicToNode),
                "xapp>ric" => Ok(Direction::XAppToRic),
                "ric>xapp" => Ok(Direction::RicToXApp),
                _ => Err(self.error(format!("unknown direction {dir:?}"))),
            })
            .transpose()?;
        let time = line
            .t
            .map(|t| Duration::try_from_secs_f64(t).map_err(|e| self.error(e)))
            .transpose()?;
        let octets = text::parse_hex(line.hex).map_err(|e| self.error(e))?;
        Ok(Pdu {
            place: Place::Line(self.line),
            time,
            // A recorder sits at one end of E2 or of E42: each is an association.
            association: match direction {
                Some(Direction::XAppToRic | Direction::RicToXApp) => 1,
                _ => 0,
            },
            direction,
            route: None,
            payload_protocol: None,
            octets,
        })
    }

    fn error(&self, cause: impl std::fmt::Display) -> Error {
        Error::Line {
            line: self.line,
            cause: cause.to_string(),
        }
    }
}
