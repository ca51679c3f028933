//! The TCP transport's length prefix: messages come out alike, whatever the pieces in which the stream arrives.
#![no_main]

use libfuzzer_sys::fuzz_target;
use transport::framing::Decoder;

const LIMIT: usize = 4096;

fuzz_target!(|input: &[u8]| {
    let Some((piece, stream)) = input.split_first() else {
        return;
    };
    let whole = messages(std::iter::once(stream));
    let pieces = messages(stream.chunks(usize::from(*piece).max(1)));
    assert_eq!(whole, pieces);
});

/// The messages up to the end or the first error, and whether there was one.
fn messages<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, bool) {
    let mut decoder = Decoder::new(LIMIT);
    let mut messages = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        loop {
            match decoder.next_message() {
                Ok(Some(message)) => {
                    assert!(message.len() <= LIMIT);
                    messages.push(message);
                }
                Ok(None) => break,
                Err(_) => return (messages, true),
            }
        }
    }
    (messages, false)
}
