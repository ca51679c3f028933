//! The radio link of a UE: which MCS it gets and how often a transport block fails.

use crate::radio::mcs::McsTable;
use serde::{Deserialize, Serialize};

/// What a UE's link is like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// A fixed MCS index.
    Mcs(u8),
    /// A fixed downlink SINR in dB, from which the MCS follows.
    SinrDb(f64),
}

/// Link adaptation's choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkState {
    /// MCS index.
    pub mcs: u8,
    /// Wideband CQI, 1 to 15; 0 if the channel is worse than CQI 1 asks for.
    pub cqi: u8,
    /// Downlink SINR in dB: the given one, or the least that gives the MCS.
    pub sinr_db: f64,
}

/// Signal-to-noise gap of practical modulation and coding to Shannon's bound, Γ = −ln(5·BER) / 1.5 at
/// BER = 5·10⁻⁵ (Goldsmith and Chua, IEEE Trans. Commun. 45(10), 1997, eq. 17 ff.), about 7.4 dB.
fn gap() -> f64 {
    -(5.0 * 5e-5_f64).ln() / 1.5
}

impl Link {
    /// MCS, CQI and SINR of this link: the highest MCS whose spectral efficiency is at most log2(1 + SINR/Γ).
    pub fn adapt(self, table: McsTable) -> LinkState {
        let (mcs, sinr_db) = match self {
            Self::Mcs(mcs) => {
                let mcs = mcs.min(table.highest());
                let efficiency = table.rows()[usize::from(mcs)].spectral_efficiency();
                (mcs, 10.0 * ((efficiency.exp2() - 1.0) * gap()).log10())
            }
            Self::SinrDb(sinr_db) => {
                let efficiency = (1.0 + 10_f64.powf(sinr_db / 10.0) / gap()).log2();
                (table.highest_within(efficiency), sinr_db)
            }
        };
        let efficiency = table.rows()[usize::from(mcs)].spectral_efficiency();
        LinkState {
            mcs,
            cqi: table.cqi_within(efficiency),
            sinr_db,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sinr_of_an_mcs_gives_that_mcs_back() {
        for table in [McsTable::Qam64, McsTable::Qam256] {
            for mcs in 0..=table.highest() {
                let state = Link::Mcs(mcs).adapt(table);
                let back = Link::SinrDb(state.sinr_db + 0.01).adapt(table);
                // Neighbours that differ by the modulation alone ask for almost the same (MCS 9 and 10, 16 and 17).
                let efficiency = |m: u8| table.rows()[usize::from(m)].spectral_efficiency();
                assert!(
                    (efficiency(back.mcs) - efficiency(mcs)).abs() < 0.005,
                    "{mcs} {back:?}"
                );
            }
        }
    }

    #[test]
    fn a_hopeless_channel_still_has_an_mcs_but_no_cqi() {
        let state = Link::SinrDb(-20.0).adapt(McsTable::Qam64);
        assert_eq!(state.mcs, 0);
        assert_eq!(Link::SinrDb(60.0).adapt(McsTable::Qam64).cqi, 15);
    }
}
