//! Base stations.

use super::{Plmn, UnknownChoice};
use crate::aper::{Alternative, DecodeError, EncodeError, Locate, Reader, Writer};

/// gNB id of 22 to 32 bits (TS 38.413 clause 9.3.1.6).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum GnbId {
    /// The id and how many bits it has: `1/22` and `1/32` are different gNBs.
    Bits {
        /// The id as a number.
        value: u32,
        /// Its length, 22 to 32.
        length: u8,
    },
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

/// Global gNB id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GlobalGnbId {
    /// Network.
    pub plmn: Plmn,
    /// gNB within the network.
    pub gnb: GnbId,
}

impl GlobalGnbId {
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let plmn = Plmn(r.octet_array().at("pLMNIdentity")?);
        let gnb = match r.choice(1)? {
            Alternative::Root(_) => {
                let length = r.constrained(22, 32).at("gNB-ID")?;
                r.align();
                let value = r.bits(length as u32).at("gNB-ID")? as u32;
                GnbId::Bits {
                    value,
                    length: length as u8,
                }
            }
            Alternative::Addition(n) => GnbId::Unknown(UnknownChoice::read(r, n).at("gNB-ID")?),
        };
        r.skip_additions(p)?;
        Ok(Self { plmn, gnb })
    }

    pub(crate) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        w.octet_array(&self.plmn.0);
        match &self.gnb {
            GnbId::Bits { value, length } => {
                w.choice(0, 1)?;
                w.constrained(u64::from(*length), 22, 32).at("gNB-ID")?;
                w.align();
                w.bit_field(u64::from(*value), u32::from(*length))
                    .at("gNB-ID")
            }
            GnbId::Unknown(unknown) => unknown.write(w),
        }
    }
}

/// ng-eNB id (TS 38.413 clause 9.3.1.8).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum NgEnbId {
    /// 20 bits.
    Macro(u32),
    /// 18 bits.
    ShortMacro(u32),
    /// 21 bits.
    LongMacro(u32),
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

/// Global ng-eNB id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GlobalNgEnbId {
    /// Network.
    pub plmn: Plmn,
    /// ng-eNB within the network.
    pub enb: NgEnbId,
}

impl GlobalNgEnbId {
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let plmn = Plmn(r.octet_array().at("pLMNIdentity")?);
        let enb = match r.choice(3)? {
            Alternative::Root(0) => NgEnbId::Macro(r.bit_field(20)? as u32),
            Alternative::Root(1) => NgEnbId::ShortMacro(r.bit_field(18)? as u32),
            Alternative::Root(_) => NgEnbId::LongMacro(r.bit_field(21)? as u32),
            Alternative::Addition(n) => NgEnbId::Unknown(UnknownChoice::read(r, n)?),
        };
        r.skip_additions(p)?;
        Ok(Self { plmn, enb })
    }

    pub(crate) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        w.octet_array(&self.plmn.0);
        let (index, value, bits) = match &self.enb {
            NgEnbId::Macro(value) => (0, value, 20),
            NgEnbId::ShortMacro(value) => (1, value, 18),
            NgEnbId::LongMacro(value) => (2, value, 21),
            NgEnbId::Unknown(unknown) => return unknown.write(w),
        };
        w.choice(index, 3)?;
        w.bit_field(u64::from(*value), bits).at("ngENB-ID")
    }
}

/// eNB id (TS 36.413 clause 9.2.1.37).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum EnbId {
    /// 20 bits.
    Macro(u32),
    /// 28 bits.
    Home(u32),
    /// 18 bits.
    ShortMacro(u32),
    /// 21 bits.
    LongMacro(u32),
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

/// Global eNB id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GlobalEnbId {
    /// Network.
    pub plmn: Plmn,
    /// eNB within the network.
    pub enb: EnbId,
}

impl GlobalEnbId {
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let plmn = Plmn(r.octet_array().at("pLMNIdentity")?);
        let enb = match r.choice(2)? {
            Alternative::Root(0) => EnbId::Macro(r.bit_field(20)? as u32),
            Alternative::Root(_) => EnbId::Home(r.bit_field(28)? as u32),
            Alternative::Addition(0) => {
                EnbId::ShortMacro(r.open_type(|r| r.bit_field(18)).at("eNB-ID")? as u32)
            }
            Alternative::Addition(1) => {
                EnbId::LongMacro(r.open_type(|r| r.bit_field(21)).at("eNB-ID")? as u32)
            }
            Alternative::Addition(n) => EnbId::Unknown(UnknownChoice::read(r, n)?),
        };
        r.skip_additions(p)?;
        Ok(Self { plmn, enb })
    }

    pub(crate) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        w.octet_array(&self.plmn.0);
        match &self.enb {
            EnbId::Macro(value) => {
                w.choice(0, 2)?;
                w.bit_field(u64::from(*value), 20)
            }
            EnbId::Home(value) => {
                w.choice(1, 2)?;
                w.bit_field(u64::from(*value), 28)
            }
            EnbId::ShortMacro(value) => {
                w.choice_addition(0, |w| w.bit_field(u64::from(*value), 18))
            }
            EnbId::LongMacro(value) => w.choice_addition(1, |w| w.bit_field(u64::from(*value), 21)),
            EnbId::Unknown(unknown) => unknown.write(w),
        }
        .at("eNB-ID")
    }
}

/// Global NG-RAN node id (TS 38.413 clause 9.3.1.5).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum GlobalNgRanNodeId {
    /// gNB.
    Gnb(GlobalGnbId),
    /// ng-eNB.
    NgEnb(GlobalNgEnbId),
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

impl GlobalNgRanNodeId {
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match r.choice(2)? {
            Alternative::Root(0) => GlobalGnbId::read(r).map(Self::Gnb),
            Alternative::Root(_) => GlobalNgEnbId::read(r).map(Self::NgEnb),
            Alternative::Addition(n) => UnknownChoice::read(r, n).map(Self::Unknown),
        }
    }

    pub(crate) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        match self {
            Self::Gnb(gnb) => {
                w.choice(0, 2)?;
                gnb.write(w)
            }
            Self::NgEnb(enb) => {
                w.choice(1, 2)?;
                enb.write(w)
            }
            Self::Unknown(unknown) => unknown.write(w),
        }
    }
}
