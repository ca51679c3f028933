//! Measurement labels (clause 8.3.11): which part of a measurement a value stands for.

use crate::aper::{
    Addition, Alternative, DecodeError, EncodeError, Locate, Reader, Writer, enumerated,
};
use crate::common::{Cgi, Plmn, SNssai, UnknownChoice, read_flag, read_late_addition, write_flag};

/// Label of one value. Nearly all are `noLabel`, so everything else is kept behind a pointer.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Label {
    /// `noLabel` and nothing else: the whole measurement.
    #[default]
    NoLabel,
    /// Anything else.
    Labels(Box<MeasurementLabel>),
}

impl Label {
    /// What the label says; `None` for [`Label::NoLabel`].
    pub fn labels(&self) -> Option<&MeasurementLabel> {
        match self {
            Self::NoLabel => None,
            Self::Labels(labels) => Some(labels),
        }
    }
}

impl From<MeasurementLabel> for Label {
    fn from(labels: MeasurementLabel) -> Self {
        let only = MeasurementLabel {
            no_label: true,
            ..MeasurementLabel::default()
        };
        if labels == only {
            Self::NoLabel
        } else {
            Self::Labels(Box::new(labels))
        }
    }
}

enumerated!(
    /// Whether a value was taken at the start or at the end of the granularity period.
    StartEnd { Start = "start", End = "end" }
);

/// Beam of a cell (v4).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum BeamId {
    /// NR SSB index, 0 to 63.
    NrSsb(u8),
    /// An alternative that is not known here.
    Unknown(UnknownChoice),
}

/// All that a label can say. Integers may lie outside of their usual range, as the standard lets them.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MeasurementLabel {
    /// No label applies.
    pub no_label: bool,
    /// Of one PLMN.
    pub plmn_id: Option<Plmn>,
    /// Of one slice.
    pub slice_id: Option<SNssai>,
    /// Of one 5QI, 0 to 255.
    pub five_qi: Option<i64>,
    /// Of one QoS flow, 0 to 63.
    pub qfi: Option<i64>,
    /// Of one QCI.
    pub qci: Option<u8>,
    /// Up to this QCI.
    pub qci_max: Option<u8>,
    /// From this QCI on.
    pub qci_min: Option<u8>,
    /// Up to this allocation and retention priority, 1 to 15.
    pub arp_max: Option<i64>,
    /// From this allocation and retention priority on, 1 to 15.
    pub arp_min: Option<i64>,
    /// Of one bit rate range, 1 to 65535.
    pub bitrate_range: Option<i64>,
    /// Of one layer of MU-MIMO, 1 to 65535.
    pub layer_mu_mimo: Option<i64>,
    /// The sum.
    pub sum: bool,
    /// Of one bin in the first dimension, 1 to 65535.
    pub dist_bin_x: Option<i64>,
    /// Of one bin in the second dimension.
    pub dist_bin_y: Option<i64>,
    /// Of one bin in the third dimension.
    pub dist_bin_z: Option<i64>,
    /// This label replaces the preceding one.
    pub pre_label_override: bool,
    /// At the start or at the end of the period.
    pub start_end_ind: Option<StartEnd>,
    /// The smallest value.
    pub min: bool,
    /// The largest value.
    pub max: bool,
    /// The mean.
    pub avg: bool,
    /// Of one SSB, 1 to 65535 (v3).
    pub ssb_index: Option<i64>,
    /// Of one non-grid-of-beams mode, 1 to 65535 (v3).
    pub non_gob_bf_mode_index: Option<i64>,
    /// 1 SU-MIMO, 2 MU-MIMO (v3).
    pub mimo_mode_index: Option<i64>,
    /// Of one cell (v4).
    pub cell_global_id: Option<Cgi>,
    /// Of one beam (v4).
    pub beam_id: Option<BeamId>,
}

const ROOT_LABELS: u32 = 21;

