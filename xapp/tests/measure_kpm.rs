//! KPM values in every dialect become PRBs per slot, bit/s and octets.

use e2sm::{
    common::{self, GnbUeId},
    flexric::{MacUe, Stats},
    kpm::{
        Dialect, IndicationHeader, IndicationMessage, MeasReport, MeasValue, TimeStamp,
        UeMeasReport,
    },
};
use policies::{UeId, UeReport};
use std::time::Duration;
use xapp::{
    measure::{CellConfig, KpmDialect, NodeMeasurements, Reason},
    ran::ServiceModel,
};

type Values<'a> = &'a [(&'a str, f64)];

struct Node {
    measurements: NodeMeasurements,
    sender: Option<&'static str>,
    seconds: u64,
}

impl Node {
    fn new(sender: Option<&'static str>) -> Self {
        Self {
            measurements: NodeMeasurements::new(CellConfig::default()),
            sender,
            seconds: 0,
        }
    }

    /// A report of the next second; UEs are AMF ids.
    fn report(&mut self, ues: &[(u64, Values<'_>)]) -> Vec<UeReport> {
        self.seconds += 1;
        let ues = ues.iter().map(|(id, values)| {
            let values = values.iter().map(|(name, value)| {
                let integer = name.starts_with("RRU") && value.fract() == 0.0;
                (
                    *name,
                    if integer {
                        MeasValue::Integer(*value as u32)
                    } else {
                        MeasValue::Real(*value)
                    },
                )
            });
            UeMeasReport {
                ue: common::UeId::Gnb(GnbUeId {
                    amf_ue_ngap_id: *id,
                    ..GnbUeId::default()
                }),
                report: MeasReport {
                    granularity_ms: Some(1000),
                    ..MeasReport::single(values)
                },
            }
        });
        let message = IndicationMessage::Format3(ues.collect())
            .encode(Dialect::Standard)
            .unwrap();
        let header = IndicationHeader {
            collect_start_time: TimeStamp::Short([0; 4]),
            file_format_version: None,
            sender_name: self.sender.map(str::to_owned),
            sender_type: None,
            vendor_name: None,
        };
        self.measurements
            .on_indication(
                ServiceModel::Kpm,
                &header.encode().unwrap(),
                &message,
                Duration::from_secs(self.seconds),
            )
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

fn near(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value - expected).abs() < 1e-6)
}

#[test]
fn the_standards_units() {
    let mut node = Node::new(None);
    let values: Values<'_> = &[
        ("DRB.UEThpDl", 40_000.0),
        ("RRU.PrbTotDl", 50.0),
        ("DRB.RlcSduDelayDl", 125.0),
        ("DRB.PdcpSduVolumeDL", 42.0),
    ];
    let reports = node.report(&[(1, values)]);
    assert_eq!(reports[0].ue, UeId::AmfUeNgapId(1));
    assert!(
        near(reports[0].prbs, 42.4),
        "half of 84.8: {:?}",
        reports[0].prbs
    );
    assert_eq!(reports[0].delivered_bytes, Some(5_000_000));
    assert_eq!(reports[0].arrived_bytes, Some(5_250_000));
    assert_eq!(reports[0].length, Duration::from_secs(1));
    let ue = &node.measurements.kpm_ues()[&UeId::AmfUeNgapId(1)];
    assert_eq!(ue.rlc_delay, Some(Duration::from_micros(12_500)));
}

#[test]
fn used_of_available_prbs() {
    let mut node = Node::new(Some("srs"));
    let both: Values<'_> = &[("RRU.PrbUsedDl", 53.0), ("RRU.PrbAvailDl", 106.0)];
    assert!(near(node.report(&[(1, both)])[0].prbs, 42.4));
    // A mean over the slots that carry downlink, of which there are 8 in 10.
    assert!(near(
        node.report(&[(1, &[("RRU.PrbUsedDl", 53.0)])])[0].prbs,
        42.4
    ));
    assert_eq!(
        node.report(&[(1, &[("RRU.PrbUsedDl", 107.0)])])[0].prbs,
        None
    );
    assert_eq!(node.quarantined(Reason::Prbs), 1);
}

/// The values of a real OAI gNB of 2024 under load: PRBs are counted, volumes are in kbit, delays in µs.
#[test]
fn oai_2024_is_recognised_by_its_numbers() {
    let mut node = Node::new(Some("ngran_gNB"));
    let heavy: Values<'_> = &[
        ("DRB.PdcpSduVolumeDL", 130_076.0),
        ("DRB.RlcSduDelayDl", 1_006_798.429),
        ("DRB.UEThpDl", 77_087.688),
        ("RRU.PrbTotDl", 108_990.0),
    ];
    assert!(
        node.report(&[(1, heavy)]).is_empty(),
        "the first covers everything since the UE attached"
    );
    let report = &node.report(&[(1, heavy)])[0];
    assert!(near(report.prbs, 54.495));
    assert_eq!(report.delivered_bytes, Some(9_635_961));
    assert_eq!(report.arrived_bytes, Some(16_259_500));
    let ue = &node.measurements.kpm_ues()[&UeId::AmfUeNgapId(1)];
    assert_eq!(ue.rlc_delay.map(|d| d.as_millis()), Some(1006));
}

/// 45 PRBs or 45 percent? Without traffic nothing tells, and no value is better than a wrong one.
#[test]
fn an_unknown_unit_gives_no_prbs() {
    let mut node = Node::new(Some("ngran_gNB"));
    let idle: Values<'_> = &[("DRB.UEThpDl", 0.0), ("RRU.PrbTotDl", 45.0)];
    node.report(&[(1, idle)]);
    assert_eq!(node.report(&[(1, idle)])[0].prbs, None);
    // 30 kbit in 60 PRBs can be; 0.3 bit in each of 60 % of a cell's PRBs cannot.
    assert!(near(
        node.report(&[(1, &[("DRB.UEThpDl", 30.0), ("RRU.PrbTotDl", 60.0)])])[0].prbs,
        0.03
    ));
    assert!(
        near(node.report(&[(1, idle)])[0].prbs, 0.0225),
        "known from now on"
    );
}

#[test]
fn oai_2026_is_recognised_by_its_numbers() {
    let mut node = Node::new(Some("ngran_gNB"));
    // 40 Mbit in 50 PRBs cannot be.
    let values: Values<'_> = &[
        ("DRB.UEThpDl", 40_000.0),
        ("RRU.PrbTotDl", 50.0),
        ("DRB.PdcpSduVolumeDL", 39.0),
    ];
    node.report(&[(1, values)]);
    let report = &node.report(&[(1, values)])[0];
    assert!(near(report.prbs, 42.4));
    assert_eq!(report.arrived_bytes, Some(4_875_000));
}

#[test]
fn a_configured_dialect_is_not_questioned() {
    let mut node = Node::new(None);
    node.measurements = NodeMeasurements::new(CellConfig {
        kpm_dialect: KpmDialect::Standard,
        ..CellConfig::default()
    });
    assert_eq!(
        node.report(&[(1, &[("RRU.PrbTotDl", 108_990.0)])])[0].prbs,
        None
    );
    assert_eq!(node.quarantined(Reason::Percent), 1);
}

/// OAI keeps its differences by the UE's place in the list: after a change they belong to someone else.
#[test]
fn values_after_a_change_of_ues_are_left_out() {
    let mut node = Node::new(Some("ngran_gNB"));
    let values: Values<'_> = &[("DRB.UEThpDl", 30_000.0), ("RRU.PrbTotDl", 50_000.0)];
    node.report(&[(1, values)]);
    assert_eq!(node.report(&[(1, values)]).len(), 1);
    assert!(node.report(&[(1, values), (2, values)]).is_empty());
    assert_eq!(node.report(&[(1, values), (2, values)]).len(), 2);
    assert_eq!(node.measurements.counters().unsettled, 3);
}

/// FlexRIC's emulator gives six UEs one identity: none of their values can be believed.
#[test]
fn ues_that_share_an_identity_are_quarantined() {
    let mut node = Node::new(None);
    let values: Values<'_> = &[("RRU.PrbTotDl", 10.0)];
    let reports = node.report(&[(7, values), (1, values), (7, values), (7, values)]);
    assert_eq!(
        reports.iter().map(|r| r.ue).collect::<Vec<_>>(),
        [UeId::AmfUeNgapId(1)]
    );
    assert_eq!(node.quarantined(Reason::Duplicate), 3);
}

#[test]
fn numbers_that_are_none_are_quarantined() {
    let mut node = Node::new(None);
    let values: Values<'_> = &[
        ("DRB.UEThpDl", f64::NAN),
        ("DRB.RlcSduDelayDl", f64::INFINITY),
        ("DRB.PdcpSduVolumeDL", -1.0),
    ];
    let report = &node.report(&[(1, values)])[0];
    assert_eq!((report.delivered_bytes, report.arrived_bytes), (None, None));
    assert_eq!(node.quarantined(Reason::KpmNumber), 3);
    assert_eq!(
        node.report(&[(1, &[("DRB.UEThpDl", 2e9)])])[0].delivered_bytes,
        None
    );
    assert_eq!(node.quarantined(Reason::Delivered), 1);
}

