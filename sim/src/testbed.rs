//! Flows over one wired bottleneck, in virtual time: where a sender is judged before it meets a cell.
//!
//! The dumbbell of congestion control papers: every flow has its own round-trip time, all share one [`Link`].
//! Acknowledgements are neither lost nor delayed beyond the propagation time.

use crate::link::{Link, Service};
use crate::random::{Xoshiro256PlusPlus, stream};
use crate::senders::CongestionControl;
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::{TcpConfig, TcpCounters, TcpSender};
use crate::tcp::{Acknowledgement, DATA_HEADER, Segment};
use rand::Rng;
use std::collections::VecDeque;
use std::time::Duration;

/// A flow of the test-bed.
pub struct FlowSpec {
    /// Its congestion control.
    pub control: Box<dyn CongestionControl>,
    /// Round-trip propagation time.
    pub rtt: Duration,
    /// When it starts.
    pub start: Duration,
    /// When it stops sending.
    pub stop: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Passing {
    flow: usize,
    segment: Segment,
    sent_at: Duration,
}

struct Flow {
    sender: TcpSender,
    receiver: Receiver,
    rtt: Duration,
    start: Duration,
    stop: Duration,
    /// Segments between bottleneck and receiver, acknowledgements on their way back; both first in, first out.
    arriving: VecDeque<(Duration, Passing)>,
    returning: VecDeque<(Duration, Acknowledgement)>,
    wake: Option<Duration>,
    results: FlowResults,
    /// Which segments have been received, to count payload once.
    seen: Vec<bool>,
}

/// What a flow achieved.
#[derive(Clone, Debug, Default)]
pub struct FlowResults {
    /// Payload received for the first time, as (time, octets).
    pub received: Vec<(Duration, u32)>,
    /// Delay of every packet from sending to reception, as (time of reception, delay).
    pub delays: Vec<(Duration, Duration)>,
    /// Counts of the sender.
    pub counters: TcpCounters,
}

impl FlowResults {
    /// Goodput in bit/s between two times.
    pub fn goodput_bps(&self, from: Duration, to: Duration) -> f64 {
        let octets: u64 = self
            .received
            .iter()
            .filter(|(at, _)| (from..to).contains(at))
            .map(|&(_, octets)| u64::from(octets))
            .sum();
        octets as f64 * 8.0 / (to - from).as_secs_f64()
    }

    /// One-way delays between two times, sorted.
    pub fn sorted_delays(&self, from: Duration, to: Duration) -> Vec<Duration> {
        let within = self.delays.iter().filter(|(at, _)| (from..to).contains(at));
        let mut delays: Vec<Duration> = within.map(|&(_, delay)| delay).collect();
        delays.sort();
        delays
    }
}

/// The test-bed.
pub struct Testbed {
    link: Link<Passing>,
    flows: Vec<Flow>,
    now: Duration,
    /// Probability that a packet is lost before the bottleneck, and what decides.
    loss: (f64, Xoshiro256PlusPlus),
    /// Octets in the bottleneck's queue, sampled every millisecond.
    pub queue: Vec<u64>,
}

impl Testbed {
    /// A bottleneck with a drop-tail buffer of `buffer` octets.
    pub fn new(service: Service, buffer: u64, config: TcpConfig, flows: Vec<FlowSpec>) -> Self {
        let flows = flows
            .into_iter()
            .map(|spec| Flow {
                sender: TcpSender::endless(config, spec.control),
                receiver: Receiver::new(Duration::from_millis(config.delayed_ack_ms)),
                rtt: spec.rtt,
                start: spec.start,
                stop: spec.stop,
                arriving: VecDeque::new(),
                returning: VecDeque::new(),
                wake: Some(spec.start),
                results: FlowResults::default(),
                seen: Vec::new(),
            })
            .collect();
        Self {
            link: Link::new(service, buffer),
            flows,
            now: Duration::ZERO,
            loss: (0.0, stream(0, "loss", 0)),
            queue: Vec::new(),
        }
    }

