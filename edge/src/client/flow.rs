//! A flow, as the client's task keeps it.

use super::{Channels, Event, FlowSpec, Registration, Shared, Status};
use crate::guidance::{FlowGuidance, Pacing};
use policies::matching::dither;
use proto::guidance as pb;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{broadcast, watch};

pub(super) struct Flow {
    registration: pb::RegisterFlow,
    pub(super) guidance: FlowGuidance,
    pub(super) pacing: watch::Sender<Pacing>,
    pub(super) status: watch::Sender<Status>,
    pub(super) shared: Arc<Mutex<Shared>>,
    dither: Dither,
}

/// A pattern in the rate of a flow whose UE is not known.
struct Dither {
    depth: f64,
    seed: u64,
}

impl Flow {
    /// A flow that is not registered yet, and its handle's ends.
    pub(super) fn new(spec: FlowSpec, now: Duration) -> (Self, Channels) {
        let registration = spec.registration();
        let dither = Dither {
            depth: spec.settings.dither.clamp(0.0, 0.9),
            seed: crate::random_u64(),
        };
        let mut guidance = FlowGuidance::new(spec.settings, spec.fallback, now);
        let (pacing, pacing_out) = watch::channel(guidance.pacing(now));
        let (status, status_out) = watch::channel(Status::default());
        let shared = Arc::new(Mutex::new(Shared::default()));
        let channels = Channels {
            pacing: pacing_out,
            status: status_out,
            shared: shared.clone(),
        };
        let flow = Self {
            registration,
            guidance,
            pacing,
            status,
            shared,
            dither,
        };
        (flow, channels)
    }

    /// The handle was dropped.
    pub(super) fn is_abandoned(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }

    /// The registration message: guidance starts from the rate at which the flow sends now.
    pub(super) fn registration(&self) -> pb::RegisterFlow {
        pb::RegisterFlow {
            current_rate_bps: self.pacing.borrow().rate_bps as u64,
            last_sequence: self.guidance.sequence(),
            ..self.registration.clone()
        }
    }

    /// Publishes what is to be applied now, if it changed.
    pub(super) fn publish(
        &mut self,
        flow_id: &str,
        now: Duration,
        events: &broadcast::Sender<Event>,
    ) {
        let mut new = self.guidance.pacing(now);
        let unbound = self.status.borrow().state == Registration::Unbound;
        if unbound && self.dither.depth > 0.0 {
            new.rate_bps *= dither(self.dither.seed, now, self.dither.depth);
        }
        let from = self.pacing.borrow().phase;
        let (to, rate_bps) = (new.phase, new.rate_bps);
        self.pacing.send_if_modified(|old| {
            let changed = *old != new;
            *old = new;
            changed
        });
        if from != to {
            tracing::debug!(flow_id, %from, %to, rate_bps, "flow changed its phase");
            let _ = events.send(Event::Phase {
                flow_id: flow_id.to_owned(),
                from,
                to,
                rate_bps,
            });
        }
    }

    pub(super) fn set_status(
        &mut self,
        flow_id: &str,
        status: Status,
        events: &broadcast::Sender<Event>,
    ) {
        if *self.status.borrow() == status {
            return;
        }
        if status.state == Registration::Refused {
            tracing::warn!(flow_id, detail = status.detail, "the xApp refused the flow");
        }
        self.status.send_replace(status.clone());
        let _ = events.send(Event::Status {
            flow_id: flow_id.to_owned(),
            status,
        });
    }
}
