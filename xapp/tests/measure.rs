//! Cumulative MAC and RLC counters become reports over windows: wraps, resets, late and missing reports, lost UEs.

use e2sm::flexric::{MacUe, RlcBearer, Stats};
use policies::{UeId, UeReport};
use std::time::Duration;
use xapp::{
    measure::{CellConfig, DownlinkShare, NodeMeasurements, Reason},
    ran::ServiceModel,
};

const START_US: i64 = 1_796_061_400_000_000;

/// A node that reports every 100 ms; `ms` is its time.
struct Node {
    measurements: NodeMeasurements,
}

impl Node {
    fn new() -> Self {
        Self::with(CellConfig::default())
    }

    fn with(config: CellConfig) -> Self {
        Self {
            measurements: NodeMeasurements::new(config),
        }
    }

    fn mac(&mut self, ms: i64, ues: &[MacUe]) -> Vec<UeReport> {
        let slots = ms * 2 + 7;
        let records = ues.iter().map(|ue| MacUe {
            frame: (slots / 20 % 1024) as u16,
            slot: (slots % 20) as u16,
            ..ue.clone()
        });
        self.mac_as_is(ms, records.collect())
    }

    fn mac_as_is(&mut self, ms: i64, records: Vec<MacUe>) -> Vec<UeReport> {
        let message = Stats {
            records,
            tstamp_us: START_US + ms * 1000,
        };
        self.give(ServiceModel::Mac, ms, &message.encode())
    }

    /// The RLC report of a tick is made 1 ms after the MAC report.
    fn rlc(&mut self, ms: i64, records: Vec<RlcBearer>) -> Vec<UeReport> {
        let message = Stats {
            records,
            tstamp_us: START_US + ms * 1000 + 1000,
        };
        self.give(ServiceModel::Rlc, ms + 1, &message.encode())
    }

    fn give(&mut self, model: ServiceModel, ms: i64, message: &[u8]) -> Vec<UeReport> {
        let received = Duration::from_millis(ms as u64 + 5000);
        self.measurements
            .on_indication(model, &[0; 4], message, received)
            .unwrap()
    }

    fn quarantined(&self, reason: Reason) -> u64 {
        self.measurements
            .counters()
            .quarantined
            .get(&reason)
            .copied()
            .unwrap_or(0)
    }
}

fn mac(sent: u32, prb: u32) -> MacUe {
    MacUe {
        rnti: 0xf0db,
        dl_harq: [sent, 0, 0, 0, 0],
        dl_aggr_prb: prb,
        dl_aggr_tbs: u64::from(prb) * 90,
        dl_mcs1: 28,
        ..MacUe::default()
    }
}

fn rlc(delivered: u64, queue: u32) -> RlcBearer {
    RlcBearer {
        rnti: 0xf0db,
        rbid: 1,
        txsdu_bytes: delivered,
        rxsdu_bytes: delivered + u64::from(queue),
        txbuf_occ_bytes: queue,
        txsdu_wt_us: queue / 10,
        ..RlcBearer::default()
    }
}

#[test]
fn a_window_joins_mac_and_rlc_of_one_tick() {
    let mut node = Node::new();
    assert!(
        node.mac(0, &[mac(1000, 50_000)]).is_empty(),
        "no window yet"
    );
    node.rlc(0, vec![rlc(1_000_000, 0)]);
    let mut end = mac(1120, 61_000);
    end.dl_aggr_retx_prb = 1400;
    end.dl_harq = [1120, 13, 1, 0, 0];
    end.wb_cqi = 13;
    assert!(node.mac(100, &[end]).is_empty(), "waits for its RLC report");
    let reports = node.rlc(100, vec![rlc(2_000_000, 20_000)]);
    let [report] = &reports[..] else {
        panic!("{reports:?}")
    };
    assert_eq!(report.ue, UeId::CRnti(0xf0db));
    assert_eq!(report.length, Duration::from_millis(100));
    assert_eq!(report.end(), Duration::from_millis(5100));
    assert_eq!(report.ran_time_us, Some(START_US + 100_000));
    // 11,000 new and 1,400 repeated PRBs in 200 slots.
    assert_eq!((report.prbs, report.retx_prbs), (Some(62.0), Some(7.0)));
    assert!((report.cell_prbs - 84.8).abs() < 1e-9);
    assert_eq!(
        (report.tb_sent, report.tb_retx, report.tb_failed),
        (Some(120), Some(14), Some(0))
    );
    assert_eq!((report.mcs, report.cqi), (Some(28.0), Some(13)));
    assert_eq!(
        (report.delivered_bytes, report.arrived_bytes),
        (Some(1_000_000), Some(1_020_000))
    );
    assert_eq!(report.throughput_bps(), Some(80e6));
    assert_eq!(
        (report.queue_bytes, report.head_of_line),
        (Some(20_000), Some(Duration::from_millis(2)))
    );
}

