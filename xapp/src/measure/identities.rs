//! What else a UE is called than by the name of its reports, and what KPM says of UEs that MAC reports.

use super::kpm::KpmUe;
use e2sm::flexric::{GtpTunnel, Stats};
use policies::{SNssai, UeId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A name by which a UE can be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// An identity of the RAN.
    Ue(UeId),
    /// The gNB's tunnel endpoint id of its PDU session on N3 (TS 29.281 clause 5.1): downlink packets carry it.
    GnbTeid(u32),
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ue(ue) => ue.fmt(f),
            Self::GnbTeid(teid) => write!(f, "gnb-teid:{teid:08x}"),
        }
    }
}

/// What KPM says of a UE that MAC reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addition {
    pub(super) slice: Option<SNssai>,
    pub(super) rlc_delay: Option<Duration>,
    /// It holds until then, on the clock of receipts.
    pub(super) until: Duration,
}

/// The names of the UEs of one node.
#[derive(Debug, Default)]
pub(super) struct Identities {
    /// gNB TEIDs by UE of RRC.
    tunnels: BTreeMap<u32, u32>,
    names: BTreeMap<Identity, UeId>,
    additions: BTreeMap<u16, Addition>,
}

impl Identities {
    /// A GTP report: all tunnels of the node.
    pub(super) fn gtp(&mut self, stats: &Stats<GtpTunnel>) {
        let tunnels = stats.records.iter().filter(|tunnel| tunnel.teidgnb != 0);
        self.tunnels = tunnels.map(|t| (t.rnti, t.teidgnb)).collect();
    }

    /// Every other name of a UE, and the one in its reports.
    pub(super) fn names(&self) -> &BTreeMap<Identity, UeId> {
        &self.names
    }

    /// What KPM says of the UE with this C-RNTI at `now`.
    pub(super) fn addition(&self, c_rnti: u16, now: Duration) -> Option<Addition> {
        let addition = self.additions.get(&c_rnti).copied();
        addition.filter(|addition| now <= addition.until)
    }

    /// Puts together what is known: C-RNTIs of the UEs of RRC, and the UEs that KPM reported.
    pub(super) fn refresh(&mut self, joined: &BTreeMap<u32, u16>, kpm: &BTreeMap<UeId, KpmUe>) {
        let mut names = Names::default();
        self.additions.clear();
        for (&id, ue) in kpm {
            let c_rnti = ue.rrc_ue.and_then(|rrc_ue| joined.get(&rrc_ue)).copied();
            let reported = c_rnti.map_or(id, UeId::CRnti);
            names.add(Identity::Ue(id), reported);
            if let Some(ran_ue_id) = ue.ran_ue_id {
                names.add(Identity::Ue(UeId::RanUeId(ran_ue_id)), reported);
            }
            if let Some(teid) = ue.rrc_ue.and_then(|rrc_ue| self.tunnels.get(&rrc_ue)) {
                names.add(Identity::GnbTeid(*teid), reported);
            }
            if let Some(c_rnti) = c_rnti {
                let addition = Addition {
                    slice: ue.slice,
                    rlc_delay: ue.rlc_delay,
                    until: ue.until,
                };
                self.additions.insert(c_rnti, addition);
            }
        }
        for (rrc_ue, c_rnti) in joined {
            if let Some(teid) = self.tunnels.get(rrc_ue) {
                names.add(Identity::GnbTeid(*teid), UeId::CRnti(*c_rnti));
            }
        }
        self.names = names.unambiguous();
    }
}

#[derive(Default)]
struct Names {
    names: BTreeMap<Identity, UeId>,
    ambiguous: BTreeSet<Identity>,
}

impl Names {
    fn add(&mut self, name: Identity, reported: UeId) {
        if name != Identity::Ue(reported)
            && self
                .names
                .insert(name, reported)
                .is_some_and(|other| other != reported)
        {
            self.ambiguous.insert(name);
        }
    }

    fn unambiguous(mut self) -> BTreeMap<Identity, UeId> {
        self.names.retain(|name, _| !self.ambiguous.contains(name));
        self.names
    }
}
