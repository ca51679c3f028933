//! What a recorded session says about itself: E2AP versions, RAN functions, subscriptions.
//!
//! Octets inside E2AP mean nothing without what was said before: which service model a RAN function is, which
//! version and dialect it speaks. A session learns this as it goes; where the recording begins too late, RAN
//! function ids that are fixed by their makers and the octets themselves must do.

use super::Pdu as Recorded;
use e2sm::{
    aper::{DecodeError, Decoded},
    e2ap::{self, GlobalE2NodeId, Pdu, RanFunction, RicRequestId, RicSubscriptionDetails, Version},
    flexric,
    kpm::{self, Dialect},
};
use std::collections::BTreeMap;

/// Service model of a RAN function, with what is needed to read its octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// E2SM-KPM.
    Kpm {
        /// Version that its OID announces.
        version: kpm::Version,
        /// Encoding that its name announces; `None` if its definition was not seen.
        dialect: Option<Dialect>,
    },
    /// One of FlexRIC's plain ones.
    FlexRic(flexric::Model),
    /// One that is not decoded here.
    Other,
}

impl Model {
    /// Of an announced RAN function.
    pub fn of(function: &RanFunction) -> Self {
        if let Some(model) = flexric::Model::from_oid(&function.oid) {
            return Self::FlexRic(model);
        }
        let description = kpm::RanFunctionDescription::decode(&function.definition).ok();
        let name = description
            .as_ref()
            .map(|(description, _)| &description.name);
        // E2AP v1 agents may leave the OID out of the item: the definition has it too.
        let oid = match (function.oid.as_str(), name) {
            ("", Some(name)) => name.e2sm_oid.as_str(),
            (oid, _) => oid,
        };
        match kpm::Version::from_oid(oid) {
            Some(version) => Self::Kpm {
                version,
                dialect: name.map(|name| Dialect::from_short_name(&name.short_name)),
            },
            None if oid.is_empty() => Self::by_id(function.id),
            None => Self::Other,
        }
    }

    /// By the ids that FlexRIC fixes, for recordings without a setup.
    pub fn by_id(id: u16) -> Self {
        match (id, flexric::Model::from_ran_function_id(id)) {
            (_, Some(model)) => Self::FlexRic(model),
            (2, None) => Self::Kpm {
                version: kpm::Version::V2,
                dialect: None,
            },
            _ => Self::Other,
        }
    }
}

/// A subscription that was seen.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// Its node, where the request names it (E42).
    pub node: Option<String>,
    /// Report period in ms, for models whose trigger is one.
    pub period_ms: Option<u32>,
    /// KPM: names of the measurements asked for.
    pub names: Vec<String>,
}

/// One association of a recording.
#[derive(Debug, Default)]
struct Association {
    version: Option<Version>,
    /// The node that set it up.
    node: Option<String>,
    functions: BTreeMap<u16, Model>,
    subscriptions: BTreeMap<(u16, u16, u16), Subscription>,
}

/// All that a recording said so far.
#[derive(Debug, Default)]
pub struct Session {
    version: Option<Version>,
    associations: BTreeMap<u32, Association>,
}

impl Session {
    /// Nothing known yet; `version`: what E2AP version all speak, `None` to tell it from what they say.
    pub fn new(version: Option<Version>) -> Self {
        Self {
            version,
            ..Self::default()
        }
    }

    /// Decodes a PDU and learns from it. Gives the version in which it makes sense, too.
    ///
    /// # Errors
    /// When it makes sense in no version: the error is that of the likeliest one.
    pub fn decode(&mut self, recorded: &Recorded) -> Result<(Decoded<Pdu>, Version), DecodeError> {
        let association = self.associations.entry(recorded.association).or_default();
        let guessed = e2ap::guess_version(&recorded.octets);
        let known = self.version.or(association.version);
        let likeliest = known.or(guessed).unwrap_or(Version::V2_03);
        let mut decoded =
            e2ap::decode(&recorded.octets, likeliest).map(|decoded| (decoded, likeliest));
        if decoded.is_err() && self.version.is_none() {
            // Setups of v2.03 and v3.01 look alike; and a recording may begin after them.
            let other = Version::ALL
                .into_iter()
                .filter(|version| *version != likeliest)
                .find_map(|version| {
                    let decoded = e2ap::decode(&recorded.octets, version).ok()?;
                    Some((decoded, version))
                });
            decoded = other.ok_or(()).or(decoded);
        }
        let (decoded, version) = decoded?;
        if guessed.is_some() || association.version.is_none() {
            association.version = Some(version);
        }
        association.learn(&decoded.value);
        Ok((decoded, version))
    }

