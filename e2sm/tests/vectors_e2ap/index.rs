//! Vector files and the indices that describe them.

use std::path::{Path, PathBuf};

use e2sm::e2ap::Version;

/// A vector and what its INDEX says.
pub struct Vector {
    /// File name without extension.
    pub name: String,
    pub octets: Vec<u8>,
    pub version: Version,
    /// Cells of its row, or the lines of its section.
    pub cells: Vec<String>,
}

/// The E2AP vectors of a set whose INDEX is a table.
pub fn table(set: &str) -> Vec<Vector> {
    let text = std::fs::read_to_string(folder(set).join("INDEX.md")).unwrap();
    let rows = text.lines().filter(|line| line.contains(".hex |"));
    let vectors: Vec<Vector> = rows
        .map(|row| {
            let cells: Vec<String> = row
                .trim_matches('|')
                .split(" | ")
                .map(|cell| cell.trim().to_owned())
                .collect();
            vector(set, cells[0].trim_end_matches(".hex"), cells.clone())
        })
        .collect();
    assert_eq!(
        vectors.len(),
        files(set).len(),
        "every file of {set} has a row"
    );
    vectors
        .into_iter()
        .filter(|vector| !vector.name.starts_with("syn_kpm"))
        .collect()
}

/// The E2AP vectors of the set whose INDEX has a section for each.
pub fn sections(set: &str) -> Vec<Vector> {
    let text = std::fs::read_to_string(folder(set).join("INDEX.md")).unwrap();
    let vectors: Vec<Vector> = text
        .split("\n## ")
        .skip(1)
        .map(|section| {
            let lines: Vec<String> = section.lines().map(str::to_owned).collect();
            vector(set, &lines[0], lines.clone())
        })
        .collect();
    assert_eq!(
        vectors.len(),
        files(set).len(),
        "every file of {set} has a section"
    );
    vectors
        .into_iter()
        .filter(|vector| vector.cells[1].contains(" / E2AP-PDU / "))
        .collect()
}

fn folder(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/vectors")
        .join(set)
}

fn files(set: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(set))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "hex"))
        .collect()
}

fn vector(set: &str, name: &str, cells: Vec<String>) -> Vector {
    let hex = std::fs::read_to_string(folder(set).join(name).with_extension("hex")).unwrap();
    let version = if name.starts_with("v1_") || name.starts_with("e2ap101") {
        Version::V1_01
    } else if name.starts_with("v3_") || name.starts_with("e2ap301") {
        Version::V3_01
    } else {
        Version::V2_03
    };
    Vector {
        name: name.to_owned(),
        octets: hex::decode(hex.trim()).unwrap(),
        version,
        cells,
    }
}

/// The number behind the first `mark` in `text`.
pub fn number_after(text: &str, mark: &str) -> Option<u64> {
    let rest = &text[text.find(mark)? + mark.len()..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The number in front of the first `mark` in `text`.
pub fn number_before(text: &str, mark: &str) -> Option<u64> {
    let rest = &text[..text.find(mark)?];
    let digits = rest.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}
