//! Traffic matching where it is delicate: one node, two UEs, made-up traffic.

use policies::matching::{Change, FlowKey, Matcher, UeKey};
use policies::{UeId, UeReport};
use std::net::IpAddr;
use std::time::Duration;

const STEP: Duration = Duration::from_millis(50);

fn flow(name: &str) -> FlowKey {
    FlowKey {
        edge: "edge".into(),
        flow: name.into(),
    }
}

fn address(last: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, last])
}

fn ue(rnti: u16) -> UeKey {
    UeKey {
        node: "gnb".into(),
        ue: UeId::CRnti(rnti),
    }
}

fn report(rnti: u16, octets: u64) -> UeReport {
    UeReport {
        ue: UeId::CRnti(rnti),
        start: Duration::ZERO,
        length: STEP,
        ran_time_us: None,
        prbs: None,
        retx_prbs: None,
        cell_prbs: 84.8,
        used_prbs: None,
        mcs: None,
        tb_sent: None,
        tb_retx: None,
        tb_failed: None,
        sinr_db: None,
        cqi: None,
        delivered_bytes: Some(octets),
        arrived_bytes: Some(octets),
        queue_bytes: None,
        head_of_line: None,
        rlc_delay: None,
        slice: None,
    }
}

/// Octets of a bursty source in an interval.
fn bursts(seed: u64, interval: u64) -> u64 {
    let z = (seed * 1_000_003 + interval / 5).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (z ^ (z >> 31)) % 40_000
}

/// A matcher with time, and the bindings that it told.
#[derive(Default)]
struct Bench {
    matcher: Matcher,
    interval: u64,
    bound: std::collections::BTreeMap<IpAddr, UeKey>,
    ended: Vec<String>,
    /// The interval of the flows' first octets.
    began: Option<u64>,
}

impl Bench {
    fn now(&self) -> Duration {
        Duration::from_secs(10) + STEP * self.interval as u32
    }

