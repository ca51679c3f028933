//! What can be wrong with a configuration. Every text names the origin and the key, and says what to write.

use super::Origin;
use std::path::PathBuf;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: cannot read the configuration: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        cause: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{}: not valid TOML: {text}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Position and reason.
        text: String,
    },
    /// A key that does not exist.
    #[error("{origin}: unknown key `{key}`{}", hint(.nearest.as_ref()))]
    UnknownKey {
        /// Where it was written.
        origin: Origin,
        /// The key.
        key: String,
        /// The existing key that is most like it.
        nearest: Option<String>,
    },
    /// A value of the wrong type, or outside its limits.
    #[error("{origin}: `{key}`: {text}")]
    Value {
        /// Where it was written.
        origin: Origin,
        /// The key.
        key: String,
        /// What is wrong and what is accepted.
        text: String,
    },
}

fn hint(nearest: Option<&String>) -> String {
    nearest.map_or_else(
        || "; cantor.example.toml describes all keys".into(),
        |key| format!("; did you mean `{key}`?"),
    )
}
