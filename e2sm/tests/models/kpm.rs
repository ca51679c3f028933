//! Any value of the types of E2SM-KPM.

use crate::values::*;
use e2sm::aper::BitString;
use e2sm::kpm::*;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

pub fn label() -> impl Strategy<Value = Label> {
    let start_end = prop_oneof![
        Just(StartEnd::Start),
        Just(StartEnd::End),
        (0..100u32).prop_map(StartEnd::Unknown)
    ];
    let beam = prop_oneof![
        (0..64u8).prop_map(BeamId::NrSsb),
        unknown(0).prop_map(BeamId::Unknown)
    ];
    let labels = (
        (any::<[bool; 6]>(), of(plmn()), of(slice())),
        vec(of(number()), 12),
        (any::<[Option<u8>; 3]>(), of(start_end)),
        (of(cgi()), of(beam)),
    )
        .prop_map(
            |((flags, plmn_id, slice_id), numbers, (qci, start_end_ind), (cell, beam))| {
                let [no_label, sum, pre_label_override, min, max, avg] = flags;
                let mut numbers = numbers.into_iter();
                let mut next = || numbers.next().unwrap();
                Label::from(MeasurementLabel {
                    no_label,
                    plmn_id,
                    slice_id,
                    five_qi: next(),
                    qfi: next(),
                    qci: qci[0],
                    qci_max: qci[1],
                    qci_min: qci[2],
                    arp_max: next(),
                    arp_min: next(),
                    bitrate_range: next(),
                    layer_mu_mimo: next(),
                    sum,
                    dist_bin_x: next(),
                    dist_bin_y: next(),
                    dist_bin_z: next(),
                    pre_label_override,
                    start_end_ind,
                    min,
                    max,
                    avg,
                    ssb_index: next(),
                    non_gob_bf_mode_index: next(),
                    mimo_mode_index: next(),
                    cell_global_id: cell,
                    beam_id: beam,
                })
            },
        );
    prop_oneof![2 => Just(Label::NoLabel), 1 => labels]
}

pub fn measure() -> impl Strategy<Value = MeasurementType<'static>> {
    prop_oneof![
        4 => text(150).prop_map(MeasurementType::named),
        1 => number().prop_map(MeasurementType::Id),
        1 => unknown(0).prop_map(MeasurementType::Unknown),
    ]
}

pub fn info() -> impl Strategy<Value = MeasInfo<'static>> {
    let condition = (expression(), test_value(0), any::<Option<bool>>()).prop_map(
        |(expression, value, logical_or)| ReportCondition {
            expression,
            value,
            logical_or,
        },
    );
    (measure(), label(), vec(label(), 0..3), vec(condition, 0..3)).prop_map(
        |(measure, label, more_labels, report_if)| MeasInfo {
            measure,
            label,
            more_labels,
            report_if,
        },
    )
}

pub fn bins() -> impl Strategy<Value = BinRangeDefinition> {
    let value = || {
        prop_oneof![
            number().prop_map(BinRangeValue::Integer),
            real().prop_map(BinRangeValue::Real),
            unknown(0).prop_map(BinRangeValue::Unknown),
        ]
    };
    let bin = move || {
        (number(), value(), value()).prop_map(|(index, start, end)| BinRange { index, start, end })
    };
    (vec(bin(), 1..4), vec(bin(), 0..3), vec(bin(), 0..3))
        .prop_map(|(x, y, z)| BinRangeDefinition { x, y, z })
}

pub fn expression() -> impl Strategy<Value = TestExpression> {
    prop_oneof![
        proptest::sample::select(TestExpression::ROOT),
        (0..70u32).prop_map(TestExpression::Unknown)
    ]
}

/// `real_at`: from which addition on an alternative is unknown.
pub fn test_value(additions: u32) -> impl Strategy<Value = TestValue> {
    let bits = vec(any::<u8>(), 1..6)
        .prop_flat_map(|octets| (0..=octets.len() * 8, Just(octets)))
        .prop_map(|(len, octets)| TestValue::Bits(BitString::new(octets, len).unwrap()));
    prop_oneof![
        number().prop_map(TestValue::Int),
        number().prop_map(TestValue::Enum),
        any::<bool>().prop_map(TestValue::Bool),
        bits,
        vec(any::<u8>(), 0..5).prop_map(TestValue::Octets),
        text(140).prop_map(TestValue::Text),
        real().prop_map(TestValue::Real),
        unknown(additions + 1).prop_map(TestValue::Unknown),
    ]
}

pub fn test() -> impl Strategy<Value = TestCondition> {
    let kind = prop_oneof![
        proptest::sample::select(vec![
            TestType::Gbr,
            TestType::Ambr,
            TestType::IsStat,
            TestType::IsCatM,
            TestType::Rsrp,
            TestType::Rsrq,
            TestType::UlRsrp,
            TestType::Cqi,
            TestType::FiveQi,
            TestType::Qci,
            TestType::SNssai,
        ]),
        unknown(5).prop_map(TestType::Unknown),
    ];
    (kind, of(expression()), of(test_value(0))).prop_map(|(test, expression, value)| {
        TestCondition {
            test,
            expression,
            value,
        }
    })
}

pub fn matching() -> impl Strategy<Value = Vec<MatchingConditionItem>> {
    let condition = prop_oneof![
        label().prop_map(MatchingCondition::Label),
        test().prop_map(MatchingCondition::Test),
        unknown(0).prop_map(MatchingCondition::Unknown),
    ];
    let item =
        (condition, any::<bool>()).prop_map(|(condition, logical_or)| MatchingConditionItem {
            condition,
            logical_or,
        });
    vec(item, 1..4)
}

