//! One run: cell, flows and, when guided, the xApp.

use super::series::{FlowSeries, Series};
use super::{GUIDED_UES, Options, slices};
use crate::config::Config;
use crate::models::Model;
use anyhow::Context as _;
use edge::client::{self, EdgeClient, FlowHandle, FlowSpec, Registration, Ue};
use edge::flow::{Guide, Receiver, ReceiverConfig, Sender, SenderConfig};
use policies::model::Folder;
use sim::cell::{Background, Cell, CellConfig, UeConfig};
use sim::live::{self, E2Config, LiveCell, LiveConfig, RelayConfig};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

/// Any port of this host.
const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// How long the parts may take to find each other.
const BIND_LIMIT: Duration = Duration::from_secs(20);
/// Between two calls of the watcher.
const WATCH: Duration = Duration::from_millis(500);

/// How the edge flows send.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sending {
    /// At the rate the xApp says.
    Guided,
    /// The same, in two slices whose policies change at half time.
    Sliced,
    /// At this rate, bit/s.
    Fixed(f64),
}

/// How a run goes.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The xApp guides.
    pub guided: bool,
    /// Time since the senders' start.
    pub elapsed: Duration,
    /// Length of the run.
    pub length: Duration,
    /// The edge flows.
    pub flows: Vec<FlowNow>,
    /// PRBs per slot of the greedy UE.
    pub greedy_prbs: f64,
}

/// How a flow goes.
#[derive(Clone, Debug, Default)]
pub struct FlowNow {
    /// Rate allowed, bit/s.
    pub rate_bps: f64,
    /// Goodput, bit/s.
    pub goodput_bps: f64,
    /// Mean one-way delay, ms.
    pub delay_ms: Option<f64>,
    /// PRBs per slot.
    pub prbs: f64,
    /// Their target.
    pub target_prbs: Option<f64>,
    /// Octets in the RLC queue.
    pub queue_bytes: u64,
}

type Recorded = Arc<Mutex<Vec<FlowSeries>>>;

/// Runs one phase.
pub(super) async fn run(
    options: &Options,
    sending: Sending,
    stop: &CancellationToken,
    watch: &mut dyn FnMut(&Progress),
) -> anyhow::Result<Series> {
    // Whatever way this function ends, its parts end with it.
    let parts = stop.child_token();
    let parts_end = parts.clone().drop_guard();

    let mut receivers = Vec::new();
    for _ in 0..GUIDED_UES {
        let mut config = ReceiverConfig::new(LOCAL);
        config.until_end = true;
        receivers.push(Receiver::bind(config).await?);
    }
    let mut live = LiveConfig {
        cell: cell(),
        seed: options.seed,
        ..LiveConfig::default()
    };
    for (ue, receiver) in receivers.iter().enumerate() {
        live.relays
            .push(RelayConfig::new(ue, LOCAL, receiver.local_addr()?));
    }
    let guide = match sending {
        Sending::Guided | Sending::Sliced => {
            Some(Xapp::start(options, &mut live, parts.clone()).await?)
        }
        Sending::Fixed(_) => None,
    };
    let cell = live::start(live, parts.clone()).await?;
    let guides = match (&guide, sending) {
        (Some(xapp), _) => xapp.register(&cell, sending).await?,
        (None, Sending::Fixed(bps)) => (0..GUIDED_UES).map(|_| Guide::Fixed(bps)).collect(),
        (None, Sending::Guided | Sending::Sliced) => Vec::new(),
    };

    let change = match (&guide, sending) {
        (Some(xapp), Sending::Sliced) => {
            let (url, half) = (xapp.url(), options.length / 2);
            slices::apply(url.clone(), slices::FIRST).await?;
            let change = tokio::spawn(async move {
                tokio::time::sleep(half).await;
                slices::apply(url, slices::SECOND).await
            });
            Some(AbortOnDropHandle::new(change))
        }
        _ => None,
    };
    let recorded: Recorded = Arc::new(Mutex::new(vec![FlowSeries::default(); GUIDED_UES]));
    let mut tasks = JoinSet::new();
    for (index, (mut receiver, guide)) in receivers.into_iter().zip(guides).enumerate() {
        let mut config = SenderConfig::new(cell.ingress()[index]);
        config.local = Some(LOCAL);
        config.duration = Some(options.length);
        // A full queue must drain before the last packet comes.
        config.linger = Duration::from_secs(5);
        let sender = Sender::bind(config).await?;
        receiver.report_to(sender.local_addr()?);
        let (record, token) = (recorded.clone(), parts.clone());
        tasks.spawn(async move {
            let keep = |s: &_| record_with(&record, index, |f| f.sent.push(Clone::clone(s)));
            sender.run(guide, token, keep).await.map(drop)
        });
        let (record, token) = (recorded.clone(), parts.clone());
        tasks.spawn(async move {
            let keep = |s: &_| record_with(&record, index, |f| f.received.push(Clone::clone(s)));
            let summary = receiver.run(token, keep).await?;
            record_with(&record, index, |f| {
                f.totals = summary.flows.into_iter().next()
            });
            Ok(())
        });
    }

    let mut series = Series {
        guided: guide.is_some(),
        transport: guide.as_ref().map_or("", |_| options.transport.scheme()),
        length_s: options.length.as_secs_f64(),
        ..Series::default()
    };
    let mut stats = cell.stats();
    series.start_s = stats.borrow().at.as_secs_f64();
    let begin = tokio::time::Instant::now();
    let mut ticks = tokio::time::interval(WATCH);
    loop {
        tokio::select! {
            ended = tasks.join_next() => match ended {
                None => break,
                Some(result) => result.context("a flow failed")??,
            },
            changed = stats.changed() => {
                changed.context("the cell ended")?;
                series.cell.push(stats.borrow_and_update().clone());
            }
            _ = ticks.tick() => {
                let elapsed = begin.elapsed().min(options.length);
                watch(&progress(&series, &recorded, elapsed, options.length));
            }
        }
    }
    if let Some(change) = change {
        change.await.context("the policies were not changed")??;
    }
    drop(parts_end);
    cell.finished().await?;
    if let Some(xapp) = guide {
        xapp.running.stopped().await?;
    }
    series.flows = std::mem::take(&mut *lock(&recorded));
    Ok(series)
}

