//! RIC functional procedures: subscription, indication, control (E2AP §9.1.1).

use crate::e2ap::container::message;
use crate::e2ap::{
    AdmittedAction, Cause, CriticalityDiagnostics, NotAdmittedAction, RicControlAckRequest,
    RicControlStatus, RicIndicationType, RicRequestId, RicSubscriptionDetails,
    SubscriptionToBeRemoved,
};

message! {
    /// RIC SUBSCRIPTION REQUEST.
    RicSubscriptionRequest {
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
        /// Trigger and actions.
        details: RicSubscriptionDetails = required VALUE RIC_SUBSCRIPTION_DETAILS Reject;
    }
}

message! {
    /// RIC SUBSCRIPTION RESPONSE.
    RicSubscriptionResponse {
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
        /// Actions that run now, at least one.
        admitted: Vec<AdmittedAction> = required ACTIONS_ADMITTED RIC_ACTIONS_ADMITTED Reject;
        /// Actions that do not; FlexRIC always sends this list, also empty.
        not_admitted: Option<Vec<NotAdmittedAction>> = optional ACTIONS_NOT_ADMITTED RIC_ACTIONS_NOT_ADMITTED Reject;
    }
}

message! {
    /// RIC SUBSCRIPTION FAILURE.
    RicSubscriptionFailure {
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
        /// Why.
        cause: Cause = required VALUE CAUSE Reject;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
    }
}

message! {
    /// RIC SUBSCRIPTION DELETE REQUEST.
    RicSubscriptionDeleteRequest {
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
    }
}

message! {
    /// RIC SUBSCRIPTION DELETE RESPONSE.
    RicSubscriptionDeleteResponse {
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
    }
}

message! {
    /// RIC SUBSCRIPTION DELETE FAILURE.
    RicSubscriptionDeleteFailure {
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
        /// Why.
        cause: Cause = required VALUE CAUSE Ignore;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
    }
}

message! {
    /// RIC SUBSCRIPTION DELETE REQUIRED: the node wants subscriptions ended; not in v1.01.
    RicSubscriptionDeleteRequired {
        /// 1 to 1024 subscriptions.
        subscriptions: Vec<SubscriptionToBeRemoved> = required SUBSCRIPTIONS SUBSCRIPTIONS_TO_BE_REMOVED Ignore;
    }
}

message! {
    /// RIC INDICATION: a report, or an insert that waits for a control.
    RicIndication {
        /// Which subscription.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
        /// Which action of the subscription.
        action: u8 = required ACTION_ID RIC_ACTION_ID Reject;
        /// Sequence number.
        sequence_number: Option<u16> = optional NUMBER16 RIC_INDICATION_SN Reject;
        /// Report or insert.
        kind: RicIndicationType = required VALUE RIC_INDICATION_TYPE Reject;
        /// As the service model encodes it.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::common::hex"))]
        header: Vec<u8> = required OCTETS RIC_INDICATION_HEADER Reject;
        /// As the service model encodes it.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::common::hex"))]
        message: Vec<u8> = required OCTETS RIC_INDICATION_MESSAGE Reject;
        /// For inserts: names the suspended procedure.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::e2ap::hex_option"))]
        call_process: Option<Vec<u8>> = optional OCTETS RIC_CALL_PROCESS_ID Reject;
    }
}

message! {
    /// RIC CONTROL REQUEST.
    RicControlRequest {
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
        /// Which answer is wanted.
        ack_request: Option<RicControlAckRequest> = optional VALUE RIC_CONTROL_ACK_REQUEST Reject;
    }
}

message! {
    /// RIC CONTROL ACKNOWLEDGE.
    RicControlAcknowledge {
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
        /// Call process id of the request.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::e2ap::hex_option"))]
        call_process: Option<Vec<u8>> = optional OCTETS RIC_CALL_PROCESS_ID Reject;
        /// Mandatory in v1.01, and nowhere else.
        status: Option<RicControlStatus> = optional VALUE RIC_CONTROL_STATUS Reject;
        /// As the service model encodes it.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::e2ap::hex_option"))]
        outcome: Option<Vec<u8>> = optional OCTETS RIC_CONTROL_OUTCOME Reject;
    }
}

message! {
    /// RIC CONTROL FAILURE.
    RicControlFailure {
        /// Which request.
        request: RicRequestId = required VALUE RIC_REQUEST_ID Reject;
        /// RAN function, 0 to 4095.
        ran_function: u16 = required FUNCTION_ID RAN_FUNCTION_ID Reject;
        /// Call process id of the request.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::e2ap::hex_option"))]
        call_process: Option<Vec<u8>> = optional OCTETS RIC_CALL_PROCESS_ID Reject;
        /// Why.
        cause: Cause = required VALUE CAUSE Ignore;
        /// As the service model encodes it.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::e2ap::hex_option"))]
        outcome: Option<Vec<u8>> = optional OCTETS RIC_CONTROL_OUTCOME Reject;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
    }
}
