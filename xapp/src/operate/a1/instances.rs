//! The A1 policies, and how each stands.

use crate::cell::view::SliceView;
use crate::operate::policy::{self, Policies};
use crate::store::{self, Kind, Store, Stored};
use policies::a1::{NotApplicable, PolicyType, Translated};
use policies::slice::{Entry, ObjectiveState, Origin, Place, SlicePolicy, Source};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracing::{info, warn};

/// Most policies.
const MAX_INSTANCES: usize = 10_000;

/// Which policy: its type and PolicyId.
pub type Key = (PolicyType, String);

/// The A1 policies. Clones share them.
#[derive(Clone, Debug)]
pub struct Instances(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    policies: Policies,
    store: Store,
    instances: Mutex<BTreeMap<Key, Instance>>,
}

#[derive(Debug)]
struct Instance {
    stored: StoredInstance,
    translated: Translated,
    /// The status that was told last.
    told: Option<PolicyStatus>,
}

/// What of a policy outlives the process.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredInstance {
    kind: PolicyType,
    id: String,
    body: Value,
    /// Where changes of its status are told.
    notification: Option<String>,
}

impl Stored for StoredInstance {
    const KIND: Kind = Kind::A1Policy;
    const VERSION: u32 = 1;
}

/// Status of a policy (A1TD clause 7.1.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyStatus {
    /// Whether it is enforced.
    pub enforce_status: EnforceStatus,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enforce_reason: Option<EnforceReason>,
}

/// Whether a policy is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EnforceStatus {
    /// It rules flows, and its delay objective holds where it has one.
    Enforced,
    /// It does not.
    NotEnforced,
}

/// Why a policy is not enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EnforceReason {
    /// No flow is in its scope, or another policy goes before it.
    ScopeNotApplicable,
    /// None of its statements is about what is controlled here.
    StatementNotApplicable,
    /// Its delay objective does not hold.
    OtherReason,
}

/// A notification that is due.
#[derive(Clone, Debug)]
pub(super) struct Due {
    pub(super) destination: String,
    pub(super) status: PolicyStatus,
}

