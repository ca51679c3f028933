//! What a policy would change in another: field by field.

use policies::slice::SlicePolicy;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The fields that differ, one a line; `before`: the policy in force, if there is one.
pub(super) fn text(before: Option<&SlicePolicy>, after: &SlicePolicy) -> anyhow::Result<String> {
    let name = after.name();
    let new = fields(&serde_json::to_value(after)?);
    let Some(before) = before else {
        let mut text = format!("{name}: new\n");
        for (path, value) in new {
            let _ = writeln!(text, "  + {path}: {value}");
        }
        return Ok(text);
    };
    let old = fields(&serde_json::to_value(before)?);
    let mut text = String::new();
    for (path, value) in &old {
        match new.get(path) {
            Some(now) if now == value => {}
            Some(now) => {
                let _ = writeln!(text, "  ~ {path}: {value} -> {now}");
            }
            None => {
                let _ = writeln!(text, "  - {path}: {value}");
            }
        }
    }
    for (path, value) in new.iter().filter(|(path, _)| !old.contains_key(*path)) {
        let _ = writeln!(text, "  + {path}: {value}");
    }
    Ok(match text.as_str() {
        "" => format!("{name}: unchanged\n"),
        changes => format!("{name}: changed\n{changes}"),
    })
}

/// All values by their paths.
fn fields(value: &Value) -> BTreeMap<String, String> {
    fn collect(value: &Value, path: &str, into: &mut BTreeMap<String, String>) {
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                for (key, value) in entries {
                    let path = match path {
                        "" => key.clone(),
                        path => format!("{path}.{key}"),
                    };
                    collect(value, &path, into);
                }
            }
            value => {
                into.insert(path.to_owned(), value.to_string());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(value, "", &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use policies::slice::parse;

    fn policy(spec: &str) -> SlicePolicy {
        let text = format!(
            "{{apiVersion: cantor.io/v1, kind: SlicePolicy, metadata: {{name: a}}, spec: {{{spec}}}}}"
        );
        parse(&text, "test").unwrap().remove(0).0
    }

    #[test]
    fn changes_are_told_field_by_field() {
        let before = policy("priority: 1, latency: {statistic: p99, ms: 20}");
        let after = policy("latency: {statistic: p99, ms: 50}, gainPolicies: [rapid]");
        assert_eq!(
            text(Some(&before), &after).unwrap(),
            "a: changed\n  ~ spec.latency.ms: 20.0 -> 50.0\n  - spec.priority: 1\n  + spec.gainPolicies: [\"rapid\"]\n"
        );
        assert_eq!(text(Some(&after), &after).unwrap(), "a: unchanged\n");
        assert!(
            text(None, &after)
                .unwrap()
                .starts_with("a: new\n  + apiVersion: ")
        );
    }
}
