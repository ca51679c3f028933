//! Fast fading: a line-of-sight ray and the clusters of TR 38.901, rotated by the UE's movement.
//!
//! The clusters' delays, powers and angles are drawn as clause 7.5 steps 4 to 7 say, for the indoor office with line of
//! sight (table 7.5-6); each is two rays seen by one isotropic antenna. They stay while the UE moves, and only their
//! phases turn (step 11): Doppler and coherence follow from speed and angles, frequency selectivity from the delays.
//!
//! The gain is kept per sub-band, not as one wideband value, for two reasons. The decoder averages mutual information,
//! not power, over the PRBs of a block, so a selective channel needs up to 2.8 dB more mean SINR than a flat one (measured
//! in ns-3); and the deviation of the wideband gain (0.4 to 1.9 dB) is what averaging over the band leaves of a Rician
//! channel of K = 7 ± 4 dB: a model without frequency would have to be told it.
//!
//! Left out: elevation spread, polarisation, correlation of the large-scale parameters.

use crate::random::normal;
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::f64::consts::TAU;

/// Sub-bands of the carrier: 4.8 MHz each of 38 MHz, below the coherence bandwidth of a 20 ns delay spread.
pub const SUBBANDS: usize = 8;

/// Clusters of InH-Office LOS.
const CLUSTERS: usize = 15;
/// Rays of a cluster; TR 38.901 has 20, but these already make a cluster fade by itself.
const RAYS_PER_CLUSTER: usize = 2;
/// The clusters' rays and the line of sight.
const RAYS: usize = CLUSTERS * RAYS_PER_CLUSTER + 1;
/// Speed of light, m/s.
const LIGHT: f64 = 299_792_458.0;

/// Table 7.5-6, Indoor-Office, LOS.
mod table {
    /// Mean and deviation of the Ricean K-factor, dB.
    pub const K_DB: (f64, f64) = (7.0, 4.0);
    /// Delay scaling r_τ.
    pub const DELAY_SCALING: f64 = 3.6;
    /// Per-cluster shadowing ζ, dB.
    pub const CLUSTER_SHADOWING_DB: f64 = 6.0;

    /// Azimuth spread of arrival within a cluster, degrees.
    pub const CLUSTER_SPREAD_DEG: f64 = 8.0;

    /// Mean and deviation of log10(delay spread / s).
    pub fn delay_spread(log_frequency: f64) -> (f64, f64) {
        (-0.01 * log_frequency - 7.692, 0.18)
    }

    /// Mean and deviation of log10(azimuth spread of arrival / degree).
    pub fn azimuth_spread(log_frequency: f64) -> (f64, f64) {
        (-0.19 * log_frequency + 1.781, 0.12 * log_frequency + 0.119)
    }
}

/// The channel of one UE in the bands of one carrier; mean power gain 1.
#[derive(Clone, Debug)]
pub struct Fading {
    wavelength: f64,
    /// Direction from which each ray comes, as a unit vector.
    arrival: [(f64, f64); RAYS],
    /// Phase of each ray at the origin, in turns.
    phase: [f64; RAYS],
    /// Amplitude of each ray in each sub-band, with the phase of its delay: real and imaginary parts.
    amplitude: [[[f32; SUBBANDS]; 2]; RAYS],
    /// Real and imaginary parts of each ray's phase and of its turn in a step.
    phasor: [[f32; RAYS]; 2],
    rotation: [[f32; RAYS]; 2],
    gains: [f32; SUBBANDS],
}

