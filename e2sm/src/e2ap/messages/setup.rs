//! E2 Setup, Reset and Error Indication (E2AP §9.1.2.1 to §9.1.2.6), E2 Removal.

use crate::e2ap::container::message;
use crate::e2ap::{
    Cause, ComponentConfig, ComponentConfigAck, CriticalityDiagnostics, GlobalE2NodeId,
    GlobalRicId, RanFunction, RanFunctionId, RejectedRanFunction, RicRequestId, TimeToWait,
    TnlInformation, TransactionId,
};

message! {
    /// E2 SETUP REQUEST: a node introduces itself.
    E2SetupRequest {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Who it is.
        node: GlobalE2NodeId = required VALUE GLOBAL_E2_NODE_ID Reject;
        /// What it offers, 1 to 256 functions (v1.01: also none).
        functions: Vec<RanFunction> = since_v2 FUNCTIONS RAN_FUNCTIONS_ADDED Reject;
        /// Its interfaces, at least one; not in v1.01.
        components: Vec<ComponentConfig> = since_v2 ADDITIONS CONFIG_ADDITION Reject;
    }
}

message! {
    /// E2 SETUP RESPONSE.
    E2SetupResponse {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// The near-RT RIC.
        ric: GlobalRicId = required VALUE GLOBAL_RIC_ID Reject;
        /// Functions it accepts.
        accepted: Vec<RanFunctionId> = list FUNCTION_IDS RAN_FUNCTIONS_ACCEPTED Reject;
        /// Functions it does not accept.
        rejected: Vec<RejectedRanFunction> = list FUNCTION_CAUSES RAN_FUNCTIONS_REJECTED Reject;
        /// Answer to each component, at least one; not in v1.01.
        components: Vec<ComponentConfigAck> = since_v2 ADDITION_ACKS CONFIG_ADDITION_ACK Reject;
    }
}

message! {
    /// E2 SETUP FAILURE.
    E2SetupFailure {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Why.
        cause: Cause = required VALUE CAUSE Ignore;
        /// When to try again.
        time_to_wait: Option<TimeToWait> = optional VALUE TIME_TO_WAIT Ignore;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
        /// Where to try instead.
        tnl: Option<TnlInformation> = optional VALUE TNL_INFORMATION Ignore;
    }
}

message! {
    /// ERROR INDICATION.
    ErrorIndication {
        /// Transaction in question.
        transaction: Option<TransactionId> = optional TRANSACTION TRANSACTION_ID Reject;
        /// Request in question.
        request: Option<RicRequestId> = optional VALUE RIC_REQUEST_ID Reject;
        /// RAN function in question.
        ran_function: Option<u16> = optional FUNCTION_ID RAN_FUNCTION_ID Reject;
        /// What is wrong.
        cause: Option<Cause> = optional VALUE CAUSE Ignore;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
    }
}

message! {
    /// RESET REQUEST: forget every request between the two.
    ResetRequest {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Why.
        cause: Cause = required VALUE CAUSE Ignore;
    }
}

message! {
    /// RESET RESPONSE.
    ResetResponse {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
    }
}

message! {
    /// E2 REMOVAL REQUEST; not in v1.01.
    E2RemovalRequest {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
    }
}

message! {
    /// E2 REMOVAL RESPONSE; not in v1.01.
    E2RemovalResponse {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
    }
}

message! {
    /// E2 REMOVAL FAILURE; not in v1.01.
    E2RemovalFailure {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Why.
        cause: Cause = required VALUE CAUSE Ignore;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
    }
}
