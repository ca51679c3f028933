//! Bins of distributions (clause 8.3.26).

use crate::aper::{Alternative, DecodeError, EncodeError, Locate, Reader, Writer};
use crate::common::UnknownChoice;

/// Binning of a measurement in up to three dimensions.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BinRangeDefinition {
    /// Bins of the first dimension, at least one.
    pub x: Vec<BinRange>,
    /// Bins of the second dimension; empty if there is none.
    pub y: Vec<BinRange>,
    /// Bins of the third dimension; empty if there is none.
    pub z: Vec<BinRange>,
}

/// One bin.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BinRange {
    /// Number of the bin, from 1.
    pub index: i64,
    /// Where the bin begins.
    pub start: BinRangeValue,
    /// Where the bin ends.
    pub end: BinRangeValue,
}

/// Border of a bin, in the unit of the measurement.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum BinRangeValue {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

impl BinRangeDefinition {
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(2)?;
        let x = read_bins(r).at("binRangeListX")?;
        let y = match p.has(0) {
            true => read_bins(r).at("binRangeListY")?,
            false => Vec::new(),
        };
        let z = match p.has(1) {
            true => read_bins(r).at("binRangeListZ")?,
            false => Vec::new(),
        };
        r.skip_additions(p)?;
        Ok(Self { x, y, z })
    }

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[!self.y.is_empty(), !self.z.is_empty()]);
        write_bins(w, &self.x).at("binRangeListX")?;
        if !self.y.is_empty() {
            write_bins(w, &self.y).at("binRangeListY")?;
        }
        if !self.z.is_empty() {
            write_bins(w, &self.z).at("binRangeListZ")?;
        }
        Ok(())
    }
}

fn read_bins(r: &mut Reader<'_>) -> Result<Vec<BinRange>, DecodeError> {
    r.sequence_of(1, 65535, 30, |r| {
        let p = r.sequence(0)?;
        let index = r.extensible(1, 65535).at("binIndex")?;
        let start = BinRangeValue::read(r).at("startValue")?;
        let end = BinRangeValue::read(r).at("endValue")?;
        r.skip_additions(p)?;
        Ok(BinRange { index, start, end })
    })
}

fn write_bins(w: &mut Writer, bins: &[BinRange]) -> Result<(), EncodeError> {
    w.sequence_of(bins, 1, 65535, |w, bin| {
        w.sequence(false, &[]);
        w.extensible(bin.index, 1, 65535)?;
        bin.start.write(w).at("startValue")?;
        bin.end.write(w).at("endValue")
    })
}

impl BinRangeValue {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match r.choice(2)? {
            Alternative::Root(0) => Self::Integer(r.unconstrained()?),
            Alternative::Root(_) => Self::Real(r.real()?),
            Alternative::Addition(n) => Self::Unknown(UnknownChoice::read(r, n)?),
        })
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        match self {
            Self::Integer(value) => {
                w.choice(0, 2)?;
                w.unconstrained(*value);
                Ok(())
            }
            Self::Real(value) => {
                w.choice(1, 2)?;
                w.real(*value)
            }
            Self::Unknown(unknown) => unknown.write(w),
        }
    }
}
