//! A flow: its sender, its receiver, and what is on the wires between.

use crate::results::FlowResults;
use crate::senders::CongestionControl;
use crate::senders::paced::{Pacer, UDP_HEADER};
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::{TcpConfig, TcpSender};
use crate::tcp::{Acknowledgement, DATA_HEADER, Segment};
use policies::controller::{Controller, Decision, Interval, RateBounds, Target};
use policies::report::UeReport;
use policies::slice::SliceControl;
use policies::{Batch, Row};
use std::collections::VecDeque;
use std::time::Duration;

/// A flow as a scenario describes it.
pub struct FlowConfig {
    /// Name in results.
    pub name: String,
    /// Index of the UE that receives it.
    pub ue: usize,
    /// When it starts sending.
    pub start: Duration,
    /// When it stops sending.
    pub stop: Duration,
    /// Who sends.
    pub sender: SenderConfig,
}

/// Who sends.
pub enum SenderConfig {
    /// Paced UDP at a rate that follows PRB reports.
    Guided {
        /// What decides.
        controller: Box<dyn Controller>,
        /// Bounds of its rate.
        bounds: RateBounds,
        /// Ceiling of its rate relative to what was delivered in the last control interval.
        anti_windup: Option<f64>,
        /// Payload of a packet, octets.
        payload: u32,
    },
    /// Paced UDP at a constant rate of payload.
    Constant {
        /// bit/s of payload.
        bps: f64,
        /// Payload of a packet, octets.
        payload: u32,
    },
    /// TCP with endless data.
    Tcp {
        /// Its congestion control.
        control: Box<dyn CongestionControl>,
        /// Its parameters.
        config: TcpConfig,
    },
}

/// A packet leaving the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emission {
    pub segment: Segment,
    pub sent_at: Duration,
    pub wire_octets: u32,
}

enum Sender {
    Paced {
        pacer: Pacer,
        payload: u32,
        next_seq: u64,
        guide: Option<Guide>,
    },
    Tcp {
        sender: Box<TcpSender>,
        receiver: Receiver,
    },
}

struct Guide {
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

/// A running flow.
pub struct Flow {
    name: String,
    ue: usize,
    start: Duration,
    stop: Duration,
    stopped: bool,
    sender: Sender,
    /// Packets between sender and cell.
    emissions: VecDeque<Emission>,
    /// Acknowledgements between base station and sender, with their time of arrival.
    acknowledgements: VecDeque<(Duration, Acknowledgement)>,
    /// When the sender has something to do, if nothing arrives before.
    wake: Option<Duration>,
    /// What it achieved.
    pub results: FlowResults,
}

impl Flow {
    pub(super) fn new(config: FlowConfig) -> Self {
        let FlowConfig {
            name,
            ue,
            start,
            stop,
            sender,
        } = config;
        // Rates are rates of payload, as in the papers.
        let paced = |bps: f64, payload: u32, guide| Sender::Paced {
            pacer: Pacer::new(payload, bps, start),
            payload,
            next_seq: 0,
            guide,
        };
        let sender = match sender {
            SenderConfig::Constant { bps, payload } => paced(bps, payload, None),
            SenderConfig::Guided {
                controller,
                bounds,
                anti_windup,
                payload,
            } => {
                let rate = bounds.clamp(controller.rate_bps());
                let guide = Guide {
                    controller,
                    own_bounds: bounds,
                    bounds,
                    anti_windup,
                    reports: Vec::new(),
                    row: None,
                };
                paced(rate, payload, Some(guide))
            }
            SenderConfig::Tcp { control, config } => Sender::Tcp {
                sender: Box::new(TcpSender::endless(config, control)),
                receiver: Receiver::new(Duration::from_millis(config.delayed_ack_ms)),
            },
        };
        Self {
            results: FlowResults::new(name.clone(), start, stop),
            name,
            ue,
            start,
            stop,
            stopped: false,
            sender,
            emissions: VecDeque::new(),
            acknowledgements: VecDeque::new(),
            wake: Some(start),
        }
    }

    /// Name in results.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Index of its UE.
    pub fn ue(&self) -> usize {
        self.ue
    }

    /// It has started and not stopped.
    pub fn active(&self, now: Duration) -> bool {
        (self.start..self.stop).contains(&now)
    }

    /// Its rate follows reports.
    pub fn guided(&self) -> bool {
        matches!(&self.sender, Sender::Paced { guide: Some(_), .. })
    }

    /// The TCP sender, if it is one.
    pub fn tcp(&self) -> Option<&TcpSender> {
        match &self.sender {
            Sender::Tcp { sender, .. } => Some(sender),
            Sender::Paced { .. } => None,
        }
    }

    /// The rate of a paced sender, bit/s of payload.
    pub fn rate_bps(&self) -> Option<f64> {
        match &self.sender {
            Sender::Paced { pacer, .. } => Some(pacer.rate_bps()),
            Sender::Tcp { .. } => None,
        }
    }

    /// Runs the sender's events before `now`, at their times.
    pub(super) fn run_until(&mut self, now: Duration) {
        loop {
            let ack = self.acknowledgements.front().map(|&(at, _)| at);
            let at = match (ack, self.wake) {
                (Some(a), Some(b)) => a.min(b),
                (Some(at), None) | (None, Some(at)) => at,
                (None, None) => return,
            };
            if at >= now {
                return;
            }
            self.run_at(at);
        }
    }

