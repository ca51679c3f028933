//! A flow: its sender, its receiver, and what is on the wires between.

use super::guide::Guide;
use super::video::{Video, VideoGuidance};
use crate::frames::FrameResults;
use crate::results::FlowResults;
use crate::senders::CongestionControl;
use crate::senders::paced::{Pacer, UDP_HEADER};
use crate::senders::video::VideoConfig;
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::{TcpConfig, TcpSender};
use crate::tcp::{Acknowledgement, DATA_HEADER, Segment};
use policies::Batch;
use policies::controller::{Controller, Decision, RateBounds, Target};
use policies::report::UeReport;
use policies::slice::SliceControl;
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
    /// Frames of video over paced UDP.
    Video {
        /// The sender.
        config: VideoConfig,
        /// Who guides it.
        guidance: VideoGuidance,
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
    Video(Box<Video>),
    Tcp {
        sender: Box<TcpSender>,
        receiver: Receiver,
    },
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
        let mut results = FlowResults::new(name.clone(), start, stop);
        let sender = match sender {
            SenderConfig::Constant { bps, payload } => paced(bps, payload, None),
            SenderConfig::Guided {
                controller,
                bounds,
                anti_windup,
                payload,
            } => {
                let rate = bounds.clamp(controller.rate_bps());
                paced(
                    rate,
                    payload,
                    Some(Guide::new(controller, bounds, anti_windup)),
                )
            }
            SenderConfig::Video { config, guidance } => {
                results.frames = Some(FrameResults::new(config.frames_per_second));
                Sender::Video(Box::new(Video::new(config, guidance, start)))
            }
            SenderConfig::Tcp { control, config } => Sender::Tcp {
                sender: Box::new(TcpSender::endless(config, control)),
                receiver: Receiver::new(Duration::from_millis(config.delayed_ack_ms)),
            },
        };
        Self {
            results,
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
        self.guide().is_some()
    }

    /// The video sender, if it is one.
    pub(super) fn video(&mut self) -> Option<&mut Video> {
        match &mut self.sender {
            Sender::Video(video) => Some(video),
            _ => None,
        }
    }

    /// The TCP sender, if it is one.
    pub fn tcp(&self) -> Option<&TcpSender> {
        match &self.sender {
            Sender::Tcp { sender, .. } => Some(sender),
            Sender::Paced { .. } | Sender::Video(_) => None,
        }
    }

    /// The rate of a paced sender, the bitrate of a video sender, bit/s of payload.
    pub fn rate_bps(&self) -> Option<f64> {
        match &self.sender {
            Sender::Paced { pacer, .. } => Some(pacer.rate_bps()),
            Sender::Video(video) => Some(video.bitrate_bps()),
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
            Sender::Video(video) => {
                if self.stopped {
                    self.wake = None;
                    return;
                }
                let before = self.emissions.len();
                let frame = video.run_at(now, &mut self.emissions);
                for emission in self.emissions.iter().skip(before) {
                    self.results.sent(emission.segment.len);
                }
                if let (Some(frame), Some(frames)) = (frame, &mut self.results.frames) {
                    frames.encoded(frame);
                }
                self.wake = Some(video.next_event().min(self.stop));
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
            Sender::Paced { .. } | Sender::Video(_) => {
                self.results.received(at, segment.len, sent_at, true);
                if let Some(frames) = &mut self.results.frames {
                    frames.received(segment.seq, at);
                }
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
            Sender::Paced { .. } | Sender::Video(_) => None,
        }
    }

    /// An acknowledgement will reach the sender at `at`.
    pub(super) fn acknowledgement(&mut self, at: Duration, ack: Acknowledgement) {
        self.acknowledgements.push_back((at, ack));
    }

    /// What decides about its rate, if something does.
    fn guide(&self) -> Option<&Guide> {
        match &self.sender {
            Sender::Paced { guide, .. } => guide.as_ref(),
            Sender::Video(video) => video.guide(),
            Sender::Tcp { .. } => None,
        }
    }

    fn guide_mut(&mut self) -> Option<&mut Guide> {
        match &mut self.sender {
            Sender::Paced { guide, .. } => guide.as_mut(),
            Sender::Video(video) => video.guide_mut(),
            Sender::Tcp { .. } => None,
        }
    }

    /// A report about its UE has reached the controller.
    pub(super) fn report(&mut self, report: Box<UeReport>) {
        if let Some(guide) = self.guide_mut() {
            guide.report(*report);
        }
    }

    /// Reports since the last decision.
    pub(super) fn reports(&self) -> &[UeReport] {
        self.guide().map_or(&[], Guide::reports)
    }

    /// Bounds of its rate, if it is guided.
    pub(super) fn bounds(&self) -> Option<RateBounds> {
        Some(self.guide()?.bounds())
    }

    /// Its slice of `own` active flows bounds its rate.
    pub(super) fn bound_by(&mut self, slice: &SliceControl, own: u32) {
        if let Some(guide) = self.guide_mut() {
            guide.bound_by(slice, own);
        }
    }

    /// Goes on at another rate than it decided, bit/s.
    pub(super) fn set_rate(&mut self, now: Duration, rate_bps: f64) {
        if let Some(guide) = self.guide_mut() {
            guide.set_rate(rate_bps);
        }
        match &mut self.sender {
            Sender::Paced { pacer, .. } => {
                pacer.set_rate(now, rate_bps);
                self.wake = pacer.next().map(|next| next.max(now).min(self.stop));
            }
            Sender::Video(video) => video.decided(now, rate_bps),
            Sender::Tcp { .. } => {}
        }
    }

    /// Another controller decides from now on; it goes on from the present rate.
    pub(super) fn go_on_with(&mut self, mut new: Box<dyn Controller>) {
        if let Some(rate_bps) = self.rate_bps() {
            new.set_rate_bps(rate_bps);
        }
        if let Some(guide) = self.guide_mut() {
            guide.set_controller(new);
        }
    }

    /// What a learned policy observes at the end of a control interval goes into the batch.
    pub(super) fn observe(&mut self, now: Duration, target: Target, batch: &mut Batch) {
        if let Some(guide) = self.guide_mut() {
            guide.observe(now, target, batch);
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
            pacer.set_rate(self.start, guide.bounds().clamp(new.rate_bps()));
            guide.set_controller(new);
        }
    }

    /// Ends a control interval of a guided flow.
    pub(super) fn decide(
        &mut self,
        now: Duration,
        target: Target,
        batch: &Batch,
    ) -> Option<Decision> {
        match &mut self.sender {
            Sender::Paced {
                pacer,
                guide: Some(guide),
                ..
            } => {
                let decision = guide.decide(now, target, batch);
                pacer.set_rate(now, decision.rate_bps);
                self.wake = pacer.next().map(|next| next.max(now).min(self.stop));
                Some(decision)
            }
            Sender::Video(video) => {
                let decision = video.guide_mut()?.decide(now, target, batch);
                let bitrate = decision.target_bitrate_bps.unwrap_or(decision.rate_bps);
                video.decided(now, bitrate);
                Some(decision)
            }
            Sender::Paced { .. } | Sender::Tcp { .. } => None,
        }
    }
}
