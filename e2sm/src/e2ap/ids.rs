//! ProtocolIE-IDs (E2AP §9.3.7). Ids 1 to 36 mean the same in every version.

use super::Version;

/// Number of an IE in each version, and its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IeId {
    pub(crate) name: &'static str,
    v1: Option<u16>,
    v2: Option<u16>,
    v3: Option<u16>,
}

impl IeId {
    const fn all(id: u16, name: &'static str) -> IeId {
        IeId {
            name,
            v1: Some(id),
            v2: Some(id),
            v3: Some(id),
        }
    }

    const fn since_v2(id: u16, name: &'static str) -> IeId {
        IeId {
            name,
            v1: None,
            v2: Some(id),
            v3: Some(id),
        }
    }

    const fn only_v1(id: u16, name: &'static str) -> IeId {
        IeId {
            name,
            v1: Some(id),
            v2: None,
            v3: None,
        }
    }

    const fn by_version(v1: u16, v2: u16, v3: u16, name: &'static str) -> IeId {
        IeId {
            name,
            v1: Some(v1),
            v2: Some(v2),
            v3: Some(v3),
        }
    }

    /// The id, if this version has the IE.
    pub(crate) const fn in_version(&self, version: Version) -> Option<u16> {
        match version {
            Version::V1_01 => self.v1,
            Version::V2_03 => self.v2,
            Version::V3_01 => self.v3,
        }
    }
}

pub(crate) const CAUSE: IeId = IeId::all(1, "Cause");
pub(crate) const CRITICALITY_DIAGNOSTICS: IeId = IeId::all(2, "CriticalityDiagnostics");
pub(crate) const GLOBAL_E2_NODE_ID: IeId = IeId::all(3, "GlobalE2node-ID");
pub(crate) const GLOBAL_RIC_ID: IeId = IeId::all(4, "GlobalRIC-ID");
pub(crate) const RAN_FUNCTION_ID: IeId = IeId::all(5, "RANfunctionID");
pub(crate) const RAN_FUNCTIONS_ACCEPTED: IeId = IeId::all(9, "RANfunctionsAccepted");
pub(crate) const RAN_FUNCTIONS_ADDED: IeId = IeId::all(10, "RANfunctionsAdded");
pub(crate) const RAN_FUNCTIONS_DELETED: IeId = IeId::all(11, "RANfunctionsDeleted");
pub(crate) const RAN_FUNCTIONS_MODIFIED: IeId = IeId::all(12, "RANfunctionsModified");
pub(crate) const RAN_FUNCTIONS_REJECTED: IeId = IeId::all(13, "RANfunctionsRejected");
pub(crate) const RIC_ACTION_ID: IeId = IeId::all(15, "RICactionID");
pub(crate) const RIC_ACTIONS_ADMITTED: IeId = IeId::all(17, "RICactions-Admitted");
pub(crate) const RIC_ACTIONS_NOT_ADMITTED: IeId = IeId::all(18, "RICactions-NotAdmitted");
pub(crate) const RIC_CALL_PROCESS_ID: IeId = IeId::all(20, "RICcallProcessID");
pub(crate) const RIC_CONTROL_ACK_REQUEST: IeId = IeId::all(21, "RICcontrolAckRequest");
pub(crate) const RIC_CONTROL_HEADER: IeId = IeId::all(22, "RICcontrolHeader");
pub(crate) const RIC_CONTROL_MESSAGE: IeId = IeId::all(23, "RICcontrolMessage");
pub(crate) const RIC_CONTROL_STATUS: IeId = IeId::only_v1(24, "RICcontrolStatus");
pub(crate) const RIC_INDICATION_HEADER: IeId = IeId::all(25, "RICindicationHeader");
pub(crate) const RIC_INDICATION_MESSAGE: IeId = IeId::all(26, "RICindicationMessage");
pub(crate) const RIC_INDICATION_SN: IeId = IeId::all(27, "RICindicationSN");
pub(crate) const RIC_INDICATION_TYPE: IeId = IeId::all(28, "RICindicationType");
pub(crate) const RIC_REQUEST_ID: IeId = IeId::all(29, "RICrequestID");
pub(crate) const RIC_SUBSCRIPTION_DETAILS: IeId = IeId::all(30, "RICsubscriptionDetails");
pub(crate) const TIME_TO_WAIT: IeId = IeId::all(31, "TimeToWait");
pub(crate) const RIC_CONTROL_OUTCOME: IeId = IeId::all(32, "RICcontrolOutcome");
// The component lists of v1.01 (ids 33 and 35) have other contents: there they count as unknown IEs.
pub(crate) const CONFIG_UPDATE: IeId = IeId::since_v2(33, "E2nodeComponentConfigUpdate");
pub(crate) const CONFIG_UPDATE_ACK: IeId = IeId::since_v2(35, "E2nodeComponentConfigUpdateAck");
pub(crate) const E2_CONNECTION_SETUP: IeId = IeId::all(39, "E2connectionSetup");
pub(crate) const E2_CONNECTION_SETUP_FAILED: IeId = IeId::all(40, "E2connectionSetupFailed");
pub(crate) const E2_CONNECTION_ADD: IeId = IeId::all(44, "E2connectionUpdateAdd");
pub(crate) const E2_CONNECTION_MODIFY: IeId = IeId::all(45, "E2connectionUpdateModify");
pub(crate) const E2_CONNECTION_REMOVE: IeId = IeId::all(46, "E2connectionUpdateRemove");
pub(crate) const TNL_INFORMATION: IeId = IeId::all(48, "TNLinformation");
pub(crate) const TRANSACTION_ID: IeId = IeId::since_v2(49, "TransactionID");
pub(crate) const CONFIG_ADDITION: IeId = IeId::since_v2(50, "E2nodeComponentConfigAddition");
pub(crate) const CONFIG_ADDITION_ACK: IeId = IeId::since_v2(52, "E2nodeComponentConfigAdditionAck");
pub(crate) const CONFIG_REMOVAL: IeId = IeId::since_v2(54, "E2nodeComponentConfigRemoval");
pub(crate) const CONFIG_REMOVAL_ACK: IeId = IeId::since_v2(56, "E2nodeComponentConfigRemovalAck");
pub(crate) const TNL_ASSOCIATION_REMOVAL: IeId = IeId::since_v2(58, "E2nodeTNLassociationRemoval");
pub(crate) const SUBSCRIPTIONS_TO_BE_REMOVED: IeId =
    IeId::since_v2(60, "RICsubscriptionToBeRemoved");
pub(crate) const XAPP_ID: IeId = IeId::by_version(49, 62, 98, "XAPP-ID");
pub(crate) const E2_NODES_CONNECTED: IeId = IeId::by_version(50, 63, 99, "E2nodesConnected");
