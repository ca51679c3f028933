//! Random streams: one per purpose and index, all from one seed.
//!
//! A UE's fading must not change because another UE, or another purpose of the same UE, draws more or fewer numbers:
//! that is what makes runs comparable across policies ("common random numbers").

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
pub use rand_xoshiro::Xoshiro256PlusPlus;

/// The stream of one purpose ("fading", "mobility", …) and index (UE or flow).
pub fn stream(seed: u64, purpose: &str, index: u64) -> Xoshiro256PlusPlus {
    // FNV-1a keeps distinct names apart; SplitMix64's finaliser, then `seed_from_u64`, spreads the bits.
    let name = purpose
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    let mixed = split_mix(split_mix(seed) ^ name);
    Xoshiro256PlusPlus::seed_from_u64(split_mix(mixed ^ index))
}

/// A normal deviate.
pub fn normal(random: &mut Xoshiro256PlusPlus, mean: f64, deviation: f64) -> f64 {
    let z: f64 = StandardNormal.sample(random);
    mean + deviation * z
}

/// Output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn split_mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_are_repeatable_and_differ_by_seed_purpose_and_index() {
        let first = |seed, purpose, index| stream(seed, purpose, index).random::<u64>();
        assert_eq!(first(1, "fading", 0), first(1, "fading", 0));
        let all = [
            first(1, "fading", 0),
            first(2, "fading", 0),
            first(1, "mobility", 0),
            first(1, "fading", 1),
            first(0, "", 0),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }
}
