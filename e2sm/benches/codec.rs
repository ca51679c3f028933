//! Decoding and encoding of what a busy node sends: `cargo bench -p e2sm`.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use e2sm::e2ap::{Pdu, Version, decode, encode};
use e2sm::flexric::{MacUe, Stats};
use e2sm::kpm::{Dialect, IndicationMessage};

fn vector(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/vectors")
        .join(path);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    hex::decode(text.trim()).unwrap()
}

/// A KPM format 3 message: 20 UEs with 8 measurements each.
fn kpm(c: &mut Criterion) {
    let octets = vector("pycrate/kpm300-msg-f3-20ue-8meas.hex");
    let mut group = c.benchmark_group("kpm_format3_20ue_8meas");
    group.throughput(Throughput::Bytes(octets.len() as u64));
    group.bench_function("decode", |b| {
        b.iter(|| IndicationMessage::decode(black_box(&octets), Dialect::Standard).unwrap());
    });
    let (message, _) = IndicationMessage::decode(&octets, Dialect::Standard).unwrap();
    group.bench_function("encode", |b| {
        b.iter(|| black_box(&message).encode(Dialect::Standard).unwrap())
    });
    group.finish();
}

/// A MAC message of FlexRIC: 20 UEs.
fn mac(c: &mut Criterion) {
    let Pdu::RicIndication(one) = decode(&vector("oai/oai_e2_ind_mac_heavy.hex"), Version::V2_03)
        .unwrap()
        .value
    else {
        panic!("not an indication")
    };
    let one = Stats::<MacUe>::decode(&one.message).unwrap();
    let octets = Stats {
        records: vec![one.records[0].clone(); 20],
        ..one
    }
    .encode();
    let mut group = c.benchmark_group("mac_20ue");
    group.throughput(Throughput::Bytes(octets.len() as u64));
    group.bench_function("decode", |b| {
        b.iter(|| Stats::<MacUe>::decode(black_box(&octets)).unwrap())
    });
    group.finish();
}

/// The E2AP frame around the KPM message above.
fn e2ap(c: &mut Criterion) {
    let octets = vector("pycrate/e2ap203-ind-kpm-f3.hex");
    let mut group = c.benchmark_group("e2ap_indication");
    group.throughput(Throughput::Bytes(octets.len() as u64));
    group.bench_function("decode", |b| {
        b.iter(|| decode(black_box(&octets), Version::V2_03).unwrap())
    });
    let pdu = decode(&octets, Version::V2_03).unwrap().value;
    group.bench_function("encode", |b| {
        b.iter(|| encode(black_box(&pdu), Version::V2_03).unwrap())
    });
    group.finish();
}

criterion_group!(benches, kpm, mac, e2ap);
criterion_main!(benches);
