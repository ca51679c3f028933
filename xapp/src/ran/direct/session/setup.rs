//! E2 Setup (E2AP 8.3.1) and E2 Removal (8.3.6).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use e2sm::common::Plmn;
use e2sm::e2ap::{
    Cause, ComponentConfig, ComponentConfigAck, ComponentId, ComponentInterface, E2RemovalResponse,
    E2SetupRequest, E2SetupResponse, GlobalE2NodeId, GlobalRicId, Pdu, RanFunctionId,
    RicServiceCause, UpdateOutcome,
};

use super::{Node, Phase, Session};
use crate::ran::identity::{self, Part};
use crate::ran::{NodeId, RanEvent};

/// RIC id that Cantor gives itself (20 bits).
const RIC_ID: u32 = 0xca;

/// The same octets within this time are a retransmission, not a new setup: FlexRIC repeats a request that is
/// not answered every 3 s.
const RETRANSMISSION: Duration = Duration::from_secs(10);

/// The setup request that was answered last.
#[derive(Debug)]
pub(super) struct LastSetup {
    octets: Vec<u8>,
    at: Instant,
}

impl Session {
    pub(super) fn set_up(&mut self, request: E2SetupRequest, octets: &[u8], now: Instant) {
        if matches!(self.phase, Phase::Stopping(_)) {
            return self.refuse_setup(
                request.transaction,
                Cause::RicService(RicServiceCause::RicResourceLimit),
                None,
            );
        }
        let retransmitted = self.last_setup.as_ref().is_some_and(|last| {
            last.octets == octets && now.saturating_duration_since(last.at) < RETRANSMISSION
        });
        self.answer_setup(&request);
        if retransmitted {
            return;
        }
        self.last_setup = Some(LastSetup {
            octets: octets.to_vec(),
            at: now,
        });

        let id = NodeId(request.node.to_string().into());
        self.subscriptions.forgotten("the node set up again", now);
        self.tell_statuses();
        if let Some(former) = self.node.take()
            && former.id != id
        {
            let reason = format!("it set up as {id}");
            self.events.push_back(RanEvent::NodeDown {
                node: former.id,
                reason,
            });
        }
        let part = Part::of(&request.node, &request.components);
        let functions: BTreeMap<_, _> = request
            .functions
            .into_iter()
            .map(identity::ran_function)
            .map(|function| (function.id, function))
            .collect();
        let flexric = functions.values().any(identity::is_of_flexric);
        tracing::info!(node = %id, peer = self.peer, functions = functions.len(), "E2 node is up");
        self.node = Some(Node {
            id,
            part,
            functions,
            flexric,
        });
        self.phase = Phase::Up;
        self.announce();
        self.plan(now);
    }

    /// Accepts everything, as FlexRIC's RIC does. RANfunctionsRejected would only tell the node that Cantor
    /// does not subscribe to a function; FlexRIC's agent aborts on that list (it expects other item ids).
    fn answer_setup(&mut self, request: &E2SetupRequest) {
        let accepted = request
            .functions
            .iter()
            .map(|function| RanFunctionId {
                id: function.id,
                revision: function.revision,
            })
            .collect();
        self.send(&Pdu::E2SetupResponse(E2SetupResponse {
            transaction: request.transaction,
            ric: GlobalRicId {
                plmn: plmn(&request.node),
                ric_id: RIC_ID,
            },
            accepted,
            rejected: Vec::new(),
            components: request.components.iter().map(acknowledged).collect(),
        }));
    }

    pub(super) fn removed(&mut self, transaction: u32) {
        self.send(&Pdu::E2RemovalResponse(E2RemovalResponse {
            transaction,
            diagnostics: None,
        }));
        self.finish("the node asked for its removal");
    }
}

pub(super) fn acknowledged(component: &ComponentConfig) -> ComponentConfigAck {
    acknowledgement(component.interface, component.id.clone())
}

pub(super) fn acknowledgement(
    interface: ComponentInterface,
    id: ComponentId,
) -> ComponentConfigAck {
    ComponentConfigAck {
        interface,
        id,
        outcome: UpdateOutcome::Success,
        failure: None,
    }
}

/// Cantor belongs to the node's network.
fn plmn(node: &GlobalE2NodeId) -> Plmn {
    match node {
        GlobalE2NodeId::Gnb { gnb, .. } => gnb.plmn,
        GlobalE2NodeId::EnGnb { en_gnb, .. } => en_gnb.plmn,
        GlobalE2NodeId::NgEnb { ng_enb, .. } => ng_enb.plmn,
        GlobalE2NodeId::Enb(enb) => enb.plmn,
        GlobalE2NodeId::Unknown(_) => Plmn::default(),
    }
}
