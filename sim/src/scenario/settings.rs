//! Reading scenarios, and `--set key=value`.

use super::{Scenario, ScenarioError, SenderKind, builtin};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The text of a scenario, a file or a built-in one, and the folder from which its files are named.
pub(super) fn read(name: &str) -> Result<(String, PathBuf), ScenarioError> {
    let path = Path::new(name);
    match builtin(name) {
        Some(text) if !path.exists() => Ok((text.to_owned(), PathBuf::new())),
        None if !path.exists() => Err(ScenarioError::Unknown {
            name: name.to_owned(),
        }),
        _ => {
            let text = std::fs::read_to_string(path).map_err(|error| ScenarioError::Read {
                file: path.to_owned(),
                error,
            })?;
            Ok((text, path.parent().map(Path::to_owned).unwrap_or_default()))
        }
    }
}

impl Scenario {
    /// Reads a scenario: a file, or a built-in one by its name; then applies settings of the form `key.path=value`. Also
    /// returns the folder from which its files are named.
    pub fn load(name: &str, settings: &[String]) -> Result<(Self, PathBuf), ScenarioError> {
        let (text, folder) = read(name)?;
        Ok((Self::parse(&text, settings)?, folder))
    }

    /// Reads a scenario from text and applies settings. What it sweeps is left out: see [`super::Selection`].
    pub fn parse(text: &str, settings: &[String]) -> Result<Self, ScenarioError> {
        let mut table: Table = text.parse()?;
        table.remove("sweep");
        settings.iter().try_for_each(|s| apply(&mut table, s))?;
        Ok(Value::Table(table).try_into()?)
    }
}

/// Applies one setting.
pub(super) fn apply(table: &mut Table, setting: &str) -> Result<(), ScenarioError> {
    change(table, setting).map_err(|reason| ScenarioError::Setting {
        setting: setting.to_owned(),
        reason,
    })
}

/// Sets `a.b.2.c=value`; a value that is no TOML is a string. A number in the path is an index of an array, `*` all of it,
/// `guided` the flows that are guided; anything else is the `name` of an item.
fn change(table: &mut Table, setting: &str) -> Result<(), String> {
    let (key, value) = setting
        .split_once('=')
        .ok_or_else(|| "must be key=value".to_owned())?;
    let value = format!("v = {value}")
        .parse::<Table>()
        .ok()
        .and_then(|mut parsed| parsed.remove("v"))
        .unwrap_or_else(|| Value::String(value.to_owned()));
    let path: Vec<&str> = key.trim().split('.').collect();
    if path.iter().any(|part| part.is_empty()) {
        return Err("empty part in the key".to_owned());
    }
    let (first, rest) = (path[0], &path[1..]);
    match rest {
        [] => {
            table.insert(first.to_owned(), value);
            Ok(())
        }
        _ => {
            let entry = table
                .entry(first)
                .or_insert_with(|| Value::Table(Table::new()));
            set(entry, rest, &value)
        }
    }
}

/// In the place of an index: the flows whose sender is guided.
const GUIDED: &str = "guided";

fn is_named(item: &Value, name: &str) -> bool {
    item.get("name").and_then(Value::as_str) == Some(name)
}

fn is_guided(flow: &Value) -> bool {
    let sender = flow.get("sender").cloned();
    sender.is_some_and(|s| SenderKind::deserialize(s).is_ok_and(SenderKind::guided))
}

fn set(target: &mut Value, path: &[&str], value: &Value) -> Result<(), String> {
    let Some((&part, rest)) = path.split_first() else {
        *target = value.clone();
        return Ok(());
    };
    match target {
        Value::Table(table) => {
            let missing = || match rest {
                [] => value.clone(),
                _ => Value::Table(Table::new()),
            };
            set(table.entry(part).or_insert_with(missing), rest, value)
        }
        Value::Array(array) if part == "*" => {
            array.iter_mut().try_for_each(|item| set(item, rest, value))
        }
        Value::Array(array) if part == GUIDED => array
            .iter_mut()
            .filter(|item| is_guided(item))
            .try_for_each(|item| set(item, rest, value)),
        Value::Array(array) => {
            let len = array.len();
            let index = part.parse::<usize>().ok();
            let index = index.or_else(|| array.iter().position(|item| is_named(item, part)));
            match index.and_then(|index| array.get_mut(index)) {
                Some(item) => set(item, rest, value),
                None => Err(format!(
                    "{part:?} must be an index below {len} (items are counted as they are written), * for all, \
                     {GUIDED}, or the name of an item"
                )),
            }
        }
        _ => Err(format!("nothing named {part:?} can be there")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "duration_s = 5\n[[ues]]\ncount = 2\n[[flows]]\nue = 0\nsender = 'cubic'\n[[flows]]\nue = 1\nname = 'audio'\nsender = 'cbr'\nmbps = 3\n[[flows]]\nue = 1\nsender = 'rapid'\n";

    fn parse(settings: &[&str]) -> Result<Scenario, ScenarioError> {
        let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
        Scenario::parse(TEXT, &settings)
    }

    #[test]
    fn settings_reach_everywhere() {
        let scenario = parse(&[
            "duration_s=7.5",
            "flows.1.payload=200",
            "flows.audio.mbps=4",
            "ues.*.queue_limit_bytes=300000",
            "cell.profile=lena",
            "flows.0.sender=bbr1",
            "control.target_factor=0.8",
            "flows.guided.k=2",
        ])
        .unwrap();
        assert_eq!(scenario.duration_s, 7.5);
        assert_eq!(scenario.flows[1].mbps, Some(4.0));
        assert_eq!(scenario.ues[0].queue_limit_bytes, 300_000);
        assert_eq!(scenario.cell["profile"].as_str(), Some("lena"));
        assert_eq!(scenario.control.target_factor, 0.8);
        let gains = scenario.flows.iter().map(|flow| flow.k);
        assert_eq!(gains.collect::<Vec<_>>(), [None, None, Some(2.0)]);
    }

    #[test]
    fn mistakes_are_named() {
        let message = |setting: &str| parse(&[setting]).unwrap_err().to_string();
        assert!(message("flows.7.mbps=4").contains("below 3"));
        assert!(message("flows.video.mbps=4").contains("\"video\""));
        assert!(message("duration_s").contains("key=value"));
        assert!(message("flows.0.speed=4").contains("speed"));
        assert!(message("duration_s.x=4").contains("\"x\""));
        assert!(
            Scenario::load("no-such", &[])
                .unwrap_err()
                .to_string()
                .contains("prism-test")
        );
    }
}
