//! FlexRIC's plain service models: the first octet chooses which.
#![no_main]

use e2sm::flexric::{GtpTunnel, MacUe, PdcpBearer, RlcBearer, SliceIndication, Stats};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, octets)) = input.split_first() else {
        return;
    };
    match choice % 5 {
        0 => {
            // Compared as octets, since floating point fields may hold NaN.
            if let Ok(stats) = Stats::<MacUe>::decode(octets) {
                assert_eq!(stats.encode(), octets);
            }
        }
        1 => {
            if let Ok(stats) = Stats::<RlcBearer>::decode(octets) {
                assert_eq!(stats.encode(), octets);
            }
        }
        2 => drop(Stats::<PdcpBearer>::decode(octets)),
        3 => drop(Stats::<GtpTunnel>::decode(octets)),
        _ => drop(SliceIndication::decode(octets)),
    }
});