    /// Loses packets at random, with this probability.
    pub fn with_loss(mut self, probability: f64, seed: u64) -> Self {
        self.loss = (probability, stream(seed, "loss", 0));
        self
    }

    /// Packets dropped by the bottleneck.
    pub fn drops(&self) -> u64 {
        self.link.drops()
    }

    /// A flow's sender.
    pub fn sender(&self, flow: usize) -> &TcpSender {
        &self.flows[flow].sender
    }

    /// Runs until `end`; the results of the flows.
    pub fn run(&mut self, end: Duration) -> Vec<FlowResults> {
        loop {
            let flow_events = self.flows.iter().enumerate();
            let first_flow = flow_events
                .filter_map(|(index, flow)| Some((flow.next_event()?, index)))
                .min();
            let departure = self.link.next_departure();
            let next = match (first_flow, departure) {
                (None, None) => break,
                (Some((at, _)), None) => at,
                (None, Some(at)) => at,
                (Some((a, _)), Some(b)) => a.min(b),
            };
            if next > end {
                break;
            }
            self.sample_queue(next);
            self.now = self.now.max(next);
            if departure == Some(next) {
                self.depart(next);
            } else if let Some((_, flow)) = first_flow {
                self.run_flow(flow);
            }
        }
        self.sample_queue(end);
        self.flows
            .iter()
            .map(|flow| FlowResults {
                counters: *flow.sender.counters(),
                ..flow.results.clone()
            })
            .collect()
    }

    fn sample_queue(&mut self, until: Duration) {
        while Duration::from_millis(self.queue.len() as u64) < until {
            self.queue.push(self.link.queued());
        }
    }

    fn depart(&mut self, now: Duration) {
        if let Some(passing) = self.link.pop() {
            let flow = &mut self.flows[passing.flow];
            // Half of the propagation time lies behind the bottleneck, the other half on the way back.
            flow.arriving.push_back((now + flow.rtt / 2, passing));
        }
    }

    fn run_flow(&mut self, index: usize) {
        let now = self.now;
        let flow = &mut self.flows[index];
        while let Some(&(at, passing)) = flow.arriving.front()
            && at <= now
        {
            flow.arriving.pop_front();
            flow.receive(now, passing);
        }
        if let Some(ack) = flow.receiver.on_timeout(now) {
            flow.returning.push_back((now + flow.rtt / 2, ack));
        }
        if now >= flow.stop {
            flow.sender.close();
        }
        while let Some(&(at, ack)) = flow.returning.front()
            && at <= now
        {
            flow.returning.pop_front();
            flow.sender.on_ack(now, &ack);
        }
        if now < flow.start {
            return;
        }
        flow.sender.on_timer(now);
        while let Some(segment) = flow.sender.poll_send(now) {
            let passing = Passing {
                flow: index,
                segment,
                sent_at: now,
            };
            let (probability, random) = &mut self.loss;
            if *probability == 0.0 || random.random::<f64>() >= *probability {
                self.link.push(now, passing, segment.len + DATA_HEADER);
            }
        }
        flow.wake = flow.sender.next_event(now);
    }
}

impl Flow {
    fn next_event(&self) -> Option<Duration> {
        let arriving = self.arriving.front().map(|&(at, _)| at);
        let returning = self.returning.front().map(|&(at, _)| at);
        [arriving, returning, self.receiver.deadline(), self.wake]
            .into_iter()
            .flatten()
            .min()
    }

    fn receive(&mut self, now: Duration, passing: Passing) {
        let Segment { seq, len } = passing.segment;
        self.results.delays.push((now, now - passing.sent_at));
        let index = seq as usize;
        if self.seen.len() <= index {
            self.seen.resize(index + 1, false);
        }
        if !std::mem::replace(&mut self.seen[index], true) {
            self.results.received.push((now, len));
        }
        if let Some(ack) = self.receiver.on_segment(now, seq) {
            self.returning.push_back((now + self.rtt / 2, ack));
        }
    }
}
