//! Conditions on UEs (clauses 8.3.22, 8.3.23 and 8.3.25).

use super::{BinRangeDefinition, Dialect, Label, MeasurementType};
use crate::aper::{
    Alternative, BitString, DecodeError, EncodeError, Locate, Reader, Writer, enumerated,
};
use crate::common::{UnknownChoice, read_flag, write_flag};

/// What a test looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TestType {
    /// Guaranteed bit rate.
    Gbr,
    /// Aggregate maximum bit rate.
    Ambr,
    /// The UE stands still.
    IsStat,
    /// The UE is of category M.
    IsCatM,
    /// Downlink RSRP.
    Rsrp,
    /// Downlink RSRQ.
    Rsrq,
    /// Uplink RSRP.
    UlRsrp,
    /// CQI.
    Cqi,
    /// 5QI.
    FiveQi,
    /// QCI.
    Qci,
    /// Slice: an octet string of SST, or of SST and SD.
    SNssai,
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

impl TestType {
    /// In order; the first [`ROOT_TYPES`] are the root alternatives.
    const KNOWN: [Self; 11] = [
        Self::Gbr,
        Self::Ambr,
        Self::IsStat,
        Self::IsCatM,
        Self::Rsrp,
        Self::Rsrq,
        Self::UlRsrp,
        Self::Cqi,
        Self::FiveQi,
        Self::Qci,
        Self::SNssai,
    ];

    fn known(r: &Reader<'_>, index: u32) -> Result<Self, DecodeError> {
        let known = Self::KNOWN.get(index as usize).cloned();
        known.ok_or_else(|| r.out_of_range(u64::from(index), 0, Self::KNOWN.len() as u64 - 1))
    }

    fn read(r: &mut Reader<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        if dialect.moved() {
            return match r.choice(Self::KNOWN.len() as u32)? {
                Alternative::Root(index) => {
                    read_flag(r)?;
                    Self::known(r, index)
                }
                Alternative::Addition(n) => UnknownChoice::read(r, n).map(Self::Unknown),
            };
        }
        match r.choice(ROOT_TYPES)? {
            Alternative::Root(index) => {
                read_flag(r)?;
                Self::known(r, index)
            }
            Alternative::Addition(n) if n < Self::KNOWN.len() as u32 - ROOT_TYPES => {
                r.open_type(read_flag)?;
                Self::known(r, n + ROOT_TYPES)
            }
            Alternative::Addition(n) => UnknownChoice::read(r, n).map(Self::Unknown),
        }
    }

    fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        if let Self::Unknown(unknown) = self {
            return unknown.write(w);
        }
        let index = Self::KNOWN.iter().position(|known| known == self);
        let index = index.unwrap_or_default() as u32;
        if dialect.moved() {
            w.choice(index, Self::KNOWN.len() as u32)?;
            write_flag(w)
        } else if index < ROOT_TYPES {
            w.choice(index, ROOT_TYPES)?;
            write_flag(w)
        } else {
            w.choice_addition(index - ROOT_TYPES, write_flag)
        }
    }
}

const ROOT_TYPES: u32 = 6;

enumerated!(
    /// How a test compares.
    TestExpression {
        Equal = "equal",
        GreaterThan = "greaterthan",
        LessThan = "lessthan",
        Contains = "contains",
        Present = "present",
    }
);

