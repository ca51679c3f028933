//! JSON values as an indented tree, for people.

use serde_json::{Map, Value};
use std::fmt::{self, Write};

/// Octets of hex shown on one line; longer ones are folded.
const HEX_PER_LINE: usize = 64;
/// Characters up to which the fields of an object share a line.
const LINE: usize = 90;

/// Shows a value as a tree: objects and lists one entry a line, lists of plain values on one line, nothing for what is absent.
pub struct Tree<'a>(pub &'a Value);

impl fmt::Display for Tree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        children(f, self.0, 0)
    }
}

fn children(f: &mut dyn Write, value: &Value, depth: usize) -> fmt::Result {
    match value {
        Value::Object(fields) => fields
            .iter()
            .try_for_each(|(name, value)| entry(f, name, value, depth)),
        Value::Array(items) => (0..)
            .zip(items)
            .try_for_each(|(i, item): (usize, _)| entry(f, &format!("[{i}]"), item, depth)),
        plain => writeln!(f, "{:1$}{2}", "", depth * 2, scalar(plain)),
    }
}

fn entry(f: &mut dyn Write, name: &str, value: &Value, depth: usize) -> fmt::Result {
    let indent = depth * 2;
    match value {
        Value::Null => Ok(()),
        Value::Array(items) if items.is_empty() => writeln!(f, "{:indent$}{name}: none", ""),
        Value::Array(items) if items.iter().all(is_scalar) => {
            let items: Vec<_> = items.iter().map(scalar).collect();
            writeln!(f, "{:indent$}{name}: {}", "", items.join(", "))
        }
        Value::Object(fields) => match (one_line(fields), fields.iter().next()) {
            (Some(line), _) => writeln!(f, "{:indent$}{name}: {line}", ""),
            // An alternative of a CHOICE: its name goes beside that of the field.
            (None, Some((inner, value))) if fields.len() == 1 => {
                entry(f, &format!("{name} / {inner}"), value, depth)
            }
            _ => nested(f, name, value, depth),
        },
        Value::Array(_) => nested(f, name, value, depth),
        Value::String(text) if is_long(value) => {
            writeln!(f, "{:indent$}{name}: {} octets", "", text.len() / 2)?;
            text.as_bytes().chunks(HEX_PER_LINE).try_for_each(|line| {
                writeln!(f, "{:1$}{2}", "", indent + 2, String::from_utf8_lossy(line))
            })
        }
        plain => writeln!(f, "{:indent$}{name}: {}", "", scalar(plain)),
    }
}

fn nested(f: &mut dyn Write, name: &str, value: &Value, depth: usize) -> fmt::Result {
    writeln!(f, "{:1$}{name}", "", depth * 2)?;
    children(f, value, depth + 1)
}

/// `requestor 7, instance 1`, if the fields are plain, few and short.
fn one_line(fields: &Map<String, Value>) -> Option<String> {
    let mut said = Vec::new();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        if !is_scalar(value) || is_long(value) {
            return None;
        }
        said.push(format!("{name} {}", scalar(value)));
    }
    let line = said.join(", ");
    (line.chars().count() <= LINE).then_some(line)
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// A string of hex digits too long for one line.
fn is_long(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        text.len() > HEX_PER_LINE && text.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "\"\"".into(),
        Value::String(text) => text.escape_debug().to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nests_joins_and_folds() {
        let value = json!({
            "request": {"requestor": 7, "instance": 1},
            "node": {"Gnb": {"du": null, "id": {"value": 1}, "names": ["a", "b"]}},
            "actions": [{"id": 0, "definition": null}],
            "empty": [],
            "name": "a\u{1b}b",
            "message": "ab".repeat(40),
        });
        let expected = "\
request: requestor 7, instance 1
node / Gnb
  id: value 1
  names: a, b
actions
  [0]: id 0
empty: none
name: a\\u{1b}b
message: 40 octets
  abababababababababababababababababababababababababababababababab
  abababababababab
";
        assert_eq!(Tree(&value).to_string(), expected);
    }
}
