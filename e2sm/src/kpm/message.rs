//! Indication message (clause 8.2.1.4).

use super::{
    Dialect, MatchingConditionItem, MeasData, MeasInfo, MeasReport, Measurement, MeasurementType,
    report::{read_granularity, write_granularity},
    whole,
};
use crate::aper::{
    Alternative, DecodeError, DecodeErrorKind, EncodeError, Locate, Notes, Reader, Writer,
};
use crate::common::{UeId, UnknownChoice, read_flag, write_flag};

/// Indication message. Measurement names are borrowed from the octets.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum IndicationMessage<'a> {
    /// Values of a node, a cell or the one UE subscribed to (clause 8.2.1.4.1).
    Format1(MeasReport<'a>),
    /// Values over all UEs that match a condition (clause 8.2.1.4.2).
    Format2(ConditionReport<'a>),
    /// Values of each UE (clause 8.2.1.4.3).
    Format3(Vec<UeMeasReport<'a>>),
}

/// Values of one UE in message format 3.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UeMeasReport<'a> {
    /// The UE.
    pub ue: UeId,
    /// Its values.
    pub report: MeasReport<'a>,
}

/// Message format 2: values over UEs that match.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ConditionReport<'a> {
    /// The values.
    pub data: MeasData,
    /// What they are, and which UEs matched.
    pub conditions: Vec<ConditionUes<'a>>,
    /// Granularity period in ms, if it is not that of the subscription.
    pub granularity_ms: Option<u32>,
}

/// A measurement, its conditions and the UEs that met them.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ConditionUes<'a> {
    /// What is measured.
    pub measure: MeasurementType<'a>,
    /// The conditions.
    pub conditions: Vec<MatchingConditionItem>,
    /// UEs that met them; empty if the node does not say.
    pub ues: Vec<UeId>,
    /// UEs that met them in each granularity period (v3); empty if the node does not say.
    pub ues_per_period: Vec<MatchedPerPeriod>,
}

/// UEs that met the conditions in one granularity period.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum MatchedPerPeriod {
    /// None.
    NoUe,
    /// These.
    Ues(Vec<UeId>),
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

impl<'a> IndicationMessage<'a> {
    /// Reads a RIC indication message.
    ///
    /// # Errors
    /// Malformed octets, or a format that is not known.
    pub fn decode(octets: &'a [u8], dialect: Dialect) -> Result<(Self, Notes), DecodeError> {
        whole(octets, "E2SM-KPM-IndicationMessage", |r| {
            let p = r.sequence(0)?;
            let message = Self::read(r, dialect)?;
            r.skip_additions(p)?;
            Ok(message)
        })
    }

    /// Octets of the RIC indication message.
    ///
    /// # Errors
    /// What the format cannot hold: empty lists, values of kinds that are not known.
    pub fn encode(&self, dialect: Dialect) -> Result<Vec<u8>, EncodeError> {
        let mut w = Writer::new();
        w.sequence(false, &[]);
        self.write(&mut w, dialect)
            .at("E2SM-KPM-IndicationMessage")?;
        Ok(w.finish())
    }

    /// The reports of formats 1 and 3, with the UE in format 3; nothing for format 2.
    pub fn reports(&self) -> impl Iterator<Item = (Option<&UeId>, &MeasReport<'a>)> {
        let (cell, ues) = match self {
            Self::Format1(report) => (Some(report), &[][..]),
            Self::Format2(_) => (None, &[][..]),
            Self::Format3(ues) => (None, ues.as_slice()),
        };
        let ues = ues.iter().map(|ue| (Some(&ue.ue), &ue.report));
        cell.map(|report| (None, report)).into_iter().chain(ues)
    }