impl Label {
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(ROOT_LABELS)?;
        if p.has_only(0) {
            read_flag(r)?;
            return Ok(Self::NoLabel);
        }
        let mut label = MeasurementLabel::default();
        let l = &mut label;
        for index in (0..ROOT_LABELS).filter(|index| p.has(*index)) {
            match index {
                0 => l.no_label = read_flag(r)?,
                1 => l.plmn_id = Some(Plmn(r.octet_array().at("plmnID")?)),
                2 => l.slice_id = Some(SNssai::read(r).at("sliceID")?),
                3 => l.five_qi = Some(r.extensible(0, 255).at("fiveQI")?),
                4 => l.qfi = Some(r.extensible(0, 63).at("qFI")?),
                5 => l.qci = Some(r.constrained(0, 255).at("qCI")? as u8),
                6 => l.qci_max = Some(r.constrained(0, 255).at("qCImax")? as u8),
                7 => l.qci_min = Some(r.constrained(0, 255).at("qCImin")? as u8),
                8 => l.arp_max = Some(r.extensible(1, 15).at("aRPmax")?),
                9 => l.arp_min = Some(r.extensible(1, 15).at("aRPmin")?),
                10 => l.bitrate_range = Some(r.extensible(1, 65535).at("bitrateRange")?),
                11 => l.layer_mu_mimo = Some(r.extensible(1, 65535).at("layerMU-MIMO")?),
                12 => l.sum = read_flag(r)?,
                13 => l.dist_bin_x = Some(r.extensible(1, 65535).at("distBinX")?),
                14 => l.dist_bin_y = Some(r.extensible(1, 65535).at("distBinY")?),
                15 => l.dist_bin_z = Some(r.extensible(1, 65535).at("distBinZ")?),
                16 => l.pre_label_override = read_flag(r)?,
                17 => l.start_end_ind = Some(StartEnd::decode(r).at("startEndInd")?),
                18 => l.min = read_flag(r)?,
                19 => l.max = read_flag(r)?,
                _ => l.avg = read_flag(r)?,
            }
        }
        r.additions(p, |index, r| {
            match index {
                0 => l.ssb_index = Some(r.extensible(1, 65535)?),
                1 => l.non_gob_bf_mode_index = Some(r.extensible(1, 65535)?),
                2 => l.mimo_mode_index = Some(r.extensible(1, 2)?),
                3 => {
                    l.cell_global_id = read_late_addition(r, Cgi::read);
                    return Ok(l.cell_global_id.is_some());
                }
                4 => {
                    l.beam_id = read_late_addition(r, BeamId::read);
                    return Ok(l.beam_id.is_some());
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(Self::from(label))
    }

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        match self {
            Self::NoLabel => MeasurementLabel {
                no_label: true,
                ..MeasurementLabel::default()
            }
            .write(w),
            Self::Labels(labels) => labels.write(w),
        }
    }
}

impl MeasurementLabel {
    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        let of_v4 = self.cell_global_id.is_some() || self.beam_id.is_some();
        let of_v3 = self.ssb_index.is_some()
            || self.non_gob_bf_mode_index.is_some()
            || self.mimo_mode_index.is_some();
        w.sequence(
            of_v3 || of_v4,
            &[
                self.no_label,
                self.plmn_id.is_some(),
                self.slice_id.is_some(),
                self.five_qi.is_some(),
                self.qfi.is_some(),
                self.qci.is_some(),
                self.qci_max.is_some(),
                self.qci_min.is_some(),
                self.arp_max.is_some(),
                self.arp_min.is_some(),
                self.bitrate_range.is_some(),
                self.layer_mu_mimo.is_some(),
                self.sum,
                self.dist_bin_x.is_some(),
                self.dist_bin_y.is_some(),
                self.dist_bin_z.is_some(),
                self.pre_label_override,
                self.start_end_ind.is_some(),
                self.min,
                self.max,
                self.avg,
            ],
        );
        let flag = |w: &mut Writer, set: bool| if set { write_flag(w) } else { Ok(()) };
        let number = |w: &mut Writer, value: Option<i64>, lo, hi| {
            value.map_or(Ok(()), |v| w.extensible(v, lo, hi))
        };
        let octet = |w: &mut Writer, value: Option<u8>| {
            value.map_or(Ok(()), |v| w.constrained(u64::from(v), 0, 255))
        };
        flag(w, self.no_label)?;
        if let Some(plmn) = self.plmn_id {
            w.octet_array(&plmn.0);
        }
        if let Some(slice) = self.slice_id {
            slice.write(w).at("sliceID")?;
        }
        number(w, self.five_qi, 0, 255)?;
        number(w, self.qfi, 0, 63)?;
        octet(w, self.qci)?;
        octet(w, self.qci_max)?;
        octet(w, self.qci_min)?;
        number(w, self.arp_max, 1, 15)?;
        number(w, self.arp_min, 1, 15)?;
        number(w, self.bitrate_range, 1, 65535)?;
        number(w, self.layer_mu_mimo, 1, 65535)?;
        flag(w, self.sum)?;
        number(w, self.dist_bin_x, 1, 65535)?;
        number(w, self.dist_bin_y, 1, 65535)?;
        number(w, self.dist_bin_z, 1, 65535)?;
        flag(w, self.pre_label_override)?;
        if let Some(at) = self.start_end_ind {
            at.encode(w)?;
        }
        flag(w, self.min)?;
        flag(w, self.max)?;
        flag(w, self.avg)?;
        if !of_v3 && !of_v4 {
            return Ok(());
        }

        let ssb = self
            .ssb_index
            .map(|v| move |w: &mut Writer| w.extensible(v, 1, 65535));
        let gob = self
            .non_gob_bf_mode_index
            .map(|v| move |w: &mut Writer| w.extensible(v, 1, 65535));
        let mimo = self
            .mimo_mode_index
            .map(|v| move |w: &mut Writer| w.extensible(v, 1, 2));
        let cell = self.cell_global_id.as_ref();
        let cell = cell.map(|cell| move |w: &mut Writer| cell.write(w));
        let beam = self.beam_id.as_ref();
        let beam = beam.map(|beam| move |w: &mut Writer| beam.write(w));
        let all = [
            ssb.as_ref().map(|write| write as Addition<'_>),
            gob.as_ref().map(|write| write as Addition<'_>),
            mimo.as_ref().map(|write| write as Addition<'_>),
            cell.as_ref().map(|write| write as Addition<'_>),
            beam.as_ref().map(|write| write as Addition<'_>),
        ];
        // As nodes of v3 encode, unless there is something of v4.
        let [ssb, gob, mimo, ..] = all;
        if of_v4 {
            w.additions(&all)
        } else {
            w.additions(&[ssb, gob, mimo])
        }
    }
}

impl BeamId {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match r.choice(1)? {
            Alternative::Root(_) => Self::NrSsb(r.constrained(0, 63)? as u8),
            Alternative::Addition(n) => Self::Unknown(UnknownChoice::read(r, n)?),
        })
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        match self {
            Self::NrSsb(index) => {
                w.choice(0, 1)?;
                w.constrained(u64::from(*index), 0, 63).at("beamID")
            }
            Self::Unknown(unknown) => unknown.write(w),
        }
    }
}
