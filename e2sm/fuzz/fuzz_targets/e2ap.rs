//! E2AP and E42: the first octet chooses the version. What decodes and encodes again decodes to the same value.
#![no_main]

use e2sm::e2ap::{Version, decode, diagnose_error, diagnose_notes, encode, guess_version};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, octets)) = input.split_first() else {
        return;
    };
    let version = Version::ALL[usize::from(*choice) % Version::ALL.len()];
    let _ = guess_version(octets);
    match decode(octets, version) {
        Ok(decoded) => {
            let _ = diagnose_notes(&decoded.value, version, &decoded.notes);
            if let Ok(again) = encode(&decoded.value, version) {
                assert_eq!(
                    decode(&again, version).expect("own encoding").value,
                    decoded.value
                );
            }
        }
        Err(error) => drop(diagnose_error(octets, &error)),
    }
});
