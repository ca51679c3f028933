//! The wiring: RAN link → cells → guidance → gRPC, and the services of operators beside it.

use crate::cell::dispatch;
use crate::cell::task::Context;
use crate::config::{self, Config};
use crate::guidance::follow_bindings;
use crate::guidance::{hub::Hub, matching::Matching, registry::Registry, service::Guidance};
use crate::models::{self, ModelApi, Models};
use crate::operate::a1::{self, Instances};
use crate::operate::experiment::{Experiments, service::ExperimentApi};
use crate::operate::guard::{Expected, Guard};
use crate::operate::log::LogApi;
use crate::operate::policy::{self, Policies, service::PolicyApi};
use crate::operate::{Readiness, http, metrics::Metrics, operations::Operations};
use crate::ran::direct::Direct;
use crate::ran::flexric::Flexric;
use crate::ran::{Counters, RanEvent};
use crate::store::{self, Store};
use proto::guidance::guidance_service_server::GuidanceServiceServer;
use proto::operations::experiment_service_server::ExperimentServiceServer;
use proto::operations::log_service_server::LogServiceServer;
use proto::operations::model_service_server::ModelServiceServer;
use proto::operations::operations_service_server::OperationsServiceServer;
use proto::operations::policy_service_server::PolicyServiceServer;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// RAN events that wait for the dispatcher. The link itself drops what is old beyond.
const EVENTS: usize = 1024;
/// The monotonic clock of reports begins so long before the process.
const BEFORE_START: Duration = Duration::from_secs(60);
/// How long the listeners may take to end.
const GRACE: Duration = Duration::from_secs(1);
/// Connections to the HTTP port at a time.
const HTTP_CONNECTIONS: usize = 256;
/// Who asks nothing there for so long is closed. Short: probes of health must get their turn.
const HTTP_PATIENCE: Duration = Duration::from_secs(5);
/// Connections to the gRPC port at a time, beside those of the edge servers.
const OPERATORS: usize = 128;
/// Who connects there and does not begin within this time is closed.
const GRPC_PATIENCE: Duration = Duration::from_secs(20);
/// HTTP/2 streams on one connection.
const STREAMS_PER_CONNECTION: u32 = 64;

