//! The value column of `pycrate/INDEX.md`, and its comparison with a decoded value.
//!
//! Long values are abbreviated there: `"... 300 items in all ..."` between the first and the last items of a list,
//! `AAAA..(300 chars)` for a string, `h:78..(len 200, sha256 ..)` for octets, and ` ...(cut)` where the text ends early.

use serde_json::Value;

/// One vector of the INDEX.
pub struct Entry {
    pub name: String,
    pub value: Option<Value>,
}

/// Stands in a container whose text is cut: whatever follows is not compared.
const CUT: &str = "...cut";

pub fn pycrate() -> Vec<Entry> {
    let text = std::fs::read_to_string(super::folder("pycrate").join("INDEX.md")).unwrap();
    text.split("\n## ")
        .skip(1)
        .map(|section| {
            let name = section.lines().next().unwrap().trim().to_owned();
            let value = section
                .lines()
                .find_map(|line| line.strip_prefix("    {"))
                .map(|line| parse(&format!("{{{}", line.trim_end())));
            Entry { name, value }
        })
        .collect()
}

fn parse(text: &str) -> Value {
    let whole = match text.strip_suffix("...(cut)") {
        Some(start) => close(start),
        None => text.to_owned(),
    };
    serde_json::from_str(&whole).unwrap_or_else(|e| panic!("{e}: {whole}"))
}

/// Ends a cut text after its last complete item, with a mark in each container that was open.
fn close(text: &str) -> String {
    let (mut open, mut in_string, mut last) = (Vec::new(), false, None);
    for (at, c) in text.char_indices() {
        match c {
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '[' => open.push(c),
            '}' | ']' => {
                open.pop();
            }
            ',' => last = Some((at, open.clone())),
            _ => {}
        }
    }
    let (at, open) = last.expect("a cut text holds one item at least");
    let mut closed = text[..at].to_owned();
    for container in open.into_iter().rev() {
        closed.push_str(&match container {
            '{' => format!(", \"{CUT}\": 0}}"),
            _ => format!(", \"{CUT}\"]"),
        });
    }
    closed
}

/// Compares; returns how many parts of an unknown future the expected value has, which the decoder must have skipped.
pub fn compare(expected: &Value, actual: &Value, path: &str) -> u64 {
    let fail = |why: &str| -> ! {
        panic!("{path}: {why}\nexpected {expected}\ndecoded  {actual}");
    };
    match (expected, actual) {
        (Value::Object(e), Value::Object(a)) => {
            let is_future = |key: &str| key.starts_with("future");
            if e.len() == 1 && e.keys().all(|k| is_future(k)) {
                if !a.contains_key("unknown") {
                    fail("an alternative of the future must be unknown");
                }
                return 1;
            }
            let mut skipped = 0;
            for (key, value) in e {
                if is_future(key) {
                    skipped += 1;
                } else if key != CUT {
                    match a.get(key) {
                        Some(found) => skipped += compare(value, found, &format!("{path}/{key}")),
                        None => fail(&format!("{key} is missing")),
                    }
                }
            }
            if !e.contains_key(CUT)
                && let Some(more) = a.keys().find(|key| !e.contains_key(*key))
            {
                fail(&format!("{more} is too much"));
            }
            skipped
        }
        (Value::Array(e), Value::Array(a)) => {
            let gap = e.iter().position(|v| v.as_str().is_some_and(is_gap));
            let (head, tail) = match gap {
                Some(at) => (&e[..at], &e[at + 1..]),
                None => (&e[..], &e[..0]),
            };
            let count = match gap.and_then(|at| e[at].as_str()) {
                Some(CUT) => None,
                Some(gap) => Some(items_in_all(gap)),
                None => Some(e.len()),
            };
            if count.is_some_and(|count| count != a.len()) || a.len() < head.len() + tail.len() {
                fail(&format!("{} items", a.len()));
            }
            let ends = a[a.len() - tail.len()..].iter();
            let pairs = head.iter().zip(a).chain(tail.iter().zip(ends));
            pairs
                .enumerate()
                .map(|(n, (e, a))| compare(e, a, &format!("{path}[{n}]")))
                .sum()
        }
        (Value::String(e), Value::String(a)) => {
            if e.starts_with("future") && a.starts_with("unknown") {
                return 1;
            }
            if !same_text(e, a) {
                fail("another value");
            }
            0
        }
        _ if expected == actual => 0,
        _ => fail("another value"),
    }
}

fn is_gap(text: &str) -> bool {
    text == CUT || (text.starts_with("... ") && text.ends_with(" items in all ..."))
}

fn items_in_all(gap: &str) -> usize {
    gap.split(' ').nth(1).unwrap().parse().unwrap()
}

fn same_text(expected: &str, actual: &str) -> bool {
    if let Some(real) = actual.strip_prefix("REAL ") {
        let bits = u64::from_str_radix(real, 16).unwrap();
        let (e, a) = (real_of(expected), f64::from_bits(bits));
        return e.to_bits() == bits || (e.is_nan() && a.is_nan());
    }
    if let Some((start, rest)) = expected.split_once("..(len ") {
        let octets: usize = rest.split(',').next().unwrap().parse().unwrap();
        return actual.starts_with(start) && actual.len() == 2 + 2 * octets;
    }
    if let Some((start, rest)) = expected.split_once("..(") {
        let chars: usize = rest.strip_suffix(" chars)").unwrap().parse().unwrap();
        return actual.starts_with(start) && actual.chars().count() == chars;
    }
    expected == actual
}

/// `REAL m*b^e = ...`, or one of the values that have no such form.
fn real_of(text: &str) -> f64 {
    let Some(form) = text.strip_prefix("REAL ") else {
        return text.parse().unwrap();
    };
    let (product, _) = form.split_once(' ').unwrap();
    let (mantissa, power) = product.split_once('*').unwrap();
    let (base, exponent) = power.split_once('^').unwrap();
    if base == "10" {
        return format!("{mantissa}e{exponent}").parse().unwrap();
    }
    let exponent: i32 = exponent.parse().unwrap();
    // In two steps, as 2^-1074 alone has no inverse.
    let half = exponent / 2;
    mantissa.parse::<f64>().unwrap() * 2f64.powi(half) * 2f64.powi(exponent - half)
}
