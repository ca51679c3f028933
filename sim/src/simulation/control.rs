//! Reports every δ, decisions every Δ.

use super::arms::Arms;
use super::flow::Flow;
use super::slices::{Slice, SliceConfig, SliceRow};
use super::ue::{UeState, UplinkItem};
use crate::cell::Cell;
use crate::measure::{Meter, slots};
use crate::results::ReportRow;
use crate::rlc::Packet;
use policies::Batch;
use policies::controller::Target;
use policies::model::Inference;
use policies::report::UeReport;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Octets of a report that a UE sends to its sender: 40 of payload, UDP and IP headers.
const REPORT_OCTETS: u32 = 40 + crate::senders::paced::UDP_HEADER;

/// What PRB use is related to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrbDenominator {
    /// All slots.
    AllSlots,
    /// The slots that carry downlink.
    #[default]
    DownlinkSlots,
}

/// How reports reach the controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// From the base station, at once (E2).
    #[default]
    BaseStation,
    /// Measured by the UE and sent over the uplink, as the papers do.
    Uplink,
}

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// Report interval δ.
    pub report_interval: Duration,
    /// Control interval Δ, a multiple of δ.
    pub control_interval: Duration,
    /// PRB target factor f.
    pub target_factor: f64,
    /// What PRB use is related to.
    pub denominator: PrbDenominator,
    /// How reports travel.
    pub feedback: Feedback,
}

impl Default for Control {
    /// δ = 50 ms, Δ = 200 ms, f = 0.9, as in the papers.
    fn default() -> Self {
        Self {
            report_interval: Duration::from_millis(50),
            control_interval: Duration::from_millis(200),
            target_factor: 0.9,
            denominator: PrbDenominator::default(),
            feedback: Feedback::default(),
        }
    }
}

/// The controlling part of a simulation.
pub(super) struct Controlled {
    control: Control,
    report_slots: u64,
    control_slots: u64,
    meters: Vec<Meter>,
    /// Slots that carried uplink instead of downlink, up to the last report.
    uplink_slots: u64,
    /// Share of the slots that the TDD pattern gives to the downlink.
    downlink_share: f64,
    /// What learned policies ask.
    model: Option<Box<dyn Inference>>,
    batch: Batch,
    slices: Vec<Slice>,
    wired: Duration,
    arms: Option<Arms>,
}

impl Controlled {
    pub fn new(control: Control, cell: &Cell) -> Self {
        Self {
            report_slots: slots(cell, control.report_interval),
            control_slots: slots(cell, control.control_interval),
            meters: vec![Meter::default(); cell.ue_count()],
            uplink_slots: 0,
            downlink_share: cell.downlink_share(),
            model: None,
            batch: Batch::default(),
            slices: Vec::new(),
            wired: Duration::ZERO,
            arms: None,
            control,
        }
    }

    /// What learned policies ask.
    pub fn set_model(&mut self, model: Box<dyn Inference>) {
        self.model = Some(model);
    }

    pub fn set_slices(&mut self, slices: Vec<SliceConfig>, wired: Duration) {
        let factor = self.control.target_factor;
        let slices = slices.into_iter().map(|slice| Slice::new(slice, factor));
        self.slices = slices.collect();
        self.wired = wired;
    }

    pub fn slices(&self) -> impl Iterator<Item = &[SliceRow]> {
        self.slices.iter().map(Slice::history)
    }

    /// Gives the guided flows the arms of an experiment.
    pub fn set_experiment(&mut self, arms: Arms) {
        self.arms = Some(arms);
    }

    /// The experiment.
    pub fn take_experiment(&mut self) -> Option<Arms> {
        self.arms.take()
    }

    /// A slot has been run.
    pub fn end_slot(&mut self, cell: &mut Cell, flows: &mut [Flow], ues: &mut [UeState]) {
        let slot = cell.slot();
        if slot.is_multiple_of(self.report_slots) {
            self.report(cell, flows, ues);
        }
        if slot.is_multiple_of(self.control_slots) {
            self.decide(cell.duration(slot), f64::from(cell.config().prbs), flows);
        }
    }

