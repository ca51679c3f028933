//! E2SM-KPM and FlexRIC's plain service models against octets and values that others made: three encoders, FlexRIC's
//! emulators and a real OAI gNB.

mod captures;
mod ids;
mod index;
mod json;
mod lines;
mod pycrate;

use std::path::PathBuf;

/// A set of test vectors.
fn folder(set: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors")).join(set)
}

/// Octets of one vector.
fn octets(set: &str, name: &str) -> Vec<u8> {
    let path = folder(set).join(format!("{name}.hex"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    hex::decode(text.trim()).unwrap_or_else(|e| panic!("{path:?}: {e}"))
}

/// Names of all vectors of a set, sorted.
fn names(set: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder(set))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "hex"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
