//! E2SM-KPM: the report style and the measurements to ask a node for.

use e2sm::kpm::{
    ActionDefinition, ActionFormat, CellAction, Dialect, EventTrigger, MatchingCondition,
    MatchingConditionItem, MeasCondition, MeasInfo, MeasurementType, RanFunctionDescription,
    ReportStyle, TestCondition, TestExpression, TestType, TestValue, UeCondition, Version,
};

use super::{Agent, Slice, Wishes};
use crate::ran::RanFunction;
use crate::ran::identity::Part;

/// Measurements of use (TS 28.552 names), the most useful first.
pub(super) const WISHES: [&str; 6] = [
    "RRU.PrbTotDl",
    "DRB.UEThpDl",
    "DRB.RlcSduDelayDl",
    "DRB.PdcpSduVolumeDL",
    "RRU.PrbUsedDl",
    "RRU.PrbAvailDl",
];

/// What FlexRIC's agents of 2023 announce in place of each name.
const PLACEHOLDER: &str = "Name_for_action";

/// Styles that report without knowing UEs beforehand, the most useful first: each UE that matches (4), UEs
/// per condition (3), the whole cell (1). Styles 2 and 5 want UE ids.
const STYLES: [i64; 3] = [4, 3, 1];

/// What a KPM subscription says.
pub(super) struct Definitions {
    pub(super) trigger: Vec<u8>,
    pub(super) action: Vec<u8>,
    /// What is asked for, in the order of the values of a report.
    pub(super) measurements: Vec<&'static str>,
}

/// The subscription to make; `None` when the node offers nothing of use.
pub(super) fn definitions(
    part: Part,
    agent: Agent,
    function: &RanFunction,
    wishes: &Wishes,
) -> Option<Definitions> {
    let (description, _) = RanFunctionDescription::decode(&function.definition)
        .inspect_err(|error| tracing::warn!(function = function.id, %error, "KPM function without a readable definition"))
        .ok()?;
    let dialect = Dialect::from_short_name(&description.name.short_name);
    let version = Version::from_oid(&description.name.e2sm_oid);
    let asked = |style| {
        let names = names(part, agent, style);
        match agent {
            Agent::FlexRic => few_enough_to_encode(names, version, wishes.expected_ues),
            Agent::Other => names,
        }
    };
    let (style, names) = styles(agent)
        .iter()
        .filter_map(|&style| description.report_style(style))
        .map(|style| (style, asked(style)))
        .find(|(_, names)| !names.is_empty())?;
    let slice = slice_it_takes(agent, wishes.slice);
    let action = ActionDefinition {
        style: style.style,
        format: format(style, &names, dialect, slice, wishes.period_ms)?,
    };
    let encoded = EventTrigger { period_ms: wishes.period_ms }
        .encode()
        .and_then(|trigger| Ok(Definitions { trigger, action: action.encode(dialect)?, measurements: names }))
        .inspect_err(|error| tracing::warn!(function = function.id, %error, "KPM subscription cannot be written"));
    encoded.ok()
}

/// OAI's gNBs of 2024 abort at the first report of any style but 4, without a UE even.
fn styles(agent: Agent) -> &'static [i64] {
    match agent {
        Agent::FlexRic => &STYLES[..1],
        Agent::Other => &STYLES,
    }
}

/// Names that the style offers and that this part of a base station measures.
///
/// FlexRIC's agent aborts on a name that it does not know, and OAI's may announce names of other parts.
fn names(part: Part, agent: Agent, style: &ReportStyle) -> Vec<&'static str> {
    let offered = |name: &str| style.measurements.iter().any(|m| m.name == name);
    let placeholders = style.measurements.iter().all(|m| m.name == PLACEHOLDER);
    WISHES
        .into_iter()
        .filter(|name| match agent {
            Agent::FlexRic => measured_by_oai(part, name) && (offered(name) || placeholders),
            Agent::Other => offered(name),
        })
        .collect()
}

/// What each part of an OAI base station measures for report style 4.
fn measured_by_oai(part: Part, name: &str) -> bool {
    match name {
        "DRB.PdcpSduVolumeDL" => matches!(part, Part::Whole | Part::Central),
        "RRU.PrbTotDl" | "DRB.UEThpDl" | "DRB.RlcSduDelayDl" => {
            matches!(part, Part::Whole | Part::Distributed)
        }
        _ => false,
    }
}

/// The most useful of the names that still fit when the node reports `ues` UEs.
///
/// FlexRIC encodes a report into a buffer of 4,096 octets (2,048 with KPM v3.00) and aborts, with the
/// gNB, when it is full.
pub(super) fn few_enough_to_encode(
    mut names: Vec<&'static str>,
    version: Option<Version>,
    ues: u32,
) -> Vec<&'static str> {
    let buffer = match version {
        Some(Version::V2) => 4096,
        _ => 2048,
    };
    while !names.is_empty() && report_octets(&names, ues) > buffer {
        names.pop();
    }
    names
}

/// At most so many octets has a report of these measurements for `ues` UEs (a test encodes the worst case).
pub(super) fn report_octets(names: &[&str], ues: u32) -> usize {
    // Length, UE id with AMF UE NGAP ID, GUAMI, F1AP list and RAN UE id.
    const PER_UE: usize = 54;
    // Label, lengths, and a REAL of OAI's with its leading zero octets.
    const PER_VALUE: usize = 12;
    const FRAME: usize = 16;
    let values: usize = names.iter().map(|name| name.len() + PER_VALUE).sum();
    FRAME + ues as usize * (PER_UE + values)
}

/// OAI's gNBs of 2024 crash on an S-NSSAI with SD, at the first report; SST alone is taken by all.
fn slice_it_takes(agent: Agent, slice: Slice) -> Slice {
    match agent {
        Agent::FlexRic => Slice { sd: None, ..slice },
        Agent::Other => slice,
    }
}

fn format(
    style: &ReportStyle,
    names: &[&'static str],
    dialect: Dialect,
    slice: Slice,
    granularity_ms: u32,
) -> Option<ActionFormat> {
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
                    condition: MatchingCondition::Test(in_slice(slice, dialect)),
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
                test: in_slice(slice, dialect),
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
