//! Experiments: assignment, switchback, guard rails, and whether the statistics keep what they promise.

mod promises;
mod trial;

use policies::experiment::Experiment;
use policies::slice::FlowFacts;
use policies::{SNssai, UeId};

/// An experiment of two arms out of YAML, with these further lines in its spec.
fn experiment(unit: &str, more: &str) -> Experiment {
    let text = format!(
        "apiVersion: cantor.io/v1\nkind: Experiment\nmetadata: {{name: test}}\nspec:\n  unit: {unit}\n  primary: delayP99\n  \
         arms: [{{name: rapid, gainPolicies: [rapid]}}, {{name: peak, gainPolicies: [rapid-peak]}}]\n{more}"
    );
    let experiment: Experiment = serde_saphyr::from_str(&text).expect("an experiment");
    experiment.check().expect("a valid one");
    experiment
}

/// A flow to a UE of a cell.
fn flow(cell: &str, ue: u16) -> FlowFacts {
    FlowFacts {
        slice: Some(SNssai { sst: 1, sd: None }),
        cell: cell.into(),
        ue: UeId::CRnti(ue),
        address: None,
    }
}