    /// The service model of a RAN function.
    pub fn model(&self, association: u32, function: u16) -> Model {
        self.associations
            .get(&association)
            .and_then(|association| association.functions.get(&function).copied())
            .unwrap_or_else(|| Model::by_id(function))
    }

    /// The subscription that an indication belongs to, if its request was seen.
    pub fn subscription(
        &self,
        association: u32,
        request: RicRequestId,
        function: u16,
    ) -> Option<&Subscription> {
        self.associations.get(&association)?.subscriptions.get(&(
            request.requestor,
            request.instance,
            function,
        ))
    }

    /// The node at the other end of an E2 association.
    pub fn node(&self, association: u32) -> Option<&str> {
        self.associations.get(&association)?.node.as_deref()
    }
}

impl Association {
    fn learn(&mut self, pdu: &Pdu) {
        match pdu {
            Pdu::E2SetupRequest(setup) => {
                self.node = Some(setup.node.to_string());
                self.functions.clear();
                self.announced(&setup.functions);
            }
            Pdu::RicServiceUpdate(update) => {
                self.announced(&update.added);
                self.announced(&update.modified);
            }
            Pdu::E42SetupResponse(setup) => {
                for node in &setup.nodes {
                    self.announced(&node.functions);
                }
            }
            Pdu::RicSubscriptionRequest(request) => {
                self.subscribed(
                    None,
                    request.request,
                    request.ran_function,
                    &request.details,
                );
            }
            Pdu::E42SubscriptionRequest(request) => {
                self.subscribed(
                    Some(&request.node),
                    request.request,
                    request.ran_function,
                    &request.details,
                );
            }
            _ => {}
        }
    }

    fn announced(&mut self, functions: &[RanFunction]) {
        self.functions.extend(
            functions
                .iter()
                .map(|function| (function.id, Model::of(function))),
        );
    }

    fn subscribed(
        &mut self,
        node: Option<&GlobalE2NodeId>,
        request: RicRequestId,
        function: u16,
        details: &RicSubscriptionDetails,
    ) {
        let model = self
            .functions
            .get(&function)
            .copied()
            .unwrap_or_else(|| Model::by_id(function));
        let (period_ms, names) = match model {
            Model::FlexRic(_) => {
                let trigger = flexric::EventTrigger::decode(&details.event_trigger);
                (trigger.ok().map(|trigger| trigger.period_ms), Vec::new())
            }
            Model::Kpm { dialect, .. } => {
                let trigger = kpm::EventTrigger::decode(&details.event_trigger);
                let actions = details
                    .actions
                    .iter()
                    .filter_map(|action| action.definition.as_deref());
                let names = actions
                    .flat_map(|octets| kpm_names(octets, dialect.unwrap_or_default()))
                    .collect();
                (trigger.ok().map(|(trigger, _)| trigger.period_ms), names)
            }
            Model::Other => (None, Vec::new()),
        };
        self.subscriptions.insert(
            (request.requestor, request.instance, function),
            Subscription {
                node: node.map(ToString::to_string),
                period_ms,
                names,
            },
        );
    }
}

fn kpm_names(octets: &[u8], dialect: Dialect) -> Vec<String> {
    use kpm::ActionFormat::{Format1, Format2, Format4, Format5};
    let Ok((definition, _)) = kpm::ActionDefinition::decode(octets, dialect) else {
        return Vec::new();
    };
    let action = match &definition.format {
        Format1(action)
        | Format2 { action, .. }
        | Format4 { action, .. }
        | Format5 { action, .. } => action,
        _ => return Vec::new(),
    };
    let names = action.info.iter().filter_map(|info| info.measure.name());
    names.map(str::to_owned).collect()
}
