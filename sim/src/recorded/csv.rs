//! Comma-separated values, RFC 4180.

use super::Error;
use super::rows::{COLUMNS, Decisions, Kind, Row, places, value};
use serde_json::Value;
use std::io::{BufRead, Write};

/// Writes lines.
pub struct Writer<W>(W);

impl<W: Write> Writer<W> {
    pub(super) fn new(mut out: W) -> Result<Self, Error> {
        let names = COLUMNS.map(|(name, _)| name).join(",");
        write!(out, "{names}\r\n")?;
        Ok(Self(out))
    }

    pub(super) fn add(&mut self, row: &Row) -> Result<(), Error> {
        let fields: Vec<String> = row.iter().map(field).collect();
        write!(self.0, "{}\r\n", fields.join(","))?;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), Error> {
        Ok(self.0.flush()?)
    }
}

fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.contains([',', '"', '\r', '\n']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

pub(super) fn read(mut lines: impl BufRead, decisions: &mut Decisions) -> Result<(), Error> {
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let names = split(&line).map_err(|reason| Error::Row { row: 0, reason })?;
    let places = places(names.iter().map(|name| name.trim_start_matches('\u{feff}')))?;
    loop {
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line.trim().is_empty() {
            continue;
        }
        let number = decisions.next_row();
        let error = |reason| Error::Row {
            row: number,
            reason,
        };
        let fields = split(&line).map_err(error)?;
        let mut row = Row::with_capacity(COLUMNS.len());
        for ((name, kind), place) in COLUMNS.iter().zip(&places) {
            let text = place.and_then(|place| fields.get(place));
            let text = text.map_or("", String::as_str);
            let value = value(*kind, text)
                .ok_or_else(|| error(format!("{name} is {text:?}, not {}", what(*kind))))?;
            row.push(value);
        }
        decisions.add(row)?;
    }
}

fn what(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "a text",
        Kind::Integer => "an integer",
        Kind::Real => "a number",
    }
}

/// The fields of a line. No name contains a line break, so none is looked for within quotes.
fn split(line: &str) -> Result<Vec<String>, String> {
    let mut fields = Vec::new();
    let mut rest = line.trim_end_matches(['\r', '\n']);
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(fields),
            None => return Err("text after a closing quotation mark".into()),
        }
    }
}

/// The text up to the closing quotation mark, and what comes after it.
fn unquote(mut rest: &str) -> Result<(String, &str), String> {
    let mut field = String::new();
    loop {
        let end = rest
            .find('"')
            .ok_or("the closing quotation mark is missing")?;
        field.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => return Ok((field, rest)),
        }
    }
}
