//! What a node is and what its RAN functions are.

use e2sm::e2ap::{self, ComponentConfig, ComponentInterface, GlobalE2NodeId};
use e2sm::{flexric, kpm};

use crate::ran::{RanFunction, ServiceModel};

/// Which part of a base station a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ran) enum Part {
    /// All of it.
    Whole,
    /// CU or CU-UP: no MAC, no RLC.
    Central,
    /// CU-CP: nothing that Cantor could use.
    ControlPlane,
    /// DU: no PDCP, no GTP.
    Distributed,
}

impl Part {
    /// Told by the node's identity and its interfaces: a CU looks like a whole gNB, but has F1.
    pub(in crate::ran) fn of(node: &GlobalE2NodeId, components: &[ComponentConfig]) -> Part {
        let (cu_up, du) = match node {
            GlobalE2NodeId::Gnb { cu_up, du, .. } | GlobalE2NodeId::EnGnb { cu_up, du, .. } => {
                (cu_up.is_some(), du.is_some())
            }
            GlobalE2NodeId::NgEnb { du, .. } => (false, du.is_some()),
            GlobalE2NodeId::Enb(_) | GlobalE2NodeId::Unknown(_) => (false, false),
        };
        let has = |interface| components.iter().any(|c| c.interface == interface);
        if du {
            Part::Distributed
        } else if !cu_up && has(ComponentInterface::E1) {
            Part::ControlPlane
        } else if cu_up || has(ComponentInterface::F1) || has(ComponentInterface::W1) {
            Part::Central
        } else {
            Part::Whole
        }
    }

    /// Whether this part can report a model that it offers: FlexRIC's agent offers every model that it was
    /// built with, also those of the other part, and a subscription to one of these can crash it.
    pub(in crate::ran) fn has(self, model: ServiceModel) -> bool {
        match model {
            ServiceModel::Mac | ServiceModel::Rlc => {
                matches!(self, Part::Whole | Part::Distributed)
            }
            // A CU has them, but GTP's reports can crash it: OAI reads MAC's UEs, or RRC's, and these are elsewhere.
            // And without RLC's reports nothing can be joined with them.
            ServiceModel::Pdcp | ServiceModel::Gtp => self == Part::Whole,
            ServiceModel::Kpm | ServiceModel::Other => true,
        }
    }
}

pub(in crate::ran) fn ran_function(function: e2ap::RanFunction) -> RanFunction {
    let e2ap::RanFunction {
        id,
        definition,
        revision,
        oid,
    } = function;
    let model = service_model(id, &oid, &definition);
    RanFunction {
        id,
        revision,
        oid,
        definition,
        model,
    }
}

/// By the OID; where there is none (E2AP v1.01), by what FlexRIC always sends, or the OID inside the definition.
fn service_model(id: u16, oid: &str, definition: &[u8]) -> ServiceModel {
    if !oid.is_empty() {
        return match flexric::Model::from_oid(oid) {
            Some(model) => of_flexric(model),
            None if kpm::Version::from_oid(oid).is_some() => ServiceModel::Kpm,
            None => ServiceModel::Other,
        };
    }
    if let Some(model) =
        flexric::Model::from_ran_function_id(id).filter(|m| m.definition().as_bytes() == definition)
    {
        return of_flexric(model);
    }
    match kpm::RanFunctionDescription::decode(definition) {
        Ok((description, _)) if kpm::Version::from_oid(&description.name.e2sm_oid).is_some() => {
            ServiceModel::Kpm
        }
        _ => ServiceModel::Other,
    }
}

fn of_flexric(model: flexric::Model) -> ServiceModel {
    match model {
        flexric::Model::Mac => ServiceModel::Mac,
        flexric::Model::Rlc => ServiceModel::Rlc,
        flexric::Model::Pdcp => ServiceModel::Pdcp,
        flexric::Model::Gtp => ServiceModel::Gtp,
        flexric::Model::Slice | flexric::Model::Tc => ServiceModel::Other,
    }
}

/// Whether a function is one of FlexRIC's own models, so that the node runs FlexRIC's agent.
pub(in crate::ran) fn is_of_flexric(function: &RanFunction) -> bool {
    flexric::Model::from_oid(&function.oid).is_some()
        || matches!(
            function.model,
            ServiceModel::Mac | ServiceModel::Rlc | ServiceModel::Pdcp | ServiceModel::Gtp
        )
}