    fn run_at(&mut self, now: Duration) {
        if now >= self.stop && !self.stopped {
            self.stopped = true;
            if let Sender::Tcp { sender, .. } = &mut self.sender {
                sender.close();
            }
        }
        match &mut self.sender {
            Sender::Paced {
                pacer,
                payload,
                next_seq,
                ..
            } => {
                if self.stopped {
                    self.wake = None;
                    return;
                }
                while pacer.poll_send(now).is_some() {
                    self.emissions.push_back(Emission {
                        segment: Segment {
                            seq: *next_seq,
                            len: *payload,
                        },
                        sent_at: now,
                        wire_octets: *payload + UDP_HEADER,
                    });
                    self.results.sent(*payload);
                    *next_seq += 1;
                }
                self.wake = pacer.next().map(|next| next.max(now).min(self.stop));
            }
            Sender::Tcp { sender, .. } => {
                while let Some(&(at, ack)) = self.acknowledgements.front()
                    && at <= now
                {
                    self.acknowledgements.pop_front();
                    sender.on_ack(now, &ack);
                }
                sender.on_timer(now);
                while let Some(segment) = sender.poll_send(now) {
                    self.emissions.push_back(Emission {
                        segment,
                        sent_at: now,
                        wire_octets: segment.len + DATA_HEADER,
                    });
                    self.results.sent(segment.len);
                }
                self.wake = sender.next_event(now);
                if !self.stopped {
                    self.wake = Some(self.wake.map_or(self.stop, |wake| wake.min(self.stop)));
                }
            }
        }
    }

    /// The next packet that was sent `lead` ago or earlier.
    pub(super) fn arrived_by(&mut self, now: Duration, lead: Duration) -> Option<Emission> {
        let emission = *self.emissions.front()?;
        (emission.sent_at + lead <= now).then(|| {
            self.emissions.pop_front();
            emission
        })
    }

    /// A packet reaches the receiver; the acknowledgement that it causes at once.
    pub(super) fn receive(
        &mut self,
        at: Duration,
        segment: Segment,
        sent_at: Duration,
    ) -> Option<Acknowledgement> {
        match &mut self.sender {
            Sender::Paced { .. } => {
                self.results.received(at, segment.len, sent_at, true);
                None
            }
            Sender::Tcp { receiver, .. } => {
                let new = receiver.is_new(segment.seq);
                self.results.received(at, segment.len, sent_at, new);
                receiver.on_segment(at, segment.seq)
            }
        }
    }

    /// The acknowledgement that the receiver has held back long enough.
    pub(super) fn delayed_ack(&mut self, now: Duration) -> Option<Acknowledgement> {
        match &mut self.sender {
            Sender::Tcp { receiver, .. } => receiver.on_timeout(now),
            Sender::Paced { .. } => None,
        }
    }

    /// An acknowledgement will reach the sender at `at`.
    pub(super) fn acknowledgement(&mut self, at: Duration, ack: Acknowledgement) {
        self.acknowledgements.push_back((at, ack));
    }

    /// A report about its UE has reached the controller.
    pub(super) fn report(&mut self, report: Box<UeReport>) {
        if let Sender::Paced {
            guide: Some(guide), ..
        } = &mut self.sender
        {
            guide.reports.push(*report);
        }
    }

    /// Reports since the last decision.
    pub(super) fn reports(&self) -> &[UeReport] {
        match &self.sender {
            Sender::Paced {
                guide: Some(guide), ..
            } => &guide.reports,
            _ => &[],
        }
    }

    /// Bounds of its rate, if it is guided.
    pub(super) fn bounds(&self) -> Option<RateBounds> {
        match &self.sender {
            Sender::Paced { guide, .. } => Some(guide.as_ref()?.bounds),
            Sender::Tcp { .. } => None,
        }
    }

    /// Its slice of `own` active flows bounds its rate.
    pub(super) fn bound_by(&mut self, slice: &SliceControl, own: u32) {
        if let Sender::Paced {
            guide: Some(guide), ..
        } = &mut self.sender
        {
            guide.bounds = slice.bounds(guide.own_bounds, own);
        }
    }

    /// Goes on at another rate than it decided, bit/s.
    pub(super) fn set_rate(&mut self, now: Duration, rate_bps: f64) {
        if let Sender::Paced {
            pacer,
            guide: Some(guide),
            ..
        } = &mut self.sender
        {
            guide.controller.set_rate_bps(rate_bps);
            pacer.set_rate(now, rate_bps);
            self.wake = pacer.next().map(|next| next.max(now).min(self.stop));
        }
    }

    /// What a learned policy observes at the end of a control interval goes into the batch.
    pub(super) fn observe(&mut self, now: Duration, target: Target, batch: &mut Batch) {
        if let Sender::Paced {
            guide: Some(guide), ..
        } = &mut self.sender
        {
            let (controller, interval) = guide.parts(now, target);
            guide.row = batch.observe(controller, &interval);
        }
    }

    /// Puts another controller in the place of a guided flow's; the rate goes on from where the new one starts.
    pub(super) fn set_controller(&mut self, new: Box<dyn Controller>) {
        if let Sender::Paced {
            pacer,
            guide: Some(guide),
            ..
        } = &mut self.sender
        {
            pacer.set_rate(self.start, guide.bounds.clamp(new.rate_bps()));
            guide.controller = new;
        }
    }

    /// Ends a control interval of a guided flow.
    pub(super) fn decide(
        &mut self,
        now: Duration,
        target: Target,
        batch: &Batch,
    ) -> Option<Decision> {
        let Sender::Paced {
            pacer,
            guide: Some(guide),
            ..
        } = &mut self.sender
        else {
            return None;
        };
        let row = guide.row.take();
        let (controller, interval) = guide.parts(now, target);
        let decision = batch.decide(controller, &interval, row);
        guide.reports.clear();
        pacer.set_rate(now, decision.rate_bps);
        self.wake = pacer.next().map(|next| next.max(now).min(self.stop));
        Some(decision)
    }
}
