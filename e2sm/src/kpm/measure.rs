//! Measurements: what is measured, and the values (clauses 8.3.8 to 8.3.11 and 8.2.1.4.1).

use std::borrow::Cow;

use super::{Dialect, Label, TestExpression, TestValue};
use crate::aper::{Alternative, DecodeError, EncodeError, EncodeErrorKind, Locate, Reader, Writer};
use crate::common::{UeId, UnknownChoice, read_flag, read_late_addition, write_flag};

/// Items of the lists whose bound is 2³¹-1: labels of a measurement, values of a record.
const MANY: u64 = i32::MAX as u64;

/// A measurement by name or by number (clauses 8.3.9 and 8.3.10). Names are borrowed from the message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum MeasurementType<'a> {
    /// Name, as in TS 28.552 and TS 32.425.
    Name(Cow<'a, str>),
    /// Number that the RAN function definition gives it.
    Id(i64),
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

impl<'a> MeasurementType<'a> {
    /// A measurement by name.
    pub fn named(name: impl Into<Cow<'a, str>>) -> Self {
        Self::Name(name.into())
    }

    /// The name, if it is given by name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Copies what is borrowed.
    pub fn into_owned(self) -> MeasurementType<'static> {
        match self {
            Self::Name(name) => MeasurementType::Name(name.into_owned().into()),
            Self::Id(id) => MeasurementType::Id(id),
            Self::Unknown(unknown) => MeasurementType::Unknown(unknown),
        }
    }

    pub(super) fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match r.choice(2)? {
            Alternative::Root(0) => Self::Name(r.printable_str(1, 150).at("measName")?),
            Alternative::Root(_) => Self::Id(r.extensible(1, 65536).at("measID")?),
            Alternative::Addition(n) => Self::Unknown(UnknownChoice::read(r, n)?),
        })
    }

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        match self {
            Self::Name(name) => {
                w.choice(0, 2)?;
                w.printable_string(name, 1, 150).at("measName")
            }
            Self::Id(id) => {
                w.choice(1, 2)?;
                w.extensible(*id, 1, 65536).at("measID")
            }
            Self::Unknown(unknown) => unknown.write(w),
        }
    }
}

/// A measurement and the labels under which it is reported: each label is one column of the records.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MeasInfo<'a> {
    /// What is measured.
    pub measure: MeasurementType<'a>,
    /// The first label.
    pub label: Label,
    /// Further labels.
    pub more_labels: Vec<Label>,
    /// Report the value only under these conditions (v4); empty for always.
    pub report_if: Vec<ReportCondition>,
}

/// Condition on a value for it to be reported (v4).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ReportCondition {
    /// How to compare.
    pub expression: TestExpression,
    /// With what.
    pub value: TestValue,
    /// Joined to the next condition by OR (`true`) or AND.
    pub logical_or: Option<bool>,
}

impl<'a> MeasInfo<'a> {
    /// A measurement by name, without label.
    pub fn named(name: impl Into<Cow<'a, str>>) -> Self {
        Self {
            measure: MeasurementType::named(name),
            label: Label::NoLabel,
            more_labels: Vec::new(),
            report_if: Vec::new(),
        }
    }

    /// All labels in order.
    pub fn labels(&self) -> impl Iterator<Item = &Label> {
        std::iter::once(&self.label).chain(&self.more_labels)
    }

    /// Copies what is borrowed.
    pub fn into_owned(self) -> MeasInfo<'static> {
        MeasInfo {
            measure: self.measure.into_owned(),
            label: self.label,
            more_labels: self.more_labels,
            report_if: self.report_if,
        }
    }

    /// The list SIZE (1..65535) of these.
    pub(super) fn read_list(r: &mut Reader<'a>) -> Result<Vec<Self>, DecodeError> {
        r.sequence_of(1, 65535, 40, Self::read).at("measInfoList")
    }

    pub(super) fn write_list(w: &mut Writer, list: &[Self]) -> Result<(), EncodeError> {
        w.sequence_of(list, 1, 65535, |w, info| info.write(w))
            .at("measInfoList")
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let measure = MeasurementType::read(r).at("measType")?;
        let mut first = None;
        let mut more_labels = Vec::new();
        r.sequence_of(1, MANY, 23, |r| {
            let label = read_label_item(r)?;
            match first {
                None => first = Some(label),
                Some(_) => more_labels.push(label),
            }
            Ok(())
        })
        .at("labelInfoList")?;
        let Some(label) = first else {
            return Err(r.out_of_range(0, 1, MANY)).at("labelInfoList");
        };
        let mut report_if = Vec::new();
        r.additions(p, |index, r| {
            let list = |r: &mut Reader<'_>| r.sequence_of(1, 32768, 12, ReportCondition::read);
            if index == 0
                && let Some(conditions) = read_late_addition(r, list)
            {
                report_if = conditions;
                return Ok(true);
            }
            Ok(false)
        })?;
        Ok(Self {
            measure,
            label,
            more_labels,
            report_if,
        })
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(!self.report_if.is_empty(), &[]);
        self.measure.write(w).at("measType")?;
        let labels: Vec<&Label> = self.labels().collect();
        w.sequence_of(&labels, 1, MANY, |w, label| {
            w.sequence(false, &[]);
            label.write(w).at("measLabel")
        })
        .at("labelInfoList")?;
        if self.report_if.is_empty() {
            return Ok(());
        }
        w.additions(&[Some(&|w: &mut Writer| {
            w.sequence_of(&self.report_if, 1, 32768, |w, c| c.write(w))
        })])
    }
}

