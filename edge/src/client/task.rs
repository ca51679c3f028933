//! The task behind a client: one loop that owns the connection and every flow.

use super::backoff::Backoff;
use super::connect::{ended, open, request, text};
use super::flow::Flow;
use super::{Channels, Command, Config, Event, FlowSpec, Link, Registration, Status, lock};
use crate::Error;
use crate::guidance::Outcome;
use proto::guidance as pb;
use proto::guidance::{guide_request::Message as Out, guide_response::Message as In};
use rand::{SeedableRng, rngs::SmallRng};
use std::collections::{HashMap, VecDeque, hash_map::Entry};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tonic::transport::Endpoint;

/// Messages that gRPC has not taken yet.
const OUTBOUND: usize = 64;

pub(super) struct Task {
    config: Config,
    endpoint: Endpoint,
    commands: mpsc::Receiver<Command>,
    link: watch::Sender<Link>,
    events: broadcast::Sender<Event>,
    flows: HashMap<String, Flow>,
    /// Registrations and unregistrations that the xApp has to be told, in order. At most three for each flow
    /// that can be registered; emptied when the connection is lost, because the xApp then forgets the flows.
    pending: VecDeque<Pending>,
    epoch: Instant,
    next_report: Instant,
}

enum Pending {
    Register(String),
    Unregister(String),
}

/// All clones of the client and all handles are gone.
struct Abandoned;

impl Task {
    pub(super) fn new(
        config: Config,
        endpoint: Endpoint,
        commands: mpsc::Receiver<Command>,
        link: watch::Sender<Link>,
        events: broadcast::Sender<Event>,
    ) -> Self {
        let epoch = Instant::now();
        Self {
            next_report: epoch + config.report_interval,
            config,
            endpoint,
            commands,
            link,
            events,
            flows: HashMap::new(),
            pending: VecDeque::new(),
            epoch,
        }
    }

    /// Runs until nobody needs it any more.
    pub(super) async fn run(mut self) {
        let mut backoff = Backoff::new(self.config.backoff_base, self.config.backoff_max);
        let mut rng = SmallRng::seed_from_u64(crate::random_u64());
        loop {
            self.set_link(Link::Connecting);
            let mut welcomed = None;
            let Ok(reason) = self.connection(&mut welcomed).await else {
                return;
            };
            self.forget_registrations();
            // Not as soon as it is made: of two clients with one edge_id each ends the connection of the other.
            if welcomed.is_some_and(|at| at.elapsed() >= self.config.backoff_max) {
                backoff.reset();
            }
            // One line per outage, not per attempt.
            if welcomed.is_some() || backoff.is_first() {
                tracing::warn!(xapp = self.config.xapp, reason, "no connection to the xApp");
            }
            let retry_in = backoff.next(&mut rng);
            self.set_link(Link::Disconnected { reason, retry_in });
            if self.meanwhile(sleep(retry_in)).await.is_err() {
                return;
            }
        }
    }

    /// One connection from its making to its loss: why it was lost. Notes when the xApp welcomed it, if it did.
    async fn connection(&mut self, welcomed: &mut Option<Instant>) -> Result<String, Abandoned> {
        let (outbound, requests) = mpsc::channel(OUTBOUND);
        let hello = pb::Hello {
            edge_id: self.config.edge_id.clone(),
            agent: concat!("cantor-edge/", env!("CARGO_PKG_VERSION")).to_owned(),
        };
        let open = timeout(
            self.config.connect_timeout,
            open(self.endpoint.clone(), hello, outbound.clone(), requests),
        );
        let mut inbound = match self.meanwhile(open).await? {
            Ok(Ok((inbound, welcome))) => {
                *welcomed = Some(Instant::now());
                self.welcome(welcome);
                inbound
            }
            Ok(Err(reason)) => return Ok(reason),
            Err(_) => return Ok("no welcome from the xApp in time".into()),
        };
        let mut heard = Instant::now();
        loop {
            self.queue_reports(&outbound);
            let silence = heard + self.config.silence_limit;
            let wake = self.next_wake();
            let bound = self.any_bound();
            tokio::select! {
                message = inbound.message() => match message {
                    Ok(Some(pb::GuideResponse { message })) => {
                        heard = Instant::now();
                        self.receive(message);
                    }
                    Ok(None) => return Ok("the xApp closed the stream".into()),
                    Err(status) => return Ok(ended(&status)),
                },
                room = outbound.reserve(), if !self.pending.is_empty() => match room {
                    Ok(room) => {
                        if let Some(message) = self.next_pending() {
                            room.send(request(message));
                        }
                    }
                    Err(_) => return Ok("the xApp closed the stream".into()),
                },
                command = self.commands.recv() => self.command(command)?,
                () = sleep_until(wake) => self.advance(),
                () = sleep_until(silence), if bound => {
                    return Ok(format!(
                        "nothing from the xApp for {:?} although flows are bound",
                        self.config.silence_limit
                    ));
                }
            }
        }
    }

