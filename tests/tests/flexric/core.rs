//! What FlexRIC's RIC does with the PDUs of its E2 nodes and xApps, as measured: a state machine without I/O.
//!
//! Where the real one aborts, this one says why and does nothing more.

use e2sm::e2ap::{
    ComponentConfig, ComponentConfigAck, E2SetupRequest, E2SetupResponse, GlobalE2NodeId,
    GlobalRicId, Pdu, RanFunctionId, RicRequestId, RicSubscriptionDeleteRequest,
    RicSubscriptionRequest, UpdateOutcome, Version, decode, encode,
};
use e2sm::e42::{E42Node, E42SetupResponse};

/// An association with an E2 node or an xApp.
pub type Association = u64;

pub struct Core {
    version: Version,
    next_xapp: u16,
    next_requestor: u16,
    xapps: Vec<(u16, Association)>,
    nodes: Vec<(E42Node, Association)>,
    requests: Vec<Request>,
    out: Vec<(Association, Vec<u8>)>,
    /// What xApps said and what setups were answered with, in order.
    pub talk: Vec<(Association, Pdu)>,
    aborted: Option<String>,
}

/// What the RIC knows of a forwarded request.
struct Request {
    /// The RIC's own.
    requestor: u16,
    xapp: u16,
    of_xapp: RicRequestId,
    function: u16,
    node: GlobalE2NodeId,
}

type Abort = Result<(), String>;

impl Core {
    pub fn new(version: Version) -> Core {
        Core {
            version,
            next_xapp: 7,
            next_requestor: 1021,
            xapps: Vec::new(),
            nodes: Vec::new(),
            requests: Vec::new(),
            out: Vec::new(),
            talk: Vec::new(),
            aborted: None,
        }
    }

    /// A RIC that has run for a while before a recording begins.
    pub fn in_the_middle(
        version: Version,
        xapp: u16,
        requestor: u16,
        nodes: Vec<(E42Node, Association)>,
    ) -> Core {
        Core {
            next_xapp: xapp,
            next_requestor: requestor,
            nodes,
            ..Core::new(version)
        }
    }

    /// PDUs to send now.
    pub fn take_out(&mut self) -> Vec<(Association, Vec<u8>)> {
        std::mem::take(&mut self.out)
    }

    pub fn aborted(&self) -> Option<&str> {
        self.aborted.as_deref()
    }

    /// The nodes and the requests that the RIC knows of.
    pub fn known(&self) -> (usize, usize) {
        (self.nodes.len(), self.requests.len())
    }

    pub fn hear_xapp(&mut self, association: Association, octets: &[u8]) {
        let result = self.decoded(octets).and_then(|pdu| {
            self.talk.push((association, pdu.clone()));
            self.xapp_says(association, pdu)
        });
        self.end(result);
    }

    pub fn hear_node(&mut self, association: Association, octets: &[u8]) {
        let result = self
            .decoded(octets)
            .and_then(|pdu| self.node_says(association, pdu));
        self.end(result);
    }

    /// The association of a node was shut down. One that ends by ABORT or gets lost is not noticed.
    pub fn node_shut_down(&mut self, association: Association) {
        let known = self.nodes.iter().any(|(_, of)| *of == association);
        self.nodes.retain(|(_, of)| *of != association);
        self.end(
            known
                .then_some(())
                .ok_or("shutdown of a node that never set up".into()),
        );
    }

    /// Something could not be sent to an xApp: its subscriptions are deleted.
    pub fn send_failed(&mut self, association: Association) {
        let Some((xapp, _)) = self
            .xapps
            .iter()
            .find(|(_, of)| *of == association)
            .copied()
        else {
            return;
        };
        self.xapps.retain(|(_, of)| *of != association);
        let of_xapp: Vec<_> = (self.requests.iter())
            .filter(|request| request.xapp == xapp)
            .map(|request| (request.of_xapp, request.function))
            .collect();
        let result = of_xapp
            .into_iter()
            .try_for_each(|(request, function)| self.delete(request, function));
        self.end(result);
    }

