//! ê of eq. 15: by how much the sender falls short of its guidance, foretold by a first-order autoregression.

use std::collections::VecDeque;

/// The last errors (guided less sent), bit/s.
#[derive(Clone, Debug)]
pub(super) struct Errors {
    last: VecDeque<f64>,
    memory: usize,
}

impl Errors {
    pub fn new(memory: usize) -> Self {
        Self {
            last: VecDeque::new(),
            memory: memory.max(1),
        }
    }

    pub fn push(&mut self, error_bps: f64) {
        if self.last.len() == self.memory {
            self.last.pop_front();
        }
        self.last.push_back(error_bps);
    }

    /// The expected error `steps` frames ahead: mean + φ^steps · (last − mean); 0 if none is known.
    pub fn ahead(&self, steps: i32) -> f64 {
        let Some(&newest) = self.last.back() else {
            return 0.0;
        };
        let mean = self.last.iter().sum::<f64>() / self.last.len() as f64;
        let pairs = || self.last.iter().zip(self.last.iter().skip(1));
        let covariance: f64 = pairs().map(|(a, b)| (a - mean) * (b - mean)).sum();
        let variance: f64 = pairs().map(|(a, _)| (a - mean) * (a - mean)).sum();
        // Beyond ±1 the series would explode.
        let phi = if variance > 0.0 {
            (covariance / variance).clamp(-1.0, 1.0)
        } else {
            0.0
        };
        mean + phi.powi(steps) * (newest - mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decaying_error_is_foretold_to_decay_and_a_steady_one_to_stay() {
        let mut errors = Errors::new(8);
        assert_eq!(errors.ahead(1), 0.0);
        for i in 0..20 {
            errors.push(if i % 2 == 0 { 3e6 } else { 1e6 });
        }
        // Alternates: φ = −1, the next one is high again.
        assert!((errors.ahead(1) - 3e6).abs() < 1.0, "{}", errors.ahead(1));
        assert!((errors.ahead(2) - 1e6).abs() < 1.0);
        for _ in 0..8 {
            errors.push(5e5);
        }
        assert_eq!(errors.ahead(3), 5e5);
    }
}
