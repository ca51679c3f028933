//! CPU time of the way from E2AP octets to measurements: 20 UEs that MAC and RLC report every millisecond, and PDCP
//! every 500. One iteration is one millisecond of a cell; 5 % of a core would be 50 µs.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use e2sm::e2ap::{Pdu, RicIndication, RicIndicationType, RicRequestId, Version, decode, encode};
use e2sm::flexric::{MacUe, PdcpBearer, RlcBearer, Stats};
use xapp::measure::{CellConfig, NodeMeasurements};
use xapp::ran::ServiceModel;

const UES: u32 = 20;

/// The indications of one millisecond.
fn indications(ms: u32) -> Vec<(ServiceModel, Vec<u8>)> {
    let tstamp_us = 1_700_000_000_000_000 + i64::from(ms) * 1000;
    let ues = 1..=UES;
    let mac = ues.clone().map(|rnti| MacUe {
        rnti,
        dl_harq: [ms, ms / 10, 0, 0, 0],
        dl_aggr_prb: ms * 8,
        dl_aggr_tbs: u64::from(ms) * 700,
        dl_mcs1: 20,
        frame: (ms / 10 % 1024) as u16,
        slot: (ms % 10 * 2) as u16,
        ..MacUe::default()
    });
    let rlc = ues.clone().map(|rnti| RlcBearer {
        rnti,
        rbid: 1,
        txsdu_bytes: u64::from(ms) * 690,
        rxsdu_bytes: u64::from(ms) * 690 + 5000,
        rxsdu_pkts: ms,
        txbuf_occ_bytes: 5000,
        txsdu_wt_us: 2000,
        ..RlcBearer::default()
    });
    let mac = Stats {
        records: mac.collect(),
        tstamp_us,
    };
    let rlc = Stats {
        records: rlc.collect(),
        tstamp_us: tstamp_us + 100,
    };
    let mut indications = vec![
        (ServiceModel::Mac, pdu(142, mac.encode())),
        (ServiceModel::Rlc, pdu(143, rlc.encode())),
    ];
    if ms.is_multiple_of(500) {
        let bearers = ues.map(|rnti| PdcpBearer {
            rnti,
            rbid: 1,
            txpdu_pkts: ms,
            ..PdcpBearer::default()
        });
        let pdcp = Stats {
            records: bearers.collect(),
            tstamp_us: tstamp_us + 200,
        };
        indications.push((ServiceModel::Pdcp, pdu(144, pdcp.encode())));
    }
    indications
}

fn pdu(ran_function: u16, message: Vec<u8>) -> Vec<u8> {
    let indication = RicIndication {
        request: RicRequestId {
            requestor: 1,
            instance: 7,
        },
        ran_function,
        action: 0,
        sequence_number: None,
        kind: RicIndicationType::Report,
        header: vec![0; 4],
        message,
        call_process: None,
    };
    encode(&Pdu::RicIndication(indication), Version::V2_03).expect("an indication")
}

fn reports(c: &mut Criterion) {
    let milliseconds: Vec<_> = (1..=10_000).map(indications).collect();
    let mut node = NodeMeasurements::new(CellConfig::default());
    let (mut at, mut count) = (0, 0);
    c.bench_function("one millisecond of 20 UEs", |b| {
        b.iter(|| {
            for (model, octets) in &milliseconds[at] {
                let Ok(pdu) = decode(octets, Version::V2_03) else {
                    panic!("undecodable")
                };
                let Pdu::RicIndication(indication) = pdu.value else {
                    panic!("not an indication")
                };
                let received = Duration::from_millis(at as u64);
                let reports = node
                    .on_indication(*model, &indication.header, &indication.message, received)
                    .expect("reports");
                count += reports.len();
            }
            at += 1;
            if at == milliseconds.len() {
                node = NodeMeasurements::new(CellConfig::default());
                at = 0;
            }
        });
    });
    assert!(count > 0, "no report came out");
}

criterion_group!(benches, reports);
criterion_main!(benches);
