//! JSON values as an indented tree, for people.

use serde_json::Value;
use std::fmt::{self, Write};

/// Octets of hex shown on one line; longer ones are folded.
const HEX_PER_LINE: usize = 64;

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
        // An alternative without fields of its own reads better as one line: `cause: ricRequest / unspecified`.
        Value::Object(fields) if fields.len() == 1 => match fields.iter().next() {
            Some((inner, value)) if is_scalar(value) && !value.is_null() && !is_long(value) => {
                writeln!(f, "{:indent$}{name}: {inner} {}", "", scalar(value))
            }
            _ => nested(f, name, value, depth),
        },
        Value::Object(_) | Value::Array(_) => nested(f, name, value, depth),
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
            "actions": [{"id": 0, "definition": null}],
            "harq": [1, 2, 3],
            "empty": [],
            "cause": {"ricRequest": "unspecified"},
            "name": "a\u{1b}b",
            "message": "ab".repeat(40),
        });
        let expected = "\
request
  requestor: 7
  instance: 1
actions
  [0]
    id: 0
harq: 1, 2, 3
empty: none
cause: ricRequest unspecified
name: a\\u{1b}b
message: 40 octets
  abababababababababababababababababababababababababababababababab
  abababababababab
";
        assert_eq!(Tree(&value).to_string(), expected);
    }
}
