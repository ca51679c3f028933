//! Sends a paced test flow.

use super::feedback::Feedback;
use super::packet::{DATA_BYTES, Packet, REPORT_BYTES};
use super::{aligned_ticks, bind, header_bytes, interval_start, unix_micros};
use crate::Error;
use crate::client::FlowHandle;
use crate::guidance::{Counters, Pacing, Phase};
use crate::pacer::{Burst, Pacer, Rate};
use crate::report::FlowMeasurement;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Packets sent before timers, reports and the end get their turn.
const BATCH: usize = 64;
/// Time between two packets that say that the flow has ended.
const END_INTERVAL: Duration = Duration::from_millis(100);

/// Settings of a sender.
#[derive(Clone, Debug)]
pub struct SenderConfig {
    /// Where the packets go.
    pub to: SocketAddr,
    /// Local address; `None`: any. Reports of the receiver come to it.
    pub local: Option<SocketAddr>,
    /// Octets of each IP packet, headers included.
    pub packet_bytes: usize,
    /// How long to send; `None`: until told to stop.
    pub duration: Option<Duration>,
    /// Interval of samples.
    pub sample_interval: Duration,
    /// Largest burst.
    pub burst: Burst,
    /// How long to wait at the end for the receiver's last report.
    pub linger: Duration,
}

impl SenderConfig {
    /// The usual settings: packets of 1400 octets, which still fit when a GTP-U tunnel is put around them.
    pub fn new(to: SocketAddr) -> Self {
        Self {
            to,
            local: None,
            packet_bytes: 1_400,
            duration: None,
            sample_interval: Duration::from_millis(100),
            burst: Burst::default(),
            linger: Duration::from_secs(1),
        }
    }
}

/// Who says how fast to send.
#[derive(Debug)]
pub enum Guide {
    /// Nobody: a fixed rate, bit/s.
    Fixed(f64),
    /// The xApp, or the flow's fallback. What is measured is reported to it.
    Flow(FlowHandle),
}

/// What was sent in an interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SenderSample {
    /// Start of the interval, Unix µs: a multiple of the interval's length.
    pub start_us: i64,
    /// Which rule gave the rate at the end of the interval; `None`: a fixed rate.
    pub phase: Option<Phase>,
    /// Mean of the rate that was allowed, bit/s.
    pub rate_bps: f64,
    /// Octets of IP packets sent.
    pub sent_bytes: u64,
    /// The same as a rate, bit/s.
    pub sent_bps: f64,
    /// Octets of IP packets that the receiver reported.
    pub acknowledged_bytes: u64,
    /// Mean one-way delay of the receiver's last report, µs; `None`: no packet came since the one before.
    pub delay_mean_us: Option<u32>,
    /// 99th percentile in the same report, µs.
    pub delay_p99_us: Option<u32>,
    /// PRBs per slot that the xApp compared with its target in its newest decision.
    pub prbs: Option<f64>,
    /// That target.
    pub target_prbs: Option<f64>,
}

/// The flow as a whole, as its sender knows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SenderSummary {
    /// The session's number, as the receiver knows it.
    pub session: u64,
    /// How long it sent, µs.
    pub duration_us: u64,
    /// Packets sent.
    pub packets: u64,
    /// Octets of IP packets sent.
    pub bytes: u64,
    /// The same as a rate, bit/s.
    pub sent_bps: f64,
    /// Mean of the rate that was allowed, bit/s.
    pub rate_bps: f64,
    /// Octets that the rate would have allowed, but that could not be sent in time.
    pub forfeited_bytes: u64,
    /// Octets of IP packets that the receiver reported.
    pub acknowledged_bytes: u64,
    /// Packets that the receiver misses.
    pub lost_packets: u64,
    /// Packets that came out of order.
    pub reordered_packets: u64,
    /// Mean one-way delay over the receiver's reports, µs; `None`: none came.
    pub delay_mean_us: Option<f64>,
    /// Reports of the receiver.
    pub reports: u64,
    /// Time in each phase, µs, to the resolution of the samples; empty for a fixed rate.
    pub phases_us: BTreeMap<String, u64>,
    /// Guidance messages applied.
    pub guidance_accepted: u64,
    /// Guidance messages dropped because they were old or invalid.
    pub guidance_dropped: u64,
}

/// A bound sender.
#[derive(Debug)]
pub struct Sender {
    socket: UdpSocket,
    config: SenderConfig,
    session: u64,
}

