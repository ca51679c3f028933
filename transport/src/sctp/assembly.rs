//! Puts user messages together from what single reads give, without I/O.

use std::io;

use super::sys::Received;
use crate::connection::{Message, ReceiveError};

/// What a read led to.
#[derive(Debug)]
pub(super) enum Step {
    /// Nothing yet.
    More,
    /// A whole message.
    Message(Message),
    /// The peer ended the association in order.
    End,
}

// Association change notification (RFC 6458, 6.1.1).
const ASSOC_CHANGE: u16 = 0x8001;
const COMM_LOST: u16 = 1;
const RESTART: u16 = 2;

/// Collects reads until the one that ends a record; longer messages than the limit are refused.
#[derive(Debug)]
pub(super) struct Assembly {
    partial: Vec<u8>,
    limit: usize,
}

impl Assembly {
    pub(super) fn new(limit: usize) -> Self {
        Assembly {
            partial: Vec::new(),
            limit,
        }
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    pub(super) fn step(
        &mut self,
        octets: &[u8],
        received: &Received,
    ) -> Result<Step, ReceiveError> {
        if received.notification {
            return notified(octets);
        }
        if octets.is_empty() && !received.end_of_record {
            return match self.partial.len() {
                0 => Ok(Step::End),
                received => Err(ReceiveError::Incomplete { received }),
            };
        }
        if self.partial.len() + octets.len() > self.limit {
            return Err(ReceiveError::TooLong { limit: self.limit });
        }
        self.partial.extend_from_slice(octets);
        if !received.end_of_record {
            return Ok(Step::More);
        }
        let bytes = std::mem::take(&mut self.partial);
        Ok(Step::Message(Message {
            bytes,
            ppid: received.ppid,
            stream: received.stream,
        }))
    }
}

/// Only association changes are asked for; a notification of another kind changes nothing.
fn notified(octets: &[u8]) -> Result<Step, ReceiveError> {
    // struct sctp_assoc_change: type u16, flags u16, length u32, state u16, in host order.
    let field = |at: usize| {
        octets
            .get(at..at + 2)
            .and_then(|f| f.try_into().ok())
            .map(u16::from_ne_bytes)
    };
    match (field(0), field(8)) {
        (Some(ASSOC_CHANGE), Some(COMM_LOST)) => {
            let lost = "the peer aborted the association, or its path is dead";
            Err(io::Error::new(io::ErrorKind::ConnectionReset, lost).into())
        }
        (Some(ASSOC_CHANGE), Some(RESTART)) => Err(ReceiveError::Restarted),
        _ => Ok(Step::More),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(length: usize, end_of_record: bool) -> Received {
        Received {
            length,
            end_of_record,
            notification: false,
            ppid: Some(70),
            stream: Some(3),
        }
    }

    fn notification(state: u16) -> Vec<u8> {
        let mut octets = [ASSOC_CHANGE.to_ne_bytes(), 0u16.to_ne_bytes()].concat();
        octets.extend(20u32.to_ne_bytes());
        octets.extend(state.to_ne_bytes());
        octets.resize(20, 0);
        octets
    }

    #[test]
    fn a_message_is_what_lies_between_two_ends_of_record() {
        let mut assembly = Assembly::new(10);
        assert!(matches!(
            assembly.step(b"abc", &data(3, false)),
            Ok(Step::More)
        ));
        assert!(matches!(
            assembly.step(b"def", &data(3, false)),
            Ok(Step::More)
        ));
        let Ok(Step::Message(message)) = assembly.step(b"g", &data(1, true)) else {
            panic!("no message")
        };
        assert_eq!(
            (message.bytes.as_slice(), message.ppid, message.stream),
            (&b"abcdefg"[..], Some(70), Some(3))
        );
        assert!(matches!(assembly.step(b"", &data(0, false)), Ok(Step::End)));
    }

    #[test]
    fn the_limit_holds_for_the_whole_message() {
        let mut assembly = Assembly::new(5);
        assert!(matches!(
            assembly.step(b"abc", &data(3, false)),
            Ok(Step::More)
        ));
        assert!(matches!(
            assembly.step(b"def", &data(3, true)),
            Err(ReceiveError::TooLong { limit: 5 })
        ));
    }

    #[test]
    fn an_end_inside_a_message_is_told() {
        let mut assembly = Assembly::new(5);
        assert!(matches!(
            assembly.step(b"abc", &data(3, false)),
            Ok(Step::More)
        ));
        assert!(matches!(
            assembly.step(b"", &data(0, false)),
            Err(ReceiveError::Incomplete { received: 3 })
        ));
    }

    #[test]
    fn notifications_are_no_data() {
        let mut assembly = Assembly::new(100);
        assert!(matches!(
            assembly.step(b"abc", &data(3, false)),
            Ok(Step::More)
        ));
        let told = Received {
            notification: true,
            ..data(20, true)
        };
        assert!(matches!(
            assembly.step(&notification(0), &told),
            Ok(Step::More)
        ));
        assert!(matches!(
            assembly.step(&notification(1)[..7], &told),
            Ok(Step::More)
        ));
        assert!(
            matches!(assembly.step(b"d", &data(1, true)), Ok(Step::Message(m)) if m.bytes == b"abcd")
        );
        assert!(matches!(
            assembly.step(&notification(COMM_LOST), &told),
            Err(ReceiveError::Io(_))
        ));
        assert!(matches!(
            assembly.step(&notification(RESTART), &told),
            Err(ReceiveError::Restarted)
        ));
    }
}
