//! Nodes that are connected and report nothing.

use super::*;

const GNB: &str = "oai/oai_e2_setup_req";

impl Bench {
    /// Answers deletions and subscriptions until so many subscriptions were admitted.
    fn renewed(&mut self, subscriptions: usize) -> Vec<RicSubscriptionRequest> {
        let mut requests = Vec::new();
        while requests.len() < subscriptions {
            let sent = self.sent();
            if sent.is_empty() {
                self.wait();
            }
            for pdu in sent {
                match pdu {
                    Pdu::RicSubscriptionDeleteRequest(delete) => self.receive(
                        Pdu::RicSubscriptionDeleteResponse(RicSubscriptionDeleteResponse {
                            request: delete.request,
                            ran_function: delete.ran_function,
                        }),
                    ),
                    Pdu::RicSubscriptionRequest(request) => {
                        self.receive(admitted(&request));
                        requests.push(request);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        requests
    }
}

/// As OAI's gNBs without a UE.
#[test]
fn a_silent_node_gets_new_subscriptions_and_is_kept() {
    let mut bench = Bench::subscribed(GNB);
    let began = bench.now;
    bench.told();
    bench.wait();
    assert_eq!(bench.now - began, Config::default().silent_after);
    let requests = bench.renewed(3);
    let expected = [
        "kpm ended",
        "mac ended",
        "rlc ended",
        "kpm requested",
        "kpm silent",
        "mac requested",
        "mac silent",
        "rlc requested",
        "rlc silent",
    ];
    assert_eq!(bench.told(), expected);

    // Again and again, ever more rarely.
    for _ in 0..20 {
        bench.renewed(3);
    }
    assert!(bench.now - began > Duration::from_secs(4000));
    assert!(bench.session.finished().is_none());
    bench.told();

    // The first UE: reports of the present subscriptions, not of former ones.
    let former = &requests[1];
    bench.receive(indication(former.request, former.ran_function));
    assert!(bench.told().is_empty());
    bench.sent();
    let present = bench.renewed(3);
    bench.told();
    bench.receive(indication(present[1].request, present[1].ran_function));
    let expected = ["mac indication", "kpm active", "mac active", "rlc active"];
    assert_eq!(bench.told(), expected);
}

#[test]
fn a_node_that_reports_is_left_alone() {
    let mut bench = Bench::new();
    bench.receive_octets(&vector(GNB));
    let requests = bench.admit_all();
    for _ in 0..100 {
        bench.now += Config::default().silent_after * 9 / 10;
        bench.session.time_out(bench.now);
        bench.receive(indication(requests[2].request, requests[2].ran_function));
        assert_eq!(bench.sent(), []);
    }
}

/// Its host's SCTP goes on acknowledging.
#[test]
fn a_node_that_hangs_is_given_up() {
    let mut bench = Bench::subscribed(GNB);
    let began = bench.now;
    while bench.session.finished().is_none() {
        bench.wait();
    }
    assert_eq!(bench.session.finished(), Some("it answers nothing"));
    let after = bench.now - began;
    let expected = Config::default().silent_after + Limits::default().answer_wait * UNANSWERED;
    assert!((expected..expected * 2).contains(&after), "{after:?}");
}
