//! Choir's law: what must hold whatever the numbers are, and how it drains a queue.

mod common;

use policies::choir::{Choir, ChoirFlow, Guidance, InFlight, Parameters, PerTti, Tti};
use policies::{Controller, Interval, Note, RateBounds, Target, UeReport};
use proptest::prelude::*;
use std::time::Duration;

const TTI: Duration = Duration::from_micros(500);
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
const CELL_PRBS: f64 = 273.0;

/// A lone flow's base station and sender, as fluids: the cell carries `bps`, the sender sends frames at 1.25 times their
/// bitrate, `wired` away.
struct Loop {
    choir: PerTti,
    wired: Duration,
    bps: f64,
    queue_bits: f64,
    tti: u32,
    feedbacks: Vec<(Duration, f64)>,
    frames: Vec<(Duration, f64)>,
}

impl Loop {
    fn new(bps: f64, wired: Duration) -> Self {
        Self {
            choir: PerTti::new(Parameters::default(), TTI, wired),
            wired,
            bps,
            queue_bits: 0.0,
            tti: 0,
            feedbacks: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// Runs a TTI in which `extra_octets` arrive beside the video.
    fn step(&mut self, extra_octets: u64) -> Option<Guidance> {
        let begin = TTI * self.tti;
        self.tti += 1;
        let now = TTI * self.tti;
        if self.frames.len() as u32 <= begin.as_nanos().div_euclid(FRAME.as_nanos()) as u32 {
            let heard = self
                .feedbacks
                .iter()
                .rev()
                .find(|f| f.0 + self.wired <= begin);
            self.frames
                .push((begin + self.wired, heard.map_or(1e6, |f| f.1)));
        }
        let sending = self.frames.iter().rev().find(|f| f.0 <= begin);
        let arriving = sending.filter(|f| begin - f.0 < FRAME.mul_f64(0.8));
        let video = arriving.map_or(0.0, |f| f.1 * 1.25 * TTI.as_secs_f64());
        self.queue_bits += video + extra_octets as f64 * 8.0;
        let most = self.bps * TTI.as_secs_f64();
        let served = self.queue_bits.min(most);
        self.queue_bits -= served;
        let prbs = (served / most * CELL_PRBS).ceil();
        self.choir.observe(&Tti {
            now,
            downlink: true,
            cell_prbs: CELL_PRBS,
            used_prbs: prbs,
            own_prbs: prbs,
            first_prbs: prbs,
            block_octets: (prbs / CELL_PRBS * most / 8.0) as u64,
            user_octets: (served / 8.0) as u64,
            blocks: u64::from(served > 0.0),
            retransmissions: 0,
            active: 1,
            total: 1,
            queue_octets: (self.queue_bits / 8.0) as u64,
            arrived_octets: (video / 8.0) as u64 + extra_octets,
        });
        let guidance = self.choir.feedback(now)?;
        self.feedbacks.push((now, guidance.guided_bps));
        Some(guidance)
    }
}

#[test]
fn settles_at_the_guarded_bandwidth_with_an_empty_queue_whatever_the_wired_delay() {
    for wired_ms in [1, 10, 20] {
        let mut l = Loop::new(50e6, Duration::from_millis(wired_ms));
        let last: Vec<Guidance> = (0..4000).filter_map(|_| l.step(0)).collect();
        for guidance in &last[2000..] {
            assert!(
                (0.9..=0.951).contains(&(guidance.guided_bps / 50e6)),
                "{wired_ms} ms: {guidance:?}"
            );
            assert_eq!(guidance.queue_octets, 0.0);
            assert_eq!(
                guidance.frames,
                (2.0 * wired_ms as f64 / 16.666).floor() as u32 + 1
            );
            assert!(
                (guidance.frame_interval_s - FRAME.as_secs_f64()).abs() < 3e-4,
                "{guidance:?}"
            );
        }
    }
}

#[test]
fn a_queue_of_100_kb_is_drained_within_the_interval_of_the_first_frame_that_can_react() {
    let mut l = Loop::new(60e6, Duration::from_millis(1));
    for _ in 0..2000 {
        l.step(0);
    }
    l.step(100_000);
    // The least queue of a whole frame interval has to show it first: the frame after that is the first one to react.
    let begin = TTI * l.tti;
    while l.frames.last().is_some_and(|frame| frame.1 > 30e6) {
        l.step(0);
        assert!(TTI * l.tti < begin + 3 * FRAME, "no frame reacts");
    }
    let mut least = f64::INFINITY;
    for _ in 0..FRAME.as_micros() / TTI.as_micros() {
        l.step(0);
        least = least.min(l.queue_bits / 8.0);
    }
    assert!(least < 1_000.0, "{least} octets stay");
    // And the bitrate comes back at once.
    for _ in 0..2 * FRAME.as_micros() / TTI.as_micros() {
        l.step(0);
    }
    assert!(
        l.frames.last().is_some_and(|frame| frame.1 > 53e6),
        "{:?}",
        l.frames.last()
    );
}

#[test]
fn a_retransmission_rate_and_other_users_lower_the_bandwidth() {
    let bandwidth = |retransmissions: u64, used: f64, own: f64, active: u32| {
        let mut choir = PerTti::new(Parameters::default(), TTI, Duration::from_millis(1));
        for i in 1..=400 {
            choir.observe(&Tti {
                now: TTI * i,
                downlink: i % 5 != 0,
                cell_prbs: CELL_PRBS,
                used_prbs: used,
                own_prbs: own,
                first_prbs: own,
                block_octets: 100 * own as u64,
                user_octets: 97 * own as u64,
                blocks: 10,
                retransmissions,
                active,
                total: 4,
                queue_octets: 0,
                arrived_octets: 1000,
            });
        }
        choir.feedback(TTI * 400).expect("known").bandwidth_bps
    };
    // A PRB carries 97 octets of user data per TTI, four of five TTIs are downlink.
    let prb = 97.0 * 8.0 / TTI.as_secs_f64() * 0.8;
    assert!((bandwidth(0, 100.0, 100.0, 1) / (CELL_PRBS * prb) - 1.0).abs() < 1e-3);
    assert!((bandwidth(1, 100.0, 100.0, 1) / (CELL_PRBS * prb / 1.1) - 1.0).abs() < 1e-3);
    let shared = 100.0 + 73.0 / 2.0;
    assert!((bandwidth(0, 200.0, 100.0, 2) / (shared * prb) - 1.0).abs() < 1e-3);
    // No flow is told less than its part of the cell.
    assert!((bandwidth(0, 273.0, 10.0, 4) / (CELL_PRBS / 4.0 * prb) - 1.0).abs() < 1e-3);
}

fn flow(period_ms: u64) -> ChoirFlow {
    ChoirFlow {
        report_period: Duration::from_millis(period_ms),
        e2_delay: Duration::from_millis(1),
        wired: Duration::from_millis(1),
        frame_interval: Some(FRAME),
    }
}

const BOUNDS: RateBounds = RateBounds {
    min_bps: 1e5,
    max_bps: 1e9,
};

fn interval<'a>(reports: &'a [UeReport], now: Duration) -> Interval<'a> {
    Interval {
        now,
        reports,
        target: Target {
            factor: 0.9,
            cell_prbs: 200.0,
            active_flows: 2,
        },
        bounds: BOUNDS,
    }
}

