use e2sm::common::{self, GnbUeId};
use e2sm::kpm::{
    ActionDefinition, ActionFormat, Dialect, IndicationMessage, MatchingCondition, MeasInfoAction,
    MeasReport, MeasValue, RanFunctionDescription, RanFunctionName, ReportStyle, TestValue,
    UeMeasReport, Version,
};

use super::*;

fn style(style: i64, action_format: i64, names: &[&str]) -> ReportStyle {
    let measurements = names
        .iter()
        .map(|name| MeasInfoAction {
            name: (*name).to_owned(),
            id: None,
            bin_range: None,
        })
        .collect();
    ReportStyle {
        style,
        name: "style".into(),
        action_format,
        measurements,
        header_format: 1,
        message_format: 1,
    }
}

fn kpm(id: u16, report_styles: Vec<ReportStyle>) -> RanFunction {
    let name = RanFunctionName {
        short_name: "ORAN-E2SM-KPM".into(),
        e2sm_oid: "1.3.6.1.4.1.53148.1.3.2.2".into(),
        description: "KPM".into(),
        instance: None,
    };
    let oid = name.e2sm_oid.clone();
    let definition = RanFunctionDescription {
        name,
        event_trigger_styles: Vec::new(),
        report_styles,
    }
    .encode()
    .unwrap();
    RanFunction {
        id,
        revision: 3,
        oid,
        definition,
        model: ServiceModel::Kpm,
    }
}

fn planned(functions: &[RanFunction], config: &Wishes) -> Vec<(u16, ActionDefinition)> {
    plan(Part::Whole, functions.iter(), config)
        .into_iter()
        .map(|wanted| {
            (
                wanted.function,
                ActionDefinition::decode(&wanted.action_definition.unwrap(), Dialect::Standard)
                    .unwrap()
                    .0,
            )
        })
        .collect()
}

const USEFUL: [&str; 2] = ["DRB.UEThpDl", "RRU.PrbTotDl"];

#[test]
fn the_most_useful_style_that_measures_something_is_taken() {
    for (styles, expected) in [
        (
            vec![
                style(1, 1, &USEFUL),
                style(4, 4, &USEFUL),
                style(3, 3, &USEFUL),
            ],
            Some(4),
        ),
        (
            vec![
                style(1, 1, &USEFUL),
                style(4, 4, &["L1M.SS-RSRP"]),
                style(3, 3, &USEFUL),
            ],
            Some(3),
        ),
        (
            vec![
                style(2, 2, &USEFUL),
                style(5, 5, &USEFUL),
                style(1, 1, &USEFUL),
            ],
            Some(1),
        ),
        // Those want UE ids, which are not known beforehand.
        (vec![style(2, 2, &USEFUL), style(5, 5, &USEFUL)], None),
        (vec![style(4, 4, &["L1M.SS-RSRP"])], None),
        (Vec::new(), None),
    ] {
        let planned = planned(&[kpm(2, styles)], &Wishes::default());
        assert_eq!(planned.first().map(|(_, action)| action.style), expected);
    }
}

#[test]
fn only_what_is_offered_is_asked_for() {
    let functions = [kpm(2, vec![style(4, 4, &["X.Unknown", "DRB.UEThpDl"])])];
    let wanted = plan(Part::Whole, functions.iter(), &Wishes::default());
    assert_eq!(wanted[0].measurements, ["DRB.UEThpDl"]);
    let planned = planned(&functions, &Wishes::default());
    let ActionFormat::Format4 { action, .. } = &planned[0].1.format else {
        panic!("{planned:?}")
    };
    assert_eq!(
        action
            .info
            .iter()
            .filter_map(|info| info.measure.name())
            .collect::<Vec<_>>(),
        ["DRB.UEThpDl"]
    );
}

