//! Link budget: path loss and shadowing of TR 38.901's indoor office with line of sight, thermal noise.

use crate::random::normal;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// Thermal noise density at 290 K, dBm/Hz.
const THERMAL_NOISE_DBM_PER_HZ: f64 = -174.0;
/// Below this distance the formula of the path loss does not hold (TR 38.901 table 7.4.1-1: 1 m to 150 m).
const NEAREST_M: f64 = 1.0;

/// Powers, heights and the carrier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Carrier frequency, GHz.
    pub carrier_ghz: f64,
    /// Transmit power of the base station over its whole band, dBm.
    pub power_dbm: f64,
    /// Noise figure of the UE, dB.
    pub noise_figure_db: f64,
    /// Height of the base station's antenna, m.
    pub gnb_height: f64,
    /// Height of the UE's antenna, m.
    pub ue_height: f64,
    /// Antenna and beamforming gains, less other losses, dB.
    pub gain_db: f64,
    /// Deviation σ of the shadowing, dB; 0 switches it off.
    pub shadowing_db: f64,
    /// Distance over which the shadowing's correlation falls to 1/e, m.
    pub shadowing_correlation_m: f64,
}

impl Default for Budget {
    /// The set-up of the ns-3 reference runs: n78, 4 dBm, single isotropic antennas, indoor office.
    fn default() -> Self {
        Self {
            carrier_ghz: 3.5,
            power_dbm: 4.0,
            noise_figure_db: 5.0,
            gnb_height: 3.0,
            ue_height: 1.5,
            gain_db: 0.0,
            shadowing_db: 3.0,
            shadowing_correlation_m: 10.0,
        }
    }
}

impl Budget {
    /// SINR in dB at (x, y) without shadowing and fading, the power spread over `bandwidth_hz`.
    pub fn mean_sinr_db(&self, x: f64, y: f64, bandwidth_hz: f64) -> f64 {
        let height = self.gnb_height - self.ue_height;
        let distance = (x * x + y * y + height * height).sqrt();
        let noise_dbm =
            THERMAL_NOISE_DBM_PER_HZ + 10.0 * bandwidth_hz.log10() + self.noise_figure_db;
        self.power_dbm + self.gain_db - inh_los_path_loss_db(distance, self.carrier_ghz) - noise_dbm
    }
}

/// Path loss of InH-Office, LOS (TR 38.901 table 7.4.1-1): 32.4 + 17.3 log10(d3D) + 20 log10(fc), in dB.
pub fn inh_los_path_loss_db(distance_m: f64, carrier_ghz: f64) -> f64 {
    32.4 + 17.3 * distance_m.max(NEAREST_M).log10() + 20.0 * carrier_ghz.log10()
}

/// Shadowing along a path: a normal process whose correlation is exp(−Δd/d_cor) (TR 38.901 clause 7.4.4).
#[derive(Clone, Debug)]
pub struct Shadowing {
    deviation_db: f64,
    correlation_m: f64,
    value_db: f64,
    at: (f64, f64),
    random: Xoshiro256PlusPlus,
}

impl Shadowing {
    /// The process at a starting point.
    pub fn new(budget: &Budget, at: (f64, f64), mut random: Xoshiro256PlusPlus) -> Self {
        Self {
            deviation_db: budget.shadowing_db,
            correlation_m: budget.shadowing_correlation_m,
            value_db: normal(&mut random, 0.0, budget.shadowing_db),
            at,
            random,
        }
    }

    /// The shadowing in dB after moving to (x, y).
    pub fn at(&mut self, x: f64, y: f64) -> f64 {
        let moved = (x - self.at.0).hypot(y - self.at.1);
        if moved > 0.0 && self.deviation_db > 0.0 {
            let kept = (-moved / self.correlation_m).exp();
            let fresh = self.deviation_db * (1.0 - kept * kept).sqrt();
            self.value_db = kept * self.value_db + normal(&mut self.random, 0.0, fresh);
        }
        self.at = (x, y);
        self.value_db
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn sixty_five_metres_give_twenty_two_decibels() {
        // The reference runs: 106 PRB of 30 kHz, 4 dBm, 65 m.
        let sinr = Budget::default().mean_sinr_db(65.0, 0.0, 106.0 * 12.0 * 30e3);
        assert!((sinr - 22.5).abs() < 0.2, "{sinr}");
    }

    #[test]
    fn shadowing_has_its_deviation_and_correlation() {
        let mut shadowing = Shadowing::new(&Budget::default(), (0.0, 0.0), stream(1, "s", 0));
        let values: Vec<f64> = (1..=200_000)
            .map(|i| shadowing.at(f64::from(i), 0.0))
            .collect();
        let mean_product = |lag: usize| {
            let pairs = values.iter().zip(&values[lag..]);
            pairs.map(|(a, b)| a * b).sum::<f64>() / (values.len() - lag) as f64
        };
        let variance = mean_product(0);
        assert!((variance.sqrt() - 3.0).abs() < 0.1, "{}", variance.sqrt());
        let correlation = mean_product(10) / variance;
        assert!(
            (correlation - (-1.0_f64).exp()).abs() < 0.04,
            "{correlation}"
        );
    }
}
