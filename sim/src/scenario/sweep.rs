//! Scenarios with values that are swept, and the policy of the guided flows.

use super::settings::apply;
use super::{Scenario, ScenarioError, SenderKind, settings};
use serde::Deserialize;
use std::path::PathBuf;
use toml::{Table, Value};

/// Variants that one command may run: a product of sweeps grows fast.
const MOST_VARIANTS: usize = 10_000;

/// What to run: a scenario, and what is different from its text.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// A file, or the name of a built-in scenario.
    pub name: String,
    /// Settings, `key.path=value`.
    pub settings: Vec<String>,
    /// Sweeps, `key.path=[value, value, …]`.
    pub sweeps: Vec<String>,
    /// Sender of all guided flows.
    pub policy: Option<SenderKind>,
    /// Folder of the model bundle of learned policies, in place of the scenario's.
    pub model: Option<PathBuf>,
}

/// A scenario with one value of every sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The swept values as settings, separated by spaces; empty without a sweep.
    pub label: String,
    /// The scenario.
    pub scenario: Scenario,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sweep {
    key: String,
    values: Vec<Value>,
}

impl Selection {
    /// The scenario of this name as it is.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Adds settings.
    pub fn with<S: AsRef<str>>(mut self, settings: &[S]) -> Self {
        let settings = settings.iter().map(|s| s.as_ref().to_owned());
        self.settings.extend(settings);
        self
    }

    /// The scenario's text.
    pub fn text(&self) -> Result<String, ScenarioError> {
        Ok(settings::read(&self.name)?.0)
    }

    /// Every combination of the swept values, and the folder from which the scenario's files are named. A setting, or a
    /// sweep of the selection, takes the place of the scenario's sweep of the same key.
    pub fn variants(&self) -> Result<(Vec<Variant>, PathBuf), ScenarioError> {
        let (text, folder) = settings::read(&self.name)?;
        let mut table: Table = text.parse()?;
        let mut sweeps: Vec<Sweep> = match table.remove("sweep") {
            Some(sweeps) => sweeps.try_into()?,
            None => Vec::new(),
        };
        for text in &self.sweeps {
            let own = parse(text)?;
            sweeps.retain(|sweep| sweep.key != own.key);
            sweeps.push(own);
        }
        for setting in &self.settings {
            apply(&mut table, setting)?;
            let key = setting.split('=').next().unwrap_or_default().trim();
            sweeps.retain(|sweep| sweep.key != key);
        }
        let mut points: Vec<Vec<String>> = vec![Vec::new()];
        for Sweep { key, values } in &sweeps {
            if values.is_empty() || points.len() * values.len() > MOST_VARIANTS {
                return Err(ScenarioError::Value {
                    key: format!("sweep of {key}"),
                    reason: format!("must have values, and at most {MOST_VARIANTS} combinations"),
                });
            }
            let with_each = |point: Vec<String>| {
                let with = move |value: &Value| {
                    let mut point = point.clone();
                    point.push(format!("{key}={value}"));
                    point
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            points = points.into_iter().flat_map(with_each).collect();
        }
        // Named from here, not from the scenario's folder.
        let model = self.model.as_ref().map(std::path::absolute).transpose();
        let model = model.map_err(|error| ScenarioError::Value {
            key: "model".to_owned(),
            reason: error.to_string(),
        })?;
        let variants = points.into_iter().map(|point| {
            let mut table = table.clone();
            point.iter().try_for_each(|s| apply(&mut table, s))?;
            let mut scenario: Scenario = Value::Table(table).try_into()?;
            self.apply_policy(&mut scenario)?;
            if let Some(model) = &model {
                scenario.model = Some(model.clone());
            }
            Ok(Variant {
                label: point.join(" "),
                scenario,
            })
        });
        Ok((variants.collect::<Result<_, ScenarioError>>()?, folder))
    }

    fn apply_policy(&self, scenario: &mut Scenario) -> Result<(), ScenarioError> {
        let Some(policy) = self.policy else {
            return Ok(());
        };
        let mut guided = scenario.flows.iter_mut().filter(|f| f.sender.guided());
        if !policy.guided() || guided.by_ref().map(|flow| flow.sender = policy).count() == 0 {
            return Err(ScenarioError::Value {
                key: format!("policy {}", policy.name()),
                reason: "must be rapid, rapid-peak or prism, and the scenario have guided flows"
                    .to_owned(),
            });
        }
        Ok(())
    }
}

fn parse(text: &str) -> Result<Sweep, ScenarioError> {
    let wrong = || ScenarioError::Setting {
        setting: text.to_owned(),
        reason: "a sweep must be key=[value, value, …]".to_owned(),
    };
    let (key, values) = text.split_once('=').ok_or_else(wrong)?;
    let parsed = format!("v = {values}")
        .parse::<Table>()
        .map_err(|_| wrong())?;
    match parsed.get("v") {
        Some(Value::Array(values)) => Ok(Sweep {
            key: key.trim().to_owned(),
            values: values.clone(),
        }),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_multiply_and_settings_pin_them() {
        let mut selection = Selection::new("rapid-fig3a");
        let count = |s: &Selection| s.variants().unwrap().0.len();
        assert_eq!(count(&selection), 5);
        selection.sweeps = vec!["control.report_interval_ms=[20, 50]".to_owned()];
        let (variants, _) = selection.variants().unwrap();
        assert_eq!(variants.len(), 10);
        let last = &variants[9];
        assert_eq!(last.label, "flows.*.k=5 control.report_interval_ms=50");
        assert_eq!(last.scenario.flows[0].k, Some(5.0));
        assert_eq!(last.scenario.control.report_interval_ms, 50);
        assert_eq!(count(&selection.clone().with(&["flows.*.k=0.7"])), 2);
        selection.sweeps[0] = "flows.*.k=[1, 3, 7]".to_owned();
        assert_eq!(count(&selection), 3);
    }

    #[test]
    fn the_policy_is_that_of_the_guided_flows() {
        let mut selection = Selection::new("prism-test");
        selection.policy = Some(SenderKind::RapidPeak);
        let (variants, _) = selection.variants().unwrap();
        let senders = variants[0].scenario.flows.iter().map(|f| f.sender);
        assert_eq!(
            senders.collect::<Vec<_>>()[..3],
            [
                SenderKind::RapidPeak,
                SenderKind::RapidPeak,
                SenderKind::Cubic
            ]
        );
        selection.policy = Some(SenderKind::Cubic);
        assert!(selection.variants().is_err());
        let mut none = Selection::new("rapid-fig2a");
        none.policy = Some(SenderKind::Rapid);
        assert!(none.variants().is_err());
    }
}