#[test]
fn the_slice_is_given_as_octets() {
    for (sd, octets) in [(None, vec![5]), (Some(0x01_02_03), vec![5, 1, 2, 3])] {
        let config = Wishes {
            slice: Slice { sst: 5, sd },
            ..Wishes::default()
        };
        let styles = [style(4, 4, &USEFUL), style(3, 3, &USEFUL)];
        for style in styles {
            let planned = planned(&[kpm(2, vec![style])], &config);
            let tested = match &planned[0].1.format {
                ActionFormat::Format4 { conditions, .. } => conditions[0].test.value.clone(),
                ActionFormat::Format3 { measurements, .. } => {
                    match &measurements[0].conditions[0].condition {
                        MatchingCondition::Test(test) => test.value.clone(),
                        other => panic!("{other:?}"),
                    }
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(tested, Some(TestValue::Octets(octets.clone())));
        }
    }
}

#[test]
fn of_several_functions_the_first_usable_one_is_subscribed_to() {
    let functions = [
        kpm(2, Vec::new()),
        kpm(3, vec![style(4, 4, &USEFUL)]),
        kpm(4, vec![style(4, 4, &USEFUL)]),
    ];
    assert_eq!(
        planned(&functions, &Wishes::default())
            .iter()
            .map(|(id, _)| *id)
            .collect::<Vec<_>>(),
        [3]
    );
}

#[test]
fn a_definition_that_cannot_be_read_is_not_subscribed_to() {
    let mut function = kpm(2, vec![style(4, 4, &USEFUL)]);
    function.definition.truncate(20);
    assert!(plan(Part::Whole, [function].iter(), &Wishes::default()).is_empty());
}

/// The longest report that OAI can make of these measurements.
fn longest_report(names: &[&str], ues: u32) -> usize {
    let ue = |n: u32| {
        let id = u64::from(n) | 0xff_ffff_0000;
        let values = names.iter().map(|name| match name.starts_with("RRU") {
            true => (*name, MeasValue::Integer(u32::MAX)),
            false => (*name, MeasValue::Real(1.234_567_890_123e9)),
        });
        UeMeasReport {
            ue: common::UeId::Gnb(GnbUeId {
                amf_ue_ngap_id: id,
                f1ap_ids: vec![u32::MAX],
                ran_ue_id: Some(common::RanUeId([0xff; 8])),
                ..GnbUeId::default()
            }),
            report: MeasReport {
                granularity_ms: Some(10_000),
                ..MeasReport::single(values)
            },
        }
    };
    let message = IndicationMessage::Format3((1..=ues).map(ue).collect());
    message.encode(Dialect::Standard).unwrap().len()
}

#[test]
fn the_bound_of_a_report_holds_and_is_not_far_off() {
    for names in [&kpm::WISHES[..1], &kpm::WISHES[..4]] {
        for ues in [1, 9, 20] {
            let (longest, bound) = (longest_report(names, ues), kpm::report_octets(names, ues));
            // OAI writes an octet more than needed into a REAL.
            let reals = names.iter().filter(|name| name.starts_with("DRB")).count();
            let padded = longest + reals * ues as usize;
            assert!(padded <= bound, "{padded} octets, bound {bound}");
            assert!(bound < 2 * longest, "{longest} octets, bound {bound}");
        }
    }
}

/// FlexRIC's agent aborts when a report does not fit its buffer.
#[test]
fn more_ues_get_fewer_measurements_and_no_report_overflows() {
    for (version, buffer) in [(Version::V2, 4096), (Version::V3, 2048)] {
        let mut last = usize::MAX;
        for ues in 1..=200 {
            let names = kpm::few_enough_to_encode(kpm::WISHES[..4].to_vec(), Some(version), ues);
            assert!(names.len() <= last);
            assert!(
                names.is_empty() || longest_report(&names, ues) < buffer,
                "{ues} UEs"
            );
            last = names.len();
        }
    }
    let with = |version, ues| {
        kpm::few_enough_to_encode(kpm::WISHES[..4].to_vec(), Some(version), ues).len()
    };
    assert_eq!([16, 25, 40].map(|ues| with(Version::V2, ues)), [4, 4, 2]);
    assert_eq!([9, 15, 20].map(|ues| with(Version::V3, ues)), [4, 3, 2]);
}

/// OAI of 2024 crashes on an S-NSSAI with SD, and on every style but 4.
#[test]
fn a_flexric_agent_is_asked_for_style_4_by_sst_alone() {
    let mut mac = kpm(142, Vec::new());
    mac.oid = e2sm::flexric::Model::Mac.oid().into();
    mac.model = ServiceModel::Mac;
    let wishes = Wishes {
        models: vec![ServiceModel::Kpm],
        slice: Slice {
            sst: 5,
            sd: Some(1),
        },
        ..Wishes::default()
    };
    let all = vec![
        style(1, 1, &USEFUL),
        style(3, 3, &USEFUL),
        style(4, 4, &USEFUL),
    ];
    let functions = [kpm(2, all), mac.clone()];
    let action = &planned(&functions, &wishes)[0].1;
    let ActionFormat::Format4 { conditions, .. } = &action.format else {
        panic!("{action:?}")
    };
    assert_eq!(conditions[0].test.value, Some(TestValue::Octets(vec![5])));
    // Announced for another part of a base station, or for style 1 only.
    let others = [kpm(2, vec![style(1, 1, &USEFUL)]), mac];
    assert!(planned(&others, &wishes).is_empty());
}