impl Fading {
    /// Draws the clusters of a UE whose base station is in direction `los` (radians).
    pub fn new(
        carrier_hz: f64,
        bandwidth_hz: f64,
        los: f64,
        random: &mut Xoshiro256PlusPlus,
    ) -> Self {
        let k_db = normal(random, table::K_DB.0, table::K_DB.1);
        let clusters = Clusters::draw(carrier_hz, k_db, los, random);
        let k = 10_f64.powf(k_db / 10.0);

        let mut arrival = [(0.0, 0.0); RAYS];
        let mut phase = [0.0; RAYS];
        let mut amplitude = [[[0.0; SUBBANDS]; 2]; RAYS];
        for ray in 0..RAYS {
            let (power, delay, angle) = match ray {
                0 => (k / (k + 1.0), 0.0, los),
                _ => {
                    let n = (ray - 1) / RAYS_PER_CLUSTER;
                    (
                        clusters.power[n] / RAYS_PER_CLUSTER as f64 / (k + 1.0),
                        clusters.delay[n],
                        clusters.angle[n] + laplace(random, table::CLUSTER_SPREAD_DEG.to_radians()),
                    )
                }
            };
            arrival[ray] = (angle.cos(), angle.sin());
            phase[ray] = random.random();
            let [re, im] = &mut amplitude[ray];
            for (band, (re, im)) in re.iter_mut().zip(im).enumerate() {
                let offset = (band as f64 + 0.5) / SUBBANDS as f64 - 0.5;
                let (sin, cos) = (-TAU * offset * bandwidth_hz * delay).sin_cos();
                *re = (power.sqrt() * cos) as f32;
                *im = (power.sqrt() * sin) as f32;
            }
        }
        let mut fading = Self {
            wavelength: LIGHT / carrier_hz,
            arrival,
            phase,
            amplitude,
            phasor: [[1.0; RAYS], [0.0; RAYS]],
            rotation: [[1.0; RAYS], [0.0; RAYS]],
            gains: [1.0; SUBBANDS],
        };
        fading.place((0.0, 0.0), (0.0, 0.0));
        fading
    }

    /// Puts the UE at a point; each [`Fading::step`] then moves it by `step` (metres).
    pub fn place(&mut self, at: (f64, f64), step: (f64, f64)) {
        let turns = |(x, y): (f64, f64), ray: usize| {
            (x * self.arrival[ray].0 + y * self.arrival[ray].1) / self.wavelength
        };
        let unit = |turns: f64, [re, im]: &mut [[f32; RAYS]; 2], ray: usize| {
            let (sin, cos) = (TAU * turns.fract()).sin_cos();
            (re[ray], im[ray]) = (cos as f32, sin as f32);
        };
        for ray in 0..RAYS {
            let phase = self.phase[ray] + turns(at, ray);
            let turn = turns(step, ray);
            unit(phase, &mut self.phasor, ray);
            unit(turn, &mut self.rotation, ray);
        }
        self.sum();
    }

    /// Moves the UE by one step.
    pub fn step(&mut self) {
        let [re, im] = &mut self.phasor;
        let [cos, sin] = &self.rotation;
        for ray in 0..RAYS {
            let (a, b) = (re[ray], im[ray]);
            re[ray] = a * cos[ray] - b * sin[ray];
            im[ray] = a * sin[ray] + b * cos[ray];
        }
        self.sum();
    }

    fn sum(&mut self) {
        let mut re = [0.0_f32; SUBBANDS];
        let mut im = [0.0_f32; SUBBANDS];
        let [cos, sin] = &self.phasor;
        for ((&cos, &sin), [a, b]) in cos.iter().zip(sin).zip(&self.amplitude) {
            for band in 0..SUBBANDS {
                re[band] += a[band] * cos - b[band] * sin;
                im[band] += a[band] * sin + b[band] * cos;
            }
        }
        for band in 0..SUBBANDS {
            self.gains[band] = re[band] * re[band] + im[band] * im[band];
        }
    }

    /// Power gain per sub-band, lowest frequency first.
    pub fn gains(&self) -> &[f32; SUBBANDS] {
        &self.gains
    }
}

/// An angle of a Laplacian power spectrum, which the ray offsets of table 7.5-3 sample.
fn laplace(random: &mut Xoshiro256PlusPlus, spread: f64) -> f64 {
    let uniform: f64 = random.random_range(-0.5..0.5);
    -spread / std::f64::consts::SQRT_2 * uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln()
}

struct Clusters {
    /// Powers; they add up to 1.
    power: [f64; CLUSTERS],
    /// Delays in s, the first is 0.
    delay: [f64; CLUSTERS],
    /// Azimuth of arrival, radians.
    angle: [f64; CLUSTERS],
}

