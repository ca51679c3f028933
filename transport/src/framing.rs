//! The length prefix of the TCP transport, without I/O: 4 octets, big-endian, then that many octets of PDU.

/// Octets of the length prefix.
pub const PREFIX: usize = 4;

/// What makes a byte stream unreadable; nothing after it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    /// The announced message is longer than the limit.
    #[error("a message of {length} octets was announced, the limit is {limit}")]
    TooLong {
        /// Announced length in octets.
        length: usize,
        /// Longest message accepted.
        limit: usize,
    },
    /// The announced message is empty: no E2AP PDU is.
    #[error("an empty message was announced")]
    Empty,
}

/// The prefix that announces a message, or `None` when its length does not fit.
pub fn prefix(length: usize) -> Option<[u8; PREFIX]> {
    u32::try_from(length)
        .ok()
        .filter(|&length| length > 0)
        .map(u32::to_be_bytes)
}

/// Cuts a byte stream into messages.
///
/// Holds no more than what was fed and not yet taken: whoever takes all messages after each feed keeps it
/// below one message and one feed.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    taken: usize,
    limit: usize,
}

impl Decoder {
    /// A decoder that refuses messages longer than `limit` octets.
    pub fn new(limit: usize) -> Self {
        Decoder {
            buffer: Vec::new(),
            taken: 0,
            limit,
        }
    }

    /// Changes the limit for the messages to come.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Adds octets read from the stream.
    pub fn feed(&mut self, octets: &[u8]) {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.buffer.extend_from_slice(octets);
    }

    /// Takes the next message; `None`: more octets are needed.
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>, FramingError> {
        let waiting = self.buffer.get(self.taken..).unwrap_or_default();
        let Some((prefix, rest)) = waiting.split_first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*prefix) as usize;
        if length == 0 {
            return Err(FramingError::Empty);
        }
        if length > self.limit {
            return Err(FramingError::TooLong {
                length,
                limit: self.limit,
            });
        }
        let Some(message) = rest.get(..length) else {
            return Ok(None);
        };
        let message = message.to_vec();
        self.taken += PREFIX + length;
        Ok(Some(message))
    }

    /// Octets of a message that is not complete (the stream must not end here unless this is 0).
    pub fn incomplete(&self) -> usize {
        self.buffer.len() - self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn framed(messages: &[Vec<u8>]) -> Vec<u8> {
        messages
            .iter()
            .flat_map(|m| [&prefix(m.len()).unwrap()[..], m].concat())
            .collect()
    }

    #[test]
    fn a_length_over_the_limit_is_refused_before_its_octets_arrive() {
        let mut decoder = Decoder::new(10);
        decoder.feed(&[0, 0, 0, 11]);
        assert_eq!(
            decoder.next_message(),
            Err(FramingError::TooLong {
                length: 11,
                limit: 10
            })
        );
        let mut decoder = Decoder::new(10);
        decoder.feed(&[0xff; 5]);
        assert_eq!(
            decoder.next_message(),
            Err(FramingError::TooLong {
                length: u32::MAX as usize,
                limit: 10
            })
        );
        let mut decoder = Decoder::new(10);
        decoder.feed(&[0, 0, 0, 0, 1]);
        assert_eq!(decoder.next_message(), Err(FramingError::Empty));
    }

    proptest! {
        #[test]
        fn messages_come_out_whole_however_the_stream_is_cut(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 0..8),
            cuts in prop::collection::vec(1usize..50, 1..20),
        ) {
            let stream = framed(&messages);
            let mut decoder = Decoder::new(300);
            let mut out = Vec::new();
            let mut rest = &stream[..];
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break }
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                decoder.feed(now);
                rest = later;
                while let Some(message) = decoder.next_message().unwrap() { out.push(message) }
                prop_assert!(decoder.incomplete() < PREFIX + 300);
            }
            prop_assert_eq!(out, messages);
            prop_assert_eq!(decoder.incomplete(), 0);
        }

        #[test]
        fn any_octets_end_in_messages_or_an_error(octets in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut decoder = Decoder::new(64);
            decoder.feed(&octets);
            let mut length = 0;
            while let Ok(Some(message)) = decoder.next_message() {
                prop_assert!(!message.is_empty() && message.len() <= 64);
                length += PREFIX + message.len();
            }
            prop_assert_eq!(decoder.incomplete(), octets.len() - length);
        }
    }
}
