//! E42: what FlexRIC's near-RT RIC and its xApps say to each other.
//!
//! The frame and most types are those of E2AP, and the answers are plain E2AP messages; the procedure codes and
//! IE ids differ by version. FlexRIC's receivers insist on the order and the number of the IEs below.

use crate::aper::{Criticality, DecodeError, DecodeErrorKind, EncodeError, Locate, Reader, Writer};
use crate::e2ap::container::{self, Ie, message};
use crate::e2ap::{
    ComponentConfig, GlobalE2NodeId, RanFunction, RicControlAckRequest, RicRequestId,
    RicSubscriptionDetails, Version, ids, values,
};

message! {
    /// E42 SETUP REQUEST: an xApp introduces itself with the functions it can use, at least one.
    E42SetupRequest {
        /// Functions the xApp knows.
        functions: Vec<RanFunction> = required FUNCTIONS RAN_FUNCTIONS_ADDED Reject;
    }
}

/// E42 SETUP RESPONSE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct E42SetupResponse {
    /// Id of the xApp, which it has to name in every request.
    pub xapp_id: u16,
    /// The E2 nodes that are connected now.
    pub nodes: Vec<E42Node>,
}

message! {
    /// E2nodeConnected-List: an E2 node as the near-RT RIC knows it.
    E42Node {
        /// Who it is.
        node: GlobalE2NodeId = required VALUE GLOBAL_E2_NODE_ID Reject;
        /// Its interfaces; not in v1.01.
        components: Vec<ComponentConfig> = since_v2 ADDITIONS CONFIG_ADDITION Reject;
        /// What it offers.
        functions: Vec<RanFunction> = required FUNCTIONS RAN_FUNCTIONS_ADDED Reject;
    }
}

/// The list is a container without extension marker, so it begins with the count of IEs.
impl Ie for E42Node {
    fn read(r: &mut Reader<'_>, version: Version) -> Result<E42Node, DecodeError> {
        E42Node::read_ies(r, version)
    }

    fn write(&self, w: &mut Writer, version: Version) -> Result<(), EncodeError> {
        self.write_ies(w, version)
    }
}

/// Not a table, because E2nodesConnected occurs once for each node.
impl E42SetupResponse {
    pub(crate) fn read_ies(
        r: &mut Reader<'_>,
        version: Version,
    ) -> Result<E42SetupResponse, DecodeError> {
        let mut xapp_id = None;
        let mut nodes = Vec::new();
        container::read_container(r, |id, r| {
            if Some(id) == ids::XAPP_ID.in_version(version) {
                return container::fill(&mut xapp_id, r, |r| values::NUMBER16.read(r, version))
                    .at(ids::XAPP_ID.name);
            }
            let known = Some(id) == ids::E2_NODES_CONNECTED.in_version(version);
            if known {
                let node = E42Node::read(r, version)
                    .at_index(nodes.len())
                    .at(ids::E2_NODES_CONNECTED.name)?;
                nodes.push(node);
            }
            Ok(known)
        })?;
        match xapp_id {
            Some(xapp_id) => Ok(E42SetupResponse { xapp_id, nodes }),
            None => {
                let missing = ids::XAPP_ID.in_version(version).into_iter().collect();
                Err(r.error(DecodeErrorKind::MissingIes(missing)))
            }
        }
    }

    pub(crate) fn write_ies(&self, w: &mut Writer, version: Version) -> Result<(), EncodeError> {
        w.constrained(1 + self.nodes.len() as u64, 0, 65535)?;
        if let Some(id) = ids::XAPP_ID.in_version(version) {
            container::write_ie(w, id, Criticality::Reject, |w| {
                values::NUMBER16.write(&self.xapp_id, w, version)
            })?;
        }
        if let Some(id) = ids::E2_NODES_CONNECTED.in_version(version) {
            for (index, node) in self.nodes.iter().enumerate() {
                container::write_ie(w, id, Criticality::Reject, |w| node.write(w, version))
                    .at_index(index)
                    .at(ids::E2_NODES_CONNECTED.name)?;
            }
        }
        Ok(())
    }
}

message! {
    /// E42 RIC SUBSCRIPTION REQUEST. The answer is a plain RIC SUBSCRIPTION RESPONSE.
    E42SubscriptionRequest {
        /// Id of the xApp.
        xapp_id: u16 = required NUMBER16 XAPP_ID Reject;
        /// At which node.
        node: GlobalE2NodeId = required VALUE GLOBAL_E2_NODE_ID Reject;
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
        /// Trigger and actions.
        details: RicSubscriptionDetails = required VALUE RIC_SUBSCRIPTION_DETAILS Reject;
    }
}

message! {
    /// E42 RIC SUBSCRIPTION DELETE REQUEST. The answer is a plain RIC SUBSCRIPTION DELETE RESPONSE.
    E42SubscriptionDeleteRequest {
        /// Id of the xApp.
        xapp_id: u16 = required NUMBER16 XAPP_ID Reject;
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
    }
}

message! {
    /// E42 RIC CONTROL REQUEST. The answer is a plain RIC CONTROL ACKNOWLEDGE.
    E42ControlRequest {
        /// Id of the xApp.
        xapp_id: u16 = required NUMBER16 XAPP_ID Reject;
        /// At which node.
        node: GlobalE2NodeId = required VALUE GLOBAL_E2_NODE_ID Reject;
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
        /// Answers the insert with this call process id.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::e2ap::hex_option"))]
        call_process: Option<Vec<u8>> = optional OCTETS RIC_CALL_PROCESS_ID Reject;
        /// As the service model encodes it.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::common::hex"))]
        header: Vec<u8> = required OCTETS RIC_CONTROL_HEADER Reject;
        /// As the service model encodes it.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::common::hex"))]
        message: Vec<u8> = required OCTETS RIC_CONTROL_MESSAGE Reject;
        /// Which answer is wanted. FlexRIC and OAI abort unless it is there and `Ack`.
        ack_request: Option<RicControlAckRequest> = optional VALUE RIC_CONTROL_ACK_REQUEST Reject;
    }
}
