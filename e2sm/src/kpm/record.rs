//! Records of values (clause 8.2.1.4.1).

use super::measure::MANY;
use crate::aper::{Alternative, DecodeError, EncodeError, EncodeErrorKind, Locate, Reader, Writer};
use crate::common::{read_flag, write_flag};

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