    /// Keeps the flows and the commands going while `future` is under way.
    async fn meanwhile<T>(&mut self, future: impl Future<Output = T>) -> Result<T, Abandoned> {
        let mut future = pin!(future);
        loop {
            let wake = self.next_wake();
            tokio::select! {
                done = &mut future => return Ok(done),
                command = self.commands.recv() => self.command(command)?,
                () = sleep_until(wake) => self.advance(),
            }
        }
    }

    fn welcome(&mut self, welcome: pb::Welcome) {
        tracing::info!(
            xapp = self.config.xapp,
            xapp_id = welcome.xapp_id,
            "connected to the xApp"
        );
        self.set_link(Link::Connected {
            xapp_id: text(welcome.xapp_id),
            version: text(welcome.version),
            control_interval: Duration::from_micros(welcome.control_interval_us),
        });
        self.pending = self.flows.keys().cloned().map(Pending::Register).collect();
    }

    fn forget_registrations(&mut self) {
        self.pending.clear();
        for (flow_id, flow) in &mut self.flows {
            flow.set_status(flow_id, Status::default(), &self.events);
        }
    }

    fn command(&mut self, command: Option<Command>) -> Result<(), Abandoned> {
        let Some(Command::Register(spec, reply)) = command else {
            return Err(Abandoned);
        };
        // A caller that gave up waiting drops the channels, and the next report tick the flow.
        let _ = reply.send(self.register(*spec));
        Ok(())
    }

    fn register(&mut self, spec: FlowSpec) -> Result<Channels, Error> {
        self.drop_abandoned();
        // An unregistration that waits still takes a place: a stalled xApp must not make the queue grow.
        let max = self.config.max_flows;
        if self.flows.len() >= max || self.pending.len() >= 2 * max {
            return Err(Error::TooManyFlows(max));
        }
        let entry = match self.flows.entry(spec.flow_id.clone()) {
            Entry::Occupied(entry) => return Err(Error::DuplicateFlow(entry.key().clone())),
            Entry::Vacant(entry) => entry,
        };
        let (flow, channels) = Flow::new(spec, self.epoch.elapsed());
        if matches!(*self.link.borrow(), Link::Connected { .. }) {
            self.pending
                .push_back(Pending::Register(entry.key().clone()));
        }
        entry.insert(flow);
        Ok(channels)
    }

    /// Unregisters the flows whose handles were dropped.
    fn drop_abandoned(&mut self) {
        let connected = matches!(*self.link.borrow(), Link::Connected { .. });
        let pending = &mut self.pending;
        self.flows.retain(|flow_id, flow| {
            let kept = !flow.is_abandoned();
            if !kept && connected {
                pending.push_back(Pending::Unregister(flow_id.clone()));
            }
            kept
        });
    }

    fn next_pending(&mut self) -> Option<Out> {
        match self.pending.pop_front()? {
            Pending::Unregister(flow_id) => {
                Some(Out::UnregisterFlow(pb::UnregisterFlow { flow_id }))
            }
            // It may be gone again; its unregistration follows.
            Pending::Register(flow_id) => self
                .flows
                .get(&flow_id)
                .map(|flow| Out::RegisterFlow(flow.registration())),
        }
    }

