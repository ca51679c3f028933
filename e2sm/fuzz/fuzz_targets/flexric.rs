//! FlexRIC's plain service models: the first octet chooses which.
#![no_main]

use e2sm::flexric::{GtpTunnel, MacUe, PdcpBearer, Record, RlcBearer, SliceIndication, Stats};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, octets)) = input.split_first() else {
        return;
    };
    match choice % 5 {
        0 => stats::<MacUe>(octets),
        1 => stats::<RlcBearer>(octets),
        2 => stats::<PdcpBearer>(octets),
        3 => stats::<GtpTunnel>(octets),
        _ => drop(SliceIndication::decode(octets)),
    }
});

/// Compared as octets, since floating point fields may hold NaN; written twice, since padding may hold anything.
fn stats<R: Record>(octets: &[u8]) {
    if let Ok(stats) = Stats::<R>::decode(octets) {
        let again = stats.encode();
        assert_eq!(again.len(), octets.len());
        assert_eq!(
            Stats::<R>::decode(&again).expect("own encoding").encode(),
            again
        );
    }
}
