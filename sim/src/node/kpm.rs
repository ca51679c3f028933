//! E2SM-KPM reports of the cell: which measurements of which UEs, period by period.

use super::KpmDialect;
use super::measurements::{Activity, Counts, Measurement, Value};
use crate::cell::Cell;
use crate::measure::slots;
use e2sm::common::{GnbUeId, Guami, Plmn, RanUeId, UeId};
use e2sm::kpm::{
    ActionDefinition, ActionFormat, CellAction, Dialect, EventTriggerStyle, IndicationHeader,
    IndicationMessage, Label, MeasData, MeasInfo, MeasInfoAction, MeasReport, MeasValue,
    RanFunctionDescription, RanFunctionName, ReportStyle, TestExpression, TestType, TestValue,
    TimeStamp, UeCondition, UeMeasReport, Version,
};
use policies::report::SNssai;
use std::time::Duration;

/// Seconds from 1900 to 1970 (RFC 5905 clause 6).
const NTP_TO_UNIX_S: i64 = 2_208_988_800;
/// An S-NSSAI's slice differentiator that means "none" (TS 23.003 clause 28.4.2).
const NO_DIFFERENTIATOR: u32 = 0xff_ffff;

/// Why an action is not admitted.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("action definition: {0}")]
    Malformed(#[from] e2sm::aper::DecodeError),
    #[error("report style {0} with this action format is not offered")]
    Style(i64),
    #[error("the only condition on UEs offered is S-NSSAI equal to an octet string")]
    Condition,
    #[error("none of the measurements is known")]
    Measurements,
}

impl KpmDialect {
    /// Version that the dialect writes.
    pub(super) fn version(self) -> Version {
        match self {
            Self::Standard => Version::V3,
            Self::Oai2024 | Self::Oai2026 => Version::V2,
        }
    }

    fn time_stamp(self, unix_us: i64) -> TimeStamp {
        let seconds = unix_us.div_euclid(1_000_000);
        match self {
            Self::Standard => {
                let fraction = ((unix_us.rem_euclid(1_000_000) as u64) << 32) / 1_000_000;
                let ntp = (((seconds + NTP_TO_UNIX_S) as u64) << 32) | fraction;
                TimeStamp::Long(ntp.to_be_bytes())
            }
            Self::Oai2024 | Self::Oai2026 => TimeStamp::Short((seconds as u32).to_le_bytes()),
        }
    }
}

/// Octets of the RAN function definition.
pub(super) fn definition(dialect: KpmDialect) -> Vec<u8> {
    encoded("RAN function definition", description(dialect).encode())
}

/// What was encoded. Everything here is made by this module, so that it cannot fail; if it does, the octets are missing
/// and the log says why.
fn encoded(what: &str, octets: Result<Vec<u8>, e2sm::aper::EncodeError>) -> Vec<u8> {
    octets.unwrap_or_else(|error| {
        tracing::error!(what, %error, "cannot be encoded");
        Vec::new()
    })
}

fn description(dialect: KpmDialect) -> RanFunctionDescription {
    let style = |style, name: &str, action_format, message_format| ReportStyle {
        style,
        name: name.to_owned(),
        action_format,
        measurements: Measurement::ALL.map(offered).into(),
        header_format: 1,
        message_format,
    };
    let mut report_styles = vec![style(
        4,
        "Common Condition-based, UE-level Measurement",
        4,
        3,
    )];
    if dialect == KpmDialect::Standard {
        report_styles.insert(0, style(1, "E2 Node Measurement", 1, 1));
        report_styles.push(style(5, "E2 Node Measurement for multiple UEs", 5, 3));
    }
    RanFunctionDescription {
        name: RanFunctionName {
            short_name: "ORAN-E2SM-KPM".to_owned(),
            e2sm_oid: dialect.version().oid().to_owned(),
            description: "KPM Monitor".to_owned(),
            instance: None,
        },
        event_trigger_styles: vec![EventTriggerStyle {
            style: 1,
            name: "Periodic Report".to_owned(),
            format: 1,
        }],
        report_styles,
    }
}

