//! A recorded PDU as JSON, the octet strings of its service models decoded in their places.

use super::{
    Pdu as Recorded,
    payload::{self, Part},
    session::{Model, Session},
};
use e2sm::{
    aper::{DecodeError, Notes},
    e2ap::{Pdu, RanFunction, RicSubscriptionDetails, Version},
};
use serde_json::{Value, json};

/// A decoded PDU.
#[derive(Debug)]
pub struct Description {
    /// Name of the message.
    pub name: &'static str,
    /// E2AP version in which it makes sense.
    pub version: Version,
    /// Its contents.
    pub contents: Value,
    /// What was skipped, in the PDU and in the service models' octets.
    pub notes: Notes,
    /// Octet strings that should be known, but could not be decoded: where, and why.
    pub errors: Vec<String>,
}

/// Decodes a PDU and all that is known inside it.
///
/// # Errors
/// When the PDU itself cannot be decoded.
pub fn describe(session: &mut Session, recorded: &Recorded) -> Result<Description, DecodeError> {
    let (decoded, version) = session.decode(recorded)?;
    let pdu = decoded.value;
    let name = pdu.name();
    let contents = serde_json::to_value(&pdu).map(|mut value| value[name].take());
    let mut filler = Filler {
        model: |function| session.model(recorded.association, function),
        notes: decoded.notes,
        errors: Vec::new(),
    };
    let mut contents = match contents {
        Ok(contents) => contents,
        Err(error) => {
            filler.errors.push(error.to_string());
            Value::Null
        }
    };
    filler.fill(&pdu, &mut contents);
    Ok(Description {
        name,
        version,
        contents,
        notes: filler.notes,
        errors: filler.errors,
    })
}

struct Filler<F> {
    model: F,
    notes: Notes,
    errors: Vec<String>,
}

impl<F: Fn(u16) -> Model> Filler<F> {
    fn fill(&mut self, pdu: &Pdu, contents: &mut Value) {
        match pdu {
            Pdu::RicIndication(m) => {
                let model = (self.model)(m.ran_function);
                self.octets(
                    model,
                    Part::Header,
                    &m.header,
                    &mut contents["header"],
                    "header",
                );
                self.octets(
                    model,
                    Part::Message,
                    &m.message,
                    &mut contents["message"],
                    "message",
                );
            }
            Pdu::RicSubscriptionRequest(m) => {
                self.details(m.ran_function, &m.details, &mut contents["details"])
            }
            Pdu::E42SubscriptionRequest(m) => {
                self.details(m.ran_function, &m.details, &mut contents["details"])
            }
            Pdu::E2SetupRequest(m) => {
                self.functions(&m.functions, &mut contents["functions"], "functions")
            }
            Pdu::E42SetupRequest(m) => {
                self.functions(&m.functions, &mut contents["functions"], "functions")
            }
            Pdu::RicServiceUpdate(m) => {
                self.functions(&m.added, &mut contents["added"], "added");
                self.functions(&m.modified, &mut contents["modified"], "modified");
            }
            Pdu::E42SetupResponse(m) => {
                for (i, node) in m.nodes.iter().enumerate() {
                    self.functions(
                        &node.functions,
                        &mut contents["nodes"][i]["functions"],
                        "nodes / functions",
                    );
                }
            }
            _ => {}
        }
    }

    fn details(&mut self, function: u16, details: &RicSubscriptionDetails, place: &mut Value) {
        let model = (self.model)(function);
        self.octets(
            model,
            Part::Trigger,
            &details.event_trigger,
            &mut place["event_trigger"],
            "event_trigger",
        );
        for (i, action) in details.actions.iter().enumerate() {
            if let Some(definition) = &action.definition {
                let path = format!("actions[{i}] / definition");
                self.octets(
                    model,
                    Part::Action,
                    definition,
                    &mut place["actions"][i]["definition"],
                    &path,
                );
            }
        }
    }

    fn functions(&mut self, functions: &[RanFunction], place: &mut Value, path: &str) {
        for (i, function) in functions.iter().enumerate() {
            let path = format!("{path}[{i}] / definition");
            self.octets(
                Model::of(function),
                Part::Definition,
                &function.definition,
                &mut place[i]["definition"],
                &path,
            );
        }
    }

    fn octets(&mut self, model: Model, part: Part, octets: &[u8], place: &mut Value, path: &str) {
        match payload::decode(model, part, octets) {
            Ok(None) => {}
            Ok(Some((value, notes))) => {
                self.notes.merge(notes);
                *place = value;
            }
            Err(error) => {
                let name = match model {
                    Model::Kpm { .. } => "E2SM-KPM",
                    _ => "service model",
                };
                *place = json!({ "octets": place.take(), "error": error.to_string() });
                self.errors.push(format!("{path}: {name}: {error}"));
            }
        }
    }
}
