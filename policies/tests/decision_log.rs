//! Decisions as they are logged: joined reports say the same, and nothing is lost on the way to JSON and back.

mod common;

use common::report;
use policies::decision_log::{LoggedDecision, LoggedReport, MAX_REPORTS, join};
use policies::windows::mean_prbs;
use policies::{SNssai, UeId, UeReport};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

#[test]
fn joined_reports_have_the_same_mean_and_cover_the_same_time() {
    let reports: Vec<UeReport> = (1..=200)
        .map(|n| UeReport {
            tb_sent: Some(2),
            queue_bytes: Some(n.into()),
            ..report(n * MS, MS, Some(f64::from(n % 7)))
        })
        .collect();
    let joined = join(&reports);
    assert_eq!(joined.len(), 50);
    assert!(joined.len() <= MAX_REPORTS);
    let (before, after) = (mean_prbs(&reports), mean_prbs(&joined));
    assert!((before.unwrap() - after.unwrap()).abs() < 1e-9);
    assert_eq!(joined[0].start, Duration::ZERO);
    assert!(joined.windows(2).all(|pair| pair[0].end() == pair[1].start));
    assert_eq!(joined[49].end(), 200 * MS);
    assert_eq!(joined[49].queue_bytes, Some(200));
    assert!(joined.iter().all(|report| report.tb_sent == Some(8)));

    // Few are left as they are, whatever the RAN left out of them.
    let few = &reports[..MAX_REPORTS];
    assert_eq!(join(few), few);
    assert!(join(&[]).is_empty());
}

#[test]
fn a_report_is_the_same_after_it_was_logged() {
    let now = 5000 * MS;
    let ue = UeId::CRnti(1);
    let full = UeReport {
        ran_time_us: Some(1_700_000_000_000_000),
        retx_prbs: Some(0.5),
        mcs: Some(27.5),
        tb_sent: Some(100),
        tb_retx: Some(7),
        tb_failed: Some(0),
        sinr_db: Some(-3.25),
        cqi: Some(15),
        delivered_bytes: Some(u64::MAX),
        arrived_bytes: Some(1),
        queue_bytes: Some(0),
        head_of_line: Some(3 * MS),
        rlc_delay: Some(4 * MS),
        slice: Some(SNssai {
            sst: 1,
            sd: Some(7),
        }),
        ..report(4990 * MS, 50 * MS, Some(12.75))
    };
    for report in [full, report(4990 * MS, 50 * MS, None)] {
        let logged = LoggedReport::new(&report, now);
        let json = serde_json::to_string(&logged).unwrap();
        let read: LoggedReport = serde_json::from_str(&json).unwrap();
        assert_eq!(read.at(ue, now), report);
        // It goes on at another time on another clock.
        assert_eq!(read.at(ue, now + MS).end(), report.end() + MS);
    }
}

#[test]
fn a_decision_of_an_earlier_layout_can_be_read() {
    let json = r#"{"edge":"e","flow":"f","node":"n","ue":{"c_rnti":17921},"sequence":7,"time_us":1,
        "controller":"rapid","previous_rate_bps":1e6,"rate_bps":2e6,"target_prbs":20.0,
        "gain_bps_per_prb":5e5,"target_factor":0.9,"cell_prbs":84.8,"active_ues":2,
        "rate_min_bps":1e5,"rate_max_bps":1e9,"report_age_us":1000,
        "something_new":1}"#;
    let decision: LoggedDecision = serde_json::from_str(json).unwrap();
    assert_eq!(decision.ue, UeId::CRnti(17921));
    assert!(decision.reports.is_empty() && decision.arm.is_empty());
    assert!((decision.target().prbs() - 0.9 * 84.8 / 2.0).abs() < 1e-9);
}
