//! The deciding core of a cell, in virtual time.

use policies::{GainParameters, GainPolicy, Note, UeId, UeReport};
use std::sync::Arc;
use std::time::Duration;
use xapp::cell::{Cell, DecisionRecord, Settings, Standing};
use xapp::guidance::FlowKey;
use xapp::guidance::hub::Notice;
use xapp::guidance::outbox::Outbox;
use xapp::guidance::registry::BoundFlow;
use xapp::ran::NodeId;

const UNIX_US: u64 = 1_796_061_400_000_000;
const CELL_PRBS: f64 = 84.8;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn settings() -> Settings {
    Settings {
        interval: ms(200),
        report_period: ms(50),
        valid_for: ms(600),
        ue_timeout: ms(10_000),
        target_factor: 0.9,
        gain: GainParameters::default(),
        shadow: None,
        rate_min_bps: 1e5,
        rate_max_bps: 1e9,
        peak_bps_per_prb: 1.4e6,
    }
}

fn report(rnti: u16, end: Duration, prbs: Option<f64>) -> UeReport {
    UeReport {
        ue: UeId::CRnti(rnti),
        start: end.saturating_sub(ms(50)),
        length: ms(50),
        ran_time_us: None,
        prbs,
        retx_prbs: None,
        cell_prbs: CELL_PRBS,
        used_prbs: None,
        mcs: None,
        tb_sent: None,
        tb_retx: None,
        tb_failed: None,
        sinr_db: None,
        cqi: None,
        delivered_bytes: Some(10_000),
        arrived_bytes: None,
        queue_bytes: Some(0),
        head_of_line: None,
        rlc_delay: None,
        slice: None,
    }
}

fn key(flow: &str) -> FlowKey {
    FlowKey {
        edge: "edge".into(),
        flow: flow.into(),
    }
}

fn flow(id: &str, rnti: u16) -> BoundFlow {
    BoundFlow {
        key: key(id),
        ue: UeId::CRnti(rnti),
        address: None,
        slice: None,
        wired: Duration::ZERO,
        frame_interval: None,
        policies: vec![GainPolicy::Rapid],
        current_rate_bps: None,
        last_sequence: 0,
        outbox: Arc::new(Outbox::new(8)),
    }
}

/// A cell, and the time that its core is told.
struct Bench {
    cell: Cell,
    now: Duration,
}

impl Bench {
    fn new() -> Self {
        Self {
            cell: Cell::new(NodeId("gnb".into()), settings()),
            now: ms(1000),
        }
    }

    /// The next report of each UE, 50 ms after the last, and the decisions that it brings.
    fn step(&mut self, ues: &[(u16, Option<f64>)]) -> Vec<DecisionRecord> {
        self.now += ms(50);
        let reports = ues
            .iter()
            .map(|(rnti, prbs)| report(*rnti, self.now, *prbs))
            .collect();
        self.cell.on_reports(reports, self.now);
        self.due()
    }

    fn due(&mut self) -> Vec<DecisionRecord> {
        if self.cell.due(self.now) {
            self.decide(UNIX_US + self.now.as_micros() as u64)
        } else {
            Vec::new()
        }
    }

    fn decide(&mut self, unix_us: u64) -> Vec<DecisionRecord> {
        self.cell.decide(self.now, unix_us)
    }

    /// Nothing comes until the core's deadline.
    fn silence(&mut self) -> Vec<DecisionRecord> {
        self.now = self.cell.deadline().expect("something is due");
        self.cell.expire(self.now);
        self.due()
    }
}

