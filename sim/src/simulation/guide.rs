//! What decides about the rate of a flow, between its reports and its sender.

use policies::controller::{Controller, Decision, Interval, RateBounds, Target};
use policies::report::UeReport;
use policies::slice::SliceControl;
use policies::{Batch, Row};
use std::time::Duration;

/// What decides about the rate of a flow.
pub(super) struct Guide {
    controller: Box<dyn Controller>,
    /// Its own bounds, and those that its slice leaves of them.
    own_bounds: RateBounds,
    bounds: RateBounds,
    anti_windup: Option<f64>,
    reports: Vec<UeReport>,
    /// Its observation of the interval that ends.
    row: Option<Row>,
}

impl Guide {
    pub fn new(
        controller: Box<dyn Controller>,
        bounds: RateBounds,
        anti_windup: Option<f64>,
    ) -> Self {
        Self {
            controller,
            own_bounds: bounds,
            bounds,
            anti_windup,
            reports: Vec::new(),
            row: None,
        }
    }

    /// A report about its UE.
    pub fn report(&mut self, report: UeReport) {
        self.reports.push(report);
    }

    /// Reports since the last decision.
    pub fn reports(&self) -> &[UeReport] {
        &self.reports
    }

    /// Bounds of the rate.
    pub fn bounds(&self) -> RateBounds {
        self.bounds
    }

    /// The flow's slice of `own` active flows bounds its rate.
    pub fn bound_by(&mut self, slice: &SliceControl, own: u32) {
        self.bounds = slice.bounds(self.own_bounds, own);
    }

    /// Goes on from another rate than was decided, bit/s.
    pub fn set_rate(&mut self, rate_bps: f64) {
        self.controller.set_rate_bps(rate_bps);
    }

    /// Puts another controller in its place.
    pub fn set_controller(&mut self, new: Box<dyn Controller>) {
        self.controller = new;
    }

    /// What a learned policy observes goes into the batch.
    pub fn observe(&mut self, now: Duration, target: Target, batch: &mut Batch) {
        let (controller, interval) = self.parts(now, target);
        self.row = batch.observe(controller, &interval);
    }

    /// Ends a control interval.
    pub fn decide(&mut self, now: Duration, target: Target, batch: &Batch) -> Decision {
        let row = self.row.take();
        let (controller, interval) = self.parts(now, target);
        let decision = batch.decide(controller, &interval, row);
        self.reports.clear();
        decision
    }

    /// The controller, and the interval that ends.
    fn parts(&mut self, now: Duration, target: Target) -> (&mut dyn Controller, Interval<'_>) {
        let bounds = self.bounds_now();
        let interval = Interval {
            now,
            reports: &self.reports,
            target,
            bounds,
        };
        (self.controller.as_mut(), interval)
    }

    /// The bounds of the interval that ends.
    fn bounds_now(&self) -> RateBounds {
        let RateBounds { min_bps, max_bps } = self.bounds;
        let Some(factor) = self.anti_windup else {
            return self.bounds;
        };
        let octets: u64 = self.reports.iter().filter_map(|r| r.delivered_bytes).sum();
        let seconds: f64 = self.reports.iter().map(|r| r.length.as_secs_f64()).sum();
        if seconds == 0.0 {
            return self.bounds;
        }
        let delivered_bps = 8.0 * octets as f64 / seconds;
        RateBounds {
            min_bps,
            max_bps: max_bps.min(factor * delivered_bps).max(min_bps),
        }
    }
}
