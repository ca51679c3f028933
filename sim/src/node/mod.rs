//! The cell as an E2 node: the session with a near-RT RIC, without sockets or clock.
//!
//! Octets and the time go in, octets come out. Whoever has the connection tells [`Node::connected`],
//! [`Node::received`] and [`Node::disconnected`], and sends what [`Node::poll`] returns.

mod config;
mod functions;
mod kpm;
mod measurements;
mod records;
mod subscription;

pub use config::{KpmDialect, NodeConfig, NodeError};

use crate::cell::Cell;
use e2sm::aper::Decoded;
use e2sm::common::{GlobalGnbId, GnbId};
use e2sm::e2ap::{
    Cause, ComponentConfig, ComponentId, ComponentInterface, CriticalityDiagnostics,
    E2ConnectionUpdate, E2ConnectionUpdateFailure, E2RemovalResponse, E2SetupFailure,
    E2SetupRequest, E2SetupResponse, ErrorIndication, GlobalE2NodeId, Pdu, ProtocolCause,
    ResetRequest, ResetResponse, RicControlFailure, RicControlRequest, RicRequestCause,
    RicServiceQuery, RicServiceUpdate, RicSubscriptionDeleteFailure, RicSubscriptionDeleteRequest,
    RicSubscriptionDeleteResponse, TransactionId, TransportCause, Version, decode, diagnose_error,
    diagnose_notes, encode,
};
use functions::Function;
use std::time::Duration;
use subscription::Subscription;

/// Version of E2AP that the node speaks.
const VERSION: Version = Version::V2_03;
/// Time after which an E2 Setup that was not answered is repeated (FlexRIC's agent waits as long).
const SETUP_RETRY: Duration = Duration::from_secs(3);
/// Subscriptions that the node carries at the same time.
const MAX_SUBSCRIPTIONS: usize = 64;

/// The message held something not understood without which it must not be carried out.
const REJECT: Cause = Cause::Protocol(ProtocolCause::AbstractSyntaxErrorReject);

/// State of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Disconnected,
    /// E2 Setup is to be sent (again) at this time.
    Setup {
        at: Duration,
    },
    Up,
}

/// The node.
#[derive(Debug)]
pub struct Node {
    identity: GlobalE2NodeId,
    functions: Vec<Function>,
    state: State,
    transaction: TransactionId,
    subscriptions: Vec<Subscription>,
    outgoing: Vec<Vec<u8>>,
}

impl Node {
    /// A node that is not connected.
    pub fn new(config: &NodeConfig) -> Result<Self, NodeError> {
        let plmn = config.check()?;
        let gnb = GlobalGnbId {
            plmn,
            gnb: GnbId::Bits {
                value: config.gnb_id,
                length: config.gnb_id_bits,
            },
        };
        Ok(Self {
            identity: GlobalE2NodeId::Gnb {
                gnb,
                en_gnb: None,
                cu_up: None,
                du: None,
            },
            functions: Function::offered(config, plmn),
            state: State::Disconnected,
            transaction: 0,
            subscriptions: Vec::new(),
            outgoing: Vec::new(),
        })
    }

    /// The RIC has accepted the node.
    pub fn is_up(&self) -> bool {
        self.state == State::Up
    }

    /// E2 Setup is under way.
    pub fn is_setting_up(&self) -> bool {
        matches!(self.state, State::Setup { .. })
    }

    /// Subscriptions that are carried.
    pub fn subscriptions(&self) -> usize {
        self.subscriptions.len()
    }

    /// A connection to the RIC is there: E2 Setup begins. Whatever was before on another connection is forgotten.
    pub fn connected(&mut self, now: Duration) {
        self.disconnected();
        self.state = State::Setup { at: now };
    }

    /// The connection is lost, and with it every subscription.
    pub fn disconnected(&mut self) {
        self.state = State::Disconnected;
        self.subscriptions.clear();
        self.outgoing.clear();
    }

    /// Announces all RAN functions anew (RIC SERVICE UPDATE).
    pub fn update_service(&mut self) {
        if !self.is_up() {
            return;
        }
        let transaction = self.next_transaction();
        self.send(Pdu::RicServiceUpdate(RicServiceUpdate {
            transaction,
            added: Vec::new(),
            modified: self.functions.iter().map(Function::describe).collect(),
            deleted: Vec::new(),
        }));
    }