#[test]
fn every_interval_ends_with_the_report_that_completes_it() {
    let mut bench = Bench::new();
    bench.step(&[(1, Some(10.0)), (2, Some(20.0)), (3, Some(30.0))]);
    bench.cell.bind(flow("a", 1), 5e6, 0, bench.now);
    let mut rate = 5e6;
    for interval in 0..5 {
        for _ in 0..3 {
            let early = bench.step(&[(1, Some(10.0)), (2, Some(20.0)), (3, Some(30.0))]);
            assert!(early.is_empty(), "interval {interval}: {early:?}");
        }
        // Another UE's report does not end the interval of the guided one.
        bench.now += ms(1);
        bench
            .cell
            .on_reports(vec![report(2, bench.now, None)], bench.now);
        bench.now -= ms(1);
        let decided = bench.step(&[(1, Some(20.0)), (2, Some(20.0)), (3, Some(30.0))]);
        let [record] = &decided[..] else {
            panic!("interval {interval}: {decided:?}")
        };
        // Mean of 10, 10, 10 and 20 against 0.9 · 84.8 / 3.
        let target = 0.9 * CELL_PRBS / 3.0;
        rate -= 0.5 * 1e6 * (12.5 - target);
        assert_eq!(record.active_ues, 3);
        assert!((record.decision.target_prbs - target).abs() < 1e-9);
        assert!((record.decision.rate_bps - rate).abs() < 1.0);
        assert_eq!(record.report_age, Duration::ZERO);
        assert_eq!(record.note(), "");
    }
}

/// A report with all that Choir needs, of a window of this length.
fn full_report(rnti: u16, end: Duration, length: Duration) -> UeReport {
    UeReport {
        start: end.saturating_sub(length),
        length,
        retx_prbs: Some(1.0),
        used_prbs: Some(20.0),
        tb_sent: Some(10),
        tb_retx: Some(1),
        ..report(rnti, end, Some(10.0))
    }
}

#[test]
fn choir_decides_with_every_report_and_other_policies_at_the_end_of_the_interval() {
    let frequent = Settings {
        report_period: ms(10),
        ..settings()
    };
    let mut bench = Bench {
        cell: Cell::new(NodeId("gnb".into()), frequent),
        now: ms(1000),
    };
    let feed = |bench: &mut Bench| {
        bench.now += ms(10);
        let reports = [1, 2].map(|rnti| full_report(rnti, bench.now, ms(10)));
        bench.cell.on_reports(reports.to_vec(), bench.now);
        bench.due()
    };
    feed(&mut bench);
    let video = BoundFlow {
        policies: vec![GainPolicy::Choir, GainPolicy::Rapid],
        frame_interval: Some(Duration::from_micros(16_667)),
        ..flow("video", 1)
    };
    bench.cell.bind(video, 2e6, 0, bench.now);
    bench.cell.bind(flow("other", 2), 5e6, 0, bench.now);
    // The first interval's end chooses the policies.
    while feed(&mut bench).is_empty() {}
    let begin = bench.now;
    let mut decided = Vec::new();
    while bench.now < begin + ms(400) {
        decided.extend(feed(&mut bench));
    }
    let of = |name: &str| {
        decided
            .iter()
            .filter(|r| r.flow == key(name))
            .collect::<Vec<_>>()
    };
    let (video, other) = (of("video"), of("other"));
    assert_eq!((video.len(), other.len()), (40, 2));
    assert!(
        video
            .iter()
            .all(|r| r.policy == GainPolicy::Choir && r.reports.len() == 1)
    );
    assert!(
        other
            .iter()
            .all(|r| r.policy == GainPolicy::Rapid && r.reports.len() == 20)
    );
    let target = video.last().and_then(|r| r.decision.target_bitrate_bps);
    // 10,000 octets in 10 ms over 9 PRBs of new data; half of the cell; a tenth retransmitted.
    let expected = 0.95 * 8e6 / 9.0 * (CELL_PRBS / 2.0) / 1.1;
    assert!(
        target.is_some_and(|bps| (bps / expected - 1.0).abs() < 0.01),
        "{target:?}"
    );
    let said = bench
        .cell
        .take_notices()
        .into_iter()
        .find_map(|notice| match notice {
            Notice::Policy {
                policy: Some(GainPolicy::Choir),
                detail,
                ..
            } => Some(detail),
            _ => None,
        });
    assert_eq!(said.as_deref(), Some("a report every 10 ms"));
}

