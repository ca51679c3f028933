//! Service update and query, configuration update, connection update (E2AP §9.1.2.7 to §9.1.2.16).

use crate::e2ap::container::message;
use crate::e2ap::{
    Cause, ComponentConfig, ComponentConfigAck, ComponentRemoval, CriticalityDiagnostics,
    E2Connection, E2ConnectionFailure, E2ConnectionRemoval, GlobalE2NodeId, RanFunction,
    RanFunctionId, RejectedRanFunction, TimeToWait, TnlAssociationRemoval, TransactionId,
};

message! {
    /// RIC SERVICE UPDATE: the node's functions change.
    RicServiceUpdate {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// New functions.
        added: Vec<RanFunction> = list FUNCTIONS RAN_FUNCTIONS_ADDED Reject;
        /// Functions with a new definition.
        modified: Vec<RanFunction> = list FUNCTIONS RAN_FUNCTIONS_MODIFIED Reject;
        /// Functions that are gone.
        deleted: Vec<RanFunctionId> = list FUNCTION_IDS RAN_FUNCTIONS_DELETED Reject;
    }
}

message! {
    /// RIC SERVICE UPDATE ACKNOWLEDGE.
    RicServiceUpdateAcknowledge {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Functions the near-RT RIC accepts.
        accepted: Vec<RanFunctionId> = list FUNCTION_IDS RAN_FUNCTIONS_ACCEPTED Reject;
        /// Functions it does not accept.
        rejected: Vec<RejectedRanFunction> = list FUNCTION_CAUSES RAN_FUNCTIONS_REJECTED Reject;
    }
}

message! {
    /// RIC SERVICE UPDATE FAILURE.
    RicServiceUpdateFailure {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Why.
        cause: Cause = required VALUE CAUSE Reject;
        /// When to try again.
        time_to_wait: Option<TimeToWait> = optional VALUE TIME_TO_WAIT Ignore;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
    }
}

message! {
    /// RIC SERVICE QUERY: the near-RT RIC asks for the functions anew.
    RicServiceQuery {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Functions it knows.
        accepted: Vec<RanFunctionId> = list FUNCTION_IDS RAN_FUNCTIONS_ACCEPTED Reject;
    }
}

message! {
    /// E2 NODE CONFIGURATION UPDATE.
    E2NodeConfigurationUpdate {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Who the node is.
        node: Option<GlobalE2NodeId> = optional VALUE GLOBAL_E2_NODE_ID Reject;
        /// New components; not in v1.01.
        added: Vec<ComponentConfig> = list ADDITIONS CONFIG_ADDITION Reject;
        /// Changed components; not in v1.01.
        updated: Vec<ComponentConfig> = list UPDATES CONFIG_UPDATE Reject;
        /// Removed components; not in v1.01.
        removed: Vec<ComponentRemoval> = list REMOVALS CONFIG_REMOVAL Reject;
        /// Associations that end; not in v1.01.
        tnl_removed: Vec<TnlAssociationRemoval> = list TNL_REMOVALS TNL_ASSOCIATION_REMOVAL Reject;
    }
}

message! {
    /// E2 NODE CONFIGURATION UPDATE ACKNOWLEDGE.
    E2NodeConfigurationUpdateAcknowledge {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Answers to new components; not in v1.01.
        added: Vec<ComponentConfigAck> = list ADDITION_ACKS CONFIG_ADDITION_ACK Reject;
        /// Answers to changed components; not in v1.01.
        updated: Vec<ComponentConfigAck> = list UPDATE_ACKS CONFIG_UPDATE_ACK Reject;
        /// Answers to removed components; not in v1.01.
        removed: Vec<ComponentConfigAck> = list REMOVAL_ACKS CONFIG_REMOVAL_ACK Reject;
    }
}

message! {
    /// E2 NODE CONFIGURATION UPDATE FAILURE.
    E2NodeConfigurationUpdateFailure {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Why.
        cause: Cause = required VALUE CAUSE Ignore;
        /// When to try again.
        time_to_wait: Option<TimeToWait> = optional VALUE TIME_TO_WAIT Ignore;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
    }
}

message! {
    /// E2 CONNECTION UPDATE: the near-RT RIC changes the associations.
    E2ConnectionUpdate {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// New associations.
        added: Vec<E2Connection> = list CONNECTIONS E2_CONNECTION_ADD Reject;
        /// Associations to end.
        removed: Vec<E2ConnectionRemoval> = list CONNECTION_REMOVALS E2_CONNECTION_REMOVE Reject;
        /// Associations with another use.
        modified: Vec<E2Connection> = list CONNECTIONS E2_CONNECTION_MODIFY Reject;
    }
}

message! {
    /// E2 CONNECTION UPDATE ACKNOWLEDGE.
    E2ConnectionUpdateAcknowledge {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Associations that stand.
        setup: Vec<E2Connection> = list CONNECTIONS E2_CONNECTION_SETUP Reject;
        /// Associations that do not.
        failed: Vec<E2ConnectionFailure> = list CONNECTION_FAILURES E2_CONNECTION_SETUP_FAILED Reject;
    }
}

message! {
    /// E2 CONNECTION UPDATE FAILURE.
    E2ConnectionUpdateFailure {
        /// Transaction.
        transaction: TransactionId = since_v2 TRANSACTION TRANSACTION_ID Reject;
        /// Why.
        cause: Option<Cause> = optional VALUE CAUSE Reject;
        /// When to try again.
        time_to_wait: Option<TimeToWait> = optional VALUE TIME_TO_WAIT Ignore;
        /// What was not understood.
        diagnostics: Option<CriticalityDiagnostics> = optional VALUE CRITICALITY_DIAGNOSTICS Ignore;
    }
}
