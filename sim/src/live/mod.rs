//! The cell by the wall clock: relays real UDP packets through its RLC queues.
//!
//! Each guided UE has an ingress socket, to which an edge server sends, and an egress address, where the receiver
//! listens. A datagram that comes in waits in the UE's RLC queue, crosses the simulated air, and goes out, unchanged.
//!
//! ```no_run
//! # async fn example() -> Result<(), sim::live::LiveError> {
//! use sim::{cell::{CellConfig, UeConfig}, live};
//! let stop = tokio_util::sync::CancellationToken::new();
//! let config = live::LiveConfig {
//!     cell: CellConfig { ues: vec![UeConfig::default()], ..CellConfig::default() },
//!     relays: vec![live::RelayConfig::new(0, ([127, 0, 0, 1], 0).into(), ([127, 0, 0, 1], 5201).into())],
//!     ..live::LiveConfig::default()
//! };
//! let cell = live::start(config, stop.clone()).await?;
//! println!("send to {}", cell.ingress()[0]);
//! stop.cancel();
//! cell.finished().await
//! # }
//! ```

mod driver;
mod link;
mod relay;
mod session;
mod stats;

pub use stats::{E2Status, LiveStats, RelayStats, UeStats};

use crate::cell::{Cell, CellConfig, CellError};
use crate::channel::Channel;
use crate::channel::replay::Replay;
use crate::node::{NodeConfig, NodeError};
use crate::scenario::{ChannelSpec, ScenarioError};
use serde::{Deserialize, Deserializer, Serialize};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Longest datagram relayed unless configured: an Ethernet frame's, with room for tunnels.
const MAX_DATAGRAM: usize = 2000;

/// A cell to run by the wall clock.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LiveConfig {
    /// The cell: `profile` ("gnb" or "lena", if any) and settings that differ from it.
    #[serde(deserialize_with = "CellConfig::deserialize_profile")]
    pub cell: CellConfig,
    /// Channel model of all UEs, by which link adaptation and errors go, instead of what the UEs' configurations say.
    pub channel: Option<ChannelSpec>,
    /// Recorded SINRs (CSV, [`crate::channel::replay`]) instead of a channel model: UE i gets the i-th UE of the file, and the
    /// first one again when there are no more.
    pub traces: Option<PathBuf>,
    /// Seed of its random draws.
    pub seed: u64,
    /// Its UDP relays.
    pub relays: Vec<RelayConfig>,
    /// The RIC it connects to, if any.
    pub e2: Option<E2Config>,
}

/// Where the cell's E2 node connects to, and who it is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct E2Config {
    /// The RIC.
    #[serde(deserialize_with = "address")]
    pub address: transport::Address,
    /// The node.
    #[serde(default)]
    pub node: NodeConfig,
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<transport::Address, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// One UDP relay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelayConfig {
    /// Index of the UE through whose queue the packets go.
    pub ue: usize,
    /// Where the edge sends to; port 0 lets the kernel choose.
    pub ingress: SocketAddr,
    /// Where the receiver listens.
    pub egress: SocketAddr,
    /// Longest datagram relayed, octets of UDP payload; longer ones are dropped and counted.
    #[serde(default = "max_datagram")]
    pub max_datagram: usize,
}

fn max_datagram() -> usize {
    MAX_DATAGRAM
}

impl RelayConfig {
    /// A relay through UE `ue` from `ingress` to `egress`.
    pub fn new(ue: usize, ingress: SocketAddr, egress: SocketAddr) -> Self {
        Self {
            ue,
            ingress,
            egress,
            max_datagram: MAX_DATAGRAM,
        }
    }
}