#[test]
fn choir_is_passed_over_where_reports_are_rare() {
    let mut bench = Bench::new();
    let video = BoundFlow {
        policies: vec![GainPolicy::Choir, GainPolicy::Rapid],
        ..flow("video", 1)
    };
    bench.step(&[(1, Some(10.0))]);
    bench.cell.bind(video, 2e6, 0, bench.now);
    let first = (0..4).flat_map(|_| bench.step(&[(1, Some(10.0))])).next();
    assert_eq!(first.map(|record| record.policy), Some(GainPolicy::Rapid));
    let said = bench
        .cell
        .take_notices()
        .into_iter()
        .find_map(|notice| match notice {
            Notice::Policy { detail, .. } => Some(detail),
            _ => None,
        });
    let said = said.expect("a policy was chosen");
    assert!(said.contains("choir needs"), "{said}");
    assert!(said.contains("a report at least every 10 ms"), "{said}");
}

#[test]
fn sequences_increase_even_when_the_wall_clock_is_set_back() {
    let mut bench = Bench::new();
    bench.step(&[(1, Some(10.0))]);
    let last_before_a_restart = UNIX_US + 7;
    bench
        .cell
        .bind(flow("a", 1), 5e6, last_before_a_restart, bench.now);
    let mut sequences = vec![last_before_a_restart];
    for unix_us in [UNIX_US, UNIX_US + 1_000_000, UNIX_US + 500_000, UNIX_US] {
        bench.step(&[(1, Some(10.0))]);
        sequences.extend(bench.decide(unix_us).iter().map(|r| r.sequence));
    }
    assert_eq!(sequences.len(), 5);
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
    assert_eq!(
        sequences[2],
        UNIX_US + 1_000_000,
        "Unix time where it can be"
    );
}

#[test]
fn without_reports_the_rate_stays_until_it_is_no_statement_about_now() {
    let mut bench = Bench::new();
    bench.step(&[(1, Some(10.0))]);
    bench.cell.bind(flow("a", 1), 5e6, 0, bench.now);
    let first = (0..4).flat_map(|_| bench.step(&[(1, Some(10.0))])).last();
    let rate = first.expect("decided").decision.rate_bps;
    let heard = bench.now;
    let mut silent = Vec::new();
    for _ in 0..5 {
        silent.extend(bench.silence());
    }
    assert_eq!(silent.len(), 2, "at 225 and 450 ms, not at 675 ms");
    for record in &silent {
        assert_eq!(record.decision.rate_bps, rate);
        assert_eq!(record.decision.note, Some(Note::NoReport));
        assert!(record.report_age < ms(600));
    }
    assert!(bench.now - heard > ms(1000));
    // Reports are back: so is guidance, from the rate that was held.
    let again = (0..4).flat_map(|_| bench.step(&[(1, Some(10.0))])).next();
    assert_eq!(again.expect("decided").previous_rate_bps, rate);
}

#[test]
fn a_silent_ue_is_gone_after_its_time_and_an_idle_cell_waits_for_nothing() {
    let mut bench = Bench::new();
    assert_eq!(bench.cell.deadline(), None);
    bench.step(&[(1, Some(10.0))]);
    assert_eq!(bench.cell.take_notices(), [Notice::UeUp(UeId::CRnti(1))]);
    assert_eq!(bench.cell.deadline(), Some(bench.now + ms(10_000)));
    bench.silence();
    assert_eq!(bench.cell.take_notices(), [Notice::UeDown(UeId::CRnti(1))]);
    assert!(bench.cell.ues(bench.now).is_empty());
    assert_eq!(bench.cell.deadline(), None);
}

