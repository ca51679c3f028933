//! Every E2AP and E42 vector decodes to the value that its INDEX states, and encodes back to the same octets.
//!
//! The indices are read as they are: nothing is copied into the tests but what they state in prose.

mod flexric;
mod index;
mod oai;
mod pycrate;

use e2sm::aper::Decoded;
use e2sm::e2ap::{Pdu, decode, encode};
use index::Vector;
use std::io::Write as _;

/// How the vectors of one set fared.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Files that hold a PDU of E2AP or E42, or claim to.
    pub vectors: usize,
    /// Decoded to the stated value.
    pub decoded: usize,
    /// Encoded to the same octets.
    pub identical: usize,
    /// The same but for list items, which FlexRIC sends as `reject` where E2AP says `ignore`.
    pub item_criticality: usize,
    /// Those that have no canonical encoding, or cannot be decoded, and say so.
    pub exceptions: usize,
}

impl Tally {
    /// Past the test harness, which keeps what passing tests print: the counts belong into every run's output.
    fn print(&self, set: &str) {
        let _ = writeln!(
            std::io::stderr(),
            "{set:8} {:4} vectors: {:4} decoded, {:4} re-encoded alike, {:3} alike but for item criticality, \
             {:2} documented exceptions",
            self.vectors,
            self.decoded,
            self.identical,
            self.item_criticality,
            self.exceptions
        );
    }

    /// Encodes a decoded vector again and counts what came out.
    fn reencode(&mut self, vector: &Vector, pdu: &Pdu) {
        let octets =
            encode(pdu, vector.version).unwrap_or_else(|error| panic!("{}: {error}", vector.name));
        if octets == vector.octets {
            self.identical += 1;
            return;
        }
        assert_eq!(octets.len(), vector.octets.len(), "{}", vector.name);
        for (position, (ours, theirs)) in octets.iter().zip(&vector.octets).enumerate() {
            let same = ours == theirs || (*ours, *theirs) == (0x40, 0x00);
            assert!(
                same,
                "{}: octet {position} is {ours:02x}, not {theirs:02x}",
                vector.name
            );
        }
        self.item_criticality += 1;
    }
}

/// Decodes a vector in which nothing is unknown.
fn decode_all(vector: &Vector) -> Pdu {
    let Decoded { value, notes } = decode(&vector.octets, vector.version)
        .unwrap_or_else(|error| panic!("{}: {error}", vector.name));
    assert_eq!(notes.skipped(), 0, "{}: {notes:?}", vector.name);
    value
}
