//! A guidance stream at its barest: gRPC without the edge library, and a record of what came.

use crate::record::{Record, Recorder};
use proto::guidance::{
    Guidance, GuideRequest, Hello, RanUe, RegisterFlow, UeSelector,
    guidance_service_client::GuidanceServiceClient, guide_request::Message as Request,
    guide_response::Message as Response, ran_ue::Id, ue_selector::Selector,
};
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::AbortOnDropHandle;

/// Pause between two attempts to connect.
const RETRY: Duration = Duration::from_millis(100);
/// From the xApp's decision to here, beyond what [`crate::lag`] measures.
const TRANSIT: Duration = Duration::from_secs(1);

/// Guidance that came.
#[derive(Clone, Debug)]
pub struct Came {
    /// Time since it was decided, by its sequence.
    pub age: Duration,
    /// The guidance.
    pub guidance: Guidance,
}

/// A stream with one flow that is opened again whenever it ends.
#[derive(Debug)]
pub struct BareStream {
    came: Record<Came>,
    _task: AbortOnDropHandle<()>,
}

impl BareStream {
    /// Opens the stream for a flow to a UE of the simulated cell.
    pub fn start(url: String, edge_id: &str, ue: usize) -> Self {
        let (recorder, came) = Record::new();
        let edge_id = edge_id.to_owned();
        let task = tokio::spawn(async move {
            loop {
                // Whatever ends it: it is opened again.
                let _ = read(url.clone(), &edge_id, ue, &recorder).await;
                tokio::time::sleep(RETRY).await;
            }
        });
        Self {
            came,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Waits for guidance that is newer than `sequence`, and gives its own.
    pub async fn newer_than(&self, sequence: u64) -> u64 {
        let newer = |came: &Came| came.guidance.sequence > sequence;
        let what = "newer guidance on the bare stream";
        let from = self.came.len().saturating_sub(1);
        let (_, came) = self.came.find(what, from, newer).await;
        came.guidance.sequence
    }

    /// Checks all that came: every sequence is higher than the one before, over all streams, and nothing was
    /// older than it is valid for. `lag` is how late this process may have run.
    ///
    /// # Panics
    /// When one was.
    pub fn check(&self, valid_for: Duration, lag: Duration) {
        let came = self.came.entries();
        let sequences: Vec<u64> = came.iter().map(|came| came.guidance.sequence).collect();
        assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
        for Came { age, guidance } in came {
            // What it waited in the xApp is taken off.
            let still = Duration::from_micros(guidance.valid_for_us);
            assert!(!still.is_zero() && still <= valid_for, "{guidance:?}");
            assert!(
                age <= valid_for + lag + TRANSIT,
                "{guidance:?} came when {age:?} old; this process was late by {lag:?}"
            );
        }
    }
}

async fn read(
    url: String,
    edge_id: &str,
    ue: usize,
    recorder: &Recorder<Came>,
) -> anyhow::Result<()> {
    let (requests, outgoing) = mpsc::channel(2);
    for message in [hello(edge_id), registration(ue)] {
        let request = GuideRequest {
            message: Some(message),
        };
        requests.send(request).await?;
    }
    let mut client = GuidanceServiceClient::connect(url).await?;
    let mut responses = client
        .guide(ReceiverStream::new(outgoing))
        .await?
        .into_inner();
    while let Some(response) = responses.message().await? {
        if let Some(Response::Batch(batch)) = response.message {
            for guidance in batch.guidance {
                recorder.add(Came {
                    age: unix_time().saturating_sub(Duration::from_micros(guidance.sequence)),
                    guidance,
                });
            }
        }
    }
    Ok(())
}

fn hello(edge_id: &str) -> Request {
    Request::Hello(Hello {
        edge_id: edge_id.into(),
        agent: "system test".into(),
    })
}

fn registration(ue: usize) -> Request {
    let c_rnti = Id::CRnti(sim::measure::rnti(ue).into());
    Request::RegisterFlow(RegisterFlow {
        flow_id: "bare".into(),
        ue: Some(UeSelector {
            selector: Some(Selector::Ran(RanUe {
                node: String::new(),
                id: Some(c_rnti),
            })),
        }),
        ..RegisterFlow::default()
    })
}

fn unix_time() -> Duration {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("a clock after 1970")
}
