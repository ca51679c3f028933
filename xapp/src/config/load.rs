//! Layers of settings: defaults, then the file, then the environment. Each key remembers where its value came from.

use super::{Config, Error};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

const ENVIRONMENT_PREFIX: &str = "CANTOR_";

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The configuration file.
    File(PathBuf),
    /// This environment variable.
    Environment(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "environment variable {name}"),
        }
    }
}

/// Settings, and where each came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    origins: BTreeMap<String, Origin>,
}

/// One value that somebody set.
struct Setting {
    key: String,
    value: Value,
    origin: Origin,
}

/// Reads `file` (if given) and the `CANTOR_<SECTION>__<KEY>` variables among `environment`.
///
/// # Errors
/// [`Error`] for the first thing that is wrong: nothing is guessed and nothing ignored.
pub fn load(
    file: Option<&Path>,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Loaded, Error> {
    let defaults = Table::try_from(Config::default()).expect("the defaults are valid TOML");
    let mut settings = Vec::new();
    if let Some(path) = file {
        read_file(path, &defaults, &mut settings)?;
    }
    read_environment(environment, &defaults, &mut settings)?;

    let mut table = defaults.clone();
    let mut origins = BTreeMap::new();
    for setting in settings {
        // Alone among defaults, a wrong type can only be this key's.
        let mut probe = defaults.clone();
        put(&mut probe, &setting.key, setting.value.clone());
        if let Err(error) = Config::deserialize_table(probe) {
            return Err(Error::Value {
                origin: setting.origin,
                key: setting.key,
                text: error.message().to_owned(),
            });
        }
        put(&mut table, &setting.key, setting.value);
        origins.insert(setting.key, setting.origin);
    }
    let config = Config::deserialize_table(table).expect("each value was read alone");
    let loaded = Loaded { config, origins };
    match loaded.config.complaint() {
        None => Ok(loaded),
        Some((key, text)) => Err(Error::Value {
            origin: loaded.origin(key),
            key: key.to_owned(),
            text,
        }),
    }
}

impl Config {
    fn deserialize_table(table: Table) -> Result<Self, toml::de::Error> {
        table.try_into()
    }

    /// Checks settings that were made in code.
    ///
    /// # Errors
    /// [`Error::Value`] for the first value outside its limits.
    pub fn validate(&self) -> Result<(), Error> {
        match self.complaint() {
            None => Ok(()),
            Some((key, text)) => Err(Error::Value {
                origin: Origin::Default,
                key: key.to_owned(),
                text,
            }),
        }
    }
}

impl Loaded {
    /// Where the value of `key` (e.g. `grpc.listen`) came from.
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }

    /// The effective settings as TOML, each with its origin.
    pub fn describe(&self) -> String {
        let table = Table::try_from(&self.config).expect("settings are valid TOML");
        let mut text = String::new();
        for (key, mut value) in leaves(&table) {
            if let ("store.url", Ok(place)) = (key.as_str(), self.config.store.settings()) {
                // Without the password.
                value = Value::String(place.place.to_string());
            }
            let _ = writeln!(
                text,
                "{:<58}  # {}",
                format!("{key} = {value}"),
                self.origin(&key)
            );
        }
        text
    }
}

fn read_file(path: &Path, defaults: &Table, settings: &mut Vec<Setting>) -> Result<(), Error> {
    let text = std::fs::read_to_string(path).map_err(|cause| Error::Read {
        path: path.to_owned(),
        cause,
    })?;
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| Error::Syntax {
            path: path.to_owned(),
            text: error.to_string().trim_end().to_owned(),
        })?;
    let origin = Origin::File(path.to_owned());
    for (section, value) in table {
        match (value, defaults.get(&section)) {
            (Value::Table(keys), Some(Value::Table(_))) => {
                for (key, value) in keys {
                    add(
                        settings,
                        defaults,
                        format!("{section}.{key}"),
                        value,
                        &origin,
                    )?;
                }
            }
            (value, _) => add(settings, defaults, section, value, &origin)?,
        }
    }
    Ok(())
}

/// Variables without `__` are not settings: Kubernetes sets `CANTOR_SERVICE_HOST` and the like. One that is a
/// setting but for a lacking underscore is refused as the slip that it is.
fn read_environment(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    defaults: &Table,
    settings: &mut Vec<Setting>,
) -> Result<(), Error> {
    let slips: Vec<String> = leaves(defaults)
        .iter()
        .map(|(key, _)| key.replace('.', "_").to_uppercase())
        .collect();
    let mut variables: Vec<_> = environment
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| {
            let meant = |rest: &str| rest.contains("__") || slips.iter().any(|slip| slip == rest);
            name.strip_prefix(ENVIRONMENT_PREFIX).is_some_and(meant)
        })
        .collect();
    variables.sort();
    for (name, value) in variables {
        let key = name[ENVIRONMENT_PREFIX.len()..]
            .to_lowercase()
            .replace("__", ".");
        let value = environment_value(&value.to_string_lossy());
        let origin = Origin::Environment(name);
        add(settings, defaults, key, value, &origin)?;
    }
    Ok(())
}

/// A TOML value; what is none is a string, so that strings need no quotes.
fn environment_value(text: &str) -> Value {
    format!("value = {text}")
        .parse::<Table>()
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

fn add(
    settings: &mut Vec<Setting>,
    defaults: &Table,
    key: String,
    value: Value,
    origin: &Origin,
) -> Result<(), Error> {
    let known = leaves(defaults);
    if !known.iter().any(|(name, _)| *name == key) {
        let nearest = nearest(&key, known.into_iter().map(|(name, _)| name));
        return Err(Error::UnknownKey {
            origin: origin.clone(),
            key,
            nearest,
        });
    }
    settings.push(Setting {
        key,
        value,
        origin: origin.clone(),
    });
    Ok(())
}

/// The known key that is most like `key`, if any is like it at all: as a whole, or in its last part (right key, wrong section).
fn nearest(key: &str, known: impl Iterator<Item = String>) -> Option<String> {
    fn last(key: &str) -> &str {
        key.rsplit('.').next().unwrap_or(key)
    }
    known
        .map(|name| {
            let whole = strsim::jaro_winkler(key, &name);
            let part = 0.95 * strsim::jaro_winkler(last(key), last(&name));
            (whole.max(part), name)
        })
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Dotted keys and values of all sections. `node` and `binding` are one key each.
fn leaves(table: &Table) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (section, value) in table {
        match value {
            Value::Table(keys) => found.extend(
                keys.iter()
                    .map(|(key, value)| (format!("{section}.{key}"), value.clone())),
            ),
            value => found.push((section.clone(), value.clone())),
        }
    }
    found
}

fn put(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((section, key)) => {
            if let Some(Value::Table(keys)) = table.get_mut(section) {
                keys.insert(key.to_owned(), value);
            }
        }
    }
}
