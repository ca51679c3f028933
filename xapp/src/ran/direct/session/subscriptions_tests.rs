use super::*;

fn mac() -> Wanted {
    Wanted {
        function: 142,
        model: ServiceModel::Mac,
        period_ms: 100,
        trigger: vec![100, 0, 0, 0],
        action_definition: None,
        measurements: Vec::new(),
    }
}

fn rlc() -> Wanted {
    Wanted {
        function: 143,
        model: ServiceModel::Rlc,
        ..mac()
    }
}

fn all_offered(_: u16) -> bool {
    true
}

const WAIT: Duration = Duration::from_secs(3);
const SILENT_AFTER: Duration = Duration::from_secs(10);

struct Bench {
    subscriptions: Subscriptions,
    now: Instant,
}

impl Bench {
    fn new(wanted: &[Wanted]) -> Self {
        let now = Instant::now();
        let mut subscriptions = Subscriptions::new(1000, WAIT, SILENT_AFTER, now);
        subscriptions.want(wanted.to_vec(), all_offered, now);
        Bench { subscriptions, now }
    }

    fn poll(&mut self) -> Option<Action> {
        self.subscriptions.poll(self.now)
    }

    fn subscribed(&mut self) -> (RicRequestId, Wanted) {
        match self.poll() {
            Some(Action::Subscribe(request, wanted)) => (request, wanted),
            other => panic!("no subscription: {other:?}"),
        }
    }

    fn admit(&mut self) -> RicRequestId {
        let (request, wanted) = self.subscribed();
        assert!(
            self.subscriptions
                .responded(request, wanted.function, None, self.now)
        );
        request
    }

    fn states(&mut self) -> Vec<SubscriptionState> {
        std::iter::from_fn(|| self.subscriptions.next_status())
            .map(|status| status.state)
            .collect()
    }

    /// Waits for what is next: a retry or a missing answer.
    fn wait(&mut self) {
        self.now = self
            .subscriptions
            .next_timeout()
            .expect("something to wait for");
        self.subscriptions.time_out(self.now);
    }
}

use SubscriptionState::{Active, Ended, Failed, Requested};

#[test]
fn one_request_is_outstanding_at_a_time_and_each_has_its_own_id() {
    let mut bench = Bench::new(&[mac(), rlc()]);
    let (first, wanted) = bench.subscribed();
    assert_eq!((first.requestor, wanted), (1000, mac()));
    assert_eq!(bench.poll(), None);
    assert!(bench.subscriptions.responded(first, 142, None, bench.now));
    let (second, wanted) = bench.subscribed();
    assert_eq!(wanted, rlc());
    assert_ne!(first, second);
    assert_eq!(bench.states(), [Requested, Active, Requested]);
}

#[test]
fn reports_count_only_under_the_active_request() {
    let mut bench = Bench::new(&[mac()]);
    let (request, _) = bench.subscribed();
    assert_eq!(bench.subscriptions.reporting(request, 142, 0), None);
    bench.subscriptions.responded(request, 142, None, bench.now);
    assert_eq!(
        bench.subscriptions.reporting(request, 142, 0),
        Some(ServiceModel::Mac)
    );
    assert_eq!(bench.subscriptions.reporting(request, 143, 0), None);
    assert_eq!(bench.subscriptions.reporting(request, 142, 1), None);
    let other = RicRequestId {
        instance: request.instance + 1,
        ..request
    };
    assert_eq!(bench.subscriptions.reporting(other, 142, 0), None);
}

