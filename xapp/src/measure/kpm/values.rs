//! KPM values of one UE, by what they measure.

use crate::measure::counters::{Counters, Reason};
use e2sm::{
    common::{self, RanUeId},
    kpm::{Label, MeasInfo, MeasReport},
};
use policies::{SNssai, UeId};

/// Raw values of one UE and its further names, in whatever unit the node has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Values {
    /// DRB.UEThpDl (TS 28.552 clause 5.1.1.3.1).
    pub(super) throughput_kbps: Option<f64>,
    /// RRU.PrbTotDl (clause 5.1.1.2.1).
    pub(super) prb_total: Option<f64>,
    /// RRU.PrbUsedDl (clause 5.1.1.2.5).
    pub(super) prb_used: Option<f64>,
    /// RRU.PrbAvailDl (clause 5.1.1.2.6).
    pub(super) prb_available: Option<f64>,
    /// DRB.RlcSduDelayDl (clause 5.1.3.3.3).
    pub(super) rlc_delay: Option<f64>,
    /// DRB.PdcpSduVolumeDL (clause 5.1.2.1.1.1): offered to the bearer.
    pub(super) offered_volume: Option<f64>,
    /// Slice that labels the values.
    pub(super) slice: Option<SNssai>,
    /// RAN UE ID of the UE.
    pub(super) ran_ue_id: Option<u64>,
    /// The id that RRC gave it, if the node is of OAI.
    pub(super) rrc_ue: Option<u32>,
}

impl Values {
    /// The newest record's values. Those of a part only (a bin, a 5QI, a beam …) are left out.
    pub(super) fn of(
        ue: &common::UeId,
        report: &MeasReport<'_>,
        subscribed: &[MeasInfo<'_>],
        counters: &mut Counters,
    ) -> Self {
        let mut values = Self {
            ran_ue_id: ue.ran_ue_id().map(RanUeId::to_u64),
            rrc_ue: rrc_ue(ue),
            ..Self::default()
        };
        let newest = report.data.len().saturating_sub(1);
        for measurement in report
            .measurements(subscribed)
            .filter(|m| m.record == newest)
        {
            let (Some(name), Some(value)) =
                (measurement.measure.name(), measurement.value.as_f64())
            else {
                continue;
            };
            let Some(slice) = whole(measurement.label) else {
                continue;
            };
            // Some simulators append what the value belongs to.
            let name = name.strip_suffix(".UEID").unwrap_or(name);
            let place = match name {
                "DRB.UEThpDl" => &mut values.throughput_kbps,
                "RRU.PrbTotDl" => &mut values.prb_total,
                "RRU.PrbUsedDl" => &mut values.prb_used,
                "RRU.PrbAvailDl" => &mut values.prb_available,
                "DRB.RlcSduDelayDl" => &mut values.rlc_delay,
                "DRB.PdcpSduVolumeDL" => &mut values.offered_volume,
                _ => continue,
            };
            if value.is_finite() && value >= 0.0 {
                place.get_or_insert(value);
                values.slice = values.slice.or(slice);
            } else {
                counters.quarantine(Reason::KpmNumber);
            }
        }
        values
    }
}

/// The slice of a value that stands for the whole UE, or for the whole UE within one slice; `None` for part of it.
fn whole(label: &Label) -> Option<Option<SNssai>> {
    let Some(label) = label.labels() else {
        return Some(None);
    };
    let part = label.five_qi.is_some()
        || label.qfi.is_some()
        || label.qci.is_some()
        || label.dist_bin_x.is_some()
        || label.dist_bin_y.is_some()
        || label.dist_bin_z.is_some()
        || label.ssb_index.is_some()
        || label.layer_mu_mimo.is_some()
        || label.min
        || label.max;
    let slice = label.slice_id.as_ref().map(|id| SNssai {
        sst: id.sst,
        sd: id.sd,
    });
    (!part).then_some(slice)
}

/// The key by which a UE is known here: C-RNTI where the node gives it (E2SM v5), as MAC reports do.
pub(super) fn ue_id(ue: &common::UeId) -> Option<UeId> {
    let rnti = |cell: &Option<common::CellRnti>| cell.as_ref().map(|cell| UeId::CRnti(cell.c_rnti));
    Some(match ue {
        common::UeId::Gnb(gnb) => {
            rnti(&gnb.cell_rnti).unwrap_or(UeId::AmfUeNgapId(gnb.amf_ue_ngap_id))
        }
        common::UeId::GnbDu(du) => rnti(&du.cell_rnti).unwrap_or(UeId::CuUeF1apId(du.f1ap_id)),
        common::UeId::GnbCuUp(up) => UeId::CuCpUeE1apId(up.e1ap_id),
        common::UeId::NgEnb(enb) => UeId::AmfUeNgapId(enb.amf_ue_ngap_id),
        common::UeId::EnGnb(gnb) => UeId::RanUeId(gnb.ran_ue_id?.to_u64()),
        _ => return None,
    })
}

/// The id that RRC gave the UE: OAI has it in all of these places.
fn rrc_ue(ue: &common::UeId) -> Option<u32> {
    match ue {
        common::UeId::GnbDu(du) => Some(du.f1ap_id),
        common::UeId::GnbCuUp(up) => Some(up.e1ap_id),
        ue => u32::try_from(ue.ran_ue_id()?.to_u64_flexric()).ok(),
    }
}