pub fn cell_action() -> impl Strategy<Value = CellAction> {
    let bins =
        (measure(), bins()).prop_map(|(measure, bin_range)| BinRangeFor { measure, bin_range });
    (vec(info(), 1..4), 1..=u32::MAX, of(cgi()), vec(bins, 0..3)).prop_map(
        |(info, granularity_ms, cell, bin_ranges)| CellAction {
            info,
            granularity_ms,
            cell,
            bin_ranges,
        },
    )
}

pub fn action() -> impl Strategy<Value = ActionDefinition> {
    let condition =
        (measure(), matching(), of(bins())).prop_map(|(measure, conditions, bin_range)| {
            MeasCondition {
                measure,
                conditions,
                bin_range,
            }
        });
    let ue_condition =
        (test(), any::<bool>()).prop_map(|(test, logical_or)| UeCondition { test, logical_or });
    let format = prop_oneof![
        cell_action().prop_map(ActionFormat::Format1),
        (ue(), cell_action()).prop_map(|(ue, action)| ActionFormat::Format2 { ue, action }),
        (vec(condition, 1..4), 1..=u32::MAX, of(cgi())).prop_map(
            |(measurements, granularity_ms, cell)| ActionFormat::Format3 {
                measurements,
                granularity_ms,
                cell,
            }
        ),
        (vec(ue_condition, 1..4), cell_action())
            .prop_map(|(conditions, action)| ActionFormat::Format4 { conditions, action }),
        (vec(ue(), 2..4), cell_action())
            .prop_map(|(ues, action)| ActionFormat::Format5 { ues, action }),
    ];
    (number(), format).prop_map(|(style, format)| ActionDefinition { style, format })
}

pub fn data() -> impl Strategy<Value = MeasData> {
    let value = prop_oneof![
        any::<u32>().prop_map(MeasValue::Integer),
        real().prop_map(MeasValue::Real),
        Just(MeasValue::NoValue),
        Just(MeasValue::NotSatisfied),
    ];
    let records = vec((vec(value, 1..20), any::<bool>()), 1..5);
    records.prop_map(|records| {
        let mut data = MeasData::default();
        for (values, incomplete) in records {
            data.push(&values, incomplete);
        }
        data
    })
}

pub fn report() -> impl Strategy<Value = MeasReport<'static>> {
    (data(), vec(info(), 0..4), of(1..=u32::MAX)).prop_map(|(data, info, granularity_ms)| {
        MeasReport {
            data,
            info,
            granularity_ms,
        }
    })
}

pub fn message() -> impl Strategy<Value = IndicationMessage<'static>> {
    let per_period = prop_oneof![
        Just(MatchedPerPeriod::NoUe),
        vec(ue(), 1..3).prop_map(MatchedPerPeriod::Ues),
        unknown(0).prop_map(MatchedPerPeriod::Unknown),
    ];
    let condition = (
        measure(),
        matching(),
        vec(ue(), 0..3),
        vec(per_period, 0..3),
    )
        .prop_map(|(measure, conditions, ues, ues_per_period)| ConditionUes {
            measure,
            conditions,
            ues,
            ues_per_period,
        });
    let conditions = (data(), vec(condition, 1..3), of(1..=u32::MAX)).prop_map(
        |(data, conditions, granularity_ms)| ConditionReport {
            data,
            conditions,
            granularity_ms,
        },
    );
    let of_ue = (ue(), report()).prop_map(|(ue, report)| UeMeasReport { ue, report });
    prop_oneof![
        report().prop_map(IndicationMessage::Format1),
        conditions.prop_map(IndicationMessage::Format2),
        vec(of_ue, 1..4).prop_map(IndicationMessage::Format3),
    ]
}

pub fn dialect() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::Standard), Just(Dialect::FlexRic2023)]
}

pub fn header() -> impl Strategy<Value = IndicationHeader> {
    let time = prop_oneof![
        any::<[u8; 4]>().prop_map(TimeStamp::Short),
        any::<[u8; 8]>().prop_map(TimeStamp::Long)
    ];
    (time, of(text(15)), of(text(400)), of(text(8)), of(text(32))).prop_map(
        |(collect_start_time, file_format_version, sender_name, sender_type, vendor_name)| {
            IndicationHeader {
                collect_start_time,
                file_format_version,
                sender_name,
                sender_type,
                vendor_name,
            }
        },
    )
}

pub fn description() -> impl Strategy<Value = RanFunctionDescription> {
    let name = (text(150), text(1000), text(150), of(number())).prop_map(
        |(short_name, e2sm_oid, description, instance)| RanFunctionName {
            short_name,
            e2sm_oid,
            description,
            instance,
        },
    );
    let trigger =
        (number(), text(150), number()).prop_map(|(style, name, format)| EventTriggerStyle {
            style,
            name,
            format,
        });
    let measurement =
        (text(150), of(number()), of(bins())).prop_map(|(name, id, bin_range)| MeasInfoAction {
            name,
            id,
            bin_range,
        });
    let style = (
        number(),
        text(150),
        number(),
        vec(measurement, 1..6),
        number(),
        number(),
    )
        .prop_map(
            |(style, name, action_format, measurements, header, message)| ReportStyle {
                style,
                name,
                action_format,
                measurements,
                header_format: header,
                message_format: message,
            },
        );
    (name, vec(trigger, 0..3), vec(style, 0..3)).prop_map(
        |(name, event_trigger_styles, report_styles)| RanFunctionDescription {
            name,
            event_trigger_styles,
            report_styles,
        },
    )
}