    fn end(&mut self, result: Abort) {
        if let Err(why) = result {
            self.aborted.get_or_insert(why);
        }
    }

    fn decoded(&self, octets: &[u8]) -> Result<Pdu, String> {
        let decoded =
            decode(octets, self.version).map_err(|error| format!("undecodable: {error}"))?;
        Ok(decoded.value)
    }

    fn send(&mut self, to: Association, pdu: &Pdu) {
        let octets = encode(pdu, self.version).expect("what the RIC says can be encoded");
        self.out.push((to, octets));
    }

    fn xapp_says(&mut self, association: Association, pdu: Pdu) -> Abort {
        match pdu {
            Pdu::E42SetupRequest(request) => {
                if request.functions.is_empty() || self.nodes.is_empty() {
                    return Err("E42 setup without RAN functions, or without E2 nodes".into());
                }
                let xapp_id = self.next_xapp;
                self.next_xapp = xapp_id.checked_add(1).ok_or("xApp ids came round")?;
                self.xapps.push((xapp_id, association));
                let nodes = self.nodes.iter().map(|(node, _)| node.clone()).collect();
                let response = Pdu::E42SetupResponse(E42SetupResponse { xapp_id, nodes });
                self.send(association, &response);
                self.talk.push((association, response));
                Ok(())
            }
            Pdu::E42SubscriptionRequest(asked) => {
                if asked.xapp_id > self.next_xapp || asked.xapp_id < 7 {
                    return Err(format!("xApp id {} was never assigned", asked.xapp_id));
                }
                let node = self.node(&asked.node)?;
                let requestor = self.next_requestor;
                self.next_requestor = requestor.checked_add(1).ok_or("request ids came round")?;
                self.requests.push(Request {
                    requestor,
                    xapp: asked.xapp_id,
                    of_xapp: asked.request,
                    function: asked.ran_function,
                    node: asked.node,
                });
                let request = RicRequestId {
                    requestor,
                    ..asked.request
                };
                self.send(
                    node,
                    &Pdu::RicSubscriptionRequest(RicSubscriptionRequest {
                        request,
                        ran_function: asked.ran_function,
                        details: asked.details,
                    }),
                );
                Ok(())
            }
            Pdu::E42SubscriptionDeleteRequest(asked) => {
                self.delete(asked.request, asked.ran_function)
            }
            Pdu::E42ControlRequest(asked) => {
                let node = self.node(&asked.node)?;
                let requestor = self.next_requestor;
                self.next_requestor = requestor.checked_add(1).ok_or("request ids came round")?;
                self.requests.push(Request {
                    requestor,
                    xapp: asked.xapp_id,
                    of_xapp: asked.request,
                    function: asked.ran_function,
                    node: asked.node,
                });
                let request = RicRequestId {
                    requestor,
                    ..asked.request
                };
                self.send(
                    node,
                    &Pdu::RicControlRequest(e2sm::e2ap::RicControlRequest {
                        request,
                        ran_function: asked.ran_function,
                        call_process: asked.call_process,
                        header: asked.header,
                        message: asked.message,
                        ack_request: asked.ack_request,
                    }),
                );
                Ok(())
            }
            other => Err(format!("{} from an xApp", other.name())),
        }
    }

    /// Looked up without the xApp id: of two xApps with the same ids, the wrong one may be found.
    fn delete(&mut self, request: RicRequestId, function: u16) -> Abort {
        let known = self
            .requests
            .iter()
            .find(|known| known.of_xapp == request && known.function == function)
            .ok_or("deletion of an unknown request")?;
        let request = RicRequestId {
            requestor: known.requestor,
            ..request
        };
        let id = known.node.clone();
        let node = self.node(&id)?;
        self.send(
            node,
            &Pdu::RicSubscriptionDeleteRequest(RicSubscriptionDeleteRequest {
                request,
                ran_function: function,
            }),
        );
        Ok(())
    }

    fn node(&self, id: &GlobalE2NodeId) -> Result<Association, String> {
        let found = self.nodes.iter().rfind(|(node, _)| node.node == *id);
        found
            .map(|(_, of)| *of)
            .ok_or(format!("E2 node {id} not found"))
    }

