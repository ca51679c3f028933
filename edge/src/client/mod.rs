//! The guidance client: keeps one stream to the xApp, and the state of every flow while there is none.
//!
//! One task owns the connection and all flows. It connects with exponential backoff, registers the flows again
//! after each reconnect, drops old guidance, lets it expire, hands flows to their fallback controllers and back.
//! Nothing in it grows without a bound: flows, commands, events and what waits for a slow xApp are all limited.

mod backoff;
mod config;
mod connect;
mod flow;
mod task;

pub use config::{Config, FlowSpec, Ue};

use crate::Error;
use crate::flow::unix_micros;
use crate::guidance::{Counters, Pacing, Phase};
use crate::report::{FlowMeasurement, Sent};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

/// Commands that wait for the client's task; callers wait when it is full.
const COMMANDS: usize = 64;
/// Events kept for a reader that is slow; it loses the oldest ones.
const EVENTS: usize = 1_024;

/// A client of the xApp's guidance service. It can be cloned; the connection ends with the last clone and handle.
///
/// ```no_run
/// # async fn example() -> Result<(), edge::Error> {
/// use edge::client::{Config, EdgeClient, FlowSpec, Ue};
///
/// let client = EdgeClient::connect(Config::new("http://127.0.0.1:50051", "edge-1"))?;
/// let ue = Ue::Ip("10.0.0.7".parse().expect("an address"));
/// let flow = client.register(FlowSpec::new("video-7", ue)).await?;
///
/// let mut pacing = flow.pacing();
/// loop {
///     let now = pacing.borrow_and_update().clone();
///     println!("send at {:.0} bit/s ({})", now.rate_bps, now.phase);
///     if pacing.changed().await.is_err() {
///         return Ok(()); // the client was dropped
///     }
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct EdgeClient {
    commands: mpsc::Sender<Command>,
    link: watch::Receiver<Link>,
    events: broadcast::Sender<Event>,
}

impl EdgeClient {
    /// Starts the client. Returns at once: the connection is made, and made again, in the background. Must be
    /// called in a tokio runtime.
    ///
    /// # Errors
    /// If the address or another setting is not usable.
    pub fn connect(config: Config) -> Result<Self, Error> {
        let endpoint = config.endpoint()?;
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let (events, _) = broadcast::channel(EVENTS);
        let (link_out, link) = watch::channel(Link::Connecting);
        let task = task::Task::new(config, endpoint, inbox, link_out, events.clone());
        tokio::spawn(task.run());
        Ok(Self {
            commands,
            link,
            events,
        })
    }

    /// Registers a flow, now and after every reconnect, until the handle is dropped. Does not wait for the xApp.
    ///
    /// # Errors
    /// If the flow's description is not usable, its id is taken, or there are too many flows.
    pub async fn register(&self, flow: FlowSpec) -> Result<FlowHandle, Error> {
        flow.check()?;
        let (reply, answer) = oneshot::channel();
        let command = Command::Register(Box::new(flow), reply);
        self.commands
            .send(command)
            .await
            .map_err(|_| Error::Closed)?;
        let channels = answer.await.map_err(|_| Error::Closed)??;
        Ok(FlowHandle {
            channels,
            _client: self.clone(),
        })
    }

    /// State of the connection.
    pub fn link(&self) -> watch::Receiver<Link> {
        self.link.clone()
    }

    /// What happens from now on, for logs and tests. A slow reader loses the oldest events.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }
}

/// State of the connection to the xApp.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// A connection is being made.
    Connecting,
    /// The stream is up.
    Connected {
        /// Identity of the xApp instance.
        xapp_id: String,
        /// Its version.
        version: String,
        /// Interval between its decisions.
        control_interval: Duration,
    },
    /// There is none; the next attempt comes after `retry_in`.
    Disconnected {
        /// Why.
        reason: String,
        /// Backoff.
        retry_in: Duration,
    },
}

/// What the xApp says of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Where the registration stands.
    pub state: Registration,
    /// For people: why.
    pub detail: String,
    /// Gain policy that rules the flow; empty: none.
    pub policy: String,
}

/// Where a registration stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    /// The xApp has not answered (yet, or since the connection was lost).
    #[default]
    Pending,
    /// Bound to a UE: guidance follows.
    Bound,
    /// No UE fits: no guidance until one does.
    Unbound,
    /// Not accepted; the detail says what to change.
    Refused,
}

/// What happens to a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The connection changed.
    Link(Link),
    /// The xApp changed what it says of a flow.
    Status {
        /// Which flow.
        flow_id: String,
        /// What it says.
        status: Status,
    },
    /// Another rule gives a flow its rate.
    Phase {
        /// Which flow.
        flow_id: String,
        /// Before.
        from: Phase,
        /// Now.
        to: Phase,
        /// Rate now, bit/s.
        rate_bps: f64,
    },
    /// A guidance message was not used: too old, or valid for no time.
    Dropped {
        /// Which flow.
        flow_id: String,
        /// Its sequence.
        sequence: u64,
    },
}

/// A registered flow. Dropping it unregisters the flow.
#[derive(Debug)]
pub struct FlowHandle {
    channels: Channels,
    /// Keeps the client's task alive.
    _client: EdgeClient,
}

impl FlowHandle {
    /// What to apply, always up to date.
    pub fn pacing(&self) -> watch::Receiver<Pacing> {
        self.channels.pacing.clone()
    }

    /// What the xApp says of the flow.
    pub fn status(&self) -> watch::Receiver<Status> {
        self.channels.status.clone()
    }

    /// Guidance messages so far.
    pub fn counters(&self) -> Counters {
        lock(&self.channels.shared).counters
    }

    /// Tells what was measured since the last call: goes to the xApp with the next report, and to the fallback
    /// controller.
    pub fn measured(&self, measurement: &FlowMeasurement) {
        let mut shared = lock(&self.channels.shared);
        shared.sent.count(measurement, unix_micros());
        match &mut shared.measured {
            Some(sum) => sum.join(measurement),
            none => *none = Some(measurement.clone()),
        }
    }
}

/// What a handle and the client's task share of a flow.
#[derive(Debug, Default)]
struct Shared {
    measured: Option<FlowMeasurement>,
    sent: Sent,
    counters: Counters,
}

/// The handle's ends.
#[derive(Debug)]
struct Channels {
    pacing: watch::Receiver<Pacing>,
    status: watch::Receiver<Status>,
    shared: Arc<Mutex<Shared>>,
}

enum Command {
    Register(Box<FlowSpec>, oneshot::Sender<Result<Channels, Error>>),
}

/// The state is plain data: it is whole even if a holder of the lock panicked.
fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