#[test]
fn a_refused_or_unanswered_request_is_repeated_later_and_later() {
    let mut bench = Bench::new(&[mac()]);
    let mut gaps = Vec::new();
    let mut requests = Vec::new();
    for attempt in 0..9 {
        let (request, _) = bench.subscribed();
        requests.push(request);
        if attempt % 2 == 0 {
            assert!(
                bench
                    .subscriptions
                    .refused(request, "function-resource-limit", bench.now)
            );
        } else {
            bench.wait();
        }
        let failed_at = bench.now;
        assert_eq!(bench.poll(), None);
        bench.wait();
        gaps.push((bench.now - failed_at).as_secs());
    }
    assert_eq!(gaps, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    assert!(requests.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(bench.states()[..4], [Requested, Failed, Requested, Failed]);
}

#[test]
fn a_late_answer_is_stray_and_its_subscription_deleted() {
    let mut bench = Bench::new(&[mac()]);
    let (late, _) = bench.subscribed();
    bench.wait();
    assert!(!bench.subscriptions.responded(late, 142, None, bench.now));
    assert_eq!(bench.poll(), Some(Action::Delete(late, 142)));
    assert!(bench.subscriptions.deleted(late, bench.now));
    bench.wait();
    assert_ne!(bench.admit(), late);
}

#[test]
fn an_action_that_is_not_admitted_is_a_refusal_and_leaves_nothing_behind() {
    let mut bench = Bench::new(&[mac()]);
    let (request, _) = bench.subscribed();
    bench
        .subscriptions
        .responded(request, 142, Some("action-not-supported"), bench.now);
    assert_eq!(bench.states(), [Requested, Failed]);
    assert_eq!(bench.poll(), Some(Action::Delete(request, 142)));
}

#[test]
fn a_stray_reporter_is_deleted_once() {
    let mut bench = Bench::new(&[mac()]);
    let ours = bench.admit();
    let stray = RicRequestId {
        requestor: 7,
        instance: 0,
    };
    for _ in 0..1000 {
        bench.subscriptions.delete_stray(stray, 142);
        bench.subscriptions.delete_stray(ours, 142);
    }
    assert_eq!(bench.poll(), Some(Action::Delete(stray, 142)));
    bench.subscriptions.delete_stray(stray, 142);
    bench.subscriptions.deleted(stray, bench.now);
    assert_eq!(bench.poll(), None);
}

#[test]
fn strays_are_bounded() {
    let mut bench = Bench::new(&[]);
    for instance in 0..10_000 {
        bench.subscriptions.delete_stray(
            RicRequestId {
                requestor: 7,
                instance,
            },
            142,
        );
    }
    assert_eq!(bench.subscriptions.deletions.len(), MAX_DELETIONS);
}

#[test]
fn what_the_node_ends_is_asked_for_again() {
    let mut bench = Bench::new(&[mac()]);
    let request = bench.admit();
    assert!(
        bench
            .subscriptions
            .ended_by_node(request, "required", bench.now)
    );
    assert_eq!(bench.subscriptions.reporting(request, 142, 0), None);
    bench.wait();
    assert_ne!(bench.admit(), request);
    assert_eq!(
        bench.states(),
        [Requested, Active, Ended, Requested, Active]
    );
    assert!(
        !bench
            .subscriptions
            .ended_by_node(request, "required again", bench.now)
    );
}

#[test]
fn a_deletion_nobody_asked_for_ends_the_subscription() {
    let mut bench = Bench::new(&[mac()]);
    let request = bench.admit();
    assert!(!bench.subscriptions.deleted(request, bench.now));
    assert_eq!(bench.states(), [Requested, Active, Ended]);
}

#[test]
fn a_change_of_wishes_touches_only_what_changed() {
    let mut bench = Bench::new(&[mac(), rlc()]);
    let (kept, changed) = (bench.admit(), bench.admit());
    let slower = Wanted {
        period_ms: 500,
        ..rlc()
    };
    bench
        .subscriptions
        .want(vec![mac(), slower.clone()], all_offered, bench.now);
    assert_eq!(bench.poll(), Some(Action::Delete(changed, 143)));
    assert!(bench.subscriptions.deleted(changed, bench.now));
    assert_eq!(bench.subscribed().1, slower);
    assert_eq!(
        bench.subscriptions.reporting(kept, 142, 0),
        Some(ServiceModel::Mac)
    );
}

#[test]
fn what_is_no_longer_offered_needs_no_deletion() {
    let mut bench = Bench::new(&[mac()]);
    bench.admit();
    bench.subscriptions.want(Vec::new(), |_| false, bench.now);
    assert_eq!(bench.poll(), None);
    assert_eq!(bench.states(), [Requested, Active, Ended]);
}

#[test]
fn after_a_reset_all_is_asked_for_anew_at_once() {
    let mut bench = Bench::new(&[mac(), rlc()]);
    bench.admit();
    let (unanswered, _) = bench.subscribed();
    bench.subscriptions.forgotten("reset", bench.now);
    assert_eq!(bench.states(), [Requested, Active, Requested, Ended, Ended]);
    bench.admit();
    let (again, wanted) = bench.subscribed();
    assert_eq!(wanted, rlc());
    assert_ne!(again, unanswered);
}

#[test]
fn stopping_deletes_what_is_active_and_what_was_asked_for() {
    let mut bench = Bench::new(&[mac(), rlc()]);
    let first = bench.admit();
    let (second, _) = bench.subscribed();
    bench.subscriptions.stop();
    assert!(!bench.subscriptions.is_idle());
    for (request, function) in [(first, 142), (second, 143)] {
        assert_eq!(bench.poll(), Some(Action::Delete(request, function)));
        assert!(bench.subscriptions.deleted(request, bench.now));
    }
    assert!(bench.subscriptions.is_idle());
    assert_eq!(
        (bench.poll(), bench.subscriptions.next_timeout()),
        (None, None)
    );
}
