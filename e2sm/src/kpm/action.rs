//! Action definition (clause 8.2.1.2): what a subscription asks for.

use super::{
    BinRangeDefinition, Dialect, MeasCondition, MeasInfo, MeasurementType, UeCondition,
    report::{read_granularity, write_granularity},
    whole,
};
use crate::aper::{
    Alternative, DecodeError, DecodeErrorKind, EncodeError, Locate, Notes, Reader, Writer,
};
use crate::common::{Cgi, UeId};

/// Action definition.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ActionDefinition {
    /// Report style, one of those that the RAN function description offers.
    pub style: i64,
    /// What is asked for.
    pub format: ActionFormat,
}

/// What is asked for, by format.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ActionFormat {
    /// Measurements of the node or of a cell (clause 8.2.1.2.1). Answered by message format 1.
    Format1(CellAction),
    /// Measurements of one UE (clause 8.2.1.2.2). Answered by message format 1.
    Format2 {
        /// The UE.
        ue: UeId,
        /// What is measured.
        action: CellAction,
    },
    /// Measurements over all UEs that match (clause 8.2.1.2.3). Answered by message format 2.
    Format3 {
        /// Measurements and conditions.
        measurements: Vec<MeasCondition>,
        /// Granularity period in ms.
        granularity_ms: u32,
        /// Only of this cell.
        cell: Option<Cgi>,
    },
    /// The same measurements of each UE that matches (clause 8.2.1.2.4). Answered by message format 3.
    Format4 {
        /// Which UEs.
        conditions: Vec<UeCondition>,
        /// What is measured.
        action: CellAction,
    },
    /// The same measurements of two or more UEs (clause 8.2.1.2.5). Answered by message format 3.
    Format5 {
        /// The UEs, at least two.
        ues: Vec<UeId>,
        /// What is measured.
        action: CellAction,
    },
}

/// Measurements and their period: format 1, and the part that formats 2, 4 and 5 share with it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CellAction {
    /// What is measured.
    pub info: Vec<MeasInfo<'static>>,
    /// Granularity period in ms. OAI wants it to be the reporting period.
    pub granularity_ms: u32,
    /// Only of this cell.
    pub cell: Option<Cgi>,
    /// Bins of distributions (v3).
    pub bin_ranges: Vec<BinRangeFor>,
}

/// Bins of one distribution.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BinRangeFor {
    /// Which measurement.
    pub measure: MeasurementType<'static>,
    /// Its bins.
    pub bin_range: BinRangeDefinition,
}

impl ActionDefinition {
    /// Reads a RIC action definition.
    ///
    /// # Errors
    /// Malformed octets, or a format that is not known.
    pub fn decode(octets: &[u8], dialect: Dialect) -> Result<(Self, Notes), DecodeError> {
        whole(octets, "E2SM-KPM-ActionDefinition", |r| {
            let p = r.sequence(0)?;
            let style = r.unconstrained().at("ric-Style-Type")?;
            let format = ActionFormat::read(r, dialect)?;
            r.skip_additions(p)?;
            Ok(Self { style, format })
        })
    }

    /// Octets of the RIC action definition.
    ///
    /// # Errors
    /// What the format cannot hold: an empty list, a period of 0, fewer than two UEs in format 5.
    pub fn encode(&self, dialect: Dialect) -> Result<Vec<u8>, EncodeError> {
        let mut w = Writer::new();
        w.sequence(false, &[]);
        w.unconstrained(self.style);
        self.format
            .write(&mut w, dialect)
            .at("E2SM-KPM-ActionDefinition")?;
        Ok(w.finish())
    }
}

impl ActionFormat {
    fn read(r: &mut Reader<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        match r.choice(if dialect.moved() { 5 } else { 3 })? {
            Alternative::Root(0) => CellAction::read(r, dialect)
                .map(Self::Format1)
                .at("actionDefinition-Format1"),
            Alternative::Root(1) => read_format2(r, dialect).at("actionDefinition-Format2"),
            Alternative::Root(2) => read_format3(r, dialect).at("actionDefinition-Format3"),
            Alternative::Root(3) => read_format4(r, dialect).at("actionDefinition-Format4"),
            Alternative::Root(_) => read_format5(r, dialect).at("actionDefinition-Format5"),
            Alternative::Addition(0) if !dialect.moved() => r
                .open_type(|r| read_format4(r, dialect))
                .at("actionDefinition-Format4"),
            Alternative::Addition(1) if !dialect.moved() => r
                .open_type(|r| read_format5(r, dialect))
                .at("actionDefinition-Format5"),
            Alternative::Addition(n) => Err(r.error(DecodeErrorKind::UnknownAlternative(n))),
        }
    }

    fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        let index = match self {
            Self::Format1(_) => 0,
            Self::Format2 { .. } => 1,
            Self::Format3 { .. } => 2,
            Self::Format4 { .. } => 3,
            Self::Format5 { .. } => 4,
        };
        if dialect.moved() {
            w.choice(index, 5)?;
            self.write_contents(w, dialect)
        } else if index < 3 {
            w.choice(index, 3)?;
            self.write_contents(w, dialect)
        } else {
            w.choice_addition(index - 3, |w| self.write_contents(w, dialect))
        }
    }

    fn write_contents(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        match self {
            Self::Format1(action) => action.write(w, dialect),
            Self::Format2 { ue, action } => {
                w.sequence(false, &[]);
                ue.write(w).at("ueID")?;
                action.write(w, dialect)
            }
            Self::Format3 {
                measurements,
                granularity_ms,
                cell,
            } => {
                w.sequence(false, &[cell.is_some()]);
                w.sequence_of(measurements, 1, 65535, |w, m| m.write(w, dialect))
                    .at("measCondList")?;
                write_granularity(w, *granularity_ms)?;
                cell.as_ref().map_or(Ok(()), |cell| cell.write(w))
            }
            Self::Format4 { conditions, action } => {
                w.sequence(false, &[]);
                w.sequence_of(conditions, 1, 32768, |w, c| c.write(w, dialect))
                    .at("matchingUeCondList")?;
                action.write(w, dialect)
            }
            Self::Format5 { ues, action } => {
                w.sequence(false, &[]);
                w.sequence_of(ues, 2, 65535, |w, ue| {
                    w.sequence(false, &[]);
                    ue.write(w).at("ueID")
                })
                .at("matchingUEidList")?;
                action.write(w, dialect)
            }
        }
    }
}

fn read_format2(r: &mut Reader<'_>, dialect: Dialect) -> Result<ActionFormat, DecodeError> {
    let p = r.sequence(0)?;
    let ue = UeId::read(r).at("ueID")?;
    let action = CellAction::read(r, dialect).at("subscriptInfo")?;
    r.skip_additions(p)?;
    Ok(ActionFormat::Format2 { ue, action })
}

fn read_format3(r: &mut Reader<'_>, dialect: Dialect) -> Result<ActionFormat, DecodeError> {
    let p = r.sequence(1)?;
    let measurements = r
        .sequence_of(1, 65535, 30, |r| MeasCondition::read(r, dialect))
        .at("measCondList")?;
    let granularity_ms = read_granularity(r)?;
    let cell = match p.has(0) {
        true => Some(Cgi::read(r).at("cellGlobalID")?),
        false => None,
    };
    r.skip_additions(p)?;
    Ok(ActionFormat::Format3 {
        measurements,
        granularity_ms,
        cell,
    })
}

fn read_format4(r: &mut Reader<'_>, dialect: Dialect) -> Result<ActionFormat, DecodeError> {
    let p = r.sequence(0)?;
    let conditions = r
        .sequence_of(1, 32768, 8, |r| UeCondition::read(r, dialect))
        .at("matchingUeCondList")?;
    let action = CellAction::read(r, dialect).at("subscriptionInfo")?;
    r.skip_additions(p)?;
    Ok(ActionFormat::Format4 { conditions, action })
}

fn read_format5(r: &mut Reader<'_>, dialect: Dialect) -> Result<ActionFormat, DecodeError> {
    let p = r.sequence(0)?;
    let ues = super::message::read_ues(r, 2).at("matchingUEidList")?;
    let action = CellAction::read(r, dialect).at("subscriptionInfo")?;
    r.skip_additions(p)?;
    Ok(ActionFormat::Format5 { ues, action })
}

impl CellAction {
    fn read(r: &mut Reader<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        let p = r.sequence(1 + u32::from(dialect.moved()))?;
        let info = MeasInfo::read_list(r)?;
        let info = info.into_iter().map(MeasInfo::into_owned).collect();
        let granularity_ms = read_granularity(r)?;
        let cell = match p.has(0) {
            true => Some(Cgi::read(r).at("cellGlobalID")?),
            false => None,
        };
        let mut bin_ranges = match p.has(1) {
            true => BinRangeFor::read_list(r)?,
            false => Vec::new(),
        };
        r.additions(p, |index, r| {
            let known = index == 0 && !dialect.moved();
            if known {
                bin_ranges = BinRangeFor::read_list(r)?;
            }
            Ok(known)
        })?;
        Ok(Self {
            info,
            granularity_ms,
            cell,
            bin_ranges,
        })
    }

    fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        let bins = !self.bin_ranges.is_empty();
        if dialect.moved() {
            w.sequence(false, &[self.cell.is_some(), bins]);
        } else {
            w.sequence(bins, &[self.cell.is_some()]);
        }
        MeasInfo::write_list(w, &self.info)?;
        write_granularity(w, self.granularity_ms)?;
        if let Some(cell) = &self.cell {
            cell.write(w).at("cellGlobalID")?;
        }
        match (bins, dialect.moved()) {
            (false, _) => Ok(()),
            (true, true) => BinRangeFor::write_list(w, &self.bin_ranges),
            (true, false) => w.additions(&[Some(&|w: &mut Writer| {
                BinRangeFor::write_list(w, &self.bin_ranges)
            })]),
        }
    }
}

impl BinRangeFor {
    fn read_list(r: &mut Reader<'_>) -> Result<Vec<Self>, DecodeError> {
        r.sequence_of(1, 65535, 30, |r| {
            let p = r.sequence(0)?;
            let measure = MeasurementType::read(r).at("measType")?.into_owned();
            let bin_range = BinRangeDefinition::read(r).at("binRangeDef")?;
            r.skip_additions(p)?;
            Ok(Self { measure, bin_range })
        })
        .at("distMeasBinRangeInfo")
    }

    fn write_list(w: &mut Writer, list: &[Self]) -> Result<(), EncodeError> {
        w.sequence_of(list, 1, 65535, |w, item| {
            w.sequence(false, &[]);
            item.measure.write(w)?;
            item.bin_range.write(w)
        })
        .at("distMeasBinRangeInfo")
    }
}