    fn node_says(&mut self, association: Association, pdu: Pdu) -> Abort {
        match pdu {
            Pdu::E2SetupRequest(request) => {
                if self.node(&request.node).is_ok() {
                    return Err(format!("E2 node {} is already there", request.node));
                }
                self.set_up(association, request);
                Ok(())
            }
            Pdu::RicSubscriptionResponse(mut response) => {
                if response.admitted.iter().any(|action| action.id != 0) {
                    return Err("an action id that is not 0".into());
                }
                let known = self.request(response.request, response.ran_function)?;
                let (_, xapp, of_xapp) = known.ok_or("answer to an unknown request")?;
                response.request = of_xapp;
                self.forward(xapp, &Pdu::RicSubscriptionResponse(response));
                Ok(())
            }
            Pdu::RicIndication(mut indication) => {
                if let Some((_, xapp, of_xapp)) =
                    self.request(indication.request, indication.ran_function)?
                {
                    indication.request = of_xapp;
                    self.forward(xapp, &Pdu::RicIndication(indication));
                }
                Ok(())
            }
            Pdu::RicSubscriptionDeleteResponse(mut response) => {
                if let Some((requestor, xapp, of_xapp)) =
                    self.request(response.request, response.ran_function)?
                {
                    response.request = of_xapp;
                    self.forward(xapp, &Pdu::RicSubscriptionDeleteResponse(response));
                    self.requests.retain(|known| known.requestor != requestor);
                }
                Ok(())
            }
            Pdu::RicControlAcknowledge(mut ack) => {
                let known = self.request(ack.request, ack.ran_function)?;
                let (requestor, xapp, of_xapp) = known.ok_or("answer to an unknown request")?;
                (ack.request, ack.outcome) = (of_xapp, None);
                self.forward(xapp, &Pdu::RicControlAcknowledge(ack));
                self.requests.retain(|known| known.requestor != requestor);
                Ok(())
            }
            other => Err(format!("{} from an E2 node", other.name())),
        }
    }

    /// By the RIC's requestor id only; then everything else has to fit.
    fn request(
        &self,
        request: RicRequestId,
        function: u16,
    ) -> Result<Option<(u16, u16, RicRequestId)>, String> {
        let Some(known) = self
            .requests
            .iter()
            .find(|known| known.requestor == request.requestor)
        else {
            return Ok(None);
        };
        if known.function != function || known.of_xapp.instance != request.instance {
            return Err(format!(
                "request {} is of another RAN function",
                known.requestor
            ));
        }
        Ok(Some((known.requestor, known.xapp, known.of_xapp)))
    }

    fn forward(&mut self, xapp: u16, pdu: &Pdu) {
        if let Some((_, association)) = self.xapps.iter().find(|(id, _)| *id == xapp).copied() {
            self.send(association, pdu);
        }
    }

    fn set_up(&mut self, association: Association, request: E2SetupRequest) {
        let accepted = request
            .functions
            .iter()
            .map(|function| RanFunctionId {
                id: function.id,
                revision: 0,
            })
            .collect();
        let acknowledged = |component: &ComponentConfig| ComponentConfigAck {
            interface: component.interface,
            id: component.id.clone(),
            outcome: UpdateOutcome::Success,
            failure: None,
        };
        let plmn = match &request.node {
            GlobalE2NodeId::Gnb { gnb, .. } => gnb.plmn,
            other => panic!("FlexRIC's agents are gNBs: {other}"),
        };
        let response = E2SetupResponse {
            transaction: request.transaction,
            ric: GlobalRicId { plmn, ric_id: 25 },
            accepted,
            rejected: Vec::new(),
            components: request.components.iter().map(acknowledged).collect(),
        };
        let node = E42Node {
            node: request.node,
            components: request.components,
            functions: request.functions,
        };
        self.nodes.push((node, association));
        self.send(association, &Pdu::E2SetupResponse(response));
    }
}
