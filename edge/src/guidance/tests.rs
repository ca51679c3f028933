use super::*;
use crate::fallback::SafeRate;
use proptest::prelude::*;

const VALID: Duration = Duration::from_millis(100);

fn ms(v: u64) -> Duration {
    Duration::from_millis(v)
}

fn guidance(sequence: u64, rate_bps: u64) -> pb::Guidance {
    pb::Guidance {
        flow_id: "f".into(),
        sequence,
        rate_bps,
        valid_for_us: VALID.as_micros() as u64,
        target_bitrate_bps: rate_bps / 2,
        reason: Some(pb::Reason {
            controller: "rapid".into(),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Starts at 4 Mbit/s, the safe rate is 1 Mbit/s with a half-life of 50 ms, a ramp doubles in 100 ms.
fn flow() -> FlowGuidance {
    let settings = FlowSettings {
        start_rate_bps: 4e6,
        ..Default::default()
    };
    FlowGuidance::new(
        settings,
        Box::new(SafeRate::new(1e6, ms(50))),
        Duration::ZERO,
    )
}

/// (phase, rate) at a time.
fn at(flow: &mut FlowGuidance, now: Duration) -> (Phase, f64) {
    let pacing = flow.pacing(now);
    (pacing.phase, pacing.rate_bps)
}

#[test]
fn without_any_guidance_the_fallback_rules_from_the_start_rate() {
    let mut flow = flow();
    assert_eq!(at(&mut flow, ms(0)), (Phase::Waiting, 4e6));
    assert_eq!(at(&mut flow, ms(50)), (Phase::Waiting, 2.5e6));
    assert_eq!(at(&mut flow, ms(5_000)), (Phase::Waiting, 1e6));
    assert_eq!(flow.next_change(ms(5_000)), None);
}

#[test]
fn guidance_holds_for_its_time_is_held_as_long_again_and_then_falls_back() {
    let mut flow = flow();
    assert_eq!(
        flow.receive(guidance(7, 3_000_000), ms(0)),
        Outcome::Accepted
    );
    assert_eq!(at(&mut flow, ms(99)), (Phase::Guided, 3e6));
    assert_eq!(flow.next_change(ms(99)), Some(ms(100)));
    assert_eq!(at(&mut flow, ms(100)), (Phase::Holding, 3e6));
    assert_eq!(flow.next_change(ms(100)), Some(ms(200)));
    assert_eq!(at(&mut flow, ms(199)), (Phase::Holding, 3e6));
    assert_eq!(at(&mut flow, ms(200)), (Phase::Fallback, 3e6));
    assert_eq!(at(&mut flow, ms(250)), (Phase::Fallback, 2e6));
}

#[test]
fn a_late_look_gives_the_same_as_looking_all_the_time() {
    let (mut late, mut watched) = (flow(), flow());
    for flow in [&mut late, &mut watched] {
        flow.receive(guidance(1, 3_000_000), ms(0));
    }
    for now in 0..300 {
        watched.pacing(ms(now));
    }
    assert_eq!(late.pacing(ms(300)), watched.pacing(ms(300)));
}

#[test]
fn what_guidance_says_besides_the_rate_ends_with_its_validity() {
    let mut flow = flow();
    flow.receive(guidance(1, 3_000_000), ms(0));
    let valid = flow.pacing(ms(50));
    assert_eq!(valid.target_bitrate_bps, Some(1.5e6));
    assert_eq!(valid.pacing_rate_bps, None);
    assert_eq!(valid.reason.map(|r| r.controller), Some("rapid".into()));
    let held = flow.pacing(ms(150));
    assert_eq!((held.target_bitrate_bps, held.reason), (None, None));
    assert_eq!(held.sequence, 1);
}

#[test]
fn older_and_equal_sequences_are_dropped_and_do_not_prolong_validity() {
    let mut flow = flow();
    flow.receive(guidance(5, 3_000_000), ms(0));
    assert_eq!(flow.receive(guidance(5, 1_000_000), ms(60)), Outcome::Old);
    assert_eq!(flow.receive(guidance(4, 1_000_000), ms(70)), Outcome::Old);
    assert_eq!(at(&mut flow, ms(99)), (Phase::Guided, 3e6));
    assert_eq!(at(&mut flow, ms(100)), (Phase::Holding, 3e6));
    // Not even in fallback: it is old news.
    assert_eq!(flow.receive(guidance(5, 3_000_000), ms(400)), Outcome::Old);
    assert_eq!(at(&mut flow, ms(400)).0, Phase::Fallback);
    assert_eq!(
        flow.counters(),
        Counters {
            accepted: 1,
            old: 3,
            invalid: 0
        }
    );
}

#[test]
fn guidance_without_validity_is_refused_and_one_for_ever_is_limited() {
    let mut flow = flow();
    let mut none = guidance(1, 3_000_000);
    none.valid_for_us = 0;
    assert_eq!(flow.receive(none, ms(0)), Outcome::Invalid);
    let mut ever = guidance(1, 3_000_000);
    ever.valid_for_us = u64::MAX;
    assert_eq!(flow.receive(ever, ms(0)), Outcome::Accepted);
    assert_eq!(at(&mut flow, ms(10_000)).0, Phase::Holding);
    assert_eq!(at(&mut flow, ms(20_000)).0, Phase::Fallback);
}

#[test]
fn after_fallback_the_rate_doubles_at_most_every_100_ms_until_it_is_guided_again() {
    let mut flow = flow();
    flow.receive(guidance(1, 1_000_000), ms(0));
    assert_eq!(at(&mut flow, ms(1_000)), (Phase::Fallback, 1e6));
    for (sequence, now) in (2..).zip((1_000..=1_200).step_by(50)) {
        flow.receive(guidance(sequence, 6_000_000), ms(now));
    }
    let (phase, rate) = at(&mut flow, ms(1_200));
    assert_eq!(phase, Phase::Ramping);
    assert!((rate - 4e6).abs() < 10.0, "{rate}");
    assert_eq!(at(&mut flow, ms(1_260)), (Phase::Guided, 6e6));
    // Guided again: steps of the controller are followed at once.
    flow.receive(guidance(20, 12_000_000), ms(1_270));
    assert_eq!(at(&mut flow, ms(1_270)), (Phase::Guided, 12e6));
}

#[test]
fn lower_guidance_after_fallback_is_followed_at_once() {
    let mut flow = flow();
    flow.receive(guidance(1, 1_000_000), ms(0));
    at(&mut flow, ms(1_000));
    flow.receive(guidance(2, 300_000), ms(1_000));
    assert_eq!(at(&mut flow, ms(1_000)), (Phase::Guided, 3e5));
}

#[test]
fn a_ramp_that_loses_its_guidance_holds_where_it_was_and_goes_on_from_there() {
    let mut flow = flow();
    flow.receive(guidance(1, 1_000_000), ms(0));
    at(&mut flow, ms(1_000));
    flow.receive(guidance(2, 64_000_000), ms(1_000));
    assert_eq!(at(&mut flow, ms(1_150)), (Phase::Holding, 2e6));
    flow.receive(guidance(3, 64_000_000), ms(1_150));
    assert_eq!(at(&mut flow, ms(1_150)), (Phase::Ramping, 2e6));
}

#[test]
fn rates_stay_within_the_bounds_whoever_gives_them() {
    let mut flow = flow();
    flow.receive(guidance(1, 0), ms(0));
    assert_eq!(at(&mut flow, ms(1)), (Phase::Guided, 64e3));
    flow.receive(guidance(2, u64::MAX), ms(1));
    assert_eq!(at(&mut flow, ms(1)), (Phase::Guided, 10e9));
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Guide {
        sequence: u64,
        rate: u64,
        valid_us: u64,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0u64..400_000).prop_map(Step::Wait),
        (0u64..40, 0u64..1 << 40, 0u64..300_000).prop_map(|(sequence, rate, valid_us)| {
            Step::Guide {
                sequence,
                rate,
                valid_us,
            }
        }),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    /// Whatever comes and whenever one looks: a flow that calls itself guided applies the newest accepted
    /// guidance within its validity, one that holds does so within twice of it, and rates keep their bounds.
    #[test]
    fn guidance_is_never_applied_beyond_its_time(steps in steps()) {
        let mut flow = flow();
        let mut now = Duration::ZERO;
        let mut newest: Option<(u64, u64, Duration, Duration)> = None;
        let mut previous = flow.pacing(now);
        for step in steps {
            match step {
                Step::Wait(us) => now += Duration::from_micros(us),
                Step::Guide { sequence, rate, valid_us } => {
                    let message = pb::Guidance { valid_for_us: valid_us, ..guidance(sequence, rate) };
                    let newer = newest.is_none_or(|(s, ..)| sequence > s) && valid_us > 0;
                    prop_assert_eq!(flow.receive(message, now) == Outcome::Accepted, newer);
                    if newer {
                        newest = Some((sequence, rate, now, Duration::from_micros(valid_us)));
                    }
                }
            }
            let pacing = flow.pacing(now);
            prop_assert!((64e3..=10e9).contains(&pacing.rate_bps));
            if let Some(next) = flow.next_change(now) {
                prop_assert!(next > now);
            }
            let Some((sequence, rate, received, valid)) = newest else {
                prop_assert_eq!(pacing.phase, Phase::Waiting);
                continue;
            };
            prop_assert_eq!(pacing.sequence, sequence);
            let age = now - received;
            match pacing.phase {
                Phase::Guided => {
                    prop_assert!(age < valid);
                    prop_assert_eq!(pacing.rate_bps, (rate as f64).clamp(64e3, 10e9));
                }
                Phase::Ramping => {
                    prop_assert!(age < valid);
                    prop_assert!(pacing.rate_bps <= (rate as f64).clamp(64e3, 10e9));
                }
                Phase::Holding => prop_assert!(age >= valid && age < 2 * valid),
                Phase::Fallback => prop_assert!(age >= 2 * valid),
                Phase::Waiting => prop_assert!(false, "guidance had come"),
            }
            if previous.phase == Phase::Fallback && pacing.phase == Phase::Guided {
                prop_assert!(pacing.rate_bps <= previous.rate_bps);
            }
            previous = pacing;
        }
    }
}