fn offered(measurement: Measurement) -> MeasInfoAction {
    MeasInfoAction {
        name: measurement.name().to_owned(),
        id: None,
        bin_range: None,
    }
}

/// Identity under which KPM names a UE: its position from 1 on.
fn ue_id(ue: usize, plmn: Plmn, dialect: KpmDialect) -> UeId {
    let number = ue as u64 + 1;
    let (guami, octets) = match dialect {
        KpmDialect::Standard => {
            let guami = Guami {
                plmn,
                region: 1,
                set: 1,
                pointer: 0,
            };
            (guami, number.to_be_bytes())
        }
        // OAI sends no GUAMI, and the RAN UE id as it lies in memory.
        KpmDialect::Oai2024 | KpmDialect::Oai2026 => (Guami::default(), number.to_le_bytes()),
    };
    UeId::Gnb(GnbUeId {
        amf_ue_ngap_id: number,
        guami,
        ran_ue_id: Some(RanUeId(octets)),
        ..GnbUeId::default()
    })
}

#[derive(Debug)]
enum Scope {
    /// All UEs together.
    Cell,
    /// Each UE that meets the conditions.
    Matching(Vec<UeCondition>),
    /// Each of these.
    Listed(Vec<UeId>),
}

/// One admitted action.
#[derive(Debug)]
pub(super) struct Report {
    dialect: KpmDialect,
    plmn: Plmn,
    scope: Scope,
    info: Vec<MeasInfo<'static>>,
    granularity: Duration,
    /// Counts at the end of the last period, by UE.
    last: Vec<Counts>,
    last_slot: u64,
}

impl Report {
    /// Admits an action of a subscription.
    pub(super) fn new(
        action: &[u8],
        dialect: KpmDialect,
        plmn: Plmn,
        cell: &Cell,
    ) -> Result<Self, Refusal> {
        let (ActionDefinition { style, format }, _) =
            ActionDefinition::decode(action, Dialect::Standard)?;
        let offers = description(dialect).report_style(style).is_some();
        let (scope, action) = match (style, format) {
            _ if !offers => return Err(Refusal::Style(style)),
            (1, ActionFormat::Format1(action)) => (Scope::Cell, action),
            (4, ActionFormat::Format4 { conditions, action }) => {
                if !conditions.iter().all(understood) {
                    return Err(Refusal::Condition);
                }
                (Scope::Matching(conditions), action)
            }
            (5, ActionFormat::Format5 { ues, action }) => (Scope::Listed(ues), action),
            _ => return Err(Refusal::Style(style)),
        };
        let CellAction {
            info,
            granularity_ms,
            ..
        } = action;
        if info.iter().all(|info| known(info).is_none()) {
            return Err(Refusal::Measurements);
        }
        let mut report = Self {
            dialect,
            plmn,
            scope,
            info,
            granularity: Duration::from_millis(u64::from(granularity_ms)),
            last: vec![Counts::default(); cell.ue_count()],
            last_slot: 0,
        };
        // The first report counts from the subscription on; OAI's counts from the UE's attach on.
        if dialect == KpmDialect::Standard {
            report.activities(cell);
        }
        Ok(report)
    }

    /// What each UE did since the last call, and the slots that have passed.
    fn activities(&mut self, cell: &Cell) -> (Vec<Activity>, u64) {
        let slots = cell.slot() - self.last_slot;
        self.last_slot = cell.slot();
        let last = self.last.iter_mut().enumerate();
        let activities = last
            .map(|(ue, last)| Activity::since(last, cell, ue))
            .collect();
        (activities, slots)
    }

    /// Octets of header and message of the period that ends now; `None` if no UE matches.
    pub(super) fn encode(&mut self, cell: &Cell, unix_us: i64) -> Option<(Vec<u8>, Vec<u8>)> {
        let (header, message) = self.indication(cell, unix_us)?;
        let header = encoded("indication header", header.encode());
        let message = encoded("indication message", message.encode(Dialect::Standard));
        Some((header, message))
    }

