//! What runs a network.

use super::Refusal;

/// A network that is ready to run: the pure-Rust executor, or another engine.
pub trait Inference: Send {
    /// Name of the engine: "native", "onnxruntime".
    fn engine(&self) -> &'static str;

    /// Numbers in an observation.
    fn inputs(&self) -> usize;

    /// Numbers in an answer: one score for each gain.
    fn outputs(&self) -> usize;

    /// Answers the observations of `batch`, which lie one after the other: the scores, in the same order.
    ///
    /// # Errors
    /// When `batch` does not hold whole observations, or the engine fails.
    fn infer(&mut self, batch: &[f32]) -> Result<&[f32], Refusal>;
}

/// Index of the best score, the first of equals; `None` if there is none or one of them is not finite.
pub fn best(scores: &[f32]) -> Option<usize> {
    let mut best = None;
    for (index, score) in scores.iter().enumerate() {
        if !score.is_finite() {
            return None;
        }
        if best.is_none_or(|(_, highest)| *score > highest) {
            best = Some((index, *score));
        }
    }
    best.map(|(index, _)| index)
}
