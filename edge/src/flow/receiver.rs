//! Receives test flows, measures them, and reports to their senders.

use super::delay::DelaySummary;
use super::packet::{Packet, REPORT_BYTES};
use super::track::{FlowTotals, Track};
use super::{aligned_ticks, bind, header_bytes, interval_start, unix_micros};
use crate::Error;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Packets read before timers and the end get their turn.
const BATCH: usize = 64;
/// Packets may still be on their way when the sender says that it has finished.
const SETTLE: Duration = Duration::from_millis(500);

/// Settings of a receiver.
#[derive(Clone, Debug)]
pub struct ReceiverConfig {
    /// Local address.
    pub listen: SocketAddr,
    /// Where reports go; `None`: to where a flow's packets come from.
    pub report_to: Option<SocketAddr>,
    /// Interval of reports.
    pub report_interval: Duration,
    /// Interval of samples.
    pub sample_interval: Duration,
    /// Sessions followed at a time; packets of further ones are counted only.
    pub max_sessions: usize,
    /// Ends when every session that began has ended.
    pub until_end: bool,
}

impl ReceiverConfig {
    /// The usual settings.
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            report_to: None,
            report_interval: Duration::from_millis(50),
            sample_interval: Duration::from_millis(100),
            max_sessions: 16,
            until_end: false,
        }
    }
}

/// What came of a session in an interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReceiverSample {
    /// The session's number.
    pub session: u64,
    /// Start of the interval, Unix µs: a multiple of the interval's length.
    pub start_us: i64,
    /// Packets received, without duplicates.
    pub packets: u64,
    /// Octets of IP packets received, without duplicates.
    pub bytes: u64,
    /// The same as a rate, bit/s.
    pub goodput_bps: f64,
    /// Packets found missing, less those that came late.
    pub lost: i64,
    /// One-way delay; `None`: no packet came.
    pub delay: Option<DelaySummary>,
}

/// What a receiver has seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReceiverSummary {
    /// Every session, in the order of their numbers.
    pub flows: Vec<FlowTotals>,
    /// Packets that are none of a test flow, or of more sessions than are followed.
    pub ignored_packets: u64,
}

/// A bound receiver.
#[derive(Debug)]
pub struct Receiver {
    socket: UdpSocket,
    config: ReceiverConfig,
    sessions: BTreeMap<u64, Session>,
    ignored: u64,
}

#[derive(Debug)]
struct Session {
    track: Track,
    from: SocketAddr,
    /// When the first end packet came.
    ended: Option<Instant>,
    last_report_sent: bool,
    sampled_bytes: u64,
    sampled_packets: u64,
    sampled_lost: u64,
}

