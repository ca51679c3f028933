//! One question to the model for all flows of a tick.
//!
//! ```text
//! batch.clear();
//! for flow in flows { flow.row = batch.observe(controller, &interval); }
//! batch.infer(model)?;
//! for flow in flows { decision = batch.decide(controller, &interval, flow.row); }
//! ```

use crate::controller::{Controller, Decision, Interval};
use crate::model::{Inference, Refusal};

/// Observations of the flows of a tick, and what the model answers to them. Its memory is kept from tick to tick.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    observations: Vec<f32>,
    rows: usize,
    scores: Vec<f32>,
    outputs: usize,
}

/// Place of a flow in a [`Batch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row(usize);

impl Batch {
    /// A new tick.
    pub fn clear(&mut self) {
        self.observations.clear();
        self.scores.clear();
        self.rows = 0;
        self.outputs = 0;
    }

    /// Lets a controller observe its interval; `None` where it needs no model.
    pub fn observe(
        &mut self,
        controller: &mut dyn Controller,
        interval: &Interval<'_>,
    ) -> Option<Row> {
        let row = controller
            .observe(interval, &mut self.observations)
            .then_some(Row(self.rows))?;
        self.rows += 1;
        Some(row)
    }

    /// Number of observations.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Nothing was observed: no model need be asked.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Asks the model. After an error, flows decide without it.
    ///
    /// # Errors
    /// When the model fails, or the observations are not of its shape.
    pub fn infer(&mut self, model: &mut dyn Inference) -> Result<(), Refusal> {
        if self.observations.len() != self.rows * model.inputs() {
            return Err(Refusal::Engine {
                engine: model.engine(),
                reason: format!(
                    "{} observations of {} numbers in all do not fit a model that takes {}",
                    self.rows,
                    self.observations.len(),
                    model.inputs()
                ),
            });
        }
        self.scores
            .extend_from_slice(model.infer(&self.observations)?);
        self.outputs = model.outputs();
        Ok(())
    }

    /// What the model answered to a flow's observation.
    pub fn scores(&self, row: Row) -> Option<&[f32]> {
        let start = row.0 * self.outputs;
        let scores = self.scores.get(start..start + self.outputs)?;
        (!scores.is_empty()).then_some(scores)
    }

    /// Lets a controller decide about the interval that it observed.
    pub fn decide(
        &self,
        controller: &mut dyn Controller,
        interval: &Interval<'_>,
        row: Option<Row>,
    ) -> Decision {
        match row.and_then(|row| self.scores(row)) {
            Some(scores) => controller.decide_scored(interval, scores),
            None => controller.decide(interval),
        }
    }
}