#[test]
fn without_rlc_reports_nothing_is_waited_for() {
    let mut node = Node::new();
    node.mac(0, &[mac(0, 0)]);
    let reports = node.mac(100, &[mac(10, 1000)]);
    assert_eq!((reports[0].prbs, reports[0].queue_bytes), (Some(5.0), None));
}

/// Some near-RT RICs let indications overtake each other: the RLC report of a tick may come first.
#[test]
fn rlc_may_come_before_mac() {
    let mut node = Node::new();
    for tick in 0..5 {
        node.rlc(100 * tick, vec![rlc(1000 * tick as u64, 0)]);
        let reports = node.mac(100 * tick, &[mac(10 * tick as u32, 1000 * tick as u32)]);
        if tick >= 2 {
            assert_eq!(reports[0].delivered_bytes, Some(1000), "tick {tick}");
            assert_eq!(reports[0].prbs, Some(5.0));
        }
    }
}

/// … or a whole tick late, as may the MAC reports: every octet and PRB still counts, and counts once.
#[test]
fn overtaking_loses_nothing() {
    let mut node = Node::new();
    let mut reports = Vec::new();
    let (prb, octets) = (
        |tick: i64| 1000 * tick as u32,
        |tick: i64| 5000 * tick as u64,
    );
    // By tick; the period is known after a few.
    let order = [0, 1, 2, 3, 5, 4, 6, 8, 7, 10, 9, 11, 12];
    for (at, tick) in order.into_iter().enumerate() {
        reports.extend(node.mac(100 * tick, &[mac(0, prb(tick))]));
        // RLC reports are one place behind.
        if let Some(before) = at.checked_sub(1) {
            let before = order[before];
            reports.extend(node.rlc(100 * before, vec![rlc(octets(before), 0)]));
        }
    }
    // Before the first RLC report none is waited for.
    assert_eq!(reports.remove(0).delivered_bytes, None);
    let seconds: f64 = reports.iter().map(|r| r.length.as_secs_f64()).sum();
    let delivered: Vec<_> = reports.iter().filter_map(|r| r.delivered_bytes).collect();
    assert_eq!(delivered.len(), reports.len());
    let expected = 50_000.0 * seconds;
    let sum = delivered.iter().sum::<u64>() as f64;
    assert!(
        (sum - expected).abs() < 1.0,
        "{sum} of {expected}: {reports:?}"
    );
    assert!(reports.iter().all(|r| r.prbs == Some(5.0)), "{reports:?}");
    assert!((0.9..=1.1).contains(&seconds), "{seconds}");
}

/// A tick whose RLC report is missing is not reported by halves: the next report covers both ticks.
#[test]
fn a_missing_rlc_report_makes_one_longer_window() {
    let mut node = Node::new();
    for tick in 0..2 {
        node.mac(100 * tick, &[mac(0, 1000 * tick as u32)]);
        node.rlc(100 * tick, vec![rlc(1000 * tick as u64, 0)]);
    }
    assert!(node.mac(200, &[mac(0, 2000)]).is_empty());
    assert!(node.mac(300, &[mac(0, 3000)]).is_empty());
    let reports = node.rlc(300, vec![rlc(3000, 0)]);
    assert_eq!(reports[0].length, Duration::from_millis(200));
    assert_eq!(
        (reports[0].prbs, reports[0].delivered_bytes),
        (Some(5.0), Some(2000))
    );
}

