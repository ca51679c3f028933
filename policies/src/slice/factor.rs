//! The PRB target factor of a policy: a number, or "auto".

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, fmt};

/// PRB target factor f.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TargetFactor {
    /// Always this.
    Fixed(f64),
    /// Adapted until the latency objective holds.
    Auto,
}

impl Serialize for TargetFactor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(factor) => serializer.serialize_f64(*factor),
            Self::Auto => serializer.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for TargetFactor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrAuto)
    }
}

struct NumberOrAuto;

impl de::Visitor<'_> for NumberOrAuto {
    type Value = TargetFactor;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number above 0 and at most 1, or \"auto\"")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<TargetFactor, E> {
        if value > 0.0 && value <= 1.0 {
            Ok(TargetFactor::Fixed(value))
        } else {
            Err(E::invalid_value(de::Unexpected::Float(value), &self))
        }
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<TargetFactor, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<TargetFactor, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<TargetFactor, E> {
        match value {
            "auto" => Ok(TargetFactor::Auto),
            _ => Err(E::invalid_value(de::Unexpected::Str(value), &self)),
        }
    }
}

impl JsonSchema for TargetFactor {
    fn schema_name() -> Cow<'static, str> {
        "TargetFactor".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "number", "exclusiveMinimum": 0, "maximum": 1 },
                { "const": "auto" }
            ]
        })
    }
}
