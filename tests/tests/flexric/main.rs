//! FlexRIC's RIC and agents, as measured, and Cantor as their xApp: neither ever aborts through Cantor's doing.

mod agent;
mod cantor;
mod core;
mod harmless;
mod kills;
mod life;
mod neighbours;
mod replay;
mod ric;

/// A captured PDU.
fn vector(name: &str) -> Vec<u8> {
    let path = format!("{}/vectors/flexric/{name}.hex", env!("CARGO_MANIFEST_DIR"));
    hex::decode(std::fs::read_to_string(path).unwrap().trim()).unwrap()
}

/// RICindicationMessage of a captured indication.
fn indication_message(name: &str) -> Vec<u8> {
    let pdu = e2sm::e2ap::decode(&vector(name), e2sm::e2ap::Version::V2_03).unwrap();
    match pdu.value {
        e2sm::e2ap::Pdu::RicIndication(indication) => indication.message,
        other => panic!("{}", other.name()),
    }
}
