//! Reading scenarios, and `--set key=value`.

use super::{Scenario, ScenarioError, builtin};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

impl Scenario {
    /// Reads a scenario: a file, or a built-in one by its name; then applies settings of the form `key.path=value`. Also
    /// returns the folder from which its files are named.
    pub fn load(name: &str, settings: &[String]) -> Result<(Self, PathBuf), ScenarioError> {
        let path = Path::new(name);
        let (text, folder) = match builtin(name) {
            Some(text) if !path.exists() => (text.to_owned(), PathBuf::new()),
            None if !path.exists() => {
                return Err(ScenarioError::Unknown {
                    name: name.to_owned(),
                });
            }
            _ => {
                let text = std::fs::read_to_string(path).map_err(|error| ScenarioError::Read {
                    file: path.to_owned(),
                    error,
                })?;
                (text, path.parent().map(Path::to_owned).unwrap_or_default())
            }
        };
        Ok((Self::parse(&text, settings)?, folder))
    }

    /// Reads a scenario from text and applies settings.
    pub fn parse(text: &str, settings: &[String]) -> Result<Self, ScenarioError> {
        let mut table: Table = text.parse()?;
        for setting in settings {
            apply(&mut table, setting).map_err(|reason| ScenarioError::Setting {
                setting: setting.clone(),
                reason,
            })?;
        }
        Ok(Value::Table(table).try_into()?)
    }
}

/// Sets `a.b.2.c=value`; a value that is no TOML is a string. A number in the path is an index of an array, `*` all of it.
fn apply(table: &mut Table, setting: &str) -> Result<(), String> {
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
        Value::Array(array) => {
            let len = array.len();
            let index = part.parse::<usize>().ok();
            match index.and_then(|index| array.get_mut(index)) {
                Some(item) => set(item, rest, value),
                None => Err(format!("{part:?} must be an index below {len}, or *")),
            }
        }
        _ => Err(format!("nothing named {part:?} can be there")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "duration_s = 5\n[[ues]]\ncount = 2\n[[flows]]\nue = 0\nsender = 'cubic'\n[[flows]]\nue = 1\nsender = 'cbr'\nmbps = 3\n";

    fn parse(settings: &[&str]) -> Result<Scenario, ScenarioError> {
        let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
        Scenario::parse(TEXT, &settings)
    }

    #[test]
    fn settings_reach_everywhere() {
        let scenario = parse(&[
            "duration_s=7.5",
            "flows.1.mbps=4",
            "ues.*.queue_limit_bytes=300000",
            "cell.profile=lena",
            "flows.0.sender=bbr1",
            "control.target_factor=0.8",
        ])
        .unwrap();
        assert_eq!(scenario.duration_s, 7.5);
        assert_eq!(scenario.flows[1].mbps, Some(4.0));
        assert_eq!(scenario.ues[0].queue_limit_bytes, 300_000);
        assert_eq!(scenario.cell["profile"].as_str(), Some("lena"));
        assert_eq!(scenario.control.target_factor, 0.8);
    }

    #[test]
    fn mistakes_are_named() {
        let message = |setting: &str| parse(&[setting]).unwrap_err().to_string();
        assert!(message("flows.7.mbps=4").contains("below 2"));
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