    fn indication(
        &mut self,
        cell: &Cell,
        unix_us: i64,
    ) -> Option<(IndicationHeader, IndicationMessage<'static>)> {
        let (activities, elapsed) = self.activities(cell);
        let slots = match self.dialect {
            KpmDialect::Standard => elapsed,
            // OAI divides by the granularity period, however long the period was.
            KpmDialect::Oai2024 | KpmDialect::Oai2026 => slots(cell, self.granularity),
        };
        let message = match &self.scope {
            Scope::Cell => {
                let all = activities
                    .into_iter()
                    .fold(Activity::default(), Activity::plus);
                IndicationMessage::Format1(self.report(&all, cell, slots))
            }
            Scope::Matching(_) | Scope::Listed(_) => {
                let reports: Vec<_> = activities
                    .iter()
                    .enumerate()
                    .filter(|&(ue, _)| self.covers(cell, ue))
                    .map(|(ue, activity)| UeMeasReport {
                        ue: ue_id(ue, self.plmn, self.dialect),
                        report: self.report(activity, cell, slots),
                    })
                    .collect();
                if reports.is_empty() {
                    return None;
                }
                IndicationMessage::Format3(reports)
            }
        };
        let start = unix_us - cell.duration(elapsed).as_micros() as i64;
        let sender = match self.dialect {
            KpmDialect::Standard => "cantor-sim",
            KpmDialect::Oai2024 | KpmDialect::Oai2026 => "ngran_gNB",
        };
        let header = IndicationHeader {
            collect_start_time: self.dialect.time_stamp(start),
            file_format_version: None,
            sender_name: Some(sender.to_owned()),
            sender_type: None,
            vendor_name: None,
        };
        Some((header, message))
    }

    fn report(&self, activity: &Activity, cell: &Cell, slots: u64) -> MeasReport<'static> {
        let mut values = Vec::new();
        for info in &self.info {
            for label in info.labels() {
                values.push(match (known(info), label) {
                    (Some(measurement), Label::NoLabel) => {
                        match activity.value(measurement, self.dialect, cell, slots) {
                            Value::Integer(value) => MeasValue::Integer(value),
                            Value::Real(value) => MeasValue::Real(value),
                        }
                    }
                    _ => MeasValue::NoValue,
                });
            }
        }
        let mut data = MeasData::default();
        data.push(&values, false);
        MeasReport {
            data,
            info: self.info.clone(),
            granularity_ms: u32::try_from(self.granularity.as_millis()).ok(),
        }
    }

    fn covers(&self, cell: &Cell, ue: usize) -> bool {
        match &self.scope {
            Scope::Cell => true,
            Scope::Listed(ues) => ues.contains(&ue_id(ue, self.plmn, self.dialect)),
            Scope::Matching(conditions) => cell
                .ue(ue)
                .is_some_and(|view| matches(conditions, view.config.slice)),
        }
    }
}

fn known(info: &MeasInfo<'_>) -> Option<Measurement> {
    Measurement::from_name(info.measure.name()?)
}

/// The S-NSSAI that a condition asks for.
fn slice(condition: &UeCondition) -> Option<SNssai> {
    let test = &condition.test;
    match (&test.test, test.expression, &test.value) {
        (TestType::SNssai, Some(TestExpression::Equal), Some(TestValue::Octets(octets))) => {
            match octets[..] {
                [sst] => Some(SNssai { sst, sd: None }),
                [sst, a, b, c] => {
                    let sd = u32::from_be_bytes([0, a, b, c]);
                    let sd = (sd != NO_DIFFERENTIATOR).then_some(sd);
                    Some(SNssai { sst, sd })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn understood(condition: &UeCondition) -> bool {
    slice(condition).is_some()
}

/// The conditions in order: each says whether the next one is joined to it by OR or by AND.
fn matches(conditions: &[UeCondition], of: SNssai) -> bool {
    let mut holds = true;
    let mut or = false;
    for condition in conditions {
        let this = slice(condition) == Some(of);
        holds = if or { holds || this } else { holds && this };
        or = condition.logical_or;
    }
    holds
}
