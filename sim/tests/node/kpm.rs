//! KPM reports.

use super::{Rig, TODAY_US, greedy, vector};
use e2sm::e2ap::{Pdu, RicIndication, Version, decode};
use e2sm::kpm::{
    self, ActionDefinition, ActionFormat, CellAction, Dialect, IndicationHeader, IndicationMessage,
    MeasInfo, MeasValue,
};
use sim::cell::UeConfig;
use sim::node::KpmDialect;
use std::time::Duration;

/// Values of the named measurement, by UE.
fn values(indication: &RicIndication, name: &str) -> Vec<MeasValue> {
    let (message, _) = IndicationMessage::decode(&indication.message, Dialect::Standard).unwrap();
    let column = |report: &kpm::MeasReport<'_>| {
        let index = report
            .info
            .iter()
            .position(|i| i.measure.name() == Some(name))
            .unwrap();
        report.data.records().next().unwrap().values[index]
    };
    message
        .reports()
        .map(|(_, report)| column(report))
        .collect()
}

#[test]
fn kpm_reports_each_ue_of_the_slice() {
    let mut other = greedy();
    other.slice.sd = Some(5);
    let mut rig = Rig::up(
        KpmDialect::Oai2024,
        vec![greedy(), other, UeConfig::default()],
    );
    rig.receive("flexric/v2_e2_sub_req_kpm.hex");
    let Pdu::RicSubscriptionResponse(_) = rig.answer() else {
        panic!()
    };
    let indications = rig.run(Duration::from_secs(2));
    assert_eq!(indications.len(), 2);
    let last = &indications[1];

    let (header, _) = IndicationHeader::decode(&last.header, kpm::Version::V2).unwrap();
    assert_eq!(header.sender_name.as_deref(), Some("ngran_gNB"));
    let start = header.collect_start_time.flexric_unix_us();
    assert_eq!(start / 1_000_000, (TODAY_US + 1_000_000) / 1_000_000);

    let (message, notes) = IndicationMessage::decode(&last.message, Dialect::Standard).unwrap();
    assert_eq!(notes.skipped(), 0);
    let ues: Vec<_> = message
        .reports()
        .map(|(ue, _)| ue.unwrap().amf_ue_ngap_id())
        .collect();
    assert_eq!(ues, [Some(1), Some(3)], "UE 2 has a slice differentiator");
    let prbs = values(last, "RRU.PrbTotDl");
    let MeasValue::Integer(greedy_prbs) = prbs[0] else {
        panic!()
    };
    assert!(
        (70_000..90_000).contains(&greedy_prbs),
        "about half of 84.8 × 2000: {greedy_prbs}"
    );
    assert_eq!(prbs[1], MeasValue::Integer(0));
    assert_eq!(
        values(last, "DRB.UEThpUl"),
        [MeasValue::NoValue; 2],
        "not measured here"
    );
}

#[test]
fn kpm_in_standard_units_and_time() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy(), greedy()]);
    rig.run(Duration::from_secs(1));
    rig.receive("flexric/v2_e2_sub_req_kpm.hex");
    rig.poll();
    let indications = rig.run(Duration::from_secs(1));
    assert_eq!(indications.len(), 1);
    let (header, _) = IndicationHeader::decode(&indications[0].header, kpm::Version::V3).unwrap();
    let start = header.collect_start_time.ntp_unix_us();
    assert!((start - (TODAY_US + 1_000_000)).abs() <= 2000, "{start}");
    for value in values(&indications[0], "RRU.PrbTotDl") {
        let MeasValue::Integer(percent) = value else {
            panic!()
        };
        assert!((47..=50).contains(&percent), "{percent}");
    }
    for value in values(&indications[0], "DRB.UEThpDl") {
        let MeasValue::Real(kbps) = value else {
            panic!()
        };
        assert!((55_000.0..70_000.0).contains(&kbps), "{kbps}");
    }
}

#[test]
fn oai_counts_its_first_report_from_the_attach_on() {
    let first = |dialect| {
        let mut rig = Rig::up(dialect, vec![greedy()]);
        rig.run(Duration::from_secs(4));
        rig.receive("flexric/v2_e2_sub_req_kpm.hex");
        rig.poll();
        let indications = rig.run(Duration::from_secs(1));
        let MeasValue::Real(kbps) = values(&indications[0], "DRB.UEThpDl")[0] else {
            panic!()
        };
        kbps
    };
    let (standard, oai) = (first(KpmDialect::Standard), first(KpmDialect::Oai2024));
    assert!((oai / standard - 5.0).abs() < 0.05, "{oai} {standard}");
}

#[test]
fn the_old_dialect_and_integer_conditions_are_refused() {
    let mut rig = Rig::up(KpmDialect::Oai2024, vec![greedy()]);
    rig.receive("flexric/v1_e2_sub_req_kpm.hex");
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionFailure(_)));
}

/// A subscription to KPM with this action definition, period 1000 ms.
fn kpm_request(style: i64, format: ActionFormat) -> Pdu {
    let request = decode(&vector("flexric/v2_e2_sub_req_kpm.hex"), Version::V2_03).unwrap();
    let Pdu::RicSubscriptionRequest(mut request) = request.value else {
        panic!()
    };
    let definition = ActionDefinition { style, format }
        .encode(Dialect::Standard)
        .unwrap();
    request.details.actions[0].definition = Some(definition);
    Pdu::RicSubscriptionRequest(request)
}

fn prb_total() -> CellAction {
    CellAction {
        info: vec![MeasInfo::named("RRU.PrbTotDl")],
        granularity_ms: 1000,
        cell: None,
        bin_ranges: Vec::new(),
    }
}

#[test]
fn kpm_of_the_whole_node() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy(), greedy()]);
    rig.receive_pdu(&kpm_request(1, ActionFormat::Format1(prb_total())));
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionResponse(_)));
    let indications = rig.run(Duration::from_secs(1));
    let [MeasValue::Integer(percent)] = values(&indications[0], "RRU.PrbTotDl")[..] else {
        panic!()
    };
    assert!((96..=100).contains(&percent), "{percent}");
}

#[test]
fn kpm_of_listed_ues() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy(), greedy(), greedy()]);
    rig.receive("flexric/v2_e2_sub_req_kpm.hex");
    rig.poll();
    let all = rig.run(Duration::from_secs(1));
    let (message, _) = IndicationMessage::decode(&all[0].message, Dialect::Standard).unwrap();
    let mut ues: Vec<_> = message
        .reports()
        .map(|(ue, _)| ue.unwrap().clone())
        .collect();
    ues.remove(1);
    let format = ActionFormat::Format5 {
        ues: ues.clone(),
        action: prb_total(),
    };
    rig.receive_pdu(&kpm_request(5, format));
    rig.poll();
    let listed = rig.run(Duration::from_secs(1));
    let (message, _) = IndicationMessage::decode(&listed[0].message, Dialect::Standard).unwrap();
    let reported: Vec<_> = message
        .reports()
        .map(|(ue, _)| ue.unwrap().clone())
        .collect();
    assert_eq!(reported, ues);
}

#[test]
fn unknown_measurements_alone_are_refused() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    let mut action = prb_total();
    action.info = vec![MeasInfo::named("No.Such")];
    rig.receive_pdu(&kpm_request(1, ActionFormat::Format1(action)));
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionFailure(_)));
}