fn read_label_item(r: &mut Reader<'_>) -> Result<Label, DecodeError> {
    let p = r.sequence(0)?;
    let label = Label::read(r).at("measLabel")?;
    r.skip_additions(p)?;
    Ok(label)
}

impl ReportCondition {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(1)?;
        let inner = r.sequence(0)?;
        let expression = TestExpression::decode(r).at("testExpr")?;
        let value = TestValue::read(r, Dialect::Standard).at("testValue")?;
        r.skip_additions(inner)?;
        let logical_or = if p.has(0) {
            match r.enumerated(2).at("logicalOR")? {
                Alternative::Root(index) => Some(index == 0),
                Alternative::Addition(_) => {
                    r.notes_mut().enumerated_values += 1;
                    None
                }
            }
        } else {
            None
        };
        r.skip_additions(p)?;
        Ok(Self {
            expression,
            value,
            logical_or,
        })
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[self.logical_or.is_some()]);
        w.sequence(false, &[]);
        self.expression.encode(w)?;
        self.value.write(w, Dialect::Standard)?;
        match self.logical_or {
            Some(or) => w.enumerated(u32::from(!or), 2),
            None => Ok(()),
        }
    }
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum MeasValue {
    /// A whole number.
    Integer(u32),
    /// A real number; may be infinite or NaN.
    Real(f64),
    /// The node has no value.
    NoValue,
    /// The condition for reporting is not met (v4).
    NotSatisfied,
    /// A kind of value that a later version added: number of the alternative after the extension marker.
    Unknown(u32),
}

impl MeasValue {
    /// The number, if it is one.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(f64::from(value)),
            Self::Real(value) => Some(value),
            _ => None,
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match r.choice(3)? {
            Alternative::Root(0) => {
                Self::Integer(r.constrained(0, u64::from(u32::MAX)).at("integer")? as u32)
            }
            Alternative::Root(1) => Self::Real(r.real().at("real")?),
            Alternative::Root(_) => Self::NoValue,
            Alternative::Addition(n) => match (n, r.octet_string()?.as_ref()) {
                (0, [0]) => Self::NotSatisfied,
                _ => {
                    r.notes_mut().choice_alternatives += 1;
                    Self::Unknown(n)
                }
            },
        })
    }

    fn write(self, w: &mut Writer) -> Result<(), EncodeError> {
        match self {
            Self::Integer(value) => {
                w.choice(0, 3)?;
                w.constrained(u64::from(value), 0, u64::from(u32::MAX))
            }
            Self::Real(value) => {
                w.choice(1, 3)?;
                w.real(value)
            }
            Self::NoValue => w.choice(2, 3),
            Self::NotSatisfied => w.choice_addition(0, |_| Ok(())),
            Self::Unknown(_) => Err(EncodeError::new(EncodeErrorKind::Unknown(
                "MeasurementRecordItem",
            ))),
        }
    }
}

/// Records of values, one per granularity period; all values lie in one vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasData {
    values: Vec<MeasValue>,
    records: Vec<RecordEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct RecordEnd {
    /// Values of this record and all before it.
    end: usize,
    incomplete: bool,
}

/// One record: a value for each label of each measurement, in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MeasRecord<'a> {
    /// The values.
    pub values: &'a [MeasValue],
    /// The node says that the record is not complete or not reliable.
    pub incomplete: bool,
}