    fn report(&mut self, cell: &mut Cell, flows: &mut [Flow], ues: &mut [UeState]) {
        let now = cell.duration(cell.slot());
        let taken = (cell.uplink_slots() - self.uplink_slots) as f64 / self.report_slots as f64;
        self.uplink_slots = cell.uplink_slots();
        // Share of the window's slots that could carry downlink.
        let downlink = (self.downlink_share - taken).max(0.01);
        let scale = match self.control.denominator {
            PrbDenominator::AllSlots => 1.0,
            PrbDenominator::DownlinkSlots => 1.0 / downlink,
        };
        let prbs = f64::from(cell.config().prbs);
        let meters = self.meters.iter_mut().enumerate();
        let mut reports: Vec<_> = meters
            .filter_map(|(ue, meter)| Some((ue, meter.report(cell, ue, prbs)?)))
            .collect();
        for (_, report) in &mut reports {
            report.prbs = report.prbs.map(|prbs| prbs * scale);
            report.retx_prbs = report.retx_prbs.map(|prbs| prbs * scale);
        }
        let used = reports.iter().filter_map(|(_, report)| report.prbs).sum();
        for (ue, mut report) in reports {
            report.used_prbs = Some(used);
            if let Some(link) = &ues[ue].link {
                // It is not in the cell: what MAC says of it means nothing.
                (report.mcs, report.sinr_db) = (None, None);
                report.queue_bytes = Some(link.queued());
            }
            for (index, flow) in flows.iter_mut().enumerate().filter(|(_, f)| f.ue() == ue) {
                flow.results.end_window(row(now, &report, flow.rate_bps()));
                if !flow.guided() || !flow.active(now) {
                    continue;
                }
                let copy = Box::new(report.clone());
                match self.control.feedback {
                    Feedback::BaseStation => flow.report(copy),
                    Feedback::Uplink => {
                        ues[ue].uplink.push_back(UplinkItem::Report(index, copy));
                        let len = REPORT_OCTETS;
                        cell.enqueue_uplink(ue, Packet { id: 0, len });
                    }
                }
            }
        }
    }

    /// Every flow observes, the model answers all of them at once, every flow decides: as the xApp does it.
    fn decide(&mut self, now: Duration, cell_prbs: f64, flows: &mut [Flow]) {
        let active = flows.iter().filter(|flow| flow.active(now)).count();
        let cell_target = Target {
            factor: self.control.target_factor,
            cell_prbs,
            active_flows: u32::try_from(active).unwrap_or(u32::MAX),
        };
        for slice in &mut self.slices {
            slice.begin(now, self.wired, flows);
        }
        let slices = &self.slices;
        let own = |index| {
            let target = slices
                .iter()
                .find_map(|slice| slice.target(index, cell_target));
            target.unwrap_or(cell_target)
        };
        let mut targets: Vec<_> = (0..flows.len()).map(own).collect();
        let batch = &mut self.batch;
        batch.clear();
        for (index, (flow, target)) in flows.iter_mut().zip(&mut targets).enumerate() {
            if !flow.active(now) {
                continue;
            }
            if let Some(arms) = &mut self.arms {
                if let Some(factor) = arms.choose(now, index, flow) {
                    target.factor = factor;
                }
                arms.reports(index, flow);
            }
            flow.observe(now, *target, batch);
        }
        if let Some(model) = &mut self.model
            && !batch.is_empty()
        {
            // Flows that get no answer decide without it, and their guard rails see to the rest.
            let _ = batch.infer(model.as_mut());
        }
        for (index, (flow, target)) in flows.iter_mut().zip(&targets).enumerate() {
            if !flow.active(now) {
                continue;
            }
            let previous_bps = flow.rate_bps();
            let Some(decision) = flow.decide(now, *target, batch) else {
                continue;
            };
            flow.results.decided(decision.gain_bps_per_prb);
            for slice in self.slices.iter_mut().filter(|slice| slice.has(index)) {
                slice.used(decision.prbs, decision.target_prbs);
            }
            if let (Some(arms), Some(previous_bps)) = (&mut self.arms, previous_bps) {
                arms.decided(now, index, flow, &decision, previous_bps);
            }
        }
        if let Some(arms) = &mut self.arms {
            arms.end_interval(now);
        }
        for slice in &self.slices {
            slice.conclude(now, flows);
        }
    }
}

fn row(now: Duration, report: &UeReport, rate_bps: Option<f64>) -> ReportRow {
    ReportRow {
        at: now,
        prbs: report.prbs.unwrap_or(0.0),
        mcs: report.mcs.unwrap_or(0.0),
        sinr_db: report.sinr_db.unwrap_or(0.0),
        retransmission_ratio: report.retransmission_ratio().unwrap_or(0.0),
        queue_bytes: report.queue_bytes.unwrap_or(0),
        rate_bps,
        ..ReportRow::default()
    }
}
