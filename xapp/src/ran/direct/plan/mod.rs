//! Which subscriptions a node gets: a pure function of what it offers and what is configured.

mod kpm;

use e2sm::flexric;

use super::config::Config;
use super::identity::Part;
use crate::ran::{RanFunction, ServiceModel};

/// A subscription that should exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) function: u16,
    pub(super) model: ServiceModel,
    pub(super) period_ms: u32,
    /// RICeventTriggerDefinition.
    pub(super) trigger: Vec<u8>,
    /// RICactionDefinition of the one report action.
    pub(super) action_definition: Option<Vec<u8>>,
}

/// The subscriptions to make, one for each configured model that is offered, in the order configured.
///
/// Where a model is offered more than once, the first function that can be used is: two KPM
/// subscriptions would spoil each other's differences in OpenAirInterface.
pub(super) fn plan<'a>(
    part: Part,
    functions: impl Iterator<Item = &'a RanFunction> + Clone,
    config: &Config,
) -> Vec<Wanted> {
    let of_model = |&model: &ServiceModel| {
        let mut offered = functions
            .clone()
            .filter(|function| function.model == model && part.has(model));
        offered.find_map(|function| wanted(part, function, config))
    };
    config.models.iter().filter_map(of_model).collect()
}

fn wanted(part: Part, function: &RanFunction, config: &Config) -> Option<Wanted> {
    let period_ms = config.period_ms;
    let (trigger, action_definition) = match function.model {
        ServiceModel::Kpm => {
            let (trigger, action_definition) = kpm::definitions(part, function, config)?;
            (trigger, Some(action_definition))
        }
        ServiceModel::Mac | ServiceModel::Rlc | ServiceModel::Pdcp | ServiceModel::Gtp => {
            (flexric::EventTrigger { period_ms }.encode().to_vec(), None)
        }
        ServiceModel::Other => return None,
    };
    Some(Wanted {
        function: function.id,
        model: function.model,
        period_ms,
        trigger,
        action_definition,
    })
}

#[cfg(test)]
mod tests;