/// Why a live cell cannot start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The cell's configuration.
    #[error("cell: {0}")]
    Cell(#[from] CellError),
    /// The channel of the UEs.
    #[error(transparent)]
    Channel(#[from] ScenarioError),
    /// The E2 node's configuration.
    #[error("E2 node: {0}")]
    Node(#[from] NodeError),
    /// A relay goes through a UE that does not exist.
    #[error("relay to {egress}: there is no UE {ue}; the cell has {count}, counted from 0")]
    NoSuchUe {
        /// The relay's egress.
        egress: SocketAddr,
        /// The UE it names.
        ue: usize,
        /// UEs of the cell.
        count: usize,
    },
    /// A socket of a relay.
    #[error("{role} socket {address}: {source}")]
    Socket {
        /// Ingress or egress.
        role: &'static str,
        /// Its address.
        address: SocketAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// The cell's task panicked.
    #[error("the cell stopped unexpectedly: {0}")]
    Panicked(#[from] tokio::task::JoinError),
}

/// A running cell. It runs until its cancellation token is cancelled, also if this handle is dropped.
#[derive(Debug)]
pub struct LiveCell {
    ingress: Vec<SocketAddr>,
    stats: watch::Receiver<LiveStats>,
    task: JoinHandle<()>,
}

/// Opens the sockets and starts the cell.
pub async fn start(config: LiveConfig, stop: CancellationToken) -> Result<LiveCell, LiveError> {
    let mut cell = Cell::new(config.cell, config.seed)?;
    set_channels(
        &mut cell,
        config.channel.as_ref(),
        config.traces.as_deref(),
        config.seed,
    )?;
    let mut relays = Vec::new();
    for relay in config.relays {
        if relay.ue >= cell.ue_count() {
            return Err(LiveError::NoSuchUe {
                egress: relay.egress,
                ue: relay.ue,
                count: cell.ue_count(),
            });
        }
        relays.push(relay::Relay::open(relay).await?);
    }
    let ingress = relays.iter().map(|r| r.ingress()).collect();
    let (publish, stats) = watch::channel(LiveStats::default());
    let session = config
        .e2
        .map(|e2| session::Session::start(e2, stop.clone()));
    let driver = driver::Driver::new(cell, relays, session.transpose()?, publish);
    let task = tokio::spawn(driver.run(stop));
    Ok(LiveCell {
        ingress,
        stats,
        task,
    })
}

fn set_channels(
    cell: &mut Cell,
    model: Option<&ChannelSpec>,
    traces: Option<&Path>,
    seed: u64,
) -> Result<(), ScenarioError> {
    let recorded = traces.map(recordings).transpose()?;
    let bandwidth_hz = cell.config().bandwidth_hz();
    for ue in 0..cell.ue_count() {
        let channel = match (&recorded, model) {
            (Some(all), _) => Channel::replayed(all[ue % all.len()].clone()),
            (None, Some(model)) => model.channel(bandwidth_hz, seed, ue, Path::new(""))?,
            (None, None) => break,
        };
        cell.set_channel(ue, channel);
    }
    Ok(())
}

fn recordings(file: &Path) -> Result<Vec<Replay>, ScenarioError> {
    let text = std::fs::read_to_string(file).map_err(|error| ScenarioError::Read {
        file: file.to_owned(),
        error,
    })?;
    Replay::all_from_csv(&text).map_err(|error| ScenarioError::Trace {
        file: file.to_owned(),
        error,
    })
}

impl LiveCell {
    /// The bound ingress addresses, in the order of [`LiveConfig::relays`].
    pub fn ingress(&self) -> &[SocketAddr] {
        &self.ingress
    }

    /// What the cell does, renewed every 100 ms.
    pub fn stats(&self) -> watch::Receiver<LiveStats> {
        self.stats.clone()
    }

    /// Waits until the RIC has accepted the E2 node; false if the cell ends before.
    pub async fn e2_up(&self) -> bool {
        let mut stats = self.stats();
        stats.wait_for(|s| s.e2 == E2Status::Up).await.is_ok()
    }

    /// Waits for the end, after the token was cancelled.
    pub async fn finished(self) -> Result<(), LiveError> {
        Ok(self.task.await?)
    }
}
