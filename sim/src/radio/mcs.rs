//! MCS tables of PDSCH (TS 38.214 clause 5.1.3.1) and CQI tables (clause 5.2.2.1).

use serde::{Deserialize, Serialize};

/// Which pair of MCS and CQI tables a cell uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McsTable {
    /// Table 5.1.3.1-1 (up to 64QAM), with CQI table 5.2.2.1-2.
    #[default]
    Qam64,
    /// Table 5.1.3.1-2 (up to 256QAM), with CQI table 5.2.2.1-3.
    Qam256,
}

/// One row of an MCS table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mcs {
    /// Modulation order Qm, bits per resource element.
    pub modulation_order: u8,
    /// Target code rate R × 2048; the tables hold R × 1024 with at most one binary place.
    pub code_rate_x2048: u16,
}

impl Mcs {
    const fn new(modulation_order: u8, code_rate_x1024: f64) -> Self {
        Self {
            modulation_order,
            code_rate_x2048: (code_rate_x1024 * 2.0) as u16,
        }
    }

    /// Target code rate R.
    pub fn code_rate(self) -> f64 {
        f64::from(self.code_rate_x2048) / 2048.0
    }

    /// Information bits per resource element, Qm · R.
    pub fn spectral_efficiency(self) -> f64 {
        f64::from(self.modulation_order) * self.code_rate()
    }
}

/// Table 5.1.3.1-1.
const QAM64: [Mcs; 29] = [
    Mcs::new(2, 120.0),
    Mcs::new(2, 157.0),
    Mcs::new(2, 193.0),
    Mcs::new(2, 251.0),
    Mcs::new(2, 308.0),
    Mcs::new(2, 379.0),
    Mcs::new(2, 449.0),
    Mcs::new(2, 526.0),
    Mcs::new(2, 602.0),
    Mcs::new(2, 679.0),
    Mcs::new(4, 340.0),
    Mcs::new(4, 378.0),
    Mcs::new(4, 434.0),
    Mcs::new(4, 490.0),
    Mcs::new(4, 553.0),
    Mcs::new(4, 616.0),
    Mcs::new(4, 658.0),
    Mcs::new(6, 438.0),
    Mcs::new(6, 466.0),
    Mcs::new(6, 517.0),
    Mcs::new(6, 567.0),
    Mcs::new(6, 616.0),
    Mcs::new(6, 666.0),
    Mcs::new(6, 719.0),
    Mcs::new(6, 772.0),
    Mcs::new(6, 822.0),
    Mcs::new(6, 873.0),
    Mcs::new(6, 910.0),
    Mcs::new(6, 948.0),
];

/// Table 5.1.3.1-2.
const QAM256: [Mcs; 28] = [
    Mcs::new(2, 120.0),
    Mcs::new(2, 193.0),
    Mcs::new(2, 308.0),
    Mcs::new(2, 449.0),
    Mcs::new(2, 602.0),
    Mcs::new(4, 378.0),
    Mcs::new(4, 434.0),
    Mcs::new(4, 490.0),
    Mcs::new(4, 553.0),
    Mcs::new(4, 616.0),
    Mcs::new(4, 658.0),
    Mcs::new(6, 466.0),
    Mcs::new(6, 517.0),
    Mcs::new(6, 567.0),
    Mcs::new(6, 616.0),
    Mcs::new(6, 666.0),
    Mcs::new(6, 719.0),
    Mcs::new(6, 772.0),
    Mcs::new(6, 822.0),
    Mcs::new(6, 873.0),
    Mcs::new(8, 682.5),
    Mcs::new(8, 711.0),
    Mcs::new(8, 754.0),
    Mcs::new(8, 797.0),
    Mcs::new(8, 841.0),
    Mcs::new(8, 885.0),
    Mcs::new(8, 916.5),
    Mcs::new(8, 948.0),
];

/// Spectral efficiencies of CQI 1 to 15, table 5.2.2.1-2.
const CQI_QAM64: [f64; 15] = [
    0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023,
    4.5234, 5.1152, 5.5547,
];

/// Spectral efficiencies of CQI 1 to 15, table 5.2.2.1-3.
const CQI_QAM256: [f64; 15] = [
    0.1523, 0.3770, 0.8770, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152, 5.5547,
    6.2266, 6.9141, 7.4063,
];

impl McsTable {
    /// The rows, by MCS index.
    pub fn rows(self) -> &'static [Mcs] {
        match self {
            Self::Qam64 => &QAM64,
            Self::Qam256 => &QAM256,
        }
    }

    /// The highest MCS index.
    pub fn highest(self) -> u8 {
        (self.rows().len() - 1) as u8
    }

    /// The highest MCS index that asks for at most `efficiency` bits per resource element; 0 if none does.
    pub fn highest_within(self, efficiency: f64) -> u8 {
        let fits = |mcs: &Mcs| mcs.spectral_efficiency() <= efficiency;
        self.rows().iter().rposition(fits).unwrap_or(0) as u8
    }

    /// The highest CQI that asks for at most `efficiency` bits per resource element; 0 (out of range) if none does.
    pub fn cqi_within(self, efficiency: f64) -> u8 {
        let efficiencies = match self {
            Self::Qam64 => &CQI_QAM64,
            Self::Qam256 => &CQI_QAM256,
        };
        // The CQI tables round to four places, upwards as well: an MCS must reach the CQI that was made for it.
        const ROUNDING: f64 = 5e-5;
        efficiencies
            .iter()
            .rposition(|&e| e <= efficiency + ROUNDING)
            .map_or(0, |row| row as u8 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_channel_reports_the_best_cqi() {
        for table in [McsTable::Qam64, McsTable::Qam256] {
            let best = table.rows()[usize::from(table.highest())].spectral_efficiency();
            assert_eq!(table.cqi_within(best), 15);
            assert_eq!(table.highest_within(best), table.highest());
        }
        assert_eq!(McsTable::Qam64.cqi_within(0.1), 0);
    }

    #[test]
    fn every_cqi_of_64qam_is_the_efficiency_of_some_mcs() {
        // TS 38.214: apart from the first, the CQI table's rows recur in the MCS table, or lie between two of them.
        let efficiencies: Vec<f64> = QAM64.iter().map(|m| m.spectral_efficiency()).collect();
        for cqi in &CQI_QAM64[1..] {
            let nearest = efficiencies
                .iter()
                .map(|e| (e - cqi).abs())
                .fold(f64::MAX, f64::min);
            assert!(nearest < 1e-3, "{cqi}: {nearest}");
        }
    }
}