impl MeasData {
    /// Appends a record.
    pub fn push(&mut self, values: &[MeasValue], incomplete: bool) {
        self.values.extend_from_slice(values);
        let end = self.values.len();
        self.records.push(RecordEnd { end, incomplete });
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The records in order.
    pub fn records(&self) -> impl ExactSizeIterator<Item = MeasRecord<'_>> {
        let mut start = 0;
        self.records.iter().map(move |record| {
            let values = self.values.get(start..record.end).unwrap_or_default();
            start = record.end;
            MeasRecord {
                values,
                incomplete: record.incomplete,
            }
        })
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut values = Vec::new();
        let records = r
            .sequence_of(1, 65535, 10, |r| {
                let p = r.sequence(1)?;
                r.sequence_of_into(&mut values, 1, MANY, 3, MeasValue::read)
                    .at("measRecord")?;
                let incomplete = p.has(0) && read_flag(r)?;
                r.skip_additions(p)?;
                Ok(RecordEnd {
                    end: values.len(),
                    incomplete,
                })
            })
            .at("measData")?;
        Ok(Self { values, records })
    }

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        let records: Vec<_> = self.records().collect();
        w.sequence_of(&records, 1, 65535, |w, record| {
            w.sequence(false, &[record.incomplete]);
            w.sequence_of(record.values, 1, MANY, |w, value| value.write(w))
                .at("measRecord")?;
            if record.incomplete {
                write_flag(w)?;
            }
            Ok(())
        })
        .at("measData")
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for MeasData {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.records())
    }
}

/// Values of one cell or of one UE: the contents of indication message format 1 (clause 8.2.1.4.1).
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MeasReport<'a> {
    /// The values.
    pub data: MeasData,
    /// What they are. Empty if the node leaves it out: then they are what the subscription asked for.
    pub info: Vec<MeasInfo<'a>>,
    /// Granularity period in ms, if it is not that of the subscription.
    pub granularity_ms: Option<u32>,
}

/// One value with all that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement<'m> {
    /// Whose value; `None` in a report of a cell.
    pub ue: Option<&'m UeId>,
    /// Number of the record, from 0: which granularity period.
    pub record: usize,
    /// What is measured.
    pub measure: &'m MeasurementType<'m>,
    /// Its label.
    pub label: &'m Label,
    /// The value.
    pub value: MeasValue,
}

impl<'a> MeasReport<'a> {
    /// A report with one record of values without labels.
    pub fn single(values: impl IntoIterator<Item = (&'a str, MeasValue)>) -> Self {
        let mut report = Self::default();
        let mut record = Vec::new();
        for (name, value) in values {
            report.info.push(MeasInfo::named(name));
            record.push(value);
        }
        report.data.push(&record, false);
        report
    }

    /// Every value with its measurement and label. `subscribed` is what the subscription asked for, and names the
    /// values if the report does not. Values beyond the last label are left out.
    pub fn measurements<'m>(
        &'m self,
        subscribed: &'m [MeasInfo<'m>],
    ) -> impl Iterator<Item = Measurement<'m>> {
        let info: &'m [MeasInfo<'m>] = if self.info.is_empty() {
            subscribed
        } else {
            &self.info
        };
        self.data
            .records()
            .enumerate()
            .flat_map(move |(n, record)| {
                info.iter()
                    .flat_map(|info| info.labels().map(move |label| (&info.measure, label)))
                    .zip(record.values)
                    .map(move |((measure, label), value)| Measurement {
                        ue: None,
                        record: n,
                        measure,
                        label,
                        value: *value,
                    })
            })
    }

    /// Copies what is borrowed.
    pub fn into_owned(self) -> MeasReport<'static> {
        MeasReport {
            data: self.data,
            info: self.info.into_iter().map(MeasInfo::into_owned).collect(),
            granularity_ms: self.granularity_ms,
        }
    }

    pub(super) fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let p = r.sequence(2)?;
        let data = MeasData::read(r)?;
        let info = match p.has(0) {
            true => MeasInfo::read_list(r)?,
            false => Vec::new(),
        };
        let granularity_ms = match p.has(1) {
            true => Some(read_granularity(r)?),
            false => None,
        };
        r.skip_additions(p)?;
        Ok(Self {
            data,
            info,
            granularity_ms,
        })
    }

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(
            false,
            &[!self.info.is_empty(), self.granularity_ms.is_some()],
        );
        self.data.write(w)?;
        if !self.info.is_empty() {
            MeasInfo::write_list(w, &self.info)?;
        }
        self.granularity_ms
            .map_or(Ok(()), |ms| write_granularity(w, ms))
    }
}

/// GranularityPeriod (clause 8.3.8).
pub(super) fn read_granularity(r: &mut Reader<'_>) -> Result<u32, DecodeError> {
    let ms = r.constrained(1, u64::from(u32::MAX)).at("granulPeriod")?;
    Ok(ms as u32)
}

pub(super) fn write_granularity(w: &mut Writer, ms: u32) -> Result<(), EncodeError> {
    w.constrained(u64::from(ms), 1, u64::from(u32::MAX))
        .at("granulPeriod")
}
