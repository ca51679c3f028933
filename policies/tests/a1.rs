//! A1 policies as slice policies, and the published schemas of their types.

use policies::a1::{NotApplicable, PolicyType, Translated};
use policies::slice::{Delay, Latency, RateRange, SliceScope, Spec, Statistic, UeScope};
use serde_json::{Value, json};
use std::path::Path;

fn translate(kind: PolicyType, body: Value) -> Translated {
    kind.translate(&body).unwrap()
}

fn error(kind: PolicyType, body: Value) -> String {
    kind.translate(&body).unwrap_err().to_string()
}

fn slice() -> Value {
    json!({ "sst": 1, "sd": "00000a", "plmnId": { "mcc": "001", "mnc": "01" } })
}

fn cell(nci: u64) -> Value {
    json!({ "plmnId": { "mcc": "001", "mnc": "01" }, "cId": { "ncI": nci } })
}

/// Set `CANTOR_WRITE_SCHEMAS` to write the files anew.
#[test]
fn the_published_schemas_are_those_of_the_types() {
    for kind in PolicyType::ALL {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/a1"));
        let file = folder.join(format!("{}.schema.json", kind.id()));
        let text = serde_json::to_string_pretty(&kind.policy_schema()).unwrap() + "\n";
        if std::env::var_os("CANTOR_WRITE_SCHEMAS").is_some() {
            std::fs::write(&file, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap(), text);
        assert_eq!(PolicyType::of_id(kind.id()), Some(kind));
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.id());
    }
}

#[test]
fn a_slice_sla_becomes_rates_a_delay_and_a_priority() {
    let body = json!({
        "scope": { "sliceId": slice() },
        "sliceSlaObjectives": {
            "guaDlThptPerSlice": 5_000, "maxDlThptPerSlice": 200_000, "maxDlThptPerUe": 50_000,
            "maxDlPacketDelayPerUe": 20, "dlSlicePriority": 3, "maxUlThptPerSlice": 1
        }
    });
    let translated = translate(PolicyType::SliceSlaTarget, body);
    assert_eq!(translated.ignored, ["maxUlThptPerSlice"]);
    let [spec] = &translated.specs[..] else {
        panic!("{translated:?}")
    };
    assert_eq!(
        spec.scope.slice,
        Some(SliceScope {
            sst: 1,
            sd: Some(10)
        })
    );
    let range = |min_bps, max_bps| RateRange { min_bps, max_bps };
    assert_eq!(spec.slice_rate, range(Some(5_000_000), Some(200_000_000)));
    assert_eq!(spec.flow_rate, range(None, Some(50_000_000)));
    assert_eq!(spec.priority, -3);
    let latency = Latency {
        statistic: Statistic::Percentile(99.0),
        ms: 20.0,
        delay: Delay::OneWay,
    };
    assert_eq!(spec.latency, Some(latency));
}

#[test]
fn a_reliability_is_a_percentile_and_cells_are_nodes() {
    let body = json!({
        "scope": { "sliceId": slice() },
        "sliceSlaObjectives": {
            "minDlReliabilityPerUe": { "packetSize": 200, "userPlaneLatency": 10, "successProbability": 0.95 }
        },
        "sliceSlaResources": { "cellIdList": [cell(0x0_00e0_0001)] }
    });
    let translated = translate(PolicyType::SliceSlaTarget, body);
    let latency = translated.specs[0].latency.as_ref().unwrap();
    assert_eq!(
        (latency.statistic, latency.ms),
        (Statistic::Percentile(95.0), 10.0)
    );
    // One for each length that the gNB's identity can have.
    let cells: Vec<_> = translated
        .specs
        .iter()
        .map(|s| s.scope.cell.as_deref().unwrap())
        .collect();
    assert_eq!(cells.len(), 11);
    assert!(cells.contains(&"gnb:001-01:000e0000/32"), "{cells:?}");
    assert!(cells.contains(&"gnb:001-01:00000380/22"), "{cells:?}");
}

#[test]
fn what_cannot_apply_here_says_why() {
    let sla = |objectives: Value, resources: Value| {
        let mut body = json!({ "scope": { "sliceId": slice() }, "sliceSlaObjectives": objectives });
        if !resources.is_null() {
            body["sliceSlaResources"] = resources;
        }
        translate(PolicyType::SliceSlaTarget, body).not_applicable
    };
    let uplink = json!({ "maxUlThptPerSlice": 1000 });
    let downlink = json!({ "maxDlThptPerSlice": 1000 });
    let area = json!({ "taIList": [{ "plmnId": { "mcc": "001", "mnc": "01" }, "tac": "00000a" }] });
    let lte =
        json!({ "cellIdList": [{ "plmnId": { "mcc": "001", "mnc": "01" }, "cId": { "ecI": 5 } }] });
    assert_eq!(sla(uplink, Value::Null), Some(NotApplicable::Statement));
    assert_eq!(sla(downlink.clone(), area), Some(NotApplicable::Scope));
    assert_eq!(sla(downlink.clone(), lte), Some(NotApplicable::Scope));
    assert_eq!(sla(downlink, Value::Null), None);

    let qos = |scope: Value, objectives: Value| {
        let body = json!({ "scope": scope, "qosObjectives": objectives });
        translate(PolicyType::QosTarget, body).not_applicable
    };
    let pdb = || json!({ "pdb": 50 });
    let five_qi = json!({ "5qI": 9 });
    assert_eq!(
        qos(json!({ "qosId": five_qi }), pdb()),
        Some(NotApplicable::Scope)
    );
    let group = json!({ "qosId": five_qi, "groupId": { "spId": 7 } });
    assert_eq!(qos(group, pdb()), Some(NotApplicable::Scope));
    let of_slice = || json!({ "qosId": five_qi, "sliceId": slice() });
    assert_eq!(
        qos(of_slice(), json!({ "priorityLevel": 2 })),
        Some(NotApplicable::Statement)
    );
    assert_eq!(qos(of_slice(), pdb()), None);
}

