//! RAN function definition (clause 8.2.2.1): what a node can measure and how it can report.

use super::{BinRangeDefinition, whole};
use crate::aper::{DecodeError, EncodeError, Locate, Notes, Reader, Writer};

/// RAN function definition.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RanFunctionDescription {
    /// Names.
    pub name: RanFunctionName,
    /// Event triggers that the node knows.
    pub event_trigger_styles: Vec<EventTriggerStyle>,
    /// Reports that the node can send.
    pub report_styles: Vec<ReportStyle>,
}

/// RAN function name (E2SM clause 6.2.2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RanFunctionName {
    /// Short name, `ORAN-E2SM-KPM`.
    pub short_name: String,
    /// OID of the service model; see [`Version::from_oid`](super::Version::from_oid).
    pub e2sm_oid: String,
    /// Description for people.
    pub description: String,
    /// Number of the instance, if the node has several.
    pub instance: Option<i64>,
}

/// One event trigger that a node knows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EventTriggerStyle {
    /// Style: 1 is periodic.
    pub style: i64,
    /// Name for people.
    pub name: String,
    /// Format of the event trigger definition.
    pub format: i64,
}

/// One kind of report that a node can send (clause 7.4).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ReportStyle {
    /// Style, 1 to 5; to be given in the action definition.
    pub style: i64,
    /// Name for people.
    pub name: String,
    /// Format of the action definition.
    pub action_format: i64,
    /// What can be measured in this style.
    pub measurements: Vec<MeasInfoAction>,
    /// Format of the indication header.
    pub header_format: i64,
    /// Format of the indication message.
    pub message_format: i64,
}

/// One measurement that a node offers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MeasInfoAction {
    /// Name, as in TS 28.552 and TS 32.425.
    pub name: String,
    /// Number under which it can be asked for too.
    pub id: Option<i64>,
    /// Bins of a distribution (v3).
    pub bin_range: Option<BinRangeDefinition>,
}

impl RanFunctionDescription {
    /// Reads a RAN function definition.
    ///
    /// # Errors
    /// Malformed octets.
    pub fn decode(octets: &[u8]) -> Result<(Self, Notes), DecodeError> {
        whole(octets, "E2SM-KPM-RANfunction-Description", Self::read)
    }

    /// Octets of the RAN function definition.
    ///
    /// # Errors
    /// Values outside of what the types can hold, such as an empty list of measurements.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut w = Writer::new();
        self.write(&mut w).at("E2SM-KPM-RANfunction-Description")?;
        Ok(w.finish())
    }

    /// The report style by its number.
    pub fn report_style(&self, style: i64) -> Option<&ReportStyle> {
        self.report_styles.iter().find(|s| s.style == style)
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(2)?;
        let name = RanFunctionName::read(r).at("ranFunction-Name")?;
        let event_trigger_styles = match p.has(0) {
            true => r
                .sequence_of(1, 63, 30, EventTriggerStyle::read)
                .at("ric-EventTriggerStyle-List")?,
            false => Vec::new(),
        };
        let report_styles = match p.has(1) {
            true => r
                .sequence_of(1, 63, 50, ReportStyle::read)
                .at("ric-ReportStyle-List")?,
            false => Vec::new(),
        };
        r.skip_additions(p)?;
        Ok(Self {
            name,
            event_trigger_styles,
            report_styles,
        })
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(
            false,
            &[
                !self.event_trigger_styles.is_empty(),
                !self.report_styles.is_empty(),
            ],
        );
        self.name.write(w).at("ranFunction-Name")?;
        if !self.event_trigger_styles.is_empty() {
            w.sequence_of(&self.event_trigger_styles, 1, 63, |w, s| s.write(w))
                .at("ric-EventTriggerStyle-List")?;
        }
        if !self.report_styles.is_empty() {
            w.sequence_of(&self.report_styles, 1, 63, |w, s| s.write(w))
                .at("ric-ReportStyle-List")?;
        }
        Ok(())
    }
}

impl RanFunctionName {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(1)?;
        let name = Self {
            short_name: r.printable_string(1, 150).at("ranFunction-ShortName")?,
            e2sm_oid: r.printable_string(1, 1000).at("ranFunction-E2SM-OID")?,
            description: r.printable_string(1, 150).at("ranFunction-Description")?,
            instance: match p.has(0) {
                true => Some(r.unconstrained().at("ranFunction-Instance")?),
                false => None,
            },
        };
        r.skip_additions(p)?;
        Ok(name)
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[self.instance.is_some()]);
        w.printable_string(&self.short_name, 1, 150)?;
        w.printable_string(&self.e2sm_oid, 1, 1000)?;
        w.printable_string(&self.description, 1, 150)?;
        if let Some(instance) = self.instance {
            w.unconstrained(instance);
        }
        Ok(())
    }
}

impl EventTriggerStyle {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let value = Self {
            style: r.unconstrained().at("ric-EventTriggerStyle-Type")?,
            name: r
                .printable_string(1, 150)
                .at("ric-EventTriggerStyle-Name")?,
            format: r.unconstrained().at("ric-EventTriggerFormat-Type")?,
        };
        r.skip_additions(p)?;
        Ok(value)
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        w.unconstrained(self.style);
        w.printable_string(&self.name, 1, 150)?;
        w.unconstrained(self.format);
        Ok(())
    }
}

impl ReportStyle {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let value = Self {
            style: r.unconstrained().at("ric-ReportStyle-Type")?,
            name: r.printable_string(1, 150).at("ric-ReportStyle-Name")?,
            action_format: r.unconstrained().at("ric-ActionFormat-Type")?,
            measurements: r
                .sequence_of(1, 65535, 11, MeasInfoAction::read)
                .at("measInfo-Action-List")?,
            header_format: r.unconstrained().at("ric-IndicationHeaderFormat-Type")?,
            message_format: r.unconstrained().at("ric-IndicationMessageFormat-Type")?,
        };
        r.skip_additions(p)?;
        Ok(value)
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        w.unconstrained(self.style);
        w.printable_string(&self.name, 1, 150)?;
        w.unconstrained(self.action_format);
        w.sequence_of(&self.measurements, 1, 65535, |w, m| m.write(w))
            .at("measInfo-Action-List")?;
        w.unconstrained(self.header_format);
        w.unconstrained(self.message_format);
        Ok(())
    }
}

impl MeasInfoAction {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(1)?;
        let name = r.printable_string(1, 150).at("measName")?;
        let id = match p.has(0) {
            true => Some(r.extensible(1, 65536).at("measID")?),
            false => None,
        };
        let mut bin_range = None;
        r.additions(p, |index, r| {
            if index == 0 {
                bin_range = Some(BinRangeDefinition::read(r)?);
            }
            Ok(index == 0)
        })?;
        Ok(Self {
            name,
            id,
            bin_range,
        })
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(self.bin_range.is_some(), &[self.id.is_some()]);
        w.printable_string(&self.name, 1, 150)?;
        if let Some(id) = self.id {
            w.extensible(id, 1, 65536).at("measID")?;
        }
        match &self.bin_range {
            Some(bins) => w.additions(&[Some(&|w: &mut Writer| bins.write(w))]),
            None => Ok(()),
        }
    }
}
