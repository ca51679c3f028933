//! E2SM-KPM: the first octet chooses what the rest is.
#![no_main]

use e2sm::kpm::{
    ActionDefinition, Dialect, EventTrigger, IndicationHeader, IndicationMessage,
    RanFunctionDescription, Version,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, octets)) = input.split_first() else {
        return;
    };
    let dialect = if choice & 0x80 == 0 {
        Dialect::Standard
    } else {
        Dialect::FlexRic2023
    };
    let version = if choice & 0x40 == 0 {
        Version::V2
    } else {
        Version::V3
    };
    match choice & 7 {
        0 => drop(IndicationHeader::decode(octets, version)),
        1 => drop(ActionDefinition::decode(octets, dialect)),
        2 => drop(EventTrigger::decode(octets)),
        3 => drop(RanFunctionDescription::decode(octets)),
        _ => {
            let _ = Dialect::of_message(octets);
            let Ok((message, _)) = IndicationMessage::decode(octets, dialect) else {
                return;
            };
            if let Ok(again) = message.encode(dialect) {
                IndicationMessage::decode(&again, dialect).expect("own encoding");
            }
        }
    }
});
