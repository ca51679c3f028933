//! Where a store is written, and how things are called there.

use super::redis::Address;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// How a store is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where.
    pub place: Place,
    /// Keys in Redis begin with it.
    pub namespace: String,
    /// How keys in Redis are made.
    pub naming: Naming,
    /// Redis has to answer within this time.
    pub timeout: Duration,
    /// Decisions that the log keeps at most; 0: none is logged.
    pub log_length: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            place: Place::Memory,
            namespace: "cantor".into(),
            naming: Naming::Cantor,
            timeout: Duration::from_millis(500),
            log_length: 100_000,
        }
    }
}

/// Where a store is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Nowhere.
    Memory,
    /// One file.
    File(PathBuf),
    /// Redis.
    Redis(Address),
}

/// How keys in Redis are made of a namespace and a name. The braces keep all of them in one slot of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Naming {
    /// `{cantor}:policy:video`.
    Cantor,
    /// `{cantor},policy:video`, as the clients of the O-RAN SC's Shared Data Layer do.
    Sdl,
}

impl Naming {
    /// The key of a name.
    pub fn key(self, namespace: &str, name: &str) -> String {
        match self {
            Self::Cantor => format!("{{{namespace}}}:{name}"),
            Self::Sdl => format!("{{{namespace}}},{name}"),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "memory" {
            return Ok(Self::Memory);
        }
        if let Some(path) = text.strip_prefix("file:") {
            if path.is_empty() {
                return Err("the path is missing: file:PATH".into());
            }
            return Ok(Self::File(path.into()));
        }
        text.parse().map(Self::Redis)
    }
}

/// Without passwords.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Redis(address) => address.fmt(f),
        }
    }
}
