//! Mutual information per coded bit of a QAM symbol, and back.
//!
//! IEEE 802.16m-08/004r5 (evaluation methodology) clause 4.3.2.1, equation 52 and table 29: a sum of J functions of the
//! LLR deviation of each bit class. This is the mapping of ns-3's "LTE-MI" error model.

use std::sync::LazyLock;

/// Modulation of PDSCH data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// 2 bits.
    Qpsk,
    /// 4 bits.
    Qam16,
    /// 6 bits.
    Qam64,
}

impl Modulation {
    /// The modulation of this order Qm. 256QAM is treated as 64QAM: the reference has no curves for it.
    pub fn of_order(bits: u8) -> Self {
        match bits {
            ..=2 => Self::Qpsk,
            3..=4 => Self::Qam16,
            _ => Self::Qam64,
        }
    }
}

const LOWEST_DB: f64 = -20.0;
const HIGHEST_DB: f64 = 40.0;
const PER_DB: f64 = 10.0;

/// The three curves at every tenth of a decibel.
static CURVES: LazyLock<[Vec<f64>; 3]> = LazyLock::new(|| {
    [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64].map(|modulation| {
        let points = ((HIGHEST_DB - LOWEST_DB) * PER_DB) as usize + 1;
        (0..points)
            .map(|i| {
                exact(
                    modulation,
                    10_f64.powf((LOWEST_DB + i as f64 / PER_DB) / 10.0),
                )
            })
            .collect()
    })
});

/// Mutual information per coded bit, 0 to 1, at a SINR in dB.
pub fn mutual_information(modulation: Modulation, db: f64) -> f64 {
    let curve = &CURVES[modulation as usize];
    let at = ((db - LOWEST_DB) * PER_DB).clamp(0.0, (curve.len() - 1) as f64);
    let index = (at as usize).min(curve.len() - 2);
    curve[index] + (at - index as f64) * (curve[index + 1] - curve[index])
}

/// The SINR in dB at which a flat channel has this mutual information, within −20 to 40 dB.
pub fn equivalent_sinr_db(modulation: Modulation, information: f64) -> f64 {
    let curve = &CURVES[modulation as usize];
    let above = curve.partition_point(|&i| i < information);
    if above == 0 {
        return LOWEST_DB;
    }
    if above == curve.len() {
        return HIGHEST_DB;
    }
    let step = curve[above] - curve[above - 1];
    let part = if step > 0.0 {
        (information - curve[above - 1]) / step
    } else {
        0.0
    };
    LOWEST_DB + ((above - 1) as f64 + part) / PER_DB
}

fn exact(modulation: Modulation, sinr: f64) -> f64 {
    let root = sinr.sqrt();
    match modulation {
        Modulation::Qpsk => j(2.0 * root),
        Modulation::Qam16 => 0.5 * j(0.8 * root) + 0.25 * j(2.17 * root) + 0.25 * j(0.965 * root),
        Modulation::Qam64 => (j(1.47 * root) + j(0.529 * root) + j(0.366 * root)) / 3.0,
    }
}

/// Equation 52: mutual information of a bit whose LLR has this deviation.
fn j(x: f64) -> f64 {
    // The second polynomial turns upwards again far beyond the point where it has reached 1.
    const SATURATED: f64 = 15.0;
    if x < 1.6363 {
        -0.042_106_61 * x.powi(3) + 0.209_252 * x * x - 0.006_400_81 * x
    } else if x < SATURATED {
        1.0 - (0.001_814_92 * x.powi(3) - 0.142_675 * x * x - 0.082_205_4 * x + 0.054_960_8).exp()
    } else {
        1.0
    }
    .max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_rises_with_sinr_and_maps_back() {
        for modulation in [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64] {
            let mut before = 0.0;
            for quarter in -40..=100 {
                let db = f64::from(quarter) / 4.0;
                let information = mutual_information(modulation, db);
                assert!(
                    (before..=1.0).contains(&information),
                    "{modulation:?} {db} dB"
                );
                before = information;
                if (0.02..0.999).contains(&information) {
                    let back = equivalent_sinr_db(modulation, information);
                    assert!((back - db).abs() < 0.05, "{modulation:?} {db} {back}");
                }
            }
        }
    }

    #[test]
    fn a_selective_channel_is_worth_less_than_its_mean_sinr() {
        let of = |db: f64| mutual_information(Modulation::Qam64, db);
        let selective = equivalent_sinr_db(Modulation::Qam64, (of(15.0) + of(25.0)) / 2.0);
        let mean = 10.0 * ((10_f64.powf(1.5) + 10_f64.powf(2.5)) / 2.0).log10();
        assert!(
            (1.0..5.0).contains(&(mean - selective)),
            "{mean} {selective}"
        );
    }
}
