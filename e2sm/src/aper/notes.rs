//! What a decoder stepped over.

/// What the sender wants done with an IE or procedure the receiver does not know (E2AP §9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "lowercase")
)]
pub enum Criticality {
    /// Reject the procedure and say so.
    Reject,
    /// Go on without it.
    Ignore,
    /// Go on without it and say so.
    Notify,
}

/// A protocol IE that was skipped because its id is not known where it stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UnknownIe {
    /// ProtocolIE-ID.
    pub id: u16,
    /// What the sender wants done.
    pub criticality: Criticality,
}

/// Everything a decoder skipped although it was well-formed. Nothing here is an error by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Notes {
    /// Extension additions of SEQUENCEs that are not known.
    pub extension_additions: u32,
    /// CHOICE alternatives that are not known.
    pub choice_alternatives: u32,
    /// ENUMERATED values that are not known.
    pub enumerated_values: u32,
    /// Octets behind a complete value, in open types or at the end.
    pub trailing_octets: u32,
    /// Further occurrences of an IE that may occur once; the first one counts.
    pub duplicate_ies: u32,
    /// Number of protocol IEs with an unknown id.
    pub unknown_ie_count: u32,
    /// The first of them, at most [`Notes::MAX_UNKNOWN_IES`].
    pub unknown_ies: Vec<UnknownIe>,
}

impl Notes {
    /// Length to which [`Notes::unknown_ies`] may grow: what CriticalityDiagnostics can carry
    /// (maxnoofErrors, E2AP §9.3.3).
    pub const MAX_UNKNOWN_IES: usize = 256;

    /// Records an unknown IE.
    pub fn unknown_ie(&mut self, ie: UnknownIe) {
        self.unknown_ie_count = self.unknown_ie_count.saturating_add(1);
        if self.unknown_ies.len() < Self::MAX_UNKNOWN_IES {
            self.unknown_ies.push(ie);
        }
    }

    /// How many things were skipped in all.
    pub fn skipped(&self) -> u64 {
        [
            self.extension_additions,
            self.choice_alternatives,
            self.enumerated_values,
            self.trailing_octets,
            self.duplicate_ies,
            self.unknown_ie_count,
        ]
        .into_iter()
        .map(u64::from)
        .sum()
    }

    /// Adds what another decoder skipped, for instance that of a payload inside the message.
    pub fn merge(&mut self, other: Notes) {
        self.extension_additions += other.extension_additions;
        self.choice_alternatives += other.choice_alternatives;
        self.enumerated_values += other.enumerated_values;
        self.trailing_octets += other.trailing_octets;
        self.duplicate_ies += other.duplicate_ies;
        self.unknown_ie_count += other.unknown_ie_count;
        let room = Self::MAX_UNKNOWN_IES.saturating_sub(self.unknown_ies.len());
        self.unknown_ies
            .extend(other.unknown_ies.into_iter().take(room));
    }
}
