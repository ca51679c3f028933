//! Do no harm: what a FlexRIC RIC, its agents and OAI's gNBs do not survive, and how Cantor keeps from it.
//!
//! Each rule is one function with its reason. What concerns the contents of KPM subscriptions is in
//! [`plan`](crate::ran::plan), the guard of E42 setups in [`guard`](super::guard).

use std::time::{Duration, Instant};

use e2sm::e2ap::{RicAction, RicActionType, RicSubscriptionDetails};

use crate::ran::ServiceModel;
use crate::ran::plan::Wanted;

/// RICactionID of the one action of every subscription.
pub(super) const ACTION_ID: u8 = 0;

/// A report this young proves that its node is connected.
const YOUNG: Duration = Duration::from_millis(300);

/// An E42 setup while no E2 node is connected aborts the RIC. A node that has just reported is connected; without
/// that proof the setup needs a guard.
pub(super) fn setup_needs_guard(last_report: Option<Instant>, now: Instant) -> bool {
    last_report.is_none_or(|at| now.saturating_duration_since(at) > YOUNG)
}

/// A subscription at a node that is gone aborts the RIC, and so does the deletion of one. The node has to be in a
/// node list this young, or to have reported since.
pub(super) fn node_is_there(proved: Instant, now: Instant) -> bool {
    now.saturating_duration_since(proved) <= YOUNG
}

/// The agent aborts on two actions, the RIC on any action id but 0 when the agent answers.
pub(super) fn one_action(wanted: &Wanted) -> RicSubscriptionDetails {
    RicSubscriptionDetails {
        event_trigger: wanted.trigger.clone(),
        actions: vec![RicAction {
            id: ACTION_ID,
            kind: RicActionType::Report,
            definition: wanted.action_definition.clone(),
            subsequent: None,
        }],
    }
}

/// After a restart of the RIC, agents go on reporting under request ids of before, and whatever now has such an id
/// gets the reports too: nothing is used that does not have the layout of its model.
pub(super) fn payload_fits(model: ServiceModel, message: &[u8]) -> bool {
    let record = match model {
        ServiceModel::Mac => 176,
        ServiceModel::Rlc => 152,
        ServiceModel::Pdcp => 68,
        ServiceModel::Gtp => 12,
        // KPM says by itself where it ends.
        ServiceModel::Kpm => return !message.is_empty(),
        ServiceModel::Other => return false,
    };
    message
        .split_first_chunk::<4>()
        .is_some_and(|(count, rest)| {
            let count = u64::from(u32::from_le_bytes(*count));
            rest.len() as u64 == count * record + 8
        })
}

/// More than one and a half times the reports that were asked for: an agent goes on with a subscription of before
/// the RIC's restart, and its new one has the same request id at the RIC. A new subscription gets another id.
pub(super) fn is_doubled(reports: u32, period_ms: u32, over: Duration) -> bool {
    let expected = over.as_secs_f64() * 1000.0 / f64::from(period_ms.max(1));
    reports > 40 && f64::from(reports) > 1.5 * expected
}

/// The RIC counts xApp ids with 16 bits, one for each E42 setup, and aborts when they come round: the nearer the
/// end, the rarer the looks at the node list.
pub(super) fn pause_for_ids(xapp_id: u16) -> Duration {
    match xapp_id {
        0..0x8000 => Duration::ZERO,
        0x8000..0xf000 => Duration::from_secs(300),
        _ => Duration::from_secs(3600),
    }
}

/// A RIC that ends right after it was spoken to was perhaps killed by it (another E2AP version, say): it is given
/// ever more time.
pub(super) fn after_sudden_ends(settle: Duration, ends: u32) -> Duration {
    (settle * 2u32.saturating_pow(ends.min(16))).min(Duration::from_secs(600).max(settle))
}