/// When RLC reports end, MAC reports go on without them.
#[test]
fn rlc_that_ends_does_not_hold_up_mac() {
    let mut node = Node::new();
    for tick in 0..3 {
        node.mac(100 * tick, &[mac(0, 1000 * tick as u32)]);
        node.rlc(100 * tick, vec![rlc(0, 0)]);
    }
    let reports: Vec<_> = (3..11)
        .flat_map(|tick| node.mac(100 * tick, &[mac(0, 1000 * tick as u32)]))
        .collect();
    assert!(reports.len() >= 3, "{}", reports.len());
    assert!(
        reports
            .iter()
            .all(|r| r.prbs == Some(5.0) && r.queue_bytes.is_none())
    );
}

/// Delayed timers fire at once: windows of less than two slots would show all PRBs or none.
#[test]
fn reports_that_pile_up_are_merged() {
    let mut node = Node::new();
    node.mac(0, &[mac(0, 0)]);
    assert!(
        node.mac_as_is(0, vec![mac(1, 106)]).is_empty(),
        "the same tick again"
    );
    let mut late = mac(1, 106);
    late.slot = 1;
    let message = Stats {
        records: vec![late],
        tstamp_us: START_US + 60,
    };
    assert!(
        node.give(ServiceModel::Mac, 0, &message.encode())
            .is_empty()
    );
    let reports = node.mac(100, &[mac(11, 1060)]);
    assert_eq!(reports[0].prbs, Some(5.3));
    assert_eq!(reports[0].tb_sent, Some(11));
}

/// A radio that falls behind gives fewer slots: PRB use is per slot that was, not per slot that should have been.
#[test]
fn slots_are_counted_not_computed() {
    let mut node = Node::new();
    node.mac(0, &[mac(0, 0)]);
    let mut end = mac(91, 180 * 50);
    (end.frame, end.slot) = (9, 7);
    let reports = node.mac_as_is(100, vec![end]);
    assert_eq!(reports[0].prbs, Some(50.0), "180 slots in 100 ms");
}

#[test]
fn frame_numbers_wrap() {
    let mut node = Node::new();
    let ms = 10_240 - 50;
    node.mac(ms, &[mac(0, 0)]);
    assert_eq!(node.mac(ms + 100, &[mac(1, 1000)])[0].prbs, Some(5.0));
}

/// Newer OAI says slot 0 always: then the time stamps count.
#[test]
fn without_slot_numbers_the_clock_counts() {
    let mut node = Node::new();
    let with_frame = |frame, prb| MacUe {
        frame,
        ..mac(0, prb)
    };
    node.mac_as_is(0, vec![with_frame(0, 0)]);
    let reports = node.mac_as_is(95, vec![with_frame(10, 950)]);
    assert_eq!(reports[0].prbs, Some(5.0), "190 slots in 95 ms");
}

#[test]
fn counters_wrap_at_32_bits() {
    let mut node = Node::new();
    let before = MacUe {
        dl_aggr_tbs: 0,
        ..mac(u32::MAX - 4, u32::MAX - 500)
    };
    let after = MacUe {
        dl_aggr_tbs: 90_000,
        ..mac(5, 499)
    };
    node.mac(0, &[before]);
    let reports = node.mac(100, &[after]);
    assert_eq!((reports[0].prbs, reports[0].tb_sent), (Some(5.0), Some(10)));
    assert_eq!(node.measurements.counters().resets, 0);
}

/// A counter that falls by more than a wrap explains began anew: no report over that window, the next is good.
#[test]
fn a_reset_costs_one_window() {
    let mut node = Node::new();
    node.mac(0, &[mac(5000, 500_000)]);
    assert!(node.mac(100, &[mac(3, 100)]).is_empty());
    assert_eq!(node.measurements.counters().resets, 1);
    assert_eq!(node.mac(200, &[mac(13, 1100)])[0].prbs, Some(5.0));
}

/// A re-established RLC entity counts from 0 while MAC goes on.
#[test]
fn an_rlc_reset_hides_only_what_rlc_counts() {
    let mut node = Node::new();
    for (tick, delivered) in [(0, 5_000_000), (1, 6_000_000), (2, 500), (3, 1500)] {
        node.mac(100 * tick, &[mac(0, 1000 * tick as u32)]);
        let reports = node.rlc(100 * tick, vec![rlc(delivered, 10)]);
        match tick {
            2 => assert_eq!(
                (reports[0].delivered_bytes, reports[0].queue_bytes),
                (None, Some(10))
            ),
            3 => assert_eq!(reports[0].delivered_bytes, Some(1000)),
            _ => {}
        }
        assert!(tick == 0 || reports[0].prbs == Some(5.0));
    }
}