/// What a test compares with.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TestValue {
    /// A whole number.
    Int(i64),
    /// An enumerated value by its number.
    Enum(i64),
    /// A truth value.
    Bool(bool),
    /// Bits.
    Bits(BitString),
    /// Octets. The slice 1 without differentiator is `01`.
    Octets(#[cfg_attr(feature = "serde", serde(serialize_with = "crate::common::hex"))] Vec<u8>),
    /// Text.
    Text(String),
    /// A real number.
    Real(f64),
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

impl TestValue {
    pub(super) fn read(r: &mut Reader<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        Ok(match r.choice(if dialect.moved() { 7 } else { 6 })? {
            Alternative::Root(0) => Self::Int(r.unconstrained()?),
            Alternative::Root(1) => Self::Enum(r.unconstrained()?),
            Alternative::Root(2) => Self::Bool(r.bit()?),
            Alternative::Root(3) => Self::Bits(r.unbounded_bit_string()?),
            Alternative::Root(4) => Self::Octets(r.octet_string()?.into_owned()),
            Alternative::Root(5) => Self::Text(r.unbounded_printable_string()?),
            Alternative::Root(_) => Self::Real(r.real()?),
            Alternative::Addition(0) if !dialect.moved() => Self::Real(r.open_type(|r| r.real())?),
            Alternative::Addition(n) => Self::Unknown(UnknownChoice::read(r, n)?),
        })
    }

    pub(super) fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        let root = if dialect.moved() { 7 } else { 6 };
        match self {
            Self::Int(value) => {
                w.choice(0, root)?;
                w.unconstrained(*value);
                Ok(())
            }
            Self::Enum(value) => {
                w.choice(1, root)?;
                w.unconstrained(*value);
                Ok(())
            }
            Self::Bool(value) => {
                w.choice(2, root)?;
                w.bit(*value);
                Ok(())
            }
            Self::Bits(bits) => {
                w.choice(3, root)?;
                w.unbounded_bit_string(bits)
            }
            Self::Octets(octets) => {
                w.choice(4, root)?;
                w.octet_string(octets)
            }
            Self::Text(text) => {
                w.choice(5, root)?;
                w.unbounded_printable_string(text)
            }
            Self::Real(value) if dialect.moved() => {
                w.choice(6, root)?;
                w.real(*value)
            }
            Self::Real(value) => w.choice_addition(0, |w| w.real(*value)),
            Self::Unknown(unknown) => unknown.write(w),
        }
    }
}

/// A test of a UE (clause 8.3.22). FlexRIC and OAI abort without expression and value.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TestCondition {
    /// What is looked at.
    pub test: TestType,
    /// How it is compared.
    pub expression: Option<TestExpression>,
    /// With what.
    pub value: Option<TestValue>,
}

impl TestCondition {
    pub(super) fn read(r: &mut Reader<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        let p = r.sequence(2)?;
        let test = TestType::read(r, dialect).at("testType")?;
        let expression = match p.has(0) {
            true => Some(TestExpression::decode(r).at("testExpr")?),
            false => None,
        };
        let value = match p.has(1) {
            true => Some(TestValue::read(r, dialect).at("testValue")?),
            false => None,
        };
        r.skip_additions(p)?;
        Ok(Self {
            test,
            expression,
            value,
        })
    }

    pub(super) fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        w.sequence(false, &[self.expression.is_some(), self.value.is_some()]);
        self.test.write(w, dialect).at("testType")?;
        if let Some(expression) = self.expression {
            expression.encode(w).at("testExpr")?;
        }
        match &self.value {
            Some(value) => value.write(w, dialect).at("testValue"),
            None => Ok(()),
        }
    }
}

/// One condition on a UE in action definition format 4.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UeCondition {
    /// The test.
    pub test: TestCondition,
    /// Joined to the next condition by OR; else by AND.
    pub logical_or: bool,
}

impl UeCondition {
    pub(super) fn read(r: &mut Reader<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let test = TestCondition::read(r, dialect).at("testCondInfo")?;
        let mut logical_or = false;
        r.additions(p, |index, r| {
            if index == 0 {
                logical_or = read_flag(r)?;
            }
            Ok(index == 0)
        })?;
        Ok(Self { test, logical_or })
    }

    pub(super) fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        w.sequence(self.logical_or, &[]);
        self.test.write(w, dialect).at("testCondInfo")?;
        if self.logical_or {
            w.additions(&[Some(&write_flag)])?;
        }
        Ok(())
    }
}

