//! Whatever a node says: no panic, no report that cannot be.

use e2sm::flexric::{MacUe, RlcBearer, Stats};
use proptest::prelude::*;
use std::time::Duration;
use xapp::{
    measure::{CellConfig, NodeMeasurements},
    ran::ServiceModel,
};

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), 0..2000u32, Just(0), Just(u32::MAX)]
}

/// Time stamps near each other, and anything else.
fn tstamp() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0..2_000_000i64, 1 => any::<i64>(), 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
}

prop_compose! {
    fn mac()(rnti in 0..4u32, harq in prop::array::uniform5(number()), prb in number(), retx in number(), tbs: u64,
             frame in 0..1024u16, slot in 0..20u16, mcs in 0..33u8, bler: f32, cqi in 0..17u8) -> MacUe {
        MacUe {
            rnti, dl_harq: harq, dl_aggr_prb: prb, dl_aggr_retx_prb: retx, dl_aggr_tbs: tbs, frame, slot,
            dl_mcs1: mcs, dl_bler: bler, wb_cqi: cqi, ..MacUe::default()
        }
    }
}

prop_compose! {
    fn rlc()(rnti in 0..4u32, rbid in 0..3u8, sent: u64, arrived: u64, queue in number(), age in number()) -> RlcBearer {
        RlcBearer {
            rnti, rbid, txsdu_bytes: sent, rxsdu_bytes: arrived, txbuf_occ_bytes: queue, txsdu_wt_us: age,
            ..RlcBearer::default()
        }
    }
}

#[derive(Clone, Debug)]
struct Given(ServiceModel, Vec<u8>);

fn message() -> impl Strategy<Value = Given> {
    prop_oneof![
        5 => (prop::collection::vec(mac(), 0..4), tstamp()).prop_map(|(records, tstamp_us)| {
            Given(ServiceModel::Mac, Stats { records, tstamp_us }.encode())
        }),
        5 => (prop::collection::vec(rlc(), 0..4), tstamp()).prop_map(|(records, tstamp_us)| {
            Given(ServiceModel::Rlc, Stats { records, tstamp_us }.encode())
        }),
        1 => (prop_oneof![Just(ServiceModel::Kpm), Just(ServiceModel::Mac)], prop::collection::vec(any::<u8>(), 0..200))
            .prop_map(|(model, octets)| Given(model, octets)),
    ]
}

proptest! {
    #[test]
    fn no_report_is_impossible(messages in prop::collection::vec((message(), 0..100_000u64), 1..60)) {
        let config = CellConfig::default();
        let carrier = config.carrier_prbs;
        let mut measurements = NodeMeasurements::new(config);
        let mut now = Duration::from_secs(10);
        for (Given(model, octets), later_us) in messages {
            now += Duration::from_micros(later_us);
            for report in measurements.on_indication(model, &[], &octets, now).unwrap_or_default() {
                let prbs = report.prbs.unwrap();
                // Counted by the clock, a radio that catches up is believed for a quarter and 8 slots more.
                let slots = report.length.as_secs_f64() * 2000.0;
                let most = carrier * ((slots * 1.25 + 8.0) / slots).max(1.5);
                prop_assert!((0.0..=most).contains(&prbs), "{report:?}");
                prop_assert!(report.retx_prbs.unwrap() <= prbs);
                prop_assert!(report.mcs.unwrap() <= 31.0 && report.cqi.is_none_or(|cqi| (1..=15).contains(&cqi)));
                prop_assert!(report.length > Duration::ZERO && report.end() <= now);
                prop_assert!(report.throughput_bps().is_none_or(f64::is_finite));
            }
        }
    }
}
