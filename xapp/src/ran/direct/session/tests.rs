//! The session against captured setups, and against nodes that misbehave.

mod floods;
mod golden;
mod nodes;
mod silence;

use std::sync::atomic::AtomicU64;

// The node's RanFunction, not the reader's.
use e2sm::e2ap::RanFunction;
use e2sm::e2ap::*;

use super::*;
use crate::ran::direct::config::Limits;
use crate::ran::{ServiceModel, Wishes};

/// A session and the time it is told.
struct Bench {
    session: Session,
    now: Instant,
    version: Version,
}

impl Bench {
    /// One that wants KPM, MAC and RLC.
    fn new() -> Self {
        let models = vec![ServiceModel::Kpm, ServiceModel::Mac, ServiceModel::Rlc];
        Bench::with(Config {
            wishes: Wishes {
                models,
                ..Wishes::default()
            },
            ..Config::default()
        })
    }

    fn with(config: Config) -> Self {
        let now = Instant::now();
        let session = Session::new(
            Arc::new(config),
            Arc::default(),
            "192.0.2.1:40000".into(),
            1000,
            now,
        );
        Bench {
            session,
            now,
            version: Version::V2_03,
        }
    }

    /// A node that has set up from captured octets and admits every subscription.
    fn subscribed(name: &str) -> Self {
        let mut bench = Bench::new();
        bench.version = if name.contains("/v1") {
            Version::V1_01
        } else {
            Version::V2_03
        };
        bench.receive_octets(&vector(name));
        bench.admit_all();
        bench
    }

    /// Receives a PDU, and lets pass the time for which the session keeps its distance to FlexRIC's agent.
    fn receive_octets(&mut self, octets: &[u8]) {
        self.session.receive(octets, self.now);
        let soon = self.now + FLEXRIC_SPACING;
        if self.session.next_timeout().is_some_and(|at| at <= soon) {
            self.wait();
        }
    }

    fn receive(&mut self, pdu: Pdu) {
        let octets = encode(&pdu, self.version).unwrap();
        self.receive_octets(&octets);
    }

    /// The PDUs to be sent.
    fn sent(&mut self) -> Vec<Pdu> {
        std::iter::from_fn(|| self.session.next_pdu())
            .map(|octets| decode(&octets, self.version).unwrap().value)
            .collect()
    }

    /// Answers subscription requests until there are none; what was asked for.
    fn admit_all(&mut self) -> Vec<RicSubscriptionRequest> {
        let mut requests = Vec::new();
        loop {
            let new: Vec<_> = self
                .sent()
                .into_iter()
                .filter_map(|pdu| {
                    if let Pdu::RicSubscriptionRequest(request) = pdu {
                        Some(request)
                    } else {
                        None
                    }
                })
                .collect();
            if new.is_empty() {
                return requests;
            }
            for request in &new {
                self.receive(admitted(request));
            }
            requests.extend(new);
        }
    }

    fn events(&mut self) -> Vec<RanEvent> {
        std::iter::from_fn(|| self.session.next_event()).collect()
    }

    /// Events in short: `up`, `down`, `mac active`, `mac indication` …
    fn told(&mut self) -> Vec<String> {
        let model = |model: ServiceModel| format!("{model:?}").to_lowercase();
        self.events()
            .into_iter()
            .map(|event| match event {
                RanEvent::NodeUp { .. } => "up".to_owned(),
                RanEvent::NodeDown { .. } => "down".to_owned(),
                RanEvent::Subscription { status, .. } => {
                    format!("{} {:?}", model(status.model), status.state).to_lowercase()
                }
                RanEvent::Indication { model: of, .. } => format!("{} indication", model(of)),
            })
            .collect()
    }

    /// Lets time pass until the session wants to be woken.
    fn wait(&mut self) {
        self.now = self.session.next_timeout().expect("something to wait for");
        self.session.time_out(self.now);
    }

    fn count(&self, counter: impl Fn(&Counters) -> &AtomicU64) -> u64 {
        counter(&self.session.counters).load(Relaxed)
    }
}

/// A captured PDU.
fn vector(name: &str) -> Vec<u8> {
    let path = format!("{}/../tests/vectors/{name}.hex", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    hex::decode(text.split_whitespace().collect::<String>()).unwrap()
}

fn admitted(request: &RicSubscriptionRequest) -> Pdu {
    Pdu::RicSubscriptionResponse(RicSubscriptionResponse {
        request: request.request,
        ran_function: request.ran_function,
        admitted: vec![AdmittedAction { id: 0 }],
        not_admitted: Some(Vec::new()),
    })
}

fn indication(request: RicRequestId, ran_function: u16) -> Pdu {
    Pdu::RicIndication(RicIndication {
        request,
        ran_function,
        action: 0,
        sequence_number: None,
        kind: RicIndicationType::Report,
        header: vec![0; 4],
        message: vec![1, 2, 3],
        call_process: None,
    })
}

/// A request's event trigger and action definition.
fn asked(request: &RicSubscriptionRequest) -> (u16, &[u8], Option<&[u8]>) {
    let [action] = request.details.actions.as_slice() else {
        panic!("not one action: {request:?}")
    };
    assert_eq!((action.id, action.kind), (0, RicActionType::Report));
    (
        request.ran_function,
        &request.details.event_trigger,
        action.definition.as_deref(),
    )
}
