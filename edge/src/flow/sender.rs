//! Sends a paced test flow.

use super::packet::DATA_BYTES;
use super::run::Run;
use super::{bind, header_bytes};
use crate::Error;
use crate::client::FlowHandle;
use crate::guidance::Phase;
use crate::pacer::Burst;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio_util::sync::CancellationToken;

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
    pub(super) socket: UdpSocket,
    pub(super) config: SenderConfig,
    pub(super) session: u64,
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
        Run::new(self, guide).until_end(&stop, &mut on_sample).await
    }

    pub(super) fn failed(&self, what: &'static str, source: std::io::Error) -> Error {
        Error::Socket {
            what,
            address: self.config.to,
            source,
        }
    }
}
