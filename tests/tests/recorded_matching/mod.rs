//! Which UE a flow goes to, told by its traffic: on the recording of a real gNB with two UEs.

use super::{RUN_B, recording};
use policies::matching::{Change, FlowKey, Match, Matcher, UeKey};
use recording::{Run, folder, options, replay};
use std::net::IpAddr;
use std::time::Duration;

const NODE: &str = "gnb";

/// What happens, in the order of time.
enum Event {
    Sent {
        ue: usize,
        length: f64,
        octets: u64,
        began: bool,
    },
    Arrived(Box<policies::UeReport>),
}

fn flow(ue: usize) -> FlowKey {
    FlowKey {
        edge: "edge".into(),
        flow: format!("flow-{ue}").into(),
    }
}

fn address(ue: usize) -> IpAddr {
    IpAddr::from([10, 0, 0, ue as u8])
}

/// The traffic generator's counts, every 100 ms, are what an edge server `early` seconds ahead would have reported.
fn events(run: &Run, early: f64) -> Vec<(f64, Event)> {
    let mut events = Vec::new();
    for ue in 0..RUN_B.len() {
        let counts: Vec<_> = run.sent(ue).collect();
        for (index, pair) in counts.windows(2).enumerate() {
            let (from, to) = (pair[0], pair[1]);
            let sent = Event::Sent {
                ue,
                length: to.0 - from.0,
                octets: to.1 - from.1,
                began: index == 0,
            };
            events.push((to.0 - early, sent));
        }
    }
    let replayed = replay(&folder().join("oai_B_2ue106_10ms.e2.jsonl.gz"), options());
    for report in replayed.reports {
        let end = report.ran_time_us.unwrap() as f64 * 1e-6;
        events.push((end, Event::Arrived(Box::new(report))));
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    events
}

/// Both UEs are found within 5 s of their first traffic, and no flow is ever given to the wrong one.
#[test]
fn both_ues_of_run_b_are_found_by_their_traffic() {
    let run = Run::open("oai_B_2ue106");
    for early in [0.0, 0.73] {
        let mut matcher = Matcher::default();
        for ue in 0..RUN_B.len() {
            matcher.add_flow(flow(ue), address(ue));
        }
        let events = events(&run, early);
        let begin = events[0].0;
        let clock = |t: f64| Duration::from_secs_f64(t - begin + 1.0);
        let mut first_octet = [None; 2];
        let mut found = [None; 2];
        let (mut ended, mut next_update) = (0, begin);
        for (at, event) in events {
            match event {
                Event::Sent {
                    ue,
                    length,
                    octets,
                    began,
                } => {
                    if octets > 0 {
                        first_octet[ue].get_or_insert(at - length);
                    }
                    let length = Duration::from_secs_f64(length);
                    matcher.sent(&flow(ue), clock(at), length, octets, began);
                }
                Event::Arrived(report) => matcher.arrived(&NODE.into(), &report, clock(at)),
            }
            if at < next_update {
                continue;
            }
            next_update = at + 0.1;
            for change in matcher.update(clock(at)) {
                let ue_of = |address: IpAddr| (0..2).find(|ue| self::address(*ue) == address);
                match change {
                    Change::Bound(
                        address,
                        Match {
                            ue,
                            confidence,
                            lag,
                        },
                    ) => {
                        let index = ue_of(address).unwrap();
                        let right = UeKey {
                            node: NODE.into(),
                            ue: RUN_B[index],
                        };
                        assert_eq!(ue, right, "at {:.1} s", at - begin);
                        let after = at - first_octet[index].unwrap();
                        if found[index].is_none() {
                            println!(
                                "{early} s early: UE {} after {after:.2} s of traffic, confidence {confidence}, lag {lag:.3} s",
                                index + 1
                            );
                        }
                        found[index].get_or_insert(after);
                    }
                    Change::Unbound(address, why) => {
                        println!("{address} at {:.1} s: {why}", at - begin);
                        ended += 1;
                    }
                }
            }
        }
        for after in found {
            assert!(after.is_some_and(|after| after < 5.0), "{found:?}");
        }
        println!("bindings ended: {ended}");
    }
}