#[test]
fn a_new_ue_is_reported_from_its_second_record() {
    let mut node = Node::new();
    let second = |prb| MacUe {
        rnti: 0x1234,
        ..mac(0, prb)
    };
    node.mac(0, &[mac(0, 0)]);
    assert_eq!(node.mac(100, &[mac(0, 1000), second(70_000)]).len(), 1);
    let reports = node.mac(200, &[mac(0, 2000), second(71_000)]);
    assert_eq!(
        reports.iter().map(|r| r.prbs).collect::<Vec<_>>(),
        [Some(5.0), Some(5.0)]
    );
}

/// The record of a UE that is gone stays in the reports, with its queue growing: it must not look like one with room.
#[test]
fn a_lost_ue_is_recognised_and_no_longer_reported() {
    let mut node = Node::new();
    let mut reported = Vec::new();
    for tick in 0..20 {
        let counted = mac(10 * tick.min(5) as u32, 1000 * tick.min(5) as u32);
        node.mac(100 * tick, &[counted]);
        let queue = 1000 * (tick - 4).max(0) as u32;
        reported.extend(
            node.rlc(100 * tick, vec![rlc(0, queue)])
                .into_iter()
                .map(|_| tick),
        );
    }
    let lost: Vec<_> = node.measurements.lost_ues().collect();
    assert_eq!(lost, [UeId::CRnti(0xf0db)]);
    assert_eq!(
        reported,
        (1..10).collect::<Vec<_>>(),
        "still since tick 5, lost 500 ms later"
    );
    assert_eq!(node.measurements.counters().lost, 1);
    // It comes back.
    node.mac(2000, &[mac(60, 6000)]);
    assert_eq!(node.rlc(2000, vec![rlc(0, 0)])[0].prbs, Some(5.0));
    assert_eq!(node.measurements.lost_ues().count(), 0);
}

/// An idle UE is no lost UE.
#[test]
fn standing_still_with_an_empty_queue_is_idle() {
    let mut node = Node::new();
    for tick in 0..20 {
        node.mac(100 * tick, &[mac(7, 700)]);
        assert_eq!(
            node.rlc(100 * tick, vec![rlc(0, 0)]).len(),
            usize::from(tick > 0)
        );
    }
    assert_eq!(node.measurements.counters().lost, 0);
}

#[test]
fn impossible_values_are_quarantined_with_their_reasons() {
    let cases: [(MacUe, Reason); 8] = [
        (
            MacUe {
                rnti: 0x1_0000,
                ..mac(0, 0)
            },
            Reason::Rnti,
        ),
        (
            MacUe {
                rnti: 0,
                ..mac(0, 0)
            },
            Reason::Rnti,
        ),
        (
            MacUe {
                dl_mcs1: 238,
                ..mac(0, 0)
            },
            Reason::Mcs,
        ),
        (
            MacUe {
                wb_cqi: 32,
                ..mac(0, 0)
            },
            Reason::Cqi,
        ),
        (
            MacUe {
                dl_bler: f32::NAN,
                ..mac(0, 0)
            },
            Reason::Bler,
        ),
        (
            MacUe {
                dl_harq: [199, 391, 0, 0, 0],
                ..mac(0, 0)
            },
            Reason::HarqRounds,
        ),
        (
            MacUe {
                frame: 1024,
                ..mac(0, 0)
            },
            Reason::FrameNumber,
        ),
        (
            MacUe {
                slot: 20,
                ..mac(0, 0)
            },
            Reason::FrameNumber,
        ),
    ];
    for (record, reason) in cases {
        let mut node = Node::new();
        for ms in [0, 100] {
            assert!(
                node.mac_as_is(ms, vec![record.clone()]).is_empty(),
                "{reason}"
            );
        }
        assert_eq!(node.quarantined(reason), 2, "{reason}");
    }
}