    fn receive(&mut self, message: Option<In>) {
        match message {
            Some(In::Batch(batch)) => {
                let now = self.epoch.elapsed();
                for guidance in batch.guidance {
                    self.guide(guidance, now);
                }
            }
            Some(In::FlowStatus(status)) => self.status(status),
            // A second welcome says nothing new; other messages are of a later version of the contract.
            Some(In::Welcome(_)) | None => {}
        }
    }

    fn guide(&mut self, mut guidance: pb::Guidance, now: Duration) {
        // Guidance for a flow that was just unregistered.
        let Some(flow) = self.flows.get_mut(&guidance.flow_id) else {
            return;
        };
        let flow_id = std::mem::take(&mut guidance.flow_id);
        if let Some(reason) = &mut guidance.reason {
            reason.controller = text(std::mem::take(&mut reason.controller));
            reason.arm = text(std::mem::take(&mut reason.arm));
        }
        let sequence = guidance.sequence;
        let outcome = flow.guidance.receive(guidance, now);
        lock(&flow.shared).counters = flow.guidance.counters();
        if outcome == Outcome::Accepted {
            flow.publish(&flow_id, now, &self.events);
        } else {
            let _ = self.events.send(Event::Dropped { flow_id, sequence });
        }
    }

    fn status(&mut self, status: pb::FlowStatus) {
        use pb::flow_status::State;
        let Some(flow) = self.flows.get_mut(&status.flow_id) else {
            return;
        };
        let state = match status.state() {
            State::Bound => Registration::Bound,
            State::Unbound => Registration::Unbound,
            State::Refused => Registration::Refused,
            State::Unspecified => return,
        };
        let flow_id = status.flow_id;
        let status = Status {
            state,
            detail: text(status.detail),
            policy: text(status.policy),
        };
        flow.set_status(&flow_id, status, &self.events);
    }

    /// Time has passed: expiry, ramps, fallback.
    fn advance(&mut self) {
        let now = self.epoch.elapsed();
        for (flow_id, flow) in &mut self.flows {
            flow.publish(flow_id, now, &self.events);
        }
        // Without a connection there is nobody to report to, but the fallbacks want to know, too.
        if !matches!(*self.link.borrow(), Link::Connected { .. }) && self.report_due() {
            self.take_measurements();
        }
    }

    fn report_due(&mut self) -> bool {
        let now = Instant::now();
        let due = now >= self.next_report;
        if due {
            self.next_report = now + self.config.report_interval;
            self.drop_abandoned();
        }
        due
    }

    /// Sends the reports that are due. What a slow xApp has no room for is left out.
    fn queue_reports(&mut self, outbound: &mpsc::Sender<pb::GuideRequest>) {
        if !self.report_due() {
            return;
        }
        for report in self.take_measurements() {
            if outbound.try_send(request(Out::FlowReport(report))).is_err() {
                break;
            }
        }
    }

    fn take_measurements(&mut self) -> Vec<pb::FlowReport> {
        let now = self.epoch.elapsed();
        let mut reports = Vec::new();
        for (flow_id, flow) in &mut self.flows {
            let (measured, sent) = {
                let mut shared = lock(&flow.shared);
                // What the receiver says comes without an interval, and waits for what was sent.
                let whole = shared.measured.take_if(|m| !m.interval.is_zero());
                (whole, shared.sent)
            };
            if let Some(measured) = measured {
                flow.guidance.measured(now, &measured);
                let sequence = flow.guidance.sequence();
                reports.push(measured.to_proto(flow_id, sequence, sent));
            }
        }
        reports
    }

    fn next_wake(&self) -> Instant {
        let now = self.epoch.elapsed();
        self.flows
            .values()
            .filter_map(|flow| flow.guidance.next_change(now))
            .map(|at| self.epoch + at)
            .fold(self.next_report, Instant::min)
    }

    fn any_bound(&self) -> bool {
        self.flows
            .values()
            .any(|flow| flow.status.borrow().state == Registration::Bound)
    }

    fn set_link(&self, link: Link) {
        self.link.send_replace(link.clone());
        // Nobody has to listen to events, here and below.
        let _ = self.events.send(Event::Link(link));
    }
}
