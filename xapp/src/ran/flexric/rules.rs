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

/// Nothing proves for longer that a node is connected: it may be gone the next moment.
const PROOF: Duration = Duration::from_millis(20);

/// An E42 setup while no E2 node is connected aborts the RIC. A node that has just reported is connected; without
/// that proof the setup needs a guard.
pub(super) fn setup_needs_guard(last_report: Option<Instant>, now: Instant) -> bool {
    last_report.is_none_or(|at| now.saturating_duration_since(at) > PROOF)
}

/// A subscription at a node that is gone aborts the RIC, and so does the deletion of one. The node has to have been
/// listed, or have answered or reported, just now.
pub(super) fn node_is_there(proved: Instant, now: Instant) -> bool {
    now.saturating_duration_since(proved) <= PROOF
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

/// A second subscription beside one of Cantor's, which does no harm while it is there: it reports as rarely as the agent
/// survives, and is none of KPM, of which two spoil each other's differences.
pub(super) fn spare(of: &Wanted) -> Option<Wanted> {
    const LONGEST_PERIOD_MS: u32 = 10_000;
    (of.model != ServiceModel::Kpm).then(|| Wanted {
        period_ms: LONGEST_PERIOD_MS,
        trigger: e2sm::flexric::EventTrigger {
            period_ms: LONGEST_PERIOD_MS,
        }
        .encode()
        .to_vec(),
        ..of.clone()
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use e2sm::flexric::{GtpTunnel, MacUe, PdcpBearer, Record, RlcBearer, Stats};

    #[test]
    fn only_a_report_of_this_moment_spares_the_guard() {
        let now = Instant::now();
        assert!(setup_needs_guard(None, now));
        assert!(!setup_needs_guard(Some(now), now));
        assert!(setup_needs_guard(
            Some(now),
            now + Duration::from_millis(50)
        ));
    }

    #[test]
    fn only_a_proof_of_this_moment_allows_a_request_at_a_node() {
        let now = Instant::now();
        assert!(node_is_there(now, now));
        assert!(!node_is_there(now, now + Duration::from_millis(50)));
    }

    #[test]
    fn a_subscription_has_one_report_action_with_id_0() {
        let details = one_action(&Wanted {
            function: 142,
            model: ServiceModel::Mac,
            period_ms: 100,
            trigger: vec![100, 0, 0, 0],
            action_definition: None,
            measurements: Vec::new(),
        });
        let [action] = details.actions.as_slice() else {
            panic!("{details:?}")
        };
        assert_eq!((action.id, action.kind), (0, RicActionType::Report));
        assert_eq!(details.event_trigger.len(), 4);
    }

    #[test]
    fn a_spare_subscription_reports_rarely_and_is_never_one_of_kpm() {
        let wanted = |model| Wanted {
            function: 142,
            model,
            period_ms: 50,
            trigger: vec![50, 0, 0, 0],
            action_definition: None,
            measurements: Vec::new(),
        };
        let spare = spare(&wanted(ServiceModel::Mac)).unwrap();
        assert_eq!(spare.trigger, 10_000_u32.to_le_bytes());
        assert_eq!(super::spare(&wanted(ServiceModel::Kpm)), None);
    }

    #[test]
    fn a_payload_fits_exactly_when_it_can_be_decoded() {
        fn messages<R: Record + Default + Clone>() -> [Vec<u8>; 2] {
            [0, 3].map(|count| {
                let records = vec![R::default(); count];
                Stats {
                    records,
                    tstamp_us: 1,
                }
                .encode()
            })
        }
        let all = [
            (ServiceModel::Mac, messages::<MacUe>()),
            (ServiceModel::Rlc, messages::<RlcBearer>()),
            (ServiceModel::Pdcp, messages::<PdcpBearer>()),
            (ServiceModel::Gtp, messages::<GtpTunnel>()),
        ];
        for (model, [_, mine]) in &all {
            assert!(payload_fits(*model, mine));
            assert!(!payload_fits(*model, &mine[1..]) && !payload_fits(*model, &[]));
            for (other, [_, theirs]) in &all {
                assert_eq!(payload_fits(*model, theirs), model == other);
            }
        }
        assert!(!payload_fits(ServiceModel::Kpm, &[]));
    }

    #[test]
    fn twice_the_reports_are_too_many() {
        let window = Duration::from_secs(10);
        assert!(!is_doubled(100, 100, window));
        assert!(is_doubled(200, 100, window));
        // A few reports prove nothing.
        assert!(!is_doubled(20, 1000, window));
    }

    #[test]
    fn xapp_ids_last_for_years() {
        let refresh = Duration::from_secs(10);
        let total: Duration = (7..=u16::MAX).map(|id| refresh + pause_for_ids(id)).sum();
        assert!(total > Duration::from_secs(200 * 24 * 3600), "{total:?}");
    }

    #[test]
    fn a_ric_that_keeps_ending_is_left_alone_ever_longer() {
        let settle = Duration::from_secs(4);
        let waits: Vec<_> = (0..10)
            .map(|ends| after_sudden_ends(settle, ends).as_secs())
            .collect();
        assert_eq!(waits[..4], [4, 8, 16, 32]);
        assert_eq!(waits[9], 600);
    }
}
