//! Sample-ratio check: whether the arms have the observations that their weights promise.
//!
//! Where they have not, something removes observations of one arm more than of another, and no other figure can be
//! trusted. The test is the anytime-valid multinomial test of Lindon, Malek: Anytime-Valid Inference For Multinomial
//! Count Data (2022): a Bayes factor against a Dirichlet around the weights.

/// Weight of the Dirichlet: deviations of about 1/√100 are looked for.
const CONCENTRATION: f64 = 100.0;

/// 1 over the Bayes factor against the promised shares, at most 1: below 0.001 the ratio is wrong beyond chance.
pub fn p_value(counts: &[u64], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let n: u64 = counts.iter().sum();
    let mut log = ln_gamma(CONCENTRATION) - ln_gamma(CONCENTRATION + n as f64);
    for (count, weight) in counts.iter().zip(weights) {
        let share = weight / total;
        let prior = CONCENTRATION * share;
        log += ln_gamma(prior + *count as f64) - ln_gamma(prior) - *count as f64 * share.ln();
    }
    (-log).exp().min(1.0)
}

/// Logarithm of the gamma function for x > 0: Stirling's series after shifting x above 10; exact to 1e−10.
fn ln_gamma(x: f64) -> f64 {
    let mut x = x;
    let mut shift = 0.0;
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = x.recip();
    let series = inverse / 12.0 - inverse.powi(3) / 360.0 + inverse.powi(5) / 1260.0;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_gamma_is_the_factorial() {
        let mut factorial: f64 = 1.0;
        for n in 1..20u32 {
            assert!(
                (ln_gamma(f64::from(n)) - factorial.ln()).abs() < 1e-9,
                "{n}"
            );
            factorial *= f64::from(n);
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-9);
    }

    #[test]
    fn a_lost_tenth_of_one_arm_is_found_and_chance_is_not() {
        assert!(p_value(&[1000, 1010], &[1.0, 1.0]) > 0.1);
        assert!(p_value(&[2000, 1000], &[2.0, 1.0]) > 0.1);
        assert!(p_value(&[5000, 4500], &[1.0, 1.0]) < 1e-3);
        assert_eq!(p_value(&[0, 0], &[1.0, 1.0]), 1.0);
    }
}