impl Clusters {
    fn draw(carrier_hz: f64, k_db: f64, los: f64, random: &mut Xoshiro256PlusPlus) -> Self {
        // Note 7 of the table: the indoor-office parameters of frequencies below 6 GHz are those of 6 GHz.
        let log_frequency = (1.0 + (carrier_hz / 1e9).max(6.0)).log10();
        let log_normal = |(mean, deviation): (f64, f64), random: &mut Xoshiro256PlusPlus| {
            10_f64.powf(normal(random, mean, deviation))
        };
        let delay_spread = log_normal(table::delay_spread(log_frequency), random);
        let azimuth_spread = log_normal(table::azimuth_spread(log_frequency), random).min(104.0);
        let (k2, k3) = (k_db * k_db, k_db * k_db * k_db);

        // Step 5.
        let scaling = table::DELAY_SCALING;
        let mut delay = [0.0; CLUSTERS];
        for tau in &mut delay {
            *tau = -scaling * delay_spread * (1.0 - random.random::<f64>()).ln();
        }
        delay.sort_by(f64::total_cmp);
        let first = delay[0];
        delay.iter_mut().for_each(|tau| *tau -= first);

        // Step 6.
        let mut power = [0.0; CLUSTERS];
        for (p, tau) in power.iter_mut().zip(&delay) {
            let shadowing = normal(random, 0.0, table::CLUSTER_SHADOWING_DB);
            *p = (-tau * (scaling - 1.0) / (scaling * delay_spread)).exp()
                * 10_f64.powf(-shadowing / 10.0);
        }
        let total: f64 = power.iter().sum();
        power.iter_mut().for_each(|p| *p /= total);

        // Step 5, with line of sight: the delays shrink once the powers are drawn.
        let c_tau = 0.7705 - 0.0433 * k_db + 0.0002 * k2 + 0.000_017 * k3;
        delay.iter_mut().for_each(|tau| *tau /= c_tau);

        // Step 7, with C of 15 clusters; the first cluster lies in the direction of the line of sight.
        let c_phi = 1.211 * (1.1035 - 0.028 * k_db - 0.002 * k2 + 0.0001 * k3);
        let k = 10_f64.powf(k_db / 10.0);
        let with_los = |n: usize| (power[n] + if n == 0 { k } else { 0.0 }) / (k + 1.0);
        let strongest = (0..CLUSTERS).map(with_los).fold(0.0, f64::max);
        let mut angle = [0.0; CLUSTERS];
        for (n, phi) in angle.iter_mut().enumerate() {
            let spread =
                2.0 * azimuth_spread / 1.4 * (-(with_los(n) / strongest).ln()).sqrt() / c_phi;
            let sign = if random.random::<bool>() { 1.0 } else { -1.0 };
            *phi = sign * spread + normal(random, 0.0, azimuth_spread / 7.0);
        }
        let first = angle[0];
        for phi in &mut angle {
            *phi = los + (*phi - first).to_radians();
        }
        Self {
            power,
            delay,
            angle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn mean_gain_is_one() {
        let mut sum = 0.0;
        let mut count = 0.0;
        for seed in 0..300 {
            let mut fading = Fading::new(3.5e9, 38.16e6, 0.3, &mut stream(seed, "fading", 0));
            fading.place((0.0, 0.0), (0.05, 0.02));
            for _ in 0..100 {
                fading.step();
                sum += f64::from(fading.gains().iter().sum::<f32>()) / SUBBANDS as f64;
                count += 1.0;
            }
        }
        let mean: f64 = sum / count;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn steps_and_places_agree() {
        let mut stepped = Fading::new(3.5e9, 38.16e6, 0.3, &mut stream(1, "fading", 0));
        let mut placed = stepped.clone();
        stepped.place((3.0, 4.0), (0.002, -0.001));
        for _ in 0..40 {
            stepped.step();
        }
        placed.place((3.08, 3.96), (0.0, 0.0));
        for (a, b) in stepped.gains().iter().zip(placed.gains()) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }
}
