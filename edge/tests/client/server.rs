//! A guidance server that does what a test tells it, over loopback.

use proto::guidance as pb;
use proto::guidance::guidance_service_server::{GuidanceService, GuidanceServiceServer};
use proto::guidance::{guide_request::Message as FromEdge, guide_response::Message as ToEdge};
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{Request, Response, Status, Streaming};

/// A server; it ends, with all its connections, when it is dropped.
pub struct Server {
    pub address: SocketAddr,
    streams: mpsc::Receiver<Stream>,
    task: JoinHandle<()>,
}

/// A stream that an edge opened.
pub struct Stream {
    requests: Streaming<pb::GuideRequest>,
    responses: mpsc::Sender<Result<pb::GuideResponse, Status>>,
}

struct Service(mpsc::Sender<Stream>);

#[tonic::async_trait]
impl GuidanceService for Service {
    type GuideStream = ReceiverStream<Result<pb::GuideResponse, Status>>;

    async fn guide(
        &self,
        request: Request<Streaming<pb::GuideRequest>>,
    ) -> Result<Response<Self::GuideStream>, Status> {
        let (responses, outbound) = mpsc::channel(16);
        let stream = Stream {
            requests: request.into_inner(),
            responses,
        };
        let accepted = self.0.send(stream).await;
        accepted.map_err(|_| Status::unavailable("the test has ended"))?;
        Ok(Response::new(ReceiverStream::new(outbound)))
    }
}

impl Server {
    pub async fn start() -> Self {
        Self::at("127.0.0.1:0".parse().unwrap()).await
    }

    /// Starts at an address, as a server does that comes back.
    pub async fn at(address: SocketAddr) -> Self {
        let socket = TcpListener::bind(address).await.unwrap();
        let address = socket.local_addr().unwrap();
        let (opened, streams) = mpsc::channel(16);
        let service = GuidanceServiceServer::new(Service(opened));
        let task = tokio::spawn(async move {
            tonic::transport::Server::builder()
                .add_service(service)
                .serve_with_incoming(TcpListenerStream::new(socket))
                .await
                .unwrap();
        });
        Self {
            address,
            streams,
            task,
        }
    }

    pub fn uri(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next stream, without an answer to it.
    pub async fn silent_stream(&mut self) -> Stream {
        self.streams.recv().await.unwrap()
    }

    /// The next stream: takes its hello and welcomes it.
    pub async fn stream(&mut self) -> Stream {
        let mut stream = self.silent_stream().await;
        match stream.next().await {
            FromEdge::Hello(hello) => assert_eq!(hello.edge_id, "edge-test"),
            other => panic!("a stream begins with {other:?}"),
        }
        stream
            .send(ToEdge::Welcome(pb::Welcome {
                xapp_id: "xapp-test".into(),
                version: "0".into(),
                control_interval_us: 100_000,
            }))
            .await;
        stream
    }

    /// Ends the server and waits until its port is free.
    pub async fn kill(self) {
        let Self { task, streams, .. } = self;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        drop(streams);
    }
}

impl Stream {
    /// The next message of the edge; reports are left out.
    pub async fn next(&mut self) -> FromEdge {
        loop {
            match self.any().await {
                FromEdge::FlowReport(_) => {}
                other => return other,
            }
        }
    }

    /// The next message of the edge.
    pub async fn any(&mut self) -> FromEdge {
        self.requests
            .message()
            .await
            .unwrap()
            .unwrap()
            .message
            .unwrap()
    }

    /// True when the edge has closed the stream.
    pub async fn closed(mut self) -> bool {
        while let Ok(Some(_)) = self.requests.message().await {}
        true
    }

    /// The registration that comes next.
    pub async fn registration(&mut self) -> pb::RegisterFlow {
        match self.next().await {
            FromEdge::RegisterFlow(flow) => flow,
            other => panic!("a registration was expected, not {other:?}"),
        }
    }

    pub async fn send(&self, message: ToEdge) {
        let response = pb::GuideResponse {
            message: Some(message),
        };
        self.responses.send(Ok(response)).await.unwrap();
    }

    pub async fn guide(&self, flow_id: &str, sequence: u64, rate_bps: u64, valid_for_us: u64) {
        let guidance = pb::Guidance {
            flow_id: flow_id.into(),
            sequence,
            rate_bps,
            valid_for_us,
            ..Default::default()
        };
        self.send(ToEdge::Batch(pb::GuidanceBatch {
            guidance: vec![guidance],
        }))
        .await;
    }

    pub async fn status(&self, flow_id: &str, state: pb::flow_status::State, detail: &str) {
        self.send(ToEdge::FlowStatus(pb::FlowStatus {
            flow_id: flow_id.into(),
            state: state.into(),
            detail: detail.into(),
            ue: None,
            policy: "rapid".into(),
        }))
        .await;
    }
}