/// Denormal error rates are what OAI's moving average leaves behind.
#[test]
fn odd_but_true_values_pass() {
    let mut node = Node::new();
    let record = |prb| MacUe {
        dl_bler: 1e-44,
        wb_cqi: 0,
        bsr: u32::MAX - 23,
        ..mac(1, prb)
    };
    node.mac(0, &[record(0)]);
    let reports = node.mac(100, &[record(1000)]);
    assert_eq!((reports[0].prbs, reports[0].cqi), (Some(5.0), None));
    assert_eq!(node.measurements.counters().quarantined_total(), 0);
}

#[test]
fn more_prbs_than_the_carrier_has_are_quarantined() {
    let mut node = Node::new();
    node.mac(0, &[mac(0, 0)]);
    assert!(
        node.mac(100, &[mac(0, 21_307)]).is_empty(),
        "201 slots of 106"
    );
    assert_eq!(node.quarantined(Reason::Prbs), 1);
    let mut generous = mac(0, 21_407);
    generous.dl_aggr_tbs += 10_000_000;
    assert!(node.mac(200, &[generous]).is_empty(), "100 kB per PRB");
    assert_eq!(node.quarantined(Reason::TransportBlocks), 1);
}

#[test]
fn a_clock_step_or_a_late_report_makes_no_window() {
    let mut node = Node::new();
    node.mac(10_000, &[mac(0, 0)]);
    assert!(node.mac(9_900, &[mac(0, 1000)]).is_empty());
    assert_eq!(node.measurements.counters().late, 1);
    assert!(node.mac(100_000, &[mac(0, 1000)]).is_empty());
    assert_eq!(node.measurements.counters().clock_steps, 1);
    assert_eq!(node.mac(100_100, &[mac(0, 2000)])[0].prbs, Some(5.0));
}

#[test]
fn a_clock_set_back_a_little_does_not_silence_the_node() {
    let mut node = Node::new();
    node.mac(10_000, &[mac(1000, 50_000)]);
    node.mac(10_100, &[mac(1100, 51_000)]);
    // By 10 s: a step that could be a late report, but that all reports share.
    let reports = (1..=30u32).map(|tick| {
        let ms = 100 * i64::from(tick);
        node.mac(ms, &[mac(1100 + tick, 51_000 + tick)]).len()
    });
    assert!(reports.sum::<usize>() >= 5);
    assert_eq!(node.measurements.counters().clock_steps, 1);
    assert_eq!(node.measurements.counters().late, 20);
}

#[test]
fn reports_of_invented_ues_that_wait_for_rlc_are_bounded() {
    let ues = |tick: u32| -> Vec<MacUe> {
        let invented = (1..=4000).map(|rnti| MacUe {
            rnti,
            ..mac(tick, tick)
        });
        invented.collect()
    };
    let mut node = Node::new();
    node.mac(0, &ues(0));
    node.rlc(0, vec![rlc(0, 0)]);
    // RLC reports were seen and are waited for: nothing is reported.
    for tick in 1..=40 {
        assert!(node.mac(10 * i64::from(tick), &ues(tick)).is_empty());
    }
    // The oldest ones that waited were given up: their RLC reports find none.
    assert!(node.rlc(50, vec![rlc(0, 0)]).is_empty());
    // The newest are there: one window for all UEs.
    let reports = node.rlc(400, vec![rlc(0, 0)]);
    assert_eq!(reports.len(), 4000);
    assert_eq!(reports[0].length, Duration::from_millis(400));
}

#[test]
fn octets_of_another_layout_are_an_error() {
    let mut measurements = NodeMeasurements::new(CellConfig::default());
    let error = measurements
        .on_indication(ServiceModel::Mac, &[], &[1, 0, 0, 0, 9], Duration::ZERO)
        .unwrap_err();
    assert!(error.to_string().contains("Mac"), "{error}");
    assert_eq!(measurements.counters().undecodable, 1);
}

#[test]
fn the_downlink_share_can_be_learned() {
    let mut node = Node::with(CellConfig {
        downlink_share: DownlinkShare::Learned { at_least: 0.5 },
        ..CellConfig::default()
    });
    assert_eq!(node.measurements.cell_prbs(), 53.0);
    for tick in 0..=10 {
        node.mac(100 * tick, &[mac(0, 200 * 74 * tick as u32)]);
    }
    assert!((node.measurements.cell_prbs() - 74.0).abs() < 1e-9);
}
