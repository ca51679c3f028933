//! Octets of the service models as JSON, for people and tools.

use super::session::Model;
use e2sm::{
    aper::{DecodeError, Notes},
    flexric::{self, GtpTunnel, MacUe, PdcpBearer, RlcBearer, SliceIndication, Stats},
    kpm::{
        ActionDefinition, Dialect, EventTrigger, IndicationHeader, IndicationMessage, Label,
        MeasReport, MeasValue, MeasurementType, RanFunctionDescription, Version,
    },
};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What an octet string inside a PDU is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// RAN function definition.
    Definition,
    /// Event trigger definition of a subscription.
    Trigger,
    /// Action definition of a subscription.
    Action,
    /// Indication header.
    Header,
    /// Indication message.
    Message,
}

/// An octet string could not be decoded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// KPM.
    #[error(transparent)]
    Kpm(#[from] DecodeError),
    /// One of FlexRIC's plain models.
    #[error(transparent)]
    FlexRic(#[from] flexric::Error),
    /// It cannot be shown.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Decodes a part of a service model; `None` if nothing is known of it here.
///
/// # Errors
/// When it should be known, but is not what it should be.
pub fn decode(model: Model, part: Part, octets: &[u8]) -> Result<Option<(Value, Notes)>, Error> {
    match model {
        Model::Kpm { version, dialect } => kpm(version, dialect, part, octets).map(Some),
        Model::FlexRic(model) => {
            Ok(flexric(model, part, octets)?.map(|value| (value, Notes::default())))
        }
        Model::Other => Ok(None),
    }
}

fn kpm(
    version: Version,
    dialect: Option<Dialect>,
    part: Part,
    octets: &[u8],
) -> Result<(Value, Notes), Error> {
    let announced = dialect.unwrap_or_default();
    let shown = |value: serde_json::Result<Value>, notes| Ok((value?, notes));
    match part {
        Part::Definition => {
            let (value, notes) = RanFunctionDescription::decode(octets)?;
            shown(serde_json::to_value(value), notes)
        }
        Part::Trigger => {
            let (value, notes) = EventTrigger::decode(octets)?;
            shown(serde_json::to_value(value), notes)
        }
        Part::Action => {
            let decoded = ActionDefinition::decode(octets, announced);
            let decoded = match (decoded, dialect) {
                (Err(_), None) => ActionDefinition::decode(octets, Dialect::FlexRic2023),
                (decoded, _) => decoded,
            };
            let (value, notes) = decoded?;
            shown(serde_json::to_value(value), notes)
        }
        Part::Header => {
            let (value, notes) = IndicationHeader::decode(octets, version)?;
            shown(serde_json::to_value(value), notes)
        }
        Part::Message => {
            let dialect = Dialect::of_message(octets).unwrap_or(announced);
            let (message, notes) = IndicationMessage::decode(octets, dialect)?;
            shown(kpm_message(&message), notes)
        }
    }
}

/// Values by name, which the types keep apart.
fn kpm_message(message: &IndicationMessage<'_>) -> serde_json::Result<Value> {
    Ok(match message {
        IndicationMessage::Format1(report) => json!({ "format": 1, "report": kpm_report(report)? }),
        IndicationMessage::Format2(report) => {
            json!({ "format": 2, "report": serde_json::to_value(report)? })
        }
        IndicationMessage::Format3(ues) => {
            let ues = ues
                .iter()
                .map(|ue| Ok(json!({ "ue": ue.ue, "report": kpm_report(&ue.report)? })));
            json!({ "format": 3, "ues": ues.collect::<serde_json::Result<Vec<_>>>()? })
        }
    })
}

fn kpm_report(report: &MeasReport<'_>) -> serde_json::Result<Value> {
    if report.info.is_empty() {
        // The names are in the subscription.
        return serde_json::to_value(report);
    }
    let mut records = vec![Map::new(); report.data.len()];
    for measurement in report.measurements(&[]) {
        let name = match measurement.measure {
            MeasurementType::Name(name) => name.to_string(),
            MeasurementType::Id(id) => format!("measurement {id}"),
            MeasurementType::Unknown(_) => "unknown measurement".into(),
        };
        if let Some(record) = records.get_mut(measurement.record) {
            record.insert(
                unused(record, name + &label(measurement.label)?),
                value(measurement.value),
            );
        }
    }
    Ok(json!({ "granularity_ms": report.granularity_ms, "records": records }))
}

/// A node may give one name twice.
fn unused(record: &Map<String, Value>, name: String) -> String {
    if !record.contains_key(&name) {
        return name;
    }
    let numbered = (2..).map(|n| format!("{name} #{n}"));
    numbered
        .into_iter()
        .find(|name| !record.contains_key(name))
        .unwrap_or(name)
}

/// What a label says, e.g. `{dist_bin_x: 3}`; nothing for none.
fn label(label: &Label) -> serde_json::Result<String> {
    let Some(labels) = label.labels() else {
        return Ok(String::new());
    };
    let Value::Object(fields) = serde_json::to_value(labels)? else {
        return Ok(String::new());
    };
    let said: Vec<_> = fields
        .iter()
        .filter(|(_, value)| !value.is_null() && **value != Value::Bool(false))
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    Ok(format!("{{{}}}", said.join(", ")))
}

fn value(value: MeasValue) -> Value {
    match value {
        MeasValue::Integer(value) => value.into(),
        // JSON has no NaN and no infinity.
        MeasValue::Real(value) if value.is_finite() => value.into(),
        MeasValue::Real(value) => value.to_string().into(),
        MeasValue::NoValue => "no value".into(),
        MeasValue::NotSatisfied => "condition not met".into(),
        MeasValue::Unknown(kind) => format!("unknown kind of value {kind}").into(),
    }
}

fn flexric(model: flexric::Model, part: Part, octets: &[u8]) -> Result<Option<Value>, Error> {
    fn stats<R: flexric::Record + Serialize>(octets: &[u8]) -> Result<Value, Error> {
        Ok(serde_json::to_value(Stats::<R>::decode(octets)?)?)
    }
    Ok(Some(match part {
        Part::Definition => String::from_utf8_lossy(octets).into(),
        Part::Trigger => serde_json::to_value(flexric::EventTrigger::decode(octets)?)?,
        Part::Action | Part::Header => return Ok(None),
        Part::Message => match model {
            flexric::Model::Mac => stats::<MacUe>(octets)?,
            flexric::Model::Rlc => stats::<RlcBearer>(octets)?,
            flexric::Model::Pdcp => stats::<PdcpBearer>(octets)?,
            flexric::Model::Gtp => stats::<GtpTunnel>(octets)?,
            flexric::Model::Slice => serde_json::to_value(SliceIndication::decode(octets)?)?,
            flexric::Model::Tc => return Ok(None),
        },
    }))
}