/// Why a policy was not taken over. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is wrong.
    #[error(transparent)]
    Wrong(#[from] policies::Error),
    /// There are too many.
    #[error("{MAX_INSTANCES} policies are in force, and no more may be: delete some")]
    Full,
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// It cannot be put into force.
    #[error(transparent)]
    Policies(#[from] policy::Error),
}

impl Instances {
    /// The policies that are in the store.
    pub fn new(policies: Policies, store: Store) -> Self {
        let instances = Self(Arc::new(Shared {
            policies,
            store,
            instances: Mutex::default(),
        }));
        for (_, stored) in instances.0.store.load_all::<StoredInstance>() {
            let id = stored.id.clone();
            if let Err(error) = instances.take(stored, false) {
                warn!(%error, policy = id, "a stored A1 policy cannot be used");
            }
        }
        instances
    }

    /// Creates a policy, or changes it. `true`: it is new.
    ///
    /// # Errors
    /// [`Error`]; then nothing has changed.
    pub fn put(&self, key: Key, body: Value, notification: Option<String>) -> Result<bool, Error> {
        let (kind, id) = key;
        let stored = StoredInstance {
            kind,
            id,
            body,
            notification,
        };
        self.take(stored, true)
    }

    fn take(&self, stored: StoredInstance, keep: bool) -> Result<bool, Error> {
        let translated = stored.kind.translate(&stored.body)?;
        let key = (stored.kind, stored.id.clone());
        let mut instances = self.lock();
        if !instances.contains_key(&key) && instances.len() >= MAX_INSTANCES {
            return Err(Error::Full);
        }
        let entries = entries(&key, &translated);
        self.0.policies.put_all(entries.clone(), true)?;
        if keep {
            self.0.store.put(&store_key(&key), &stored)?;
        }
        let before = instances.get(&key).map_or(0, |i| i.translated.specs.len());
        self.0.policies.put_all(entries, false)?;
        for index in translated.specs.len()..before {
            self.0.policies.remove(Source::A1, &name(&key, index));
        }
        if !translated.ignored.is_empty() {
            let ignored = translated.ignored.join(", ");
            info!(
                policy = key.1,
                ignored, "statements of an A1 policy are left to others"
            );
        }
        let told = instances.get(&key).and_then(|instance| instance.told);
        let instance = Instance {
            stored,
            translated,
            told,
        };
        Ok(instances.insert(key, instance).is_none())
    }

    /// Deletes a policy. `false`: there was none.
    pub fn delete(&self, key: &Key) -> bool {
        let mut instances = self.lock();
        let Some(instance) = instances.remove(key) else {
            return false;
        };
        for index in 0..instance.translated.specs.len() {
            self.0.policies.remove(Source::A1, &name(key, index));
        }
        self.0.store.delete(Kind::A1Policy, &store_key(key));
        true
    }

    /// A policy as it was given.
    pub fn get(&self, key: &Key) -> Option<Value> {
        Some(self.lock().get(key)?.stored.body.clone())
    }

    /// Identifiers of the policies of a type.
    pub fn of_type(&self, kind: PolicyType) -> Vec<String> {
        let instances = self.lock();
        let of_type = instances.keys().filter(|(other, _)| *other == kind);
        of_type.map(|(_, id)| id.clone()).collect()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// The status of a policy, where the slice policies stand in the cells as `views` say.
    pub fn status(&self, key: &Key, views: &[SliceView]) -> Option<PolicyStatus> {
        Some(status(key, &self.lock().get(key)?.translated, views))
    }

    /// Notifications of the policies whose status has changed since the last call.
    pub(super) fn due(&self, views: &[SliceView]) -> Vec<Due> {
        let mut due = Vec::new();
        for (key, instance) in self.lock().iter_mut() {
            let status = status(key, &instance.translated, views);
            if instance.told.replace(status) == Some(status) {
                continue;
            }
            info!(policy = key.1, kind = key.0.id(), ?status, "A1 policy");
            if let Some(destination) = &instance.stored.notification {
                let destination = destination.clone();
                due.push(Due {
                    destination,
                    status,
                });
            }
        }
        due
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Instance>> {
        let instances = self.0.instances.lock();
        instances.unwrap_or_else(PoisonError::into_inner)
    }
}

fn store_key((kind, id): &Key) -> String {
    format!("{}/{id}", kind.id())
}

/// Name of one of the slice policies that an A1 policy stands for.
fn name(key: &Key, index: usize) -> String {
    match index {
        0 => store_key(key),
        _ => format!("{}#{index}", store_key(key)),
    }
}

fn entries(key: &Key, translated: &Translated) -> Vec<Entry> {
    let specs = translated.specs.iter().enumerate();
    let entry = |(index, spec): (usize, &_)| {
        let name = name(key, index);
        let place = Place {
            text: store_key(key),
            line: 0,
        };
        let source = Source::A1;
        Entry::new(
            SlicePolicy::new(name, Clone::clone(spec)),
            Origin { source, place },
        )
    };
    specs.map(entry).collect()
}

fn status(key: &Key, translated: &Translated, views: &[SliceView]) -> PolicyStatus {
    let not = |reason| PolicyStatus {
        enforce_status: EnforceStatus::NotEnforced,
        enforce_reason: Some(reason),
    };
    match translated.not_applicable {
        Some(NotApplicable::Scope) => return not(EnforceReason::ScopeNotApplicable),
        Some(NotApplicable::Statement) => return not(EnforceReason::StatementNotApplicable),
        None => {}
    }
    let names: Vec<_> = (0..translated.specs.len()).map(|i| name(key, i)).collect();
    let own = || {
        views.iter().filter(|view| {
            view.policy.source == Source::A1 && names.iter().any(|name| **name == *view.policy.name)
        })
    };
    let violated = |view: &SliceView| {
        let state = view.objective.map(|(_, state)| state);
        state == Some(ObjectiveState::Violated)
    };
    if own().all(|view| view.flows == 0) {
        not(EnforceReason::ScopeNotApplicable)
    } else if own().any(violated) {
        not(EnforceReason::OtherReason)
    } else {
        PolicyStatus {
            enforce_status: EnforceStatus::Enforced,
            enforce_reason: None,
        }
    }
}