/// Why the xApp cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The settings cannot be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// An address cannot be listened on.
    #[error("cannot listen on {address} ({key}): {cause}")]
    Listen {
        /// The setting.
        key: &'static str,
        /// The address.
        address: String,
        /// Cause.
        cause: std::io::Error,
    },
    /// The store cannot be opened.
    #[error("store.url: {0}")]
    Store(#[from] store::OpenError),
    /// The RAN link cannot begin.
    #[error("ran.listen: {cause}{}", no_sctp(.cause))]
    Ran {
        /// Cause.
        cause: std::io::Error,
    },
    /// Reflection was built from a bad descriptor.
    #[error("gRPC reflection: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
    /// A part ended that must not end.
    #[error("{0} ended unexpectedly; the log says why")]
    Ended(&'static str),
}

/// A running xApp.
#[derive(Debug)]
pub struct Running {
    /// Where gRPC listens.
    pub grpc: SocketAddr,
    /// Where HTTP listens.
    pub http: SocketAddr,
    /// Where A1 listens, if it does.
    pub a1: Option<SocketAddr>,
    /// Where E2 nodes connect.
    pub ran: Vec<String>,
    done: JoinHandle<Result<(), Error>>,
}

impl Running {
    /// Waits until it has stopped, within 5 s of the cancellation.
    ///
    /// # Errors
    /// When a part of it failed, so that it stopped by itself.
    pub async fn stopped(self) -> Result<(), Error> {
        self.done
            .await
            .unwrap_or(Err(Error::Ended("the supervisor")))
    }
}

/// The link to the RAN as a task: it gives events until it is told to stop.
struct Link {
    name: &'static str,
    addresses: Vec<String>,
    events: mpsc::Receiver<RanEvent>,
    counters: Option<Arc<Counters>>,
    task: JoinHandle<()>,
}

/// Runs the xApp until `stop` is cancelled.
///
/// # Errors
/// When the settings are wrong or an address cannot be listened on: then nothing runs.
pub async fn run(config: Config, stop: CancellationToken) -> Result<Running, Error> {
    config.validate()?;
    let link = match config.ran.link {
        config::Link::Direct => direct(&config.ran, stop.clone()).await?,
        config::Link::Flexric => flexric(&config.ran, stop.clone()),
    };
    start(config, link, stop).await
}

/// Begins to listen for E2 nodes.
async fn direct(ran: &config::Ran, stop: CancellationToken) -> Result<Link, Error> {
    let link = Direct::bind(ran.direct())
        .await
        .map_err(|cause| Error::Ran { cause })?;
    let addresses = link.local_addresses();
    let counters = link.counters();
    let (sender, events) = mpsc::channel(EVENTS);
    Ok(Link {
        name: "direct",
        addresses: addresses.iter().map(ToString::to_string).collect(),
        events,
        counters: Some(counters),
        task: tokio::spawn(link.run(sender, stop)),
    })
}

/// Begins to keep to FlexRIC's RIC, whether it is there already or not.
fn flexric(ran: &config::Ran, stop: CancellationToken) -> Link {
    let config = ran.flexric().unwrap_or_default();
    let ric = config.ric.to_string();
    let link = Flexric::new(config);
    let counters = link.counters();
    let (sender, events) = mpsc::channel(EVENTS);
    Link {
        name: "flexric",
        addresses: vec![ric],
        events,
        counters: Some(counters),
        task: tokio::spawn(link.run(sender, stop)),
    }
}

/// Runs the xApp on the events of another link, until `stop` is cancelled.
///
/// # Errors
/// As [`run`].
pub async fn run_with(
    config: Config,
    events: mpsc::Receiver<RanEvent>,
    stop: CancellationToken,
) -> Result<Running, Error> {
    config.validate()?;
    let stopped = stop.clone();
    let link = Link {
        name: "external",
        addresses: Vec::new(),
        events,
        counters: None,
        task: tokio::spawn(async move { stopped.cancelled().await }),
    };
    start(config, link, stop).await
}

async fn start(config: Config, link: Link, stop: CancellationToken) -> Result<Running, Error> {
    // The check of the settings has read it already.
    let settings = config.store.settings().unwrap_or_default();
    let grpc = bind("grpc.listen", config.grpc.listen).await?;
    let http = bind("http.listen", config.http.listen).await?;
    let a1 = match config.a1.address() {
        Some(listen) => Some(bind("a1.listen", listen).await?),
        None => None,
    };
    let a1_address = a1.as_ref().map(address).transpose()?;
    let (grpc_address, http_address) = (address(&grpc)?, address(&http)?);
    // Reports that an earlier process left ended before this one began: they need times too.
    let start = Instant::now();
    let epoch = start.checked_sub(BEFORE_START).unwrap_or(start);
    let writer_stop = CancellationToken::new();
    let (store, writer) = Store::open(settings, writer_stop.clone()).await?;
    let metrics = Arc::new(Metrics::new(link.counters.clone(), store.clone()));
    let policies = Policies::new(store.clone());
    let experiments = Experiments::new(store.clone());
    let models = Models::new(config.models.engines(), Some(metrics.clone()));
    if let Some(folder) = config.models.folder() {
        // Before the first flow, so that none begins with another policy.
        models::folder::look(&models, folder).await;
    }
    let (readiness, ready_watch) = watch::channel(Readiness::Starting);

    let (matching, matching_handle) = Matching::new(epoch);
    let registry = Registry::new(&config);
    let (hub, hub_handle) = Hub::new(
        registry,
        metrics.clone(),
        matching_handle.clone(),
        store.clone(),
    );
    let context = Context {
        config: Arc::new(config.clone()),
        start: epoch,
        store: store.clone(),
        metrics: metrics.clone(),
        hub: hub_handle.clone(),
        matching: matching_handle,
        policies: policies.clone(),
        experiments: experiments.clone(),
        models: models.clone(),
        stop: stop.clone(),
    };
    let (a1_hub, a1_store) = (hub_handle.clone(), store.clone());
    let (matching_hub, bindings_hub) = (hub_handle.clone(), hub_handle.clone());
    let (health_reporter, health) = tonic_health::server::health_reporter();
    let guidance = Guidance::new(&config, hub_handle.clone(), stop.clone());
    let policy_api = PolicyApi {
        policies: policies.clone(),
        hub: hub_handle.clone(),
        control: config.control.clone(),
    };
    let experiment_api = ExperimentApi {
        experiments: experiments.clone(),
        hub: hub_handle.clone(),
    };
    let log = LogApi {
        store: store.clone(),
        stop: stop.clone(),
    };
    let model_api = ModelApi {
        models: models.clone(),
        folder: config.models.folder().map(Into::into),
    };
    let operations = Operations {
        xapp_id: config.xapp.id.clone(),
        ran_link: link.name,
        start,
        hub: hub_handle,
        store: store.clone(),
        readiness: ready_watch.clone(),
        stop: stop.clone(),
    };
    let limit = config.grpc.max_message_bytes as usize;
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(proto::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()?;
    let grpc_connections = config.guidance.max_streams as usize + OPERATORS;
    let grpc = Guard::new(grpc, grpc_connections, Expected::Preface, GRPC_PATIENCE);
    let http = Guard::new(http, HTTP_CONNECTIONS, Expected::Requests, HTTP_PATIENCE);
    let server = tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(millis(config.grpc.keepalive_interval_ms)))
        .http2_keepalive_timeout(Some(millis(config.grpc.keepalive_timeout_ms)))
        .max_concurrent_streams(STREAMS_PER_CONNECTION)
        .add_service(GuidanceServiceServer::new(guidance).max_decoding_message_size(limit))
        .add_service(OperationsServiceServer::new(operations).max_decoding_message_size(limit))
        .add_service(PolicyServiceServer::new(policy_api).max_decoding_message_size(limit))
        .add_service(ExperimentServiceServer::new(experiment_api).max_decoding_message_size(limit))
        .add_service(LogServiceServer::new(log).max_decoding_message_size(limit))
        .add_service(ModelServiceServer::new(model_api).max_decoding_message_size(limit))
        .add_service(health)
        .add_service(reflection)
        .serve_with_incoming_shutdown(grpc.into_stream(), stop.clone().cancelled_owned());
    let pages = axum::serve(
        http,
        http::router(ready_watch, metrics.clone(), store.standing()),
    )
    .with_graceful_shutdown(stop.clone().cancelled_owned())
    .into_future();

    let mut parts = JoinSet::new();
    parts.spawn(async move {
        let ended = dispatch::dispatch(link.events, context).await;
        ("the RAN link", ended)
    });
    parts.spawn(async move {
        if let Err(error) = server.await {
            warn!(%error, "gRPC server failed");
        }
        ("the gRPC server", ())
    });
    parts.spawn(async move {
        if let Err(error) = pages.await {
            warn!(%error, "HTTP server failed");
        }
        ("the HTTP server", ())
    });
    if let Some(listener) = a1 {
        let instances = Instances::new(policies.clone(), a1_store);
        let guard = Guard::new(
            listener,
            HTTP_CONNECTIONS,
            Expected::Requests,
            HTTP_PATIENCE,
        );
        let resources = axum::serve(guard, a1::router(instances.clone(), a1_hub.clone()))
            .with_graceful_shutdown(stop.clone().cancelled_owned())
            .into_future();
        parts.spawn(async move {
            if let Err(error) = resources.await {
                warn!(%error, "A1 server failed");
            }
            ("the A1 server", ())
        });
        tokio::spawn(a1::watch(instances, a1_hub, stop.clone()));
    }
    if let Some(folder) = config.policies.folder() {
        let period = millis(config.policies.look_every_ms);
        let watched = policy::watch_folder(policies.clone(), folder.into(), period, stop.clone());
        tokio::spawn(watched);
    }
    if let Some(folder) = config.models.folder() {
        let period = millis(config.models.look_every_ms);
        let watched = models::folder::watch(models, folder.into(), period, stop.clone());
        tokio::spawn(watched);
    }
    tokio::spawn(policies.follow_store(stop.clone()));
    tokio::spawn(experiments.follow_store(stop.clone()));
    tokio::spawn(follow_bindings(store.clone(), bindings_hub, stop.clone()));
    tokio::spawn(hub.run());
    tokio::spawn(matching.run(matching_hub, stop.clone()));

    health_reporter
        .set_serving::<GuidanceServiceServer<Guidance>>()
        .await;
    health_reporter
        .set_serving::<OperationsServiceServer<Operations>>()
        .await;
    health_reporter
        .set_serving::<PolicyServiceServer<PolicyApi>>()
        .await;
    health_reporter
        .set_serving::<ExperimentServiceServer<ExperimentApi>>()
        .await;
    readiness.send_replace(Readiness::Ready);
    metrics.ready(true);
    info!(
        grpc = %grpc_address,
        http = %http_address,
        ran = link.addresses.join(","),
        "Cantor runs"
    );

    let addresses = link.addresses.clone();
    let done = tokio::spawn(async move {
        let ended = tokio::select! {
            // First: once it is told to stop, parts may end before this task looks.
            biased;
            () = stop.cancelled() => Ok(()),
            part = parts.join_next() => Err(Error::Ended(match part {
                Some(Ok((part, ()))) => part,
                _ => "a task",
            })),
        };
        info!("Cantor stops");
        readiness.send_replace(Readiness::Stopping);
        metrics.ready(false);
        health_reporter
            .set_not_serving::<GuidanceServiceServer<Guidance>>()
            .await;
        health_reporter
            .set_not_serving::<OperationsServiceServer<Operations>>()
            .await;
        health_reporter
            .set_not_serving::<PolicyServiceServer<PolicyApi>>()
            .await;
        health_reporter
            .set_not_serving::<ExperimentServiceServer<ExperimentApi>>()
            .await;
        stop.cancel();
        // The link deletes its subscriptions, within its own limit.
        let _ = link.task.await;
        let rest = async { while parts.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, rest).await.is_err() {
            info!("connections that did not end in time were closed");
        }
        writer_stop.cancel();
        if let Some(writer) = writer {
            let _ = writer.await;
        }
        info!("Cantor has stopped");
        ended
    });
    Ok(Running {
        grpc: grpc_address,
        http: http_address,
        a1: a1_address,
        ran: addresses,
        done,
    })
}

async fn bind(key: &'static str, address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address)
        .await
        .map_err(|cause| Error::Listen {
            key,
            address: address.to_string(),
            cause,
        })
}

fn address(listener: &TcpListener) -> Result<SocketAddr, Error> {
    listener.local_addr().map_err(|cause| Error::Listen {
        key: "listen",
        address: "a chosen port".into(),
        cause,
    })
}

/// What to do where the kernel has no SCTP.
fn no_sctp(error: &std::io::Error) -> &'static str {
    if error.to_string().contains("sctp://") && !transport::sctp_available() {
        "; load the kernel's SCTP (modprobe sctp), or listen on tcp://HOST:PORT for development"
    } else {
        ""
    }
}

fn millis(ms: u32) -> Duration {
    Duration::from_millis(ms.into())
}
