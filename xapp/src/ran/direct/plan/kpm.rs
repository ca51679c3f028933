//! E2SM-KPM: the report style and the measurements to ask a node for.

use e2sm::kpm::{
    ActionDefinition, ActionFormat, CellAction, Dialect, EventTrigger, MatchingCondition,
    MatchingConditionItem, MeasCondition, MeasInfo, MeasurementType, RanFunctionDescription,
    ReportStyle, TestCondition, TestExpression, TestType, TestValue, UeCondition,
};

use crate::ran::RanFunction;
use crate::ran::direct::config::{Config, Slice};
use crate::ran::direct::identity::Part;

/// Measurements of use (TS 28.552 names), the most useful first.
const WISHES: [&str; 6] = [
    "RRU.PrbTotDl",
    "DRB.UEThpDl",
    "DRB.RlcSduDelayDl",
    "DRB.PdcpSduVolumeDL",
    "RRU.PrbUsedDl",
    "RRU.PrbAvailDl",
];

/// What FlexRIC's agents of 2023 announce in place of each name, and which of the wishes they have all the same.
const PLACEHOLDER: &str = "Name_for_action";
const OF_FLEXRIC: [&str; 4] = [
    "RRU.PrbTotDl",
    "DRB.UEThpDl",
    "DRB.RlcSduDelayDl",
    "DRB.PdcpSduVolumeDL",
];

/// FlexRIC writes a report into a buffer of 4,096 octets (2,048 with KPM v3) and aborts beyond: with this many
/// names some 35 UEs fit (17).
const MAX_NAMES: usize = 4;

/// Styles that report without knowing UEs beforehand, the most useful first: each UE that matches (4), UEs
/// per condition (3), the whole cell (1). Styles 2 and 5 want UE ids.
const STYLES: [i64; 3] = [4, 3, 1];

/// Event trigger and action definition; `None` when the node offers nothing of use.
pub(super) fn definitions(
    part: Part,
    function: &RanFunction,
    config: &Config,
) -> Option<(Vec<u8>, Vec<u8>)> {
    let (description, _) = RanFunctionDescription::decode(&function.definition)
        .inspect_err(|error| tracing::warn!(function = function.id, %error, "KPM function without a readable definition"))
        .ok()?;
    let dialect = Dialect::from_short_name(&description.name.short_name);
    let style = STYLES
        .iter()
        .filter_map(|&style| description.report_style(style))
        .find(|style| !names(part, style).is_empty())?;
    let action = ActionDefinition {
        style: style.style,
        format: format(part, style, dialect, config)?,
    };
    let encoded = EventTrigger { period_ms: config.period_ms }
        .encode()
        .and_then(|trigger| Ok((trigger, action.encode(dialect)?)))
        .inspect_err(|error| tracing::warn!(function = function.id, %error, "KPM subscription cannot be written"));
    encoded.ok()
}

fn names(part: Part, style: &ReportStyle) -> Vec<&'static str> {
    let placeholders = style
        .measurements
        .iter()
        .all(|measurement| measurement.name == PLACEHOLDER);
    let offered = |name: &&str| {
        if placeholders {
            part == Part::Whole && OF_FLEXRIC.contains(name)
        } else {
            style
                .measurements
                .iter()
                .any(|measurement| measurement.name == **name)
        }
    };
    WISHES
        .iter()
        .copied()
        .filter(offered)
        .take(MAX_NAMES)
        .collect()
}

fn format(
    part: Part,
    style: &ReportStyle,
    dialect: Dialect,
    config: &Config,
) -> Option<ActionFormat> {
    let granularity_ms = config.period_ms;
    let names = names(part, style);
    let of_cell = || CellAction {
        info: names.iter().map(|name| MeasInfo::named(*name)).collect(),
        granularity_ms,
        cell: None,
        bin_ranges: Vec::new(),
    };
    match style.action_format {
        1 => Some(ActionFormat::Format1(of_cell())),
        3 => {
            let condition = |name: &&'static str| MeasCondition {
                measure: MeasurementType::named(*name),
                conditions: vec![MatchingConditionItem {
                    condition: MatchingCondition::Test(in_slice(config.slice, dialect)),
                    logical_or: false,
                }],
                bin_range: None,
            };
            Some(ActionFormat::Format3 {
                measurements: names.iter().map(condition).collect(),
                granularity_ms,
                cell: None,
            })
        }
        4 => Some(ActionFormat::Format4 {
            conditions: vec![UeCondition {
                test: in_slice(config.slice, dialect),
                logical_or: false,
            }],
            action: of_cell(),
        }),
        _ => None,
    }
}

/// "sNSSAI equals": the octets of SST, or of SST and SD. FlexRIC's agents of 2023 compare with the SST as a
/// number and abort on anything else.
fn in_slice(slice: Slice, dialect: Dialect) -> TestCondition {
    let value = match (dialect, slice.sd) {
        (Dialect::FlexRic2023, _) => TestValue::Int(i64::from(slice.sst)),
        (Dialect::Standard, None) => TestValue::Octets(vec![slice.sst]),
        (Dialect::Standard, Some(sd)) => {
            let [_, a, b, c] = sd.to_be_bytes();
            TestValue::Octets(vec![slice.sst, a, b, c])
        }
    };
    TestCondition {
        test: TestType::SNssai,
        expression: Some(TestExpression::Equal),
        value: Some(value),
    }
}