/// Where the MAC model reports, KPM only adds: its UEs have other names and would count twice.
#[test]
fn kpm_is_no_second_source_beside_mac() {
    let mut node = Node::new(None);
    let mac = Stats {
        records: vec![MacUe {
            rnti: 1,
            ..MacUe::default()
        }],
        tstamp_us: 1,
    };
    node.measurements
        .on_indication(
            ServiceModel::Mac,
            &[],
            &mac.encode(),
            Duration::from_millis(900),
        )
        .unwrap();
    let values: Values<'_> = &[("RRU.PrbTotDl", 50.0)];
    assert!(node.report(&[(1, values)]).is_empty());
    assert!(near(
        node.measurements.kpm_ues()[&UeId::AmfUeNgapId(1)].prbs,
        42.4
    ));
    node.seconds += 10;
    assert_eq!(node.report(&[(1, values)]).len(), 1, "MAC fell silent");
}

/// At the start the first KPM report comes before the first MAC report.
#[test]
fn kpm_waits_for_mac_reports_that_were_asked_for() {
    let values: Values<'_> = &[("RRU.PrbTotDl", 50.0)];
    let mut node = Node::new(None);
    node.measurements
        .mac_asked(Some(Duration::from_millis(900)));
    assert!(node.report(&[(1, values)]).is_empty());
    node.measurements.mac_asked(None);
    assert_eq!(node.report(&[(1, values)]).len(), 1, "refused after all");
    node.measurements
        .mac_asked(Some(Duration::from_secs(node.seconds)));
    assert!(node.report(&[(1, values)]).is_empty());
    node.seconds += 10;
    assert_eq!(node.report(&[(1, values)]).len(), 1, "MAC never reported");
}

