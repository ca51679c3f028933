//! Measurements: what is measured (clauses 8.3.9 to 8.3.11).

use std::borrow::Cow;

use super::{Dialect, Label, TestExpression, TestValue};
use crate::aper::{Alternative, DecodeError, EncodeError, Locate, Reader, Writer};
use crate::common::{UnknownChoice, read_late_addition};

/// Items of the lists whose bound is 2³¹-1: labels of a measurement, values of a record.
pub(super) const MANY: u64 = i32::MAX as u64;

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
