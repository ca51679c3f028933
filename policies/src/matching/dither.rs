//! A pattern in the pacing of a flow, by which its UE can be told among those with equal traffic.

use std::time::Duration;

/// How long a factor holds: as long as a bin of the comparison.
pub const DITHER_STEP: Duration = Duration::from_millis(200);

/// The factor for a flow's rate at `now`: 1 in the mean, within 1 ± `depth`, another one every [`DITHER_STEP`].
///
/// Flows with different seeds have independent patterns.
pub fn dither(seed: u64, now: Duration, depth: f64) -> f64 {
    let step = (now.as_millis() / DITHER_STEP.as_millis()) as u64;
    // SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    let mut z = seed.wrapping_add(step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let uniform = (z >> 11) as f64 / (1_u64 << 53) as f64;
    1.0 + depth * (2.0 * uniform - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_stay_within_their_depth_and_cost_nothing_in_the_mean() {
        let factors: Vec<f64> = (0..5000)
            .map(|step| dither(7, DITHER_STEP * step, 0.3))
            .collect();
        assert!(factors.iter().all(|f| (0.7..=1.3).contains(f)));
        let mean = factors.iter().sum::<f64>() / factors.len() as f64;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!(factors.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
