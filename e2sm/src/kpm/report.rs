//! Values with their names: indication message format 1 (clause 8.2.1.4.1), and the part that format 3 has of each UE.

use super::{Label, MeasData, MeasInfo, MeasValue, MeasurementType};
use crate::aper::{DecodeError, EncodeError, Locate, Reader, Writer};
use crate::common::UeId;

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
