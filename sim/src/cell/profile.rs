//! Named profiles of cells, and settings that differ from them.

use super::CellConfig;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

/// Why a table describes no cell.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// No profile of that name.
    #[error("profile = {0}: must be \"gnb\" or \"lena\"")]
    Unknown(String),
    /// A setting that no cell has, or of the wrong type.
    #[error(transparent)]
    Setting(#[from] toml::de::Error),
    /// The profile cannot be written as a table.
    #[error(transparent)]
    Profile(#[from] toml::ser::Error),
}

impl CellConfig {
    /// The cell of a table: that of its `profile` ("gnb" or "lena"; `default` if it names none), overridden by its other
    /// settings. Tables merge, everything else replaces.
    pub fn from_table(mut table: Table, default: Self) -> Result<Self, ProfileError> {
        let base = match table.remove("profile") {
            None => default,
            Some(Value::String(name)) if name == "gnb" => Self::gnb(),
            Some(Value::String(name)) if name == "lena" => Self::lena(),
            Some(other) => return Err(ProfileError::Unknown(other.to_string())),
        };
        let mut all = Table::try_from(&base)?;
        merge(&mut all, table);
        Ok(Value::Table(all).try_into()?)
    }

    /// [`Self::from_table`] for serde, without a profile by default.
    pub fn deserialize_profile<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let table = Table::deserialize(from)?;
        Self::from_table(table, Self::default()).map_err(D::Error::custom)
    }
}

fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            // A choice with parameters is a table with one key: another choice replaces it.
            (Some(Value::Table(old)), Value::Table(new)) if !is_other_choice(old, &new) => {
                merge(old, new);
            }
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

fn is_other_choice(old: &Table, new: &Table) -> bool {
    let only = |table: &Table| match table.iter().collect::<Vec<_>>()[..] {
        [(name, Value::Table(_))] => Some(name.clone()),
        _ => None,
    };
    match (only(old), only(new)) {
        (Some(old), Some(new)) => old != new,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::behaviour::{Adaptation, Uplink};

    fn cell(text: &str) -> Result<CellConfig, ProfileError> {
        CellConfig::from_table(text.parse().unwrap(), CellConfig::default())
    }

    #[test]
    fn settings_override_the_profile_and_leave_the_rest() {
        let config = cell(
            "profile = 'gnb'\nprbs = 51\n[harq_feedback]\nper_slot = 4\n\
             [behaviour.uplink.whole_slots]\nfirst_slots = 7\nloop_slots = 6\n\
             [behaviour.adaptation.outer_loop]\nstart = 5\n",
        )
        .unwrap();
        let gnb = CellConfig::gnb();
        assert_eq!((config.prbs, &config.tdd), (51, &gnb.tdd));
        let feedback = config.harq_feedback.unwrap();
        assert_eq!((feedback.per_slot, feedback.max_slots), (4, 13));
        assert_eq!(config.behaviour.rlc, gnb.behaviour.rlc);
        assert!(matches!(
            config.behaviour.uplink,
            Uplink::WholeSlots { loop_slots: 6, .. }
        ));
        let Adaptation::OuterLoop(outer) = config.behaviour.adaptation else {
            panic!("{config:?}");
        };
        assert_eq!((outer.start, outer.ceiling), (5, 28));
    }

    #[test]
    fn without_a_profile_it_is_the_default_and_mistakes_are_named() {
        assert_eq!(cell("").unwrap(), CellConfig::default());
        let message = |text: &str| cell(text).unwrap_err().to_string();
        assert!(message("profile = 'nr'").contains("\"gnb\" or \"lena\""));
        assert!(message("prb = 5").contains("prb"));
    }
}
