//! A sender while it runs.

use super::feedback::Feedback;
use super::packet::{Packet, REPORT_BYTES};
use super::sender::{Guide, Sender, SenderSample, SenderSummary};
use super::{aligned_ticks, header_bytes, interval_start, unix_micros};
use crate::Error;
use crate::guidance::{Counters, Pacing};
use crate::pacer::{Pacer, Rate};
use crate::report::FlowMeasurement;
use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Packets sent before timers, reports and the end get their turn.
const BATCH: usize = 64;
/// Time between two packets that say that the flow has ended.
const END_INTERVAL: Duration = Duration::from_millis(100);

/// Interval at which the xApp is told what was sent.
const MEASUREMENT_INTERVAL: Duration = Duration::from_millis(50);

/// A sender that runs.
pub(super) struct Run {
    sender: Sender,
    guide: Guide,
    pacer: Pacer,
    packet: Vec<u8>,
    sent_packets: u64,
    feedback: Feedback,
    sampled: Sampled,
    /// When was last measured for the xApp, and the octets sent by then.
    measured: (Duration, u64),
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
    pub(super) fn new(sender: Sender, guide: Guide) -> Self {
        let rate = match &guide {
            Guide::Fixed(bps) => Rate::Fixed(*bps),
            Guide::Flow(flow) => Rate::Guided(flow.pacing()),
        };
        Self {
            pacer: Pacer::new(rate, sender.config.burst),
            packet: vec![0; sender.config.packet_bytes - header_bytes(sender.config.to)],
            sent_packets: 0,
            feedback: Feedback::new(sender.session),
            sampled: Sampled::default(),
            measured: (Duration::ZERO, 0),
            phases_us: BTreeMap::new(),
            begin: Instant::now(),
            earned_bytes: 0.0,
            forfeited_bytes: 0.0,
            sender,
            guide,
        }
    }

    pub(super) async fn until_end(
        mut self,
        stop: &CancellationToken,
        on_sample: &mut impl FnMut(&SenderSample),
    ) -> Result<SenderSummary, Error> {
        self.send(stop, on_sample).await?;
        let duration = self.begin.elapsed();
        self.count();
        self.finish(stop).await?;
        self.sample(on_sample);
        Ok(self.summary(duration))
    }

    async fn send(
        &mut self,
        stop: &CancellationToken,
        on_sample: &mut impl FnMut(&SenderSample),
    ) -> Result<(), Error> {
        let ip_bytes = self.sender.config.packet_bytes as u64;
        let mut end = pin!(sleep(self.sender.config.duration.unwrap_or(Duration::MAX)));
        let mut ticks = aligned_ticks(self.sender.config.sample_interval);
        let mut measurements = tokio::time::interval(MEASUREMENT_INTERVAL);
        measurements.set_missed_tick_behavior(MissedTickBehavior::Delay);
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
                _ = measurements.tick() => self.measure(),
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

    /// Tells the xApp what was sent since the last call.
    fn measure(&mut self) {
        let at = self.begin.elapsed();
        let sent_bytes = self.sent_packets * self.sender.config.packet_bytes as u64;
        let (last_at, last_bytes) = std::mem::replace(&mut self.measured, (at, sent_bytes));
        if let Guide::Flow(flow) = &self.guide {
            flow.measured(&FlowMeasurement {
                interval: at.saturating_sub(last_at),
                sent_bytes: Some(sent_bytes - last_bytes),
                ..Default::default()
            });
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