#[test]
fn over_e2_the_guidance_is_the_share_of_the_cell_at_what_a_prb_carries() {
    let period = Duration::from_millis(5);
    let mut choir = Choir::new(Parameters::default(), flow(5), 2e6);
    let mut decision = None;
    for i in 1..100 {
        let report = UeReport {
            retx_prbs: Some(10.0),
            tb_sent: Some(10),
            tb_retx: Some(1),
            // 50 PRBs of new data at 300 kbit/s each.
            delivered_bytes: Some((50.0 * 300e3 / 8.0 * 0.005) as u64),
            queue_bytes: Some(0),
            used_prbs: Some(150.0),
            ..common::report(period * i, period, Some(60.0))
        };
        decision = Some(choir.decide(&interval(&[report], period * i)));
    }
    let decision = decision.unwrap();
    // 60 used, half of the 50 idle ones, 10 % retransmissions; never less than half of the cell.
    let bandwidth: f64 = 100.0 * 300e3 / 1.1;
    assert!(
        (decision.rate_bps / (0.95 * bandwidth) - 1.0).abs() < 1e-3,
        "{decision:?}"
    );
    assert_eq!(decision.target_bitrate_bps, Some(decision.rate_bps));
    assert_eq!(decision.pacing_rate_bps, Some(1.25 * decision.rate_bps));
    assert_eq!((decision.prbs, decision.target_prbs), (Some(60.0), 100.0));
    assert_eq!(decision.note, None);
}