/// What a UE must match in action definition format 3 and message format 2.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum MatchingCondition {
    /// A label.
    Label(Label),
    /// A test.
    Test(TestCondition),
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

/// One condition and how it is joined to the next.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MatchingConditionItem {
    /// The condition.
    pub condition: MatchingCondition,
    /// Joined to the next condition by OR; else by AND.
    pub logical_or: bool,
}

impl MatchingConditionItem {
    /// The list SIZE (1..32768) of these.
    pub(super) fn read_list(
        r: &mut Reader<'_>,
        dialect: Dialect,
    ) -> Result<Vec<Self>, DecodeError> {
        r.sequence_of(1, 32768, 8, |r| Self::read(r, dialect))
            .at("matchingCond")
    }

    pub(super) fn write_list(
        w: &mut Writer,
        list: &[Self],
        dialect: Dialect,
    ) -> Result<(), EncodeError> {
        w.sequence_of(list, 1, 32768, |w, item| item.write(w, dialect))
            .at("matchingCond")
    }

    fn read(r: &mut Reader<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        let p = r.sequence(1)?;
        let condition = match r.choice(2)? {
            Alternative::Root(0) => MatchingCondition::Label(Label::read(r).at("measLabel")?),
            Alternative::Root(_) => {
                MatchingCondition::Test(TestCondition::read(r, dialect).at("testCondInfo")?)
            }
            Alternative::Addition(n) => MatchingCondition::Unknown(UnknownChoice::read(r, n)?),
        };
        let logical_or = p.has(0) && read_flag(r)?;
        r.skip_additions(p)?;
        Ok(Self {
            condition,
            logical_or,
        })
    }

    fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        w.sequence(false, &[self.logical_or]);
        match &self.condition {
            MatchingCondition::Label(label) => {
                w.choice(0, 2)?;
                label.write(w)?;
            }
            MatchingCondition::Test(test) => {
                w.choice(1, 2)?;
                test.write(w, dialect)?;
            }
            MatchingCondition::Unknown(unknown) => unknown.write(w)?,
        }
        if self.logical_or {
            write_flag(w)?;
        }
        Ok(())
    }
}

/// A measurement of all UEs that match, in action definition format 3.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MeasCondition {
    /// What is measured.
    pub measure: MeasurementType<'static>,
    /// Which UEs.
    pub conditions: Vec<MatchingConditionItem>,
    /// Bins of a distribution (v3).
    pub bin_range: Option<BinRangeDefinition>,
}

impl MeasCondition {
    pub(super) fn read(r: &mut Reader<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        let p = r.sequence(u32::from(dialect.moved()))?;
        let measure = MeasurementType::read(r).at("measType")?.into_owned();
        let conditions = MatchingConditionItem::read_list(r, dialect)?;
        let mut bin_range = match p.has(0) {
            true => Some(BinRangeDefinition::read(r).at("binRangeDef")?),
            false => None,
        };
        r.additions(p, |index, r| {
            let known = index == 0 && !dialect.moved();
            if known {
                bin_range = Some(BinRangeDefinition::read(r)?);
            }
            Ok(known)
        })?;
        Ok(Self {
            measure,
            conditions,
            bin_range,
        })
    }

    pub(super) fn write(&self, w: &mut Writer, dialect: Dialect) -> Result<(), EncodeError> {
        let bins = self.bin_range.is_some();
        if dialect.moved() {
            w.sequence(false, &[bins]);
        } else {
            w.sequence(bins, &[]);
        }
        self.measure.write(w).at("measType")?;
        MatchingConditionItem::write_list(w, &self.conditions, dialect)?;
        match &self.bin_range {
            Some(bins) if dialect.moved() => bins.write(w),
            Some(bins) => w.additions(&[Some(&|w: &mut Writer| bins.write(w))]),
            None => Ok(()),
        }
    }
}
