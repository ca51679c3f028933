//! Cells, slices and core network nodes.

use super::{Plmn, UnknownChoice};
use crate::aper::{Alternative, DecodeError, EncodeError, Locate, Reader, Writer};

/// S-NSSAI, a network slice (TS 38.413 clause 9.3.1.24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SNssai {
    /// Slice/service type.
    pub sst: u8,
    /// Slice differentiator, 24 bits.
    pub sd: Option<u32>,
}

impl SNssai {
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(1)?;
        let [sst] = r.octet_array().at("sST")?;
        let sd = if p.has(0) {
            let [a, b, c] = r.octet_array().at("sD")?;
            Some(u32::from_be_bytes([0, a, b, c]))
        } else {
            None
        };
        r.skip_additions(p)?;
        Ok(Self { sst, sd })
    }

    pub(crate) fn write(self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[self.sd.is_some()]);
        w.octet_array(&[self.sst]);
        if let Some(sd) = self.sd {
            w.align();
            // OCTET STRING (SIZE(3)): as a bit field, so that a differentiator of more than 24 bits is refused.
            w.bit_field(u64::from(sd), 24).at("sD")?;
        }
        Ok(())
    }
}

/// GUAMI, an AMF (TS 38.413 clause 9.3.3.3). OAI sends it all zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Guami {
    /// Network.
    pub plmn: Plmn,
    /// AMF region, 8 bits.
    pub region: u8,
    /// AMF set, 10 bits.
    pub set: u16,
    /// AMF pointer, 6 bits.
    pub pointer: u8,
}

impl Guami {
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let value = Self {
            plmn: Plmn(r.octet_array().at("pLMNIdentity")?),
            region: r.bit_field(8).at("aMFRegionID")? as u8,
            set: r.bit_field(10).at("aMFSetID")? as u16,
            pointer: r.bit_field(6).at("aMFPointer")? as u8,
        };
        r.skip_additions(p)?;
        Ok(value)
    }

    pub(crate) fn write(self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        w.octet_array(&self.plmn.0);
        w.bit_field(u64::from(self.region), 8).at("aMFRegionID")?;
        w.bit_field(u64::from(self.set), 10).at("aMFSetID")?;
        w.bit_field(u64::from(self.pointer), 6).at("aMFPointer")
    }
}

/// GUMMEI, an MME (TS 36.413 clause 9.2.3.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Gummei {
    /// Network.
    pub plmn: Plmn,
    /// MME group.
    pub group: u16,
    /// MME code.
    pub code: u8,
}

impl Gummei {
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let plmn = Plmn(r.octet_array().at("pLMN-Identity")?);
        let group = u16::from_be_bytes(r.octet_array().at("mME-Group-ID")?);
        let [code] = r.octet_array().at("mME-Code")?;
        r.skip_additions(p)?;
        Ok(Self { plmn, group, code })
    }

    pub(crate) fn write(self, w: &mut Writer) {
        w.sequence(false, &[]);
        w.octet_array(&self.plmn.0);
        w.octet_array(&self.group.to_be_bytes());
        w.octet_array(&[self.code]);
    }
}

/// Cell global identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Cgi {
    /// NR-CGI (TS 38.413 clause 9.3.1.7).
    Nr {
        /// Network.
        plmn: Plmn,
        /// NR cell identity, 36 bits.
        cell: u64,
    },
    /// E-UTRA CGI (TS 38.413 clause 9.3.1.9).
    Eutra {
        /// Network.
        plmn: Plmn,
        /// E-UTRA cell identity, 28 bits.
        cell: u32,
    },
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

impl Cgi {
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let nr = match r.choice(2)? {
            Alternative::Root(index) => index == 0,
            Alternative::Addition(n) => return UnknownChoice::read(r, n).map(Self::Unknown),
        };
        let p = r.sequence(0)?;
        let plmn = Plmn(r.octet_array().at("pLMNIdentity")?);
        let value = if nr {
            let cell = r.bit_field(36).at("nRCellIdentity")?;
            Self::Nr { plmn, cell }
        } else {
            let cell = r.bit_field(28).at("eUTRACellIdentity")? as u32;
            Self::Eutra { plmn, cell }
        };
        r.skip_additions(p)?;
        Ok(value)
    }

    pub(crate) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        let (index, plmn, cell, bits) = match self {
            Self::Nr { plmn, cell } => (0, plmn, *cell, 36),
            Self::Eutra { plmn, cell } => (1, plmn, u64::from(*cell), 28),
            Self::Unknown(unknown) => return unknown.write(w),
        };
        w.choice(index, 2)?;
        w.sequence(false, &[]);
        w.octet_array(&plmn.0);
        w.bit_field(cell, bits).at("cellIdentity")
    }
}