    /// The octets of one message of the RIC, received at `now`.
    pub fn received(&mut self, now: Duration, cell: &Cell, octets: &[u8]) {
        match decode(octets, VERSION) {
            Ok(Decoded { value, notes }) => {
                if let Some((cause, diagnostics)) = diagnose_notes(&value, VERSION, &notes) {
                    let reject = cause == REJECT;
                    self.complain(cause, Some(diagnostics));
                    if reject {
                        return;
                    }
                }
                self.handle(now, cell, value);
            }
            Err(error) => {
                tracing::warn!(%error, "the RIC's message cannot be decoded");
                let (cause, diagnostics) = diagnose_error(octets, &error);
                self.complain(cause, Some(diagnostics));
            }
        }
    }

    /// What is to be sent at `now`: answers, E2 Setup, the reports that are due. `unix_us` is the time of day for
    /// their time stamps, Unix microseconds.
    pub fn poll(&mut self, now: Duration, unix_us: i64, cell: &Cell) -> Vec<Vec<u8>> {
        match self.state {
            State::Disconnected => {}
            State::Setup { at } => {
                if now >= at {
                    self.state = State::Setup {
                        at: now + SETUP_RETRY,
                    };
                    self.set_up();
                }
            }
            State::Up => {
                let mut indications = Vec::new();
                for subscription in &mut self.subscriptions {
                    subscription.poll(now, unix_us, cell, &mut indications);
                }
                for indication in indications {
                    self.send(Pdu::RicIndication(indication));
                }
            }
        }
        std::mem::take(&mut self.outgoing)
    }

    fn handle(&mut self, now: Duration, cell: &Cell, pdu: Pdu) {
        match pdu {
            Pdu::E2SetupResponse(response) => self.set_up_accepted(&response),
            Pdu::E2SetupFailure(failure) => self.set_up_refused(now, &failure),
            Pdu::RicSubscriptionRequest(request) => {
                let known = |s: &Subscription| s.is(request.request, request.ran_function);
                // A repeated request replaces the subscription, as with OAI.
                self.subscriptions.retain(|s| !known(s));
                let room = self.subscriptions.len() < MAX_SUBSCRIPTIONS;
                let (subscription, answer) =
                    subscription::open(&request, &self.functions, room, now, cell);
                self.subscriptions.extend(subscription);
                self.send(answer);
            }
            Pdu::RicSubscriptionDeleteRequest(request) => self.delete(request),
            Pdu::ResetRequest(request) => self.reset(request),
            Pdu::RicServiceQuery(query) => self.answer_query(query),
            Pdu::RicControlRequest(request) => self.refuse_control(request),
            Pdu::E2ConnectionUpdate(update) => self.refuse_connections(update),
            Pdu::E2RemovalRequest(request) => {
                self.subscriptions.clear();
                self.send(Pdu::E2RemovalResponse(E2RemovalResponse {
                    transaction: request.transaction,
                    diagnostics: None,
                }));
            }
            Pdu::ErrorIndication(error) => self.error_indicated(&error),
            Pdu::RicServiceUpdateAcknowledge(_)
            | Pdu::RicServiceUpdateFailure(_)
            | Pdu::ResetResponse(_) => {
                tracing::debug!(message = pdu.name(), "answer of the RIC");
            }
            other => {
                tracing::warn!(message = other.name(), "no message for an E2 node");
                let cause = ProtocolCause::MessageNotCompatibleWithReceiverState;
                self.complain(Cause::Protocol(cause), None);
            }
        }
    }

    fn set_up(&mut self) {
        let transaction = self.next_transaction();
        self.send(Pdu::E2SetupRequest(E2SetupRequest {
            transaction,
            node: self.identity.clone(),
            functions: self.functions.iter().map(Function::describe).collect(),
            components: vec![ComponentConfig {
                interface: ComponentInterface::Ng,
                id: ComponentId::Ng("cantor-sim".to_owned()),
                request: b"NGAP Request".to_vec(),
                response: b"NGAP Response".to_vec(),
            }],
        }));
    }

    fn set_up_accepted(&mut self, response: &E2SetupResponse) {
        if !self.is_setting_up() {
            return;
        }
        self.state = State::Up;
        for rejected in &response.rejected {
            tracing::warn!(function = rejected.id, cause = %rejected.cause, "the RIC does not want a RAN function");
        }
        let accepted = response.accepted.len();
        tracing::info!(node = %self.identity, accepted, "E2 is up");
    }

