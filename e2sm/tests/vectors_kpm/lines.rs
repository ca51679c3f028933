//! The tables of `flexric/INDEX.md` and `oai/INDEX.md`, line by line, with the PDUs that they describe.

use crate::{folder, octets};
use e2sm::e2ap::{self, Pdu, RanFunction, RicIndication, RicSubscriptionDetails};
use e2sm::kpm::Dialect;
use std::fmt::Debug;

/// One line of a table in INDEX.md.
pub struct Line {
    pub set: &'static str,
    pub name: String,
    pub text: String,
    pdu: Pdu,
}

impl Line {
    /// What stands between `start` and the next `end`.
    pub fn between(&self, start: &str, end: &str) -> &str {
        let Some((_, rest)) = self.text.split_once(start) else {
            panic!("{}: no {start:?} in {}", self.name, self.text);
        };
        rest.split(end).next().unwrap()
    }

    /// Those that FlexRIC's RIC forwarded from OAI are listed without values.
    pub fn has_values(&self) -> bool {
        !self.name.starts_with("oai_e42_ind")
    }

    pub fn indication(&self) -> Option<&RicIndication> {
        match &self.pdu {
            Pdu::RicIndication(indication) => Some(indication),
            _ => None,
        }
    }

    pub fn subscription(&self) -> Option<(u16, &RicSubscriptionDetails)> {
        match &self.pdu {
            Pdu::RicSubscriptionRequest(m) => Some((m.ran_function, &m.details)),
            Pdu::E42SubscriptionRequest(m) => Some((m.ran_function, &m.details)),
            _ => None,
        }
    }

    pub fn functions(&self) -> &[RanFunction] {
        match &self.pdu {
            Pdu::E2SetupRequest(m) => &m.functions,
            Pdu::E42SetupRequest(m) => &m.functions,
            _ => &[],
        }
    }

    pub fn dialect(&self) -> Dialect {
        // The E2AP v1.01 captures are of the same old build.
        match self.name.contains("fr2023") || self.name.starts_with("v1_") {
            true => Dialect::FlexRic2023,
            false => Dialect::Standard,
        }
    }
}

pub fn lines() -> Vec<Line> {
    let mut lines = Vec::new();
    for (set, column) in [("flexric", 6), ("oai", 3)] {
        let index = folder(set).join("INDEX.md");
        for line in std::fs::read_to_string(index).unwrap().lines() {
            let columns: Vec<&str> = line.split('|').map(str::trim).collect();
            let Some(name) = columns.get(1).and_then(|name| name.strip_suffix(".hex")) else {
                continue;
            };
            if name.starts_with("syn_kpm") || name == "err_malformed" {
                continue;
            }
            let version = match &name[..3] {
                "v1_" => e2ap::Version::V1_01,
                "v3_" => e2ap::Version::V3_01,
                _ => e2ap::Version::V2_03,
            };
            let pdu = e2ap::decode(&octets(set, name), version);
            lines.push(Line {
                set,
                name: name.to_owned(),
                text: columns[column].to_owned(),
                pdu: pdu.unwrap_or_else(|e| panic!("{name}: {e}")).value,
            });
        }
    }
    lines
}

/// Compares `key=value` words with the fields of a record as `Debug` prints them. Returns how many there were.
pub fn compare_fields(line: &Line, words: &str, record: &dyn Debug) -> usize {
    let printed = format!("{record:?}");
    let field = |key: &str| -> &str {
        let start = printed.find(&format!(" {key}: "));
        let rest = &printed[start.unwrap_or_else(|| panic!("no field {key}")) + key.len() + 3..];
        match rest.strip_prefix('[') {
            Some(array) => array.split(']').next().unwrap(),
            None => rest.split([',', ' ']).next().unwrap(),
        }
    };
    let words = words.replace(", ", ",").replace("rnti ", "rnti_hex=");
    let words = ["frame", "slot", "rbid", "mode"]
        .iter()
        .fold(words, |words, key| {
            words.replace(&format!(" {key} "), &format!(" {key}="))
        });
    let mut compared = 0;
    for (key, value) in words
        .split_whitespace()
        .filter_map(|word| word.split_once('='))
    {
        let same = match key {
            "rnti_hex" => field("rnti") == u32::from_str_radix(value, 16).unwrap().to_string(),
            "h0" => field("dl_harq").split(", ").next() == Some(value),
            "h1" => field("dl_harq").split(", ").nth(1) == Some(value),
            _ if value.starts_with('[') => field(key).replace(' ', "") == value[1..value.len() - 1],
            _ => match value.split_once('.') {
                Some((_, decimals)) => {
                    let found: f64 = field(key).parse().unwrap();
                    format!("{found:.*}", decimals.len()) == value
                }
                None => field(key) == value,
            },
        };
        assert!(same, "{}: {key} should be {value}: {printed}", line.name);
        compared += 1;
    }
    compared
}