impl Receiver {
    /// Binds the socket.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub async fn bind(config: ReceiverConfig) -> Result<Self, Error> {
        Ok(Self {
            socket: bind(config.listen)?,
            config,
            sessions: BTreeMap::new(),
            ignored: 0,
        })
    }

    /// The bound address.
    ///
    /// # Errors
    /// If the operating system does not tell.
    pub fn local_addr(&self) -> Result<SocketAddr, Error> {
        self.socket.local_addr().map_err(|e| self.failed(e))
    }

    /// Sends the reports of all flows to this address instead.
    pub fn report_to(&mut self, address: SocketAddr) {
        self.config.report_to = Some(address);
    }

    /// Receives until `stop`, and gives each interval of each session to `on_sample`.
    ///
    /// # Errors
    /// If the socket fails.
    pub async fn run(
        mut self,
        stop: CancellationToken,
        mut on_sample: impl FnMut(&ReceiverSample),
    ) -> Result<ReceiverSummary, Error> {
        let mut samples = aligned_ticks(self.config.sample_interval);
        let mut reports = tokio::time::interval(self.config.report_interval);
        let mut buffer = vec![0; 65_536];
        let mut finished = false;
        while !finished {
            // Timers first: a flow that fills the machine must not starve them.
            tokio::select! {
                biased;
                () = stop.cancelled() => finished = true,
                _ = samples.tick() => {
                    self.sample(&mut on_sample);
                    finished = self.config.until_end && self.all_ended();
                }
                _ = reports.tick() => self.report(unix_micros()),
                readable = self.socket.readable() => {
                    readable.map_err(|e| self.failed(e))?;
                    self.receive(&mut buffer)?;
                }
            }
        }
        self.sample(&mut on_sample);
        self.report(unix_micros());
        Ok(ReceiverSummary {
            flows: self.sessions.values().map(|s| s.track.totals()).collect(),
            ignored_packets: self.ignored,
        })
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        for _ in 0..BATCH {
            match self.socket.try_recv_from(buffer) {
                Ok((length, from)) => self.packet(&buffer[..length], from),
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) => return Err(self.failed(e)),
            }
        }
        Ok(())
    }

    fn packet(&mut self, bytes: &[u8], from: SocketAddr) {
        let now_us = unix_micros();
        let (session, data) = match Packet::decode(bytes) {
            Some(Packet::Data {
                session,
                sequence,
                sent_us,
            }) => (session, Ok((sequence, sent_us))),
            Some(Packet::End {
                session, packets, ..
            }) => (session, Err(packets)),
            Some(Packet::Report(_)) | None => {
                self.ignored += 1;
                return;
            }
        };
        if !self.sessions.contains_key(&session) && !self.admit(session, from) {
            self.ignored += 1;
            return;
        }
        let Some(flow) = self.sessions.get_mut(&session) else {
            return;
        };
        flow.from = from;
        match data {
            Ok((sequence, sent_us)) => {
                let ip_bytes = bytes.len() + header_bytes(from);
                flow.track.data(sequence, sent_us, ip_bytes as u64, now_us);
                // It came after the end: what was reported last is no longer true.
                flow.last_report_sent = false;
            }
            // Reported at once, and each time: the sender waits for it.
            Err(packets) => {
                flow.track.end(packets);
                flow.ended.get_or_insert_with(Instant::now);
                flow.last_report_sent = false;
                self.report(now_us);
            }
        }
    }

    /// Begins to follow a session, if there is room.
    fn admit(&mut self, session: u64, from: SocketAddr) -> bool {
        if self.sessions.len() >= self.config.max_sessions {
            return false;
        }
        let flow = Session {
            track: Track::new(session),
            from,
            ended: None,
            last_report_sent: false,
            sampled_bytes: 0,
            sampled_packets: 0,
            sampled_lost: 0,
        };
        self.sessions.insert(session, flow);
        true
    }

    fn report(&mut self, now_us: i64) {
        let mut buffer = [0; REPORT_BYTES];
        for flow in self.sessions.values_mut().filter(|f| !f.last_report_sent) {
            let report = flow.track.report(now_us);
            flow.last_report_sent = report.ended;
            let length = Packet::Report(report).encode(&mut buffer);
            // A report that does not get through is made good by the next one.
            let to = self.config.report_to.unwrap_or(flow.from);
            let _ = self.socket.try_send_to(&buffer[..length], to);
        }
    }

    fn sample(&mut self, on_sample: &mut impl FnMut(&ReceiverSample)) {
        let length = self.config.sample_interval;
        let start_us = interval_start(unix_micros(), length);
        for (session, flow) in &mut self.sessions {
            let delay = flow.track.sample_delay();
            let ((bytes, packets), lost) = (flow.track.received(), flow.track.lost());
            let new_bytes = bytes - std::mem::replace(&mut flow.sampled_bytes, bytes);
            let new_packets = packets - std::mem::replace(&mut flow.sampled_packets, packets);
            let lost_before = std::mem::replace(&mut flow.sampled_lost, lost);
            if flow.ended.is_some() && new_packets == 0 {
                continue;
            }
            on_sample(&ReceiverSample {
                session: *session,
                start_us,
                packets: new_packets,
                bytes: new_bytes,
                goodput_bps: new_bytes as f64 * 8.0 / length.as_secs_f64(),
                lost: lost.wrapping_sub(lost_before).cast_signed(),
                delay,
            });
        }
    }

    /// Every session has ended, and nothing of it is missing, or was missing for a while.
    fn all_ended(&self) -> bool {
        let over = |flow: &Session| {
            let settled = flow.track.lost() == 0;
            flow.ended
                .is_some_and(|at| settled || at.elapsed() >= SETTLE)
        };
        !self.sessions.is_empty() && self.sessions.values().all(over)
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Socket {
            what: "receive on",
            address: self.config.listen,
            source,
        }
    }
}