/// 106 PRBs at 30 kHz, TDD; every UE at the highest MCS, each tenth first transmission fails.
fn cell() -> CellConfig {
    let guided = UeConfig {
        // What OAI's RLC would hold is 10 MB; less shows the same sooner.
        queue_limit_bytes: 3_000_000,
        ..UeConfig::default()
    };
    let greedy = UeConfig {
        background: Background::Greedy,
        ..UeConfig::default()
    };
    let mut ues = vec![guided; GUIDED_UES];
    ues.push(greedy);
    CellConfig {
        ues,
        ..CellConfig::default()
    }
}

/// A running xApp, and a client of it.
struct Xapp {
    running: crate::Running,
    client: EdgeClient,
    _end: DropGuard,
}

impl Xapp {
    /// Starts it, and tells the cell where it is.
    async fn start(
        options: &Options,
        live: &mut LiveConfig,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let mut config = Config::default();
        config.ran.listen = vec![format!("{}://127.0.0.1:0", options.transport.scheme())];
        config.grpc.listen = LOCAL;
        config.http.listen = LOCAL;
        config.control.policies = vec![options.policy];
        if let Some(folder) = &options.model {
            // The xApp would go on without a model; here it is what is to be shown.
            let files = Folder::read(folder)?;
            Model::new(files, folder, &config.models.engines())?;
            config.models.prism = std::path::absolute(folder)?;
        }
        config.cell.downlink_share = Cell::new(live.cell.clone(), options.seed)?.downlink_share();
        let end = stop.clone().drop_guard();
        let running = crate::run(config, stop).await?;
        let address = running.ran.first().context("the xApp listens nowhere")?;
        live.e2 = Some(E2Config {
            address: address.parse()?,
            node: Default::default(),
        });
        let xapp = format!("http://{}", running.grpc);
        let client = EdgeClient::connect(client::Config::new(xapp, "demo-edge"))?;
        Ok(Self {
            running,
            client,
            _end: end,
        })
    }

    /// Where its services are.
    fn url(&self) -> String {
        format!("http://{}", self.running.grpc)
    }

    /// Registers the flows, and waits until each is bound to its UE.
    async fn register(&self, cell: &LiveCell, sending: Sending) -> anyhow::Result<Vec<Guide>> {
        let bound = async {
            anyhow::ensure!(cell.e2_up().await, "the cell ended");
            let mut guides = Vec::new();
            for ue in 0..GUIDED_UES {
                let c_rnti = sim::measure::rnti(ue);
                let mut spec = FlowSpec::new(flow_name(ue), Ue::CRnti { node: None, c_rnti });
                if matches!(sending, Sending::Sliced) {
                    spec.slice = Some(slices::slice(ue));
                }
                guides.push(Guide::Flow(self.bind(spec).await?));
            }
            Ok(guides)
        };
        tokio::time::timeout(BIND_LIMIT, bound)
            .await
            .context("the flows were not bound to their UEs in time")?
    }

    async fn bind(&self, spec: FlowSpec) -> anyhow::Result<FlowHandle> {
        let flow = self.client.register(spec).await?;
        let mut status = flow.status();
        let bound = status
            .wait_for(|s| matches!(s.state, Registration::Bound | Registration::Refused))
            .await?;
        anyhow::ensure!(
            bound.state == Registration::Bound,
            "flow refused: {}",
            bound.detail
        );
        drop(bound);
        Ok(flow)
    }
}

/// Name of the flow to a guided UE.
pub(super) fn flow_name(ue: usize) -> String {
    format!("flow-{}", ue + 1)
}

fn lock(recorded: &Recorded) -> std::sync::MutexGuard<'_, Vec<FlowSeries>> {
    recorded.lock().unwrap_or_else(PoisonError::into_inner)
}

fn record_with(recorded: &Recorded, index: usize, add: impl FnOnce(&mut FlowSeries)) {
    if let Some(flow) = lock(recorded).get_mut(index) {
        add(flow);
    }
}

fn progress(series: &Series, recorded: &Recorded, elapsed: Duration, length: Duration) -> Progress {
    let cell = series.cell.last().cloned().unwrap_or_default();
    let ue = |index: usize| cell.ues.get(index).cloned().unwrap_or_default();
    let recorded = lock(recorded);
    let flows = recorded.iter().enumerate().map(|(index, flow)| {
        let (sent, received) = (flow.sent.last(), flow.received.last());
        FlowNow {
            rate_bps: sent.map_or(0.0, |s| s.rate_bps),
            goodput_bps: received.map_or(0.0, |r| r.goodput_bps),
            delay_ms: received
                .and_then(|r| r.delay.as_ref())
                .map(|d| d.mean_us / 1e3),
            prbs: ue(index).prbs,
            target_prbs: sent.and_then(|s| s.target_prbs),
            queue_bytes: ue(index).queue_bytes,
        }
    });
    Progress {
        guided: series.guided,
        elapsed,
        length,
        flows: flows.collect(),
        greedy_prbs: ue(GUIDED_UES).prbs,
    }
}