#[test]
fn over_e2_a_report_without_its_queue_changes_nothing() {
    let period = Duration::from_millis(5);
    let mut choir = Choir::new(Parameters::default(), flow(5), 2e6);
    let report = common::report(period, period, Some(60.0));
    let decision = choir.decide(&interval(&[report], period));
    assert_eq!(
        (decision.rate_bps, decision.note),
        (2e6, Some(Note::NoReport))
    );
    assert_eq!(decision.target_bitrate_bps, None);
}

proptest! {
    #[test]
    fn never_guides_above_eta_times_the_bandwidth(
        ttis in prop::collection::vec(
            (any::<bool>(), 0u64..=273, 0u64..=273, 0u64..60_000, 0u64..4, 0u32..20, 0u64..2_000_000, 0u64..100_000),
            1..400,
        ),
        wired_ms in 0u64..60,
        printed in any::<bool>(),
    ) {
        let in_flight = if printed { InFlight::Printed } else { InFlight::Causal };
        let parameters = Parameters { in_flight, ..Parameters::default() };
        let mut choir = PerTti::new(parameters, TTI, Duration::from_millis(wired_ms));
        for (i, (downlink, own, others, octets, retransmissions, active, queue, arrived)) in ttis.into_iter().enumerate() {
            let now = TTI * (i as u32 + 1);
            choir.observe(&Tti {
                now,
                downlink,
                cell_prbs: CELL_PRBS,
                used_prbs: (own + others) as f64,
                own_prbs: own as f64,
                first_prbs: own as f64,
                block_octets: octets,
                user_octets: octets,
                blocks: 1,
                retransmissions,
                active,
                total: active,
                queue_octets: queue,
                arrived_octets: arrived,
            });
            if let Some(g) = choir.feedback(now) {
                prop_assert!(g.guided_bps.is_finite() && g.guided_bps >= 0.0, "{g:?}");
                prop_assert!(g.guided_bps <= 0.95 * g.bandwidth_bps, "{g:?}");
                prop_assert!(g.draining_bps >= 0.0, "{g:?}");
            }
        }
    }

    #[test]
    fn over_e2_decisions_stay_usable_whatever_the_reports(
        reports in prop::collection::vec(
            (prop::num::f64::ANY, prop::option::of(0u64..1 << 40), prop::option::of(any::<u64>()), 0u64..100, 0u64..100, 0u64..20),
            1..60,
        ),
        cell_prbs in prop::num::f64::ANY,
        used in prop::option::of(prop::num::f64::ANY),
        active_flows in 0u32..100,
    ) {
        let mut choir = Choir::new(Parameters::default(), flow(5), 2e6);
        let mut now = Duration::ZERO;
        for (prbs, delivered, queue, sent, retransmitted, length_ms) in reports {
            let length = Duration::from_millis(length_ms);
            now += length;
            let report = UeReport {
                delivered_bytes: delivered,
                queue_bytes: queue.map(|q| q >> 20),
                tb_sent: Some(sent),
                tb_retx: Some(retransmitted),
                used_prbs: used,
                ..common::report(now, length, Some(prbs))
            };
            let reports = [report];
            let decision = choir.decide(&Interval {
                target: Target { factor: 0.9, cell_prbs, active_flows },
                ..interval(&reports, now)
            });
            prop_assert!((BOUNDS.min_bps..=BOUNDS.max_bps).contains(&decision.rate_bps), "{decision:?}");
            if let Some(g) = choir.guidance() {
                prop_assert!(g.guided_bps <= 0.95 * g.bandwidth_bps, "{g:?}");
            }
        }
    }
}
