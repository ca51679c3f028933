//! `cantor.guidance.v1`: one bidirectional stream per edge server.

use super::hub::{HubHandle, Message};
use super::outbox::Outbox;
use super::registry::StreamId;
use super::validate;
use crate::config::Config;
use futures_util::Stream;
use proto::guidance::{
    GuideRequest, GuideResponse, Hello, Welcome, guidance_service_server::GuidanceService,
    guide_request::Message as Request,
};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{Response, Status, Streaming};

/// A stream that does not say who it is within this time ends.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);

/// The guidance service.
#[derive(Debug)]
pub struct Guidance {
    hub: HubHandle,
    welcome: Welcome,
    max_flows: usize,
    max_streams: u32,
    streams: Arc<Semaphore>,
    next_stream: AtomicU64,
    stop: CancellationToken,
}

impl Guidance {
    /// Serves streams until `stop`.
    pub fn new(config: &Config, hub: HubHandle, stop: CancellationToken) -> Self {
        let max_streams = config.guidance.max_streams;
        Self {
            hub,
            welcome: Welcome {
                xapp_id: config.xapp.id.clone(),
                version: env!("CARGO_PKG_VERSION").into(),
                control_interval_us: u64::from(config.control.interval_ms) * 1000,
            },
            max_flows: config.guidance.max_flows_per_stream as usize,
            max_streams,
            streams: Arc::new(Semaphore::new(max_streams as usize)),
            next_stream: AtomicU64::new(1),
            stop,
        }
    }
}

#[tonic::async_trait]
impl GuidanceService for Guidance {
    type GuideStream = Pin<Box<dyn Stream<Item = Result<GuideResponse, Status>> + Send>>;

    async fn guide(
        &self,
        request: tonic::Request<Streaming<GuideRequest>>,
    ) -> Result<Response<Self::GuideStream>, Status> {
        let permit = self.streams.clone().try_acquire_owned().map_err(|_| {
            Status::resource_exhausted(format!(
                "{} edge servers are connected already, and no more may be: raise guidance.max_streams",
                self.max_streams
            ))
        })?;
        let peer = request
            .remote_addr()
            .map_or_else(String::new, |address| address.to_string());
        let outbox = Arc::new(Outbox::new(self.max_flows));
        let reader = Reader {
            stream: StreamId(self.next_stream.fetch_add(1, Ordering::Relaxed)),
            peer,
            hub: self.hub.clone(),
            welcome: self.welcome.clone(),
            outbox: outbox.clone(),
            stop: self.stop.clone(),
        };
        tokio::spawn(reader.run(request.into_inner(), permit));
        Ok(Response::new(Box::pin(responses(outbox))))
    }
}

/// What the edge server reads. When it reads no more (the stream is dropped), the reader of its requests ends too.
fn responses(outbox: Arc<Outbox>) -> impl Stream<Item = Result<GuideResponse, Status>> + Send {
    let guard: DropGuard = outbox.closed().clone().drop_guard();
    futures_util::stream::unfold(Some((outbox, guard)), |state| async {
        let (outbox, guard) = state?;
        match outbox.next().await {
            Ok(response) => Some((Ok(response), Some((outbox, guard)))),
            Err(end) => Some((Err(end), None)),
        }
    })
}

/// Reads the requests of one stream.
struct Reader {
    stream: StreamId,
    peer: String,
    hub: HubHandle,
    welcome: Welcome,
    outbox: Arc<Outbox>,
    stop: CancellationToken,
}

impl Reader {
    async fn run(self, mut requests: Streaming<GuideRequest>, permit: OwnedSemaphorePermit) {
        let closed = self.outbox.closed().clone();
        let end = tokio::select! {
            end = self.read(&mut requests) => end.unwrap_or_else(|status| status),
            () = self.stop.cancelled() => Status::unavailable("Cantor is stopping"),
            () = closed.cancelled() => Status::cancelled("the stream ended"),
        };
        self.outbox.close(end);
        let _ = self.hub.send(Message::Closed(self.stream)).await;
        drop(permit);
    }

    /// Reads until the stream ends. `Err`: the edge server did something that it may not.
    async fn read(&self, requests: &mut Streaming<GuideRequest>) -> Result<Status, Status> {
        let hello = self.hello(requests).await?;
        self.outbox.welcome(self.welcome.clone());
        let opened = Message::Opened {
            stream: self.stream,
            edge_id: hello.edge_id.into(),
            agent: hello.agent.chars().take(validate::MAX_NAME).collect(),
            peer: self.peer.clone(),
            outbox: self.outbox.clone(),
        };
        self.tell(opened).await?;
        while let Some(request) = requests.message().await? {
            self.outbox.room().await;
            let message = match request.message {
                Some(Request::RegisterFlow(flow)) => Message::Register(self.stream, flow),
                Some(Request::UnregisterFlow(flow)) => {
                    Message::Unregister(self.stream, flow.flow_id)
                }
                Some(Request::FlowReport(report)) => Message::Report(self.stream, report),
                Some(Request::Hello(_)) => {
                    return Err(Status::invalid_argument(
                        "a second Hello: open another stream to change the name",
                    ));
                }
                // A message of a newer contract.
                None => continue,
            };
            self.tell(message).await?;
        }
        // It has no more to ask, and may still read.
        self.outbox.closed().cancelled().await;
        Ok(Status::ok(""))
    }

    async fn hello(&self, requests: &mut Streaming<GuideRequest>) -> Result<Hello, Status> {
        let first = tokio::time::timeout(HELLO_TIMEOUT, requests.message())
            .await
            .map_err(|_| {
                Status::deadline_exceeded(format!(
                    "no Hello within {} s of opening the stream",
                    HELLO_TIMEOUT.as_secs()
                ))
            })??;
        match first.and_then(|request| request.message) {
            Some(Request::Hello(hello)) => {
                validate::name("edge_id", &hello.edge_id).map_err(Status::invalid_argument)?;
                Ok(hello)
            }
            _ => Err(Status::invalid_argument(
                "the first message of a stream must be Hello",
            )),
        }
    }

    async fn tell(&self, message: Message) -> Result<(), Status> {
        self.hub
            .send(message)
            .await
            .map_err(|stopping| Status::unavailable(stopping.to_string()))
    }
}