#[test]
fn a_qos_target_of_a_ue_finds_it_by_its_identity() {
    let gnb = json!({
        "plmnId": { "mcc": "001", "mnc": "01" },
        "gnbId": { "gnbIdLength": 32, "gnbIdValue": 0xe00 }
    });
    let of = |ue: Value| {
        let body = json!({
            "scope": { "ueId": ue, "qosId": { "5qI": 9 } },
            "qosObjectives": { "gfbr": 2000, "mfbr": 8000, "pdb": 30 }
        });
        translate(PolicyType::QosTarget, body).specs.remove(0)
    };
    let spec = of(json!({ "guRanUeId": { "globalGnbId": gnb, "ranUeId": "00000000000000ff" } }));
    assert_eq!(spec.scope.ue, Some(UeScope::RanUeId(255)));
    assert_eq!(spec.scope.cell.as_deref(), Some("gnb:001-01:00000e00/32"));
    assert_eq!(spec.flow_rate.min_bps, Some(2_000_000));
    let latency = spec.latency.unwrap();
    assert_eq!(
        (latency.statistic, latency.ms),
        (Statistic::Percentile(98.0), 30.0)
    );
    let amf = of(json!({ "guAmfUeNgapId": { "guAmI": {}, "amfUeNgapId": 7 } }));
    assert_eq!(
        (amf.scope.ue, amf.scope.cell),
        (Some(UeScope::AmfUeNgapId(7)), None)
    );
    let f1 = of(json!({ "guGnbCuUeF1apId": { "globalGnbId": gnb, "gnbCuUeF1apId": 3 } }));
    assert_eq!(f1.scope.ue, Some(UeScope::CuUeF1apId(3)));
    let e1 = of(json!({ "guGnbCuCpUeE1apId": { "globalGnbId": gnb, "gnbCuCpUeE1apId": 4 } }));
    assert_eq!(e1.scope.ue, Some(UeScope::CuCpUeE1apId(4)));
}

#[test]
fn cantors_own_type_is_the_spec_of_a_slice_policy() {
    let body = json!({ "latency": { "statistic": "p99", "ms": 20 }, "gainPolicies": ["rapid"] });
    let translated = translate(PolicyType::SlicePolicy, body.clone());
    let spec: Spec = serde_json::from_value(body).unwrap();
    assert_eq!(translated.specs, [spec]);
}

#[test]
fn mistakes_name_the_field() {
    assert_eq!(
        error(
            PolicyType::SlicePolicy,
            json!({ "latency": { "statistic": "p99", "ms": -1 } })
        ),
        "Cantor_SlicePolicy_1.0.0: latency.ms: -1 is not within 0 (exclusive) to 60000"
    );
    let sla = |sd: &str, mbps: f64| {
        json!({
            "scope": { "sliceId": { "sst": 1, "sd": sd, "plmnId": { "mcc": "001", "mnc": "01" } } },
            "sliceSlaObjectives": { "maxDlThptPerSlice": mbps }
        })
    };
    assert_eq!(
        error(PolicyType::SliceSlaTarget, sla("xyz", 1.0)),
        "policy object: scope.sliceId.sd: \"xyz\": give six hexadecimal digits in quotes, like \"00000a\""
    );
    assert_eq!(
        error(PolicyType::SliceSlaTarget, sla("00000a", -1.0)),
        "ORAN_SliceSLATarget_4.0.1: as slice policy: spec.sliceRate.maxBps: 0 is not within 1 to 1000000000000"
    );
    for (body, field) in [
        (json!({}), "policy object: missing field `scope`"),
        (json!([]), "policy object: "),
        (
            json!({ "scope": {}, "qosObjectives": { "gfbr": 1000 } }),
            "policy object: scope: missing field `qosId`",
        ),
        (
            json!({ "scope": { "qosId": { "5qI": 9 } }, "qosObjectives": {} }),
            "policy object: qosObjectives: empty: give at least one objective",
        ),
        (
            json!({ "scope": { "qosId": { "5qI": 9 } }, "qosObjectives": { "speed": 1 } }),
            "policy object: qosObjectives.speed: unknown field `speed`",
        ),
    ] {
        let error = error(PolicyType::QosTarget, body);
        assert!(error.starts_with(field), "{error}");
    }
}
