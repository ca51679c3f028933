//! Reading and writing documents (slice policies, experiments): YAML, of which JSON is a part.

use super::policy::{FieldError, SlicePolicy};
use super::tree::{self, Node};
use crate::error::Error;
use schemars::Schema;
use serde::de::DeserializeOwned;
use serde_saphyr::{Location, Spanned};
use std::fmt;

/// Longest text that is read, octets.
pub const MAX_TEXT: usize = 1 << 20;
/// Most documents in one text.
pub const MAX_DOCUMENTS: usize = 4096;

/// What can be read.
pub trait Document: DeserializeOwned {
    /// Checks what its types alone do not say.
    ///
    /// # Errors
    /// The first field that is wrong.
    fn check(&self) -> Result<(), FieldError>;
}

impl Document for SlicePolicy {
    fn check(&self) -> Result<(), FieldError> {
        Self::check(self)
    }
}

/// Where a document was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the text: a file, or who sent it.
    pub text: String,
    /// Line, from 1; 0: the text as a whole.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.text),
            line => write!(f, "{}:{line}", self.text),
        }
    }
}

/// Reads all policies of a text (YAML documents, or JSON), each with its place. `name` is the text's, for errors.
///
/// # Errors
/// [`Error::Document`] for the first thing that is wrong, with its line and the path of its field.
pub fn parse(text: &str, name: &str) -> Result<Vec<(SlicePolicy, Place)>, Error> {
    read(text, name)
}

/// Reads all documents of a kind, each with its place.
///
/// # Errors
/// As [`parse`].
pub fn read<T: Document>(text: &str, name: &str) -> Result<Vec<(T, Place)>, Error> {
    let at = |location: Option<Location>| Place {
        text: name.to_owned(),
        line: location.map_or(0, |location| location.line()),
    };
    let whole = |reason: String| Error::Document {
        place: at(None).to_string(),
        field: String::new(),
        reason,
    };
    if text.len() > MAX_TEXT {
        return Err(whole(format!(
            "{} octets: give at most {MAX_TEXT}",
            text.len()
        )));
    }
    let documents = serde_saphyr::from_multiple_with_options::<Spanned<Node>>(
        text,
        serde_saphyr::Options {
            with_snippet: false,
            ..serde_saphyr::Options::default()
        },
    )
    .map_err(|error| Error::Document {
        place: at(error.location()).to_string(),
        field: String::new(),
        reason: error.without_snippet().to_string(),
    })?;
    if documents.len() > MAX_DOCUMENTS {
        return Err(whole(format!(
            "{} documents: give at most {MAX_DOCUMENTS} in one text",
            documents.len()
        )));
    }
    documents
        .iter()
        .map(|document| {
            let wrong = |field: String, reason: String| Error::Document {
                place: at(Some(tree::locate(document, &field))).to_string(),
                field,
                reason,
            };
            let value = document.value.value();
            let read: T = serde_path_to_error::deserialize(value).map_err(|error| {
                let path = error.path().to_string();
                let field = if path == "." { String::new() } else { path };
                wrong(field, error.into_inner().to_string())
            })?;
            read.check()
                .map_err(|error| wrong(error.path, error.reason))?;
            Ok((read, at(Some(document.referenced))))
        })
        .collect()
}

/// A policy as YAML.
pub fn to_yaml(policy: &SlicePolicy) -> String {
    // A policy has no value that YAML cannot say.
    serde_saphyr::to_string(policy).unwrap_or_default()
}

/// The JSON Schema (draft 2020-12) of a slice policy.
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(SlicePolicy);
    schema.insert(
        "$id".to_owned(),
        "https://cantor.io/schemas/v1/slice-policy.json".into(),
    );
    schema
}