    /// Intervals in which flows send and UEs get what the closures say.
    fn run(
        &mut self,
        seconds: u64,
        sent: impl Fn(u64) -> Vec<(&'static str, u64)>,
        arrived: impl Fn(u64) -> Vec<(u16, u64)>,
    ) {
        for _ in 0..seconds * 20 {
            self.interval += 1;
            let now = self.now();
            let began = self.began == Some(self.interval);
            for (name, octets) in sent(self.interval) {
                self.matcher.sent(&flow(name), now, STEP, octets, began);
            }
            for (rnti, octets) in arrived(self.interval) {
                self.matcher
                    .arrived(&"gnb".into(), &report(rnti, octets), now);
            }
            for change in self.matcher.update(now) {
                match change {
                    Change::Bound(address, found) => {
                        self.bound.insert(address, found.ue);
                    }
                    Change::Unbound(address, why) => {
                        self.bound.remove(&address);
                        self.ended.push(why);
                    }
                }
            }
        }
    }
}

/// A bench whose flow "a" to 10.0.0.1 is bound to UE 1, beside UE 2 with other traffic.
fn bound() -> Bench {
    let mut bench = Bench::default();
    bench.matcher.add_flow(flow("a"), address(1));
    bench.run(
        4,
        |k| vec![("a", bursts(1, k))],
        |k| vec![(1, bursts(1, k)), (2, bursts(2, k))],
    );
    assert_eq!(bench.bound.get(&address(1)), Some(&ue(1)));
    bench
}

/// An edge server registers a flow and sends at once, at a constant rate: what it begins with is enough.
#[test]
fn the_beginning_of_a_flow_is_evidence() {
    let mut bench = Bench::default();
    bench.run(4, |_| Vec::new(), |k| vec![(1, 0), (2, bursts(2, k))]);
    bench.matcher.add_flow(flow("a"), address(1));
    let begin = bench.interval + 1;
    bench.began = Some(begin);
    bench.run(
        3,
        |_| vec![("a", 9_000)],
        |k| vec![(1, if k > begin { 9_020 } else { 0 }), (2, bursts(2, k))],
    );
    assert_eq!(bench.bound.get(&address(1)), Some(&ue(1)));
}

#[test]
fn after_a_handover_the_flow_follows_its_ue() {
    let mut bench = bound();
    bench.matcher.remove_ue(&ue(1));
    // The UE comes back with another C-RNTI.
    bench.run(
        5,
        |k| vec![("a", bursts(1, k))],
        |k| vec![(2, bursts(2, k)), (3, bursts(1, k))],
    );
    assert_eq!(bench.ended, ["its UE is gone"]);
    assert_eq!(bench.bound.get(&address(1)), Some(&ue(3)));
}

#[test]
fn a_c_rnti_that_another_ue_got_is_noticed() {
    let mut bench = bound();
    // No gap: the node gives the C-RNTI to a UE with other traffic at once.
    bench.run(
        2,
        |k| vec![("a", bursts(1, k))],
        |k| vec![(1, bursts(5, k)), (2, bursts(2, k))],
    );
    assert_eq!(
        bench.ended,
        ["its traffic is not that of rnti:0001 any more"]
    );
    assert!(bench.bound.is_empty());
}

#[test]
fn a_binding_survives_silence_and_a_constant_rate() {
    let mut bench = bound();
    bench.run(8, |_| vec![("a", 0)], |k| vec![(1, 0), (2, bursts(2, k))]);
    bench.run(
        8,
        |_| vec![("a", 12_500)],
        |k| vec![(1, 12_530), (2, bursts(2, k))],
    );
    assert!(bench.ended.is_empty(), "{:?}", bench.ended);
    assert_eq!(bench.bound.get(&address(1)), Some(&ue(1)));
}

#[test]
fn what_else_a_ue_gets_does_not_hide_the_flow() {
    let mut bench = Bench::default();
    bench.matcher.add_flow(flow("a"), address(1));
    bench.run(
        8,
        |k| vec![("a", bursts(1, k))],
        |k| {
            vec![
                (1, bursts(1, k) + 25_000 + bursts(7, k) / 8),
                (2, bursts(2, k)),
            ]
        },
    );
    assert_eq!(bench.bound.get(&address(1)), Some(&ue(1)));
}

#[test]
fn two_ues_with_the_same_traffic_stay_unbound() {
    let mut bench = Bench::default();
    bench.matcher.add_flow(flow("a"), address(1));
    bench.matcher.add_flow(flow("b"), address(2));
    bench.run(
        10,
        |k| vec![("a", bursts(1, k)), ("b", bursts(1, k))],
        |k| vec![(1, bursts(1, k)), (2, bursts(1, k))],
    );
    assert!(bench.bound.is_empty() && bench.ended.is_empty());
}

#[test]
fn of_two_addresses_that_fit_one_ue_none_is_bound() {
    let mut bench = Bench::default();
    bench.matcher.add_flow(flow("a"), address(1));
    bench.matcher.add_flow(flow("b"), address(2));
    bench.run(
        6,
        |k| vec![("a", bursts(1, k)), ("b", bursts(1, k))],
        |k| vec![(1, bursts(1, k)), (2, bursts(2, k))],
    );
    assert!(bench.bound.is_empty());
}

#[test]
fn a_flow_whose_ue_is_elsewhere_stays_unbound() {
    let mut bench = Bench::default();
    bench.matcher.add_flow(flow("a"), address(1));
    bench.run(
        30,
        |k| vec![("a", bursts(9, k))],
        |k| vec![(1, bursts(1, k)), (2, bursts(2, k))],
    );
    assert!(bench.bound.is_empty() && bench.ended.is_empty());
}

#[test]
fn ues_with_a_known_address_are_no_candidates() {
    let mut bench = Bench::default();
    bench.matcher.add_flow(flow("a"), address(1));
    bench.matcher.set_taken([ue(1)].into());
    bench.run(
        5,
        |k| vec![("a", bursts(1, k))],
        |k| vec![(1, bursts(1, k)), (2, bursts(2, k))],
    );
    assert!(bench.bound.is_empty());
}

#[test]
fn without_reports_of_the_edge_a_binding_ends() {
    let mut bench = bound();
    bench.run(6, |_| Vec::new(), |k| vec![(1, bursts(1, k))]);
    assert_eq!(
        bench.ended,
        ["its edge server does not report what it sends"]
    );
}