    fn set_up_refused(&mut self, now: Duration, failure: &E2SetupFailure) {
        if !self.is_setting_up() {
            return;
        }
        let wait = failure.time_to_wait.and_then(|t| t.seconds());
        let wait = wait.map_or(SETUP_RETRY, |s| Duration::from_secs(u64::from(s)));
        tracing::warn!(cause = %failure.cause, ?wait, "the RIC refuses E2 Setup");
        self.state = State::Setup { at: now + wait };
    }

    fn delete(&mut self, request: RicSubscriptionDeleteRequest) {
        let RicSubscriptionDeleteRequest {
            request,
            ran_function,
        } = request;
        let before = self.subscriptions.len();
        self.subscriptions.retain(|s| !s.is(request, ran_function));
        let answer = if self.subscriptions.len() < before {
            tracing::info!(id = ?request, function = ran_function, "subscription deleted");
            Pdu::RicSubscriptionDeleteResponse(RicSubscriptionDeleteResponse {
                request,
                ran_function,
            })
        } else {
            Pdu::RicSubscriptionDeleteFailure(RicSubscriptionDeleteFailure {
                request,
                ran_function,
                cause: Cause::RicRequest(RicRequestCause::RequestIdUnknown),
                diagnostics: None,
            })
        };
        self.send(answer);
    }

    /// The RIC has lost its state: every subscription ends, what E2 Setup agreed on stays (E2AP clause 8.3.3).
    fn reset(&mut self, request: ResetRequest) {
        tracing::info!(cause = %request.cause, "the RIC resets");
        self.subscriptions.clear();
        self.send(Pdu::ResetResponse(ResetResponse {
            transaction: request.transaction,
            diagnostics: None,
        }));
    }

    /// A query is answered by a service update with what the RIC does not know.
    fn answer_query(&mut self, query: RicServiceQuery) {
        let (known, added): (Vec<_>, Vec<_>) = self
            .functions
            .iter()
            .partition(|f| query.accepted.iter().any(|a| a.id == f.id()));
        let describe =
            |functions: Vec<&Function>| functions.into_iter().map(Function::describe).collect();
        self.send(Pdu::RicServiceUpdate(RicServiceUpdate {
            transaction: query.transaction,
            added: describe(added),
            modified: describe(known),
            deleted: Vec::new(),
        }));
    }

    fn refuse_control(&mut self, request: RicControlRequest) {
        self.send(Pdu::RicControlFailure(RicControlFailure {
            request: request.request,
            ran_function: request.ran_function,
            call_process: request.call_process,
            cause: Cause::RicRequest(RicRequestCause::ActionNotSupported),
            outcome: None,
            diagnostics: None,
        }));
    }

    fn refuse_connections(&mut self, update: E2ConnectionUpdate) {
        self.send(Pdu::E2ConnectionUpdateFailure(E2ConnectionUpdateFailure {
            transaction: update.transaction,
            cause: Some(Cause::Transport(
                TransportCause::TransportResourceUnavailable,
            )),
            time_to_wait: None,
            diagnostics: None,
        }));
    }

    /// The RIC got something that it cannot use; a subscription that it does not know ends.
    fn error_indicated(&mut self, error: &ErrorIndication) {
        tracing::warn!(?error, "error indication of the RIC");
        let unknown = Cause::RicRequest(RicRequestCause::RequestIdUnknown);
        if let (Some(request), Some(function)) = (error.request, error.ran_function)
            && error.cause.as_ref() == Some(&unknown)
        {
            self.subscriptions.retain(|s| !s.is(request, function));
        }
    }

    fn complain(&mut self, cause: Cause, diagnostics: Option<CriticalityDiagnostics>) {
        self.send(Pdu::ErrorIndication(ErrorIndication {
            transaction: None,
            request: None,
            ran_function: None,
            cause: Some(cause),
            diagnostics,
        }));
    }

    fn next_transaction(&mut self) -> TransactionId {
        // TransactionID is INTEGER (0..255, ...).
        self.transaction = (self.transaction + 1) % 256;
        self.transaction
    }

    fn send(&mut self, pdu: Pdu) {
        match encode(&pdu, VERSION) {
            Ok(octets) => self.outgoing.push(octets),
            Err(error) => {
                tracing::error!(message = pdu.name(), %error, "cannot be encoded, not sent");
            }
        }
    }
}
