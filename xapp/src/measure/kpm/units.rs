//! In which units a node's KPM values are: names are standard, units are not.

use crate::measure::{CellConfig, window::MAX_BITS_PER_PRB};
use serde::{Deserialize, Serialize};

/// Whose reading of TS 28.552 a node follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KpmDialect {
    /// Told by the sender's name and by what is physically possible.
    #[default]
    Auto,
    /// TS 28.552: PRB use in percent, RLC delay in 0.1 ms, volumes in Mbit.
    Standard,
    /// OAI of 2024: number of PRBs since the last report, delay in µs, volumes in kbit.
    Oai2024,
    /// OAI of 2026: PRB use in percent, delay in µs, volumes in Mbit.
    Oai2026,
}

impl KpmDialect {
    /// Differences are kept by the UE's place in the list: the first report covers everything since the UE
    /// attached, and after every change of the list values are mixed up.
    pub(super) fn mixes_ues_up(self) -> bool {
        matches!(self, Self::Oai2024 | Self::Oai2026)
    }

    /// Seconds per unit of `DRB.RlcSduDelayDl`.
    pub(super) fn delay_unit(self) -> f64 {
        if self == Self::Standard { 1e-4 } else { 1e-6 }
    }

    /// Bits per unit of `DRB.PdcpSduVolumeDL`.
    pub(super) fn volume_unit(self) -> f64 {
        if self == Self::Oai2024 { 1e3 } else { 1e6 }
    }
}

/// What the sender's name says; `None` for OAI of either year (and FlexRIC's emulators).
pub(super) fn by_sender(name: Option<&str>) -> Option<KpmDialect> {
    let oai = name.is_some_and(|name| name.starts_with("ngran_") || name.contains("OAI"));
    (!oai).then_some(KpmDialect::Standard)
}

/// Percent or number of PRBs: the one for which the bits in each PRB are possible. `None` if that does not decide.
pub(super) fn by_efficiency(
    prb_total: f64,
    bits: f64,
    slots: f64,
    cell: &CellConfig,
    cell_prbs: f64,
) -> Option<KpmDialect> {
    /// QPSK at the lowest code rate (TS 38.214 table 5.1.3.1-1: 0.23 bit per resource element) in a tenth of a PRB's
    /// resource elements.
    const MIN_BITS_PER_PRB: f64 = 4.0;
    if prb_total > 100.0 {
        return Some(KpmDialect::Oai2024);
    }
    if prb_total <= 0.0 || bits <= 0.0 {
        return None;
    }
    let possible = |prbs: f64| (MIN_BITS_PER_PRB..=MAX_BITS_PER_PRB).contains(&(bits / prbs));
    let percent = possible(prb_total / 100.0 * cell_prbs * slots);
    let count = prb_total <= slots * cell.carrier_prbs && possible(prb_total);
    match (percent, count) {
        (true, false) => Some(KpmDialect::Oai2026),
        (false, true) => Some(KpmDialect::Oai2024),
        _ => None,
    }
}