#[test]
fn a_flow_whose_ran_gives_too_little_is_not_guided_and_the_reason_is_told() {
    let mut bench = Bench::new();
    bench.step(&[(1, None)]);
    bench.cell.bind(flow("a", 1), 5e6, 0, bench.now);
    bench.cell.take_notices();
    let decided = (0..4).flat_map(|_| bench.step(&[(1, None)])).count();
    assert_eq!(decided, 0);
    let notices = bench.cell.take_notices();
    let [
        Notice::Policy {
            flow,
            policy: None,
            detail,
            ..
        },
    ] = &notices[..]
    else {
        panic!("{notices:?}")
    };
    assert_eq!(*flow, key("a"));
    assert_eq!(
        detail,
        "no gain policy can run: rapid needs PRB use, which the RAN does not give"
    );
    // Told once, not every interval.
    for _ in 0..8 {
        bench.step(&[(1, None)]);
    }
    assert!(bench.cell.take_notices().is_empty());

    let decided = (0..4).flat_map(|_| bench.step(&[(1, Some(10.0))])).count();
    assert_eq!(decided, 1);
    assert_eq!(
        bench.cell.take_notices(),
        [Notice::Policy {
            flow: key("a"),
            policy: Some(GainPolicy::Rapid),
            detail: String::new(),
            standing: Standing::Chosen,
        }]
    );
}

#[test]
fn the_rate_is_bounded_by_the_peak_of_the_cell() {
    let mut bench = Bench::new();
    bench.step(&[(1, Some(0.0))]);
    bench.cell.bind(flow("a", 1), 5e6, 0, bench.now);
    let last = (0..100).flat_map(|_| bench.step(&[(1, Some(0.0))])).last();
    let last = last.expect("decided");
    assert!((last.decision.rate_bps - CELL_PRBS * 1.4e6).abs() < 1.0);
    assert_eq!(last.decision.note, Some(Note::AtCeiling));
}

#[test]
fn a_lost_ue_does_not_share_the_cell() {
    let mut bench = Bench::new();
    bench.step(&[(1, Some(10.0)), (2, Some(10.0))]);
    bench.cell.bind(flow("a", 1), 5e6, 0, bench.now);
    let lost = [UeId::CRnti(2)];
    assert_eq!(bench.cell.on_lost(lost.into_iter()), lost);
    assert!(bench.cell.on_lost(lost.into_iter()).is_empty(), "told once");
    let decided = (0..4).flat_map(|_| bench.step(&[(1, Some(10.0))])).last();
    assert_eq!(decided.expect("decided").active_ues, 1);
    let views = bench.cell.ues(bench.now);
    assert_eq!(views.iter().filter(|ue| ue.lost).count(), 1);
    // It is back.
    bench.step(&[(1, Some(10.0)), (2, Some(10.0))]);
    assert!(bench.cell.ues(bench.now).iter().all(|ue| !ue.lost));
}

#[test]
fn an_unbound_flow_and_a_node_that_is_gone_get_no_decisions() {
    let mut bench = Bench::new();
    bench.step(&[(1, Some(10.0))]);
    bench.cell.bind(flow("a", 1), 5e6, 0, bench.now);
    bench.cell.bind(flow("b", 1), 5e6, 0, bench.now);
    bench.cell.unbind(&key("a"));
    let decided: Vec<_> = (0..4)
        .flat_map(|_| bench.step(&[(1, Some(10.0))]))
        .collect();
    assert_eq!(decided.len(), 1);
    assert_eq!(decided[0].flow, key("b"));
    bench.cell.down();
    assert_eq!(bench.cell.deadline(), None);
    let after = (0..8).flat_map(|_| bench.step(&[(1, Some(10.0))])).count();
    assert_eq!(after, 0);
}

#[test]
fn an_event_without_a_report_does_not_end_the_interval() {
    let mut bench = Bench::new();
    bench.step(&[(1, Some(10.0))]);
    bench.cell.bind(flow("a", 1), 5e6, 0, bench.now);
    for _ in 0..3 {
        bench.step(&[(1, Some(10.0))]);
    }
    // The MAC part of the fourth report is here, its RLC part is not: the cell looks, and waits.
    bench.now += ms(50);
    assert!(bench.due().is_empty());
    bench.now -= ms(49);
    let decided = bench.step(&[(1, Some(10.0))]);
    assert_eq!(decided.len(), 1);
    assert_eq!(decided[0].report_age, Duration::ZERO);
}
