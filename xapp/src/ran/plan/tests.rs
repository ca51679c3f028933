use e2sm::kpm::{
    ActionDefinition, ActionFormat, Dialect, MatchingCondition, MeasInfoAction,
    RanFunctionDescription, RanFunctionName, ReportStyle, TestValue,
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
    let planned = planned(
        &[kpm(2, vec![style(4, 4, &["X.Unknown", "DRB.UEThpDl"])])],
        &Wishes::default(),
    );
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
