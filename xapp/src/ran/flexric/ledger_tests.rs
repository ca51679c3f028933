use super::*;
use crate::ran::ServiceModel;
use e2sm::e2ap::{RicIndicationType, RicSubscriptionDeleteResponse, RicSubscriptionResponse};

const MAC: u16 = 142;
const REQUEST: RicRequestId = RicRequestId {
    requestor: 4000,
    instance: 7,
};

fn ledger() -> (Ledger, Instant) {
    let now = Instant::now();
    let wanted = vec![Wanted {
        function: MAC,
        model: ServiceModel::Mac,
        period_ms: 100,
        trigger: vec![100, 0, 0, 0],
        action_definition: None,
        measurements: Vec::new(),
    }];
    let node = NodeId("gnb:505-01:00000001/32".into());
    (Ledger::new(node, wanted, Arc::default(), now), now)
}

/// With the one subscription admitted.
fn active() -> (Ledger, Instant) {
    let (mut ledger, now) = ledger();
    ledger.asked(MAC, REQUEST);
    ledger.answered(MAC, REQUEST, now);
    while ledger.next_status().is_some() {}
    (ledger, now)
}

fn indication() -> RicIndication {
    RicIndication {
        request: REQUEST,
        ran_function: MAC,
        action: 0,
        sequence_number: None,
        kind: RicIndicationType::Report,
        header: vec![0; 4],
        message: vec![0; 12],
        call_process: None,
    }
}

fn deletion(request: RicRequestId) -> Pdu {
    Pdu::RicSubscriptionDeleteResponse(RicSubscriptionDeleteResponse {
        request,
        ran_function: MAC,
    })
}

#[test]
fn only_sound_indications_of_known_requests_are_used() {
    let (mut ledger, now) = active();
    assert!(ledger.take(Pdu::RicIndication(indication()), now).is_some());
    let other = RicRequestId {
        instance: 8,
        ..REQUEST
    };
    let unsound = [
        RicIndication {
            request: other,
            ..indication()
        },
        RicIndication {
            ran_function: 143,
            ..indication()
        },
        RicIndication {
            action: 1,
            ..indication()
        },
        RicIndication {
            message: vec![0; 13],
            ..indication()
        },
        RicIndication {
            message: vec![1; 12],
            ..indication()
        },
        RicIndication {
            message: Vec::new(),
            ..indication()
        },
    ];
    for (n, unsound) in (1..).zip(unsound) {
        assert!(ledger.take(Pdu::RicIndication(unsound), now).is_none());
        assert_eq!(ledger.counters.indications_foreign.load(Relaxed), n);
    }
    assert_eq!(ledger.counters.indications.load(Relaxed), 1);
}

#[test]
fn a_report_may_overtake_the_answer_to_its_subscription() {
    let (mut ledger, now) = ledger();
    ledger.asked(MAC, REQUEST);
    assert!(ledger.take(Pdu::RicIndication(indication()), now).is_some());
}

#[test]
fn a_late_answer_counts_as_long_as_its_request_is_the_present_one() {
    let (mut ledger, now) = ledger();
    ledger.asked(MAC, REQUEST);
    ledger.unanswered(MAC, REQUEST);
    while ledger.next_status().is_some() {}
    let answer = || {
        Pdu::RicSubscriptionResponse(RicSubscriptionResponse {
            request: REQUEST,
            ran_function: MAC,
            admitted: Vec::new(),
            not_admitted: None,
        })
    };
    ledger.take(answer(), now);
    let told = ledger.next_status().unwrap().state;
    assert_eq!(told, SubscriptionState::Active);
    ledger.deleting(REQUEST, "test");
    while ledger.next_status().is_some() {}
    ledger.take(answer(), now);
    assert!(ledger.next_status().is_none());
}

#[test]
fn an_unasked_deletion_is_the_loss_of_that_subscription() {
    let (mut ledger, now) = active();
    let other = RicRequestId {
        requestor: 1,
        ..REQUEST
    };
    ledger.take(deletion(other), now);
    assert!(ledger.next_wanted().is_none());
    ledger.take(deletion(REQUEST), now);
    assert_eq!(
        ledger.next_status().unwrap().state,
        SubscriptionState::Ended
    );
    assert!(ledger.next_wanted().is_some(), "to be asked for again");
    // The RIC aborts on the deletion of a request that it does not know (any more).
    assert_eq!(ledger.next_known(), None);
    assert!(
        ledger.take(Pdu::RicIndication(indication()), now).is_none(),
        "a late one"
    );
}

#[test]
fn a_request_is_deleted_once_whether_it_was_answered_or_not() {
    for answered in [true, false] {
        let (mut ledger, now) = ledger();
        ledger.asked(MAC, REQUEST);
        if answered {
            ledger.answered(MAC, REQUEST, now);
        } else {
            ledger.unanswered(MAC, REQUEST);
        }
        assert_eq!(ledger.next_known(), Some((REQUEST, MAC)));
        ledger.deleting(REQUEST, "test");
        assert_eq!(ledger.next_known(), None);
        // Late answers bring nothing back.
        ledger.answered(MAC, REQUEST, now);
        ledger.take(deletion(REQUEST), now);
        assert_eq!(ledger.next_known(), None);
    }
}

#[test]
fn doubled_reports_are_noticed_once_per_window() {
    let (mut ledger, start) = active();
    for (reports, doubled) in [(100, false), (200, true), (0, false)] {
        let begin = ledger.entries[0].window;
        for _ in 0..reports {
            ledger.take(Pdu::RicIndication(indication()), begin);
        }
        assert!(!ledger.doubled(begin + WINDOW / 2));
        assert_eq!(ledger.doubled(begin + WINDOW), doubled, "{reports} reports");
    }
    assert!(ledger.entries[0].window > start);
}