    /// Every value of formats 1 and 3 with its UE, measurement and label. `subscribed` is what the subscription asked
    /// for, and names the values of reports that do not.
    pub fn measurements<'m>(
        &'m self,
        subscribed: &'m [MeasInfo<'m>],
    ) -> impl Iterator<Item = Measurement<'m>> {
        self.reports().flat_map(move |(ue, report)| {
            report
                .measurements(subscribed)
                .map(move |measurement| Measurement { ue, ..measurement })
        })
    }

    /// Copies what is borrowed.
    pub fn into_owned(self) -> IndicationMessage<'static> {
        match self {
            Self::Format1(report) => IndicationMessage::Format1(report.into_owned()),
            Self::Format2(report) => IndicationMessage::Format2(report.into_owned()),
            Self::Format3(ues) => {
                IndicationMessage::Format3(ues.into_iter().map(UeMeasReport::into_owned).collect())
            }
        }
    }

    fn read(r: &mut Reader<'a>, dialect: Dialect) -> Result<Self, DecodeError> {
        match r.choice(if dialect.moved() { 3 } else { 2 })? {
            Alternative::Root(0) => MeasReport::read(r)
                .map(Self::Format1)
                .at("indicationMessage-Format1"),
            Alternative::Root(1) => ConditionReport::read(r, dialect)
                .map(Self::Format2)
                .at("indicationMessage-Format2"),
            Alternative::Root(_) => read_format3(r)
                .map(Self::Format3)
                .at("indicationMessage-Format3"),
            Alternative::Addition(0) if !dialect.moved() => r
                .open_type_borrowed(read_format3, |r| {
                    let ues = read_format3(r)?;
                    Ok(ues.into_iter().map(UeMeasReport::into_owned).collect())
                })
                .map(Self::Format3)
                .at("indicationMessage-Format3"),
            Alternative::Addition(n) => Err(r.error(DecodeErrorKind::UnknownAlternative(n))),
        }
    }

    fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        let root = if dialect.moved() { 3 } else { 2 };
        match self {
            Self::Format1(report) => {
                w.choice(0, root)?;
                report.write(w)
            }
            Self::Format2(report) => {
                w.choice(1, root)?;
                report.write(w, dialect)
            }
            Self::Format3(ues) if dialect.moved() => {
                w.choice(2, root)?;
                write_format3(w, ues)
            }
            Self::Format3(ues) => w.choice_addition(0, |w| write_format3(w, ues)),
        }
    }
}

fn read_format3<'a>(r: &mut Reader<'a>) -> Result<Vec<UeMeasReport<'a>>, DecodeError> {
    let p = r.sequence(0)?;
    let ues = r
        .sequence_of(1, 65535, 40, UeMeasReport::read)
        .at("ueMeasReportList")?;
    r.skip_additions(p)?;
    Ok(ues)
}

fn write_format3(w: &mut Writer, ues: &[UeMeasReport<'_>]) -> Result<(), EncodeError> {
    w.sequence(false, &[]);
    w.sequence_of(ues, 1, 65535, |w, ue| {
        w.sequence(false, &[]);
        ue.ue.write(w).at("ueID")?;
        ue.report.write(w).at("measReport")
    })
    .at("ueMeasReportList")
}

impl<'a> UeMeasReport<'a> {
    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let ue = UeId::read(r).at("ueID")?;
        let report = MeasReport::read(r).at("measReport")?;
        r.skip_additions(p)?;
        Ok(Self { ue, report })
    }

    fn into_owned(self) -> UeMeasReport<'static> {
        UeMeasReport {
            ue: self.ue,
            report: self.report.into_owned(),
        }
    }
}

impl<'a> ConditionReport<'a> {
    fn read(r: &mut Reader<'a>, dialect: Dialect) -> Result<Self, DecodeError> {
        let p = r.sequence(1)?;
        let data = MeasData::read(r)?;
        let conditions = r
            .sequence_of(1, 65535, 30, |r| ConditionUes::read(r, dialect))
            .at("measCondUEidList")?;
        let granularity_ms = match p.has(0) {
            true => Some(read_granularity(r)?),
            false => None,
        };
        r.skip_additions(p)?;
        Ok(Self {
            data,
            conditions,
            granularity_ms,
        })
    }

    fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        w.sequence(false, &[self.granularity_ms.is_some()]);
        self.data.write(w)?;
        w.sequence_of(&self.conditions, 1, 65535, |w, c| c.write(w, dialect))
            .at("measCondUEidList")?;
        self.granularity_ms
            .map_or(Ok(()), |ms| write_granularity(w, ms))
    }

    fn into_owned(self) -> ConditionReport<'static> {
        let own = |c: ConditionUes<'_>| ConditionUes {
            measure: c.measure.into_owned(),
            conditions: c.conditions,
            ues: c.ues,
            ues_per_period: c.ues_per_period,
        };
        ConditionReport {
            data: self.data,
            conditions: self.conditions.into_iter().map(own).collect(),
            granularity_ms: self.granularity_ms,
        }
    }
}

impl<'a> ConditionUes<'a> {
    fn read(r: &mut Reader<'a>, dialect: Dialect) -> Result<Self, DecodeError> {
        let p = r.sequence(1 + u32::from(dialect.moved()))?;
        let measure = MeasurementType::read(r).at("measType")?;
        let conditions = MatchingConditionItem::read_list(r, dialect)?;
        let ues = match p.has(0) {
            true => read_ues(r, 1).at("matchingUEidList")?,
            false => Vec::new(),
        };
        let mut ues_per_period = match p.has(1) {
            true => MatchedPerPeriod::read_list(r)?,
            false => Vec::new(),
        };
        r.additions(p, |index, r| {
            let known = index == 0 && !dialect.moved();
            if known {
                ues_per_period = MatchedPerPeriod::read_list(r)?;
            }
            Ok(known)
        })?;
        Ok(Self {
            measure,
            conditions,
            ues,
            ues_per_period,
        })
    }

    fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        let per_period = !self.ues_per_period.is_empty();
        if dialect.moved() {
            w.sequence(false, &[!self.ues.is_empty(), per_period]);
        } else {
            w.sequence(per_period, &[!self.ues.is_empty()]);
        }
        self.measure.write(w).at("measType")?;
        MatchingConditionItem::write_list(w, &self.conditions, dialect)?;
        if !self.ues.is_empty() {
            write_ues(w, &self.ues).at("matchingUEidList")?;
        }
        match (per_period, dialect.moved()) {
            (false, _) => Ok(()),
            (true, true) => MatchedPerPeriod::write_list(w, &self.ues_per_period),
            (true, false) => w.additions(&[Some(&|w: &mut Writer| {
                MatchedPerPeriod::write_list(w, &self.ues_per_period)
            })]),
        }
    }
}

/// List of items that hold one UE id each.
pub(super) fn read_ues(r: &mut Reader<'_>, least: u64) -> Result<Vec<UeId>, DecodeError> {
    r.sequence_of(least, 65535, 14, |r| {
        let p = r.sequence(0)?;
        let ue = UeId::read(r).at("ueID")?;
        r.skip_additions(p)?;
        Ok(ue)
    })
}

fn write_ues(w: &mut Writer, ues: &[UeId]) -> Result<(), EncodeError> {
    w.sequence_of(ues, 1, 65535, |w, ue| {
        w.sequence(false, &[]);
        ue.write(w).at("ueID")
    })
}

impl MatchedPerPeriod {
    fn read_list(r: &mut Reader<'_>) -> Result<Vec<Self>, DecodeError> {
        r.sequence_of(1, 65535, 4, |r| {
            let p = r.sequence(0)?;
            let matched = match r.choice(2)? {
                Alternative::Root(0) => {
                    read_flag(r)?;
                    Self::NoUe
                }
                Alternative::Root(_) => Self::Ues(read_ues(r, 1)?),
                Alternative::Addition(n) => Self::Unknown(UnknownChoice::read(r, n)?),
            };
            r.skip_additions(p)?;
            Ok(matched)
        })
        .at("matchingUEidPerGP")
    }

    fn write_list(w: &mut Writer, list: &[Self]) -> Result<(), EncodeError> {
        w.sequence_of(list, 1, 65535, |w, matched| {
            w.sequence(false, &[]);
            match matched {
                Self::NoUe => {
                    w.choice(0, 2)?;
                    write_flag(w)
                }
                Self::Ues(ues) => {
                    w.choice(1, 2)?;
                    write_ues(w, ues)
                }
                Self::Unknown(unknown) => unknown.write(w),
            }
        })
        .at("matchingUEidPerGP")
    }
}
