//! Elementary procedures: codes and criticalities (E2AP §9.3.2).

use super::Version;
use crate::aper::Criticality;

/// An elementary procedure.
#[derive(Debug)]
pub(crate) struct Procedure {
    v1: Option<u8>,
    v2: Option<u8>,
    v3: Option<u8>,
    pub(crate) criticality: Criticality,
}

impl Procedure {
    const fn all(code: u8, criticality: Criticality) -> Procedure {
        Procedure {
            v1: Some(code),
            v2: Some(code),
            v3: Some(code),
            criticality,
        }
    }

    const fn since_v2(code: u8, criticality: Criticality) -> Procedure {
        Procedure {
            v1: None,
            v2: Some(code),
            v3: Some(code),
            criticality,
        }
    }

    /// FlexRIC numbers its own procedures behind those of each version.
    const fn e42(v1: u8, v2: u8, v3: u8) -> Procedure {
        Procedure {
            v1: Some(v1),
            v2: Some(v2),
            v3: Some(v3),
            criticality: Criticality::Reject,
        }
    }

    /// The procedure code, if this version has the procedure.
    pub(crate) const fn code(&self, version: Version) -> Option<u8> {
        match version {
            Version::V1_01 => self.v1,
            Version::V2_03 => self.v2,
            Version::V3_01 => self.v3,
        }
    }
}

use Criticality::{Ignore, Reject};
pub(crate) const E2_SETUP: Procedure = Procedure::all(1, Reject);
pub(crate) const ERROR_INDICATION: Procedure = Procedure::all(2, Ignore);
pub(crate) const RESET: Procedure = Procedure::all(3, Reject);
pub(crate) const RIC_CONTROL: Procedure = Procedure::all(4, Reject);
pub(crate) const RIC_INDICATION: Procedure = Procedure::all(5, Ignore);
pub(crate) const RIC_SERVICE_QUERY: Procedure = Procedure::all(6, Ignore);
pub(crate) const RIC_SERVICE_UPDATE: Procedure = Procedure::all(7, Reject);
pub(crate) const RIC_SUBSCRIPTION: Procedure = Procedure::all(8, Reject);
pub(crate) const RIC_SUBSCRIPTION_DELETE: Procedure = Procedure::all(9, Reject);
pub(crate) const E2_NODE_CONFIGURATION_UPDATE: Procedure = Procedure::all(10, Reject);
pub(crate) const E2_CONNECTION_UPDATE: Procedure = Procedure::all(11, Reject);
pub(crate) const RIC_SUBSCRIPTION_DELETE_REQUIRED: Procedure = Procedure::since_v2(12, Ignore);
pub(crate) const E2_REMOVAL: Procedure = Procedure::since_v2(13, Reject);
pub(crate) const E42_SETUP: Procedure = Procedure::e42(12, 14, 17);
pub(crate) const E42_SUBSCRIPTION: Procedure = Procedure::e42(13, 15, 18);
pub(crate) const E42_SUBSCRIPTION_DELETE: Procedure = Procedure::e42(14, 16, 19);
pub(crate) const E42_CONTROL: Procedure = Procedure::e42(15, 17, 20);