/// One load on the radio, told in the units of every maker: the same PRBs per slot and octets come out.
#[test]
fn the_same_load_is_the_same_in_every_dialect() {
    const SLOTS: f64 = 2000.0;
    const CELL_PRBS: f64 = 106.0 * 0.8;
    for percent in [5.0, 20.0, 50.0, 95.0] {
        let prbs = percent / 100.0 * CELL_PRBS;
        // 700 bits in each PRB.
        let bits = prbs * SLOTS * 700.0;
        let count = (prbs * SLOTS).round();
        let (throughput, kbit, mbit) = (bits / 1e3, (bits / 1e3).trunc(), (bits / 1e6).trunc());
        let standard: Values<'_> = &[
            ("DRB.UEThpDl", throughput),
            ("RRU.PrbTotDl", percent),
            ("DRB.PdcpSduVolumeDL", bits / 1e6),
        ];
        let oai2024: Values<'_> = &[
            ("DRB.UEThpDl", throughput),
            ("RRU.PrbTotDl", count),
            ("DRB.PdcpSduVolumeDL", kbit),
        ];
        let oai2026: Values<'_> = &[
            ("DRB.UEThpDl", throughput),
            ("RRU.PrbTotDl", percent),
            ("DRB.PdcpSduVolumeDL", mbit),
        ];
        let used: Values<'_> = &[
            ("DRB.UEThpDl", throughput),
            ("RRU.PrbUsedDl", prbs / 0.8),
            ("RRU.PrbAvailDl", 106.0),
        ];
        for (name, sender, values) in [
            ("standard", None, standard),
            ("oai2024", Some("ngran_gNB"), oai2024),
            ("oai2026", Some("ngran_gNB"), oai2026),
            ("used of available", Some("srs"), used),
        ] {
            let mut node = Node::new(sender);
            node.report(&[(1, values)]);
            let report = &node.report(&[(1, values)])[0];
            let within = |value: f64, expected: f64| (value - expected).abs() <= 0.01 * expected;
            assert!(
                within(report.prbs.unwrap(), prbs),
                "{name} at {percent} %: {report:?}"
            );
            let delivered = report.delivered_bytes.unwrap() as f64;
            assert!(
                within(delivered, bits / 8.0),
                "{name} at {percent} %: {report:?}"
            );
        }
    }
}
