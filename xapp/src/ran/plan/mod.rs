//! Which subscriptions a node gets: a pure function of what it offers and what is configured.

mod kpm;

use e2sm::flexric;

use super::identity::{self, Part};
use crate::ran::{RanFunction, ServiceModel};

/// What Cantor would like to have of every node.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// Service models to subscribe to, where a node offers them.
    pub models: Vec<ServiceModel>,
    /// Reporting period of every subscription (of PDCP and GTP at least 500), ms; 1 to 10,000 (FlexRIC's agent aborts above).
    pub period_ms: u32,
    /// S-NSSAI whose UEs KPM style 4 reports.
    pub slice: Slice,
    /// UEs that one KPM report may have to hold: bounds the number of measurements asked for.
    pub expected_ues: u32,
}

/// S-NSSAI (TS 23.003, 28.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Slice/service type.
    pub sst: u8,
    /// Slice differentiator (24 bits), if the slice has one.
    pub sd: Option<u32>,
}

impl Default for Wishes {
    fn default() -> Self {
        Wishes {
            models: vec![
                ServiceModel::Kpm,
                ServiceModel::Mac,
                ServiceModel::Rlc,
                ServiceModel::Pdcp,
                ServiceModel::Gtp,
            ],
            period_ms: 100,
            slice: Slice { sst: 1, sd: None },
            expected_ues: 16,
        }
    }
}

/// PDCP and GTP tell who is who, which changes rarely.
const IDENTITY_PERIOD_MS: u32 = 500;

/// A subscription that should exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ran) struct Wanted {
    pub(in crate::ran) function: u16,
    pub(in crate::ran) model: ServiceModel,
    pub(in crate::ran) period_ms: u32,
    /// RICeventTriggerDefinition.
    pub(in crate::ran) trigger: Vec<u8>,
    /// RICactionDefinition of the one report action.
    pub(in crate::ran) action_definition: Option<Vec<u8>>,
    /// KPM: names of the measurements that the action asks for.
    pub(in crate::ran) measurements: Vec<&'static str>,
}

/// Whose E2 agent a node runs, told by the models that it offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    /// FlexRIC's, as in OpenAirInterface: it aborts, and the gNB with it, on much that others refuse.
    FlexRic,
    Other,
}

/// The subscriptions to make, one for each configured model that is offered, in the order configured.
///
/// Where a model is offered more than once, the first function that can be used is: two KPM
/// subscriptions would spoil each other's differences in OpenAirInterface.
pub(in crate::ran) fn plan<'a>(
    part: Part,
    functions: impl Iterator<Item = &'a RanFunction> + Clone,
    wishes: &Wishes,
) -> Vec<Wanted> {
    let agent = if functions.clone().any(identity::is_of_flexric) {
        Agent::FlexRic
    } else {
        Agent::Other
    };
    let of_model = |&model: &ServiceModel| {
        let mut offered = functions
            .clone()
            .filter(|function| function.model == model && part.has(model));
        offered.find_map(|function| wanted(part, agent, function, wishes))
    };
    wishes.models.iter().filter_map(of_model).collect()
}

fn wanted(part: Part, agent: Agent, function: &RanFunction, wishes: &Wishes) -> Option<Wanted> {
    let period_ms = match function.model {
        ServiceModel::Pdcp | ServiceModel::Gtp => wishes.period_ms.max(IDENTITY_PERIOD_MS),
        _ => wishes.period_ms,
    };
    let (trigger, action_definition, measurements) = match function.model {
        ServiceModel::Kpm => {
            let definitions = kpm::definitions(part, agent, function, wishes)?;
            let kpm::Definitions {
                trigger,
                action,
                measurements,
            } = definitions;
            (trigger, Some(action), measurements)
        }
        ServiceModel::Mac | ServiceModel::Rlc | ServiceModel::Pdcp | ServiceModel::Gtp => {
            let trigger = flexric::EventTrigger { period_ms }.encode();
            (trigger.to_vec(), None, Vec::new())
        }
        ServiceModel::Other => return None,
    };
    Some(Wanted {
        function: function.id,
        model: function.model,
        period_ms,
        trigger,
        action_definition,
        measurements,
    })
}

#[cfg(test)]
mod tests;