impl Sender {
    /// Binds the socket.
    ///
    /// # Errors
    /// If the local address cannot be bound, or the packets are too small or too large.
    pub async fn bind(config: SenderConfig) -> Result<Self, Error> {
        let least = header_bytes(config.to) + DATA_BYTES;
        if !(least..=65_000).contains(&config.packet_bytes) {
            return Err(Error::Setting {
                name: "packet size",
                why: format!(
                    "must be from {least} to 65000 octets, is {}",
                    config.packet_bytes
                ),
            });
        }
        let any: IpAddr = match config.to {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let local = config.local.unwrap_or(SocketAddr::new(any, 0));
        Ok(Self {
            socket: bind(local)?,
            config,
            session: crate::random_u64(),
        })
    }

    /// The bound address, to which the receiver may send its reports.
    ///
    /// # Errors
    /// If the operating system does not tell.
    pub fn local_addr(&self) -> Result<SocketAddr, Error> {
        self.socket
            .local_addr()
            .map_err(|e| self.failed("send to", e))
    }

    /// The session's number, which the receiver gives in its samples and totals.
    pub fn session(&self) -> u64 {
        self.session
    }

    /// Sends for the configured time or until `stop`, and gives each interval to `on_sample`.
    ///
    /// # Errors
    /// If the socket fails.
    pub async fn run(
        self,
        guide: Guide,
        stop: CancellationToken,
        mut on_sample: impl FnMut(&SenderSample),
    ) -> Result<SenderSummary, Error> {
        let rate = match &guide {
            Guide::Fixed(bps) => Rate::Fixed(*bps),
            Guide::Flow(flow) => Rate::Guided(flow.pacing()),
        };
        let mut run = Run {
            pacer: Pacer::new(rate, self.config.burst),
            packet: vec![0; self.config.packet_bytes - header_bytes(self.config.to)],
            sent_packets: 0,
            feedback: Feedback::new(self.session),
            sampled: Sampled::default(),
            phases_us: BTreeMap::new(),
            begin: Instant::now(),
            earned_bytes: 0.0,
            forfeited_bytes: 0.0,
            sender: self,
            guide,
        };
        run.send(&stop, &mut on_sample).await?;
        let duration = run.begin.elapsed();
        run.count();
        run.finish(&stop).await?;
        run.sample(&mut on_sample);
        Ok(run.summary(duration))
    }

    fn failed(&self, what: &'static str, source: std::io::Error) -> Error {
        Error::Socket {
            what,
            address: self.config.to,
            source,
        }
    }
}

/// A sender that runs.
struct Run {
    sender: Sender,
    guide: Guide,
    pacer: Pacer,
    packet: Vec<u8>,
    sent_packets: u64,
    feedback: Feedback,
    sampled: Sampled,
    phases_us: BTreeMap<String, u64>,
    begin: Instant,
    /// What the pacer allowed, and what of it could not be used, while the flow was sent.
    earned_bytes: f64,
    forfeited_bytes: f64,
}

/// Counts at the last sample.
#[derive(Default)]
struct Sampled {
    at: Duration,
    sent_bytes: u64,
    earned_bytes: f64,
    acknowledged_bytes: u64,
}

impl Run {
    async fn send(
        &mut self,
        stop: &CancellationToken,
        on_sample: &mut impl FnMut(&SenderSample),
    ) -> Result<(), Error> {
        let ip_bytes = self.sender.config.packet_bytes as u64;
        let mut end = pin!(sleep(self.sender.config.duration.unwrap_or(Duration::MAX)));
        let mut ticks = aligned_ticks(self.sender.config.sample_interval);
        let mut inbox = [0; REPORT_BYTES];
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = &mut end => return Ok(()),
                _ = ticks.tick() => {
                    self.count();
                    self.sample(on_sample);
                }
                received = self.sender.socket.recv_from(&mut inbox) => {
                    let (length, _) = received.map_err(|e| self.sender.failed("get reports of", e))?;
                    self.report(&inbox[..length]);
                }
                () = self.pacer.ready(ip_bytes) => {
                    self.send_one().await?;
                    for _ in 1..BATCH {
                        if !self.pacer.take(ip_bytes) {
                            break;
                        }
                        self.send_one().await?;
                    }
                }
            }
        }
    }

    async fn send_one(&mut self) -> Result<(), Error> {
        let data = Packet::Data {
            session: self.sender.session,
            sequence: self.sent_packets,
            sent_us: unix_micros(),
        };
        data.encode(&mut self.packet);
        self.sent_packets += 1;
        let sent = self
            .sender
            .socket
            .send_to(&self.packet, self.sender.config.to);
        sent.await.map_err(|e| self.sender.failed("send to", e))?;
        Ok(())
    }

    /// Says that the flow has ended, again and again until the receiver's report shows nothing missing: packets may
    /// still be on their way. What is missing for longer than a while is lost.
    async fn finish(&mut self, stop: &CancellationToken) -> Result<(), Error> {
        let begin = Instant::now();
        let mut ended = None;
        while begin.elapsed() < self.sender.config.linger {
            self.send_end().await?;
            let round = timeout(END_INTERVAL, self.complete());
            tokio::select! {
                complete = round => match complete {
                    Ok(done) => return done,
                    Err(_) if self.feedback.ended() => {
                        let since = *ended.get_or_insert_with(Instant::now);
                        if since.elapsed() >= 3 * END_INTERVAL {
                            return Ok(());
                        }
                    }
                    Err(_) => {}
                },
                // One who is told to stop waits for one report at most.
                () = async { stop.cancelled().await; sleep(END_INTERVAL).await } => return Ok(()),
            }
        }
        Ok(())
    }

    async fn send_end(&mut self) -> Result<(), Error> {
        let end = Packet::End {
            session: self.sender.session,
            packets: self.sent_packets,
            sent_us: unix_micros(),
        };
        let length = end.encode(&mut self.packet);
        let Sender { socket, config, .. } = &self.sender;
        let sent = socket.send_to(&self.packet[..length], config.to).await;
        sent.map_err(|e| self.sender.failed("send to", e))?;
        Ok(())
    }

    /// Reads reports until one says that all has come.
    async fn complete(&mut self) -> Result<(), Error> {
        let mut inbox = [0; REPORT_BYTES];
        while !(self.feedback.ended() && self.feedback.lost_packets() == 0) {
            let received = self.sender.socket.recv_from(&mut inbox).await;
            let (length, _) = received.map_err(|e| self.sender.failed("get reports of", e))?;
            self.report(&inbox[..length]);
        }
        Ok(())
    }

    fn report(&mut self, bytes: &[u8]) {
        let Some(measured) = self.feedback.receive(bytes, unix_micros()) else {
            return;
        };
        if let Guide::Flow(flow) = &self.guide {
            flow.measured(&measured);
        }
    }

    fn sample(&mut self, on_sample: &mut impl FnMut(&SenderSample)) {
        let at = self.begin.elapsed();
        let length = at.saturating_sub(self.sampled.at);
        let seconds = length.as_secs_f64().max(1e-6);
        let earned_bytes = self.earned_bytes;
        let sent_bytes = self.sent_packets * self.sender.config.packet_bytes as u64;
        let acknowledged_bytes = self.feedback.acknowledged_bytes();
        let new = Sampled {
            at,
            sent_bytes,
            earned_bytes,
            acknowledged_bytes,
        };
        let old = std::mem::replace(&mut self.sampled, new);
        let pacing = self.pacing();
        if let Some(pacing) = &pacing {
            *self.phases_us.entry(pacing.phase.to_string()).or_default() +=
                length.as_micros() as u64;
        }
        if let Guide::Flow(flow) = &self.guide {
            flow.measured(&FlowMeasurement {
                interval: length,
                sent_bytes: Some(sent_bytes - old.sent_bytes),
                ..Default::default()
            });
        }
        let delay = self.feedback.last_delay_us();
        let reason = pacing.as_ref().and_then(|p| p.reason.as_ref());
        on_sample(&SenderSample {
            start_us: interval_start(unix_micros(), self.sender.config.sample_interval),
            phase: pacing.as_ref().map(|p| p.phase),
            rate_bps: (earned_bytes - old.earned_bytes) * 8.0 / seconds,
            sent_bytes: sent_bytes - old.sent_bytes,
            sent_bps: (sent_bytes - old.sent_bytes) as f64 * 8.0 / seconds,
            acknowledged_bytes: acknowledged_bytes - old.acknowledged_bytes,
            delay_mean_us: delay.map(|(mean, _)| mean),
            delay_p99_us: delay.map(|(_, p99)| p99),
            prbs: reason.and_then(|r| r.prbs),
            target_prbs: reason.map(|r| r.target_prbs),
        });
    }

    fn pacing(&self) -> Option<Pacing> {
        match &self.guide {
            Guide::Fixed(_) => None,
            Guide::Flow(flow) => Some(flow.pacing().borrow().clone()),
        }
    }

    /// Notes what the pacer allowed so far.
    fn count(&mut self) {
        let bucket = self.pacer.bucket();
        self.earned_bytes = bucket.earned_bytes();
        self.forfeited_bytes = bucket.forfeited_bytes();
    }

    fn summary(self, duration: Duration) -> SenderSummary {
        let bytes = self.sent_packets * self.sender.config.packet_bytes as u64;
        let seconds = duration.as_secs_f64().max(1e-6);
        let counters = match &self.guide {
            Guide::Fixed(_) => Counters::default(),
            Guide::Flow(flow) => flow.counters(),
        };
        SenderSummary {
            session: self.sender.session,
            duration_us: duration.as_micros() as u64,
            packets: self.sent_packets,
            bytes,
            sent_bps: bytes as f64 * 8.0 / seconds,
            rate_bps: self.earned_bytes * 8.0 / seconds,
            forfeited_bytes: self.forfeited_bytes as u64,
            acknowledged_bytes: self.feedback.acknowledged_bytes(),
            lost_packets: self.feedback.lost_packets(),
            reordered_packets: self.feedback.reordered_packets(),
            delay_mean_us: self.feedback.delay_mean_us(),
            reports: self.feedback.reports(),
            phases_us: self.phases_us,
            guidance_accepted: counters.accepted,
            guidance_dropped: counters.old + counters.invalid,
        }
    }
}
