//! Behaviour of the KPM types that is not in their encoding alone.

use e2sm::common::*;
use e2sm::kpm::*;

#[test]
fn fragmented_format_3_still_names_its_measurements() {
    // Standard format 3 is an open type: above 16 KiB it comes in fragments, which cannot be borrowed from.
    let report = MeasReport::single([
        ("DRB.UEThpDl", MeasValue::Real(1.5)),
        ("RRU.PrbTotDl", MeasValue::Integer(7)),
    ]);
    let ues: Vec<_> = (0..1000u32)
        .map(|n| UeMeasReport {
            ue: UeId::GnbDu(GnbDuUeId {
                f1ap_id: n,
                ..GnbDuUeId::default()
            }),
            report: report.clone(),
        })
        .collect();
    let message = IndicationMessage::Format3(ues);
    let octets = message.encode(Dialect::Standard).unwrap();
    assert!(octets.len() > 2 * 16 * 1024);
    let (decoded, notes) = IndicationMessage::decode(&octets, Dialect::Standard).unwrap();
    assert_eq!(notes.skipped(), 0);
    assert_eq!(decoded, message);
    let mut values = decoded.measurements(&[]).skip(2 * 999);
    let last = values.next().unwrap();
    assert_eq!(last.ue.and_then(UeId::f1ap_id), Some(999));
    assert_eq!(last.measure.name(), Some("DRB.UEThpDl"));
    assert_eq!(
        (last.label, last.value),
        (&Label::NoLabel, MeasValue::Real(1.5))
    );
}

#[test]
fn values_without_names_are_named_by_the_subscription() {
    let mut report = MeasReport::default();
    report.data.push(
        &[
            MeasValue::Integer(1),
            MeasValue::Integer(2),
            MeasValue::NoValue,
        ],
        false,
    );
    report.data.push(&[MeasValue::Integer(3)], true);
    let bin = |n| {
        Label::from(MeasurementLabel {
            dist_bin_x: Some(n),
            ..MeasurementLabel::default()
        })
    };
    let mut mcs = MeasInfo::named("CARR.PDSCHMCSDist");
    mcs.label = bin(1);
    mcs.more_labels = vec![bin(2)];
    let subscribed = [mcs, MeasInfo::named("RRC.ConnMean")];

    let message = IndicationMessage::Format1(report);
    let found: Vec<_> = message
        .measurements(&subscribed)
        .map(|m| {
            let bin = m.label.labels().and_then(|l| l.dist_bin_x);
            (m.record, m.measure.name().unwrap(), bin, m.value.as_f64())
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, "CARR.PDSCHMCSDist", Some(1), Some(1.0)),
            (0, "CARR.PDSCHMCSDist", Some(2), Some(2.0)),
            (0, "RRC.ConnMean", None, None),
            (1, "CARR.PDSCHMCSDist", Some(1), Some(3.0)),
        ]
    );
}

#[test]
fn time_stamps_mean_what_each_dialect_says() {
    // RFC 5905: 1970-01-01 is 2208988800 s; half a second is 0x80000000 of fraction.
    let ntp = TimeStamp::Long([0x83, 0xaa, 0x7e, 0x81, 0x80, 0, 0, 0]);
    assert_eq!(ntp.ntp_unix_us(), 1_500_000);
    // As FlexRIC's v3.00 emulator and an OAI gNB sent them in November 2026.
    let flexric = TimeStamp::Long([0x11, 0xfe, 0x9c, 0xb6, 0x00, 0x06, 0x61, 0x81]);
    assert_eq!(flexric.flexric_unix_us(), 0x0006_6181_b69c_fe11);
    let oai = TimeStamp::Short([0xdf, 0xb8, 0x0d, 0x6b]);
    assert_eq!(oai.flexric_unix_us(), 1_796_061_407_000_000);
}

#[test]
fn what_the_format_cannot_hold_is_an_error() {
    let error = EventTrigger { period_ms: 0 }.encode().unwrap_err();
    assert_eq!(error.path(), "reportingPeriod");
    let empty = IndicationMessage::Format3(Vec::new());
    assert_eq!(
        empty.encode(Dialect::Standard).unwrap_err().path(),
        "E2SM-KPM-IndicationMessage / ueMeasReportList"
    );
    let wide = IndicationMessage::Format3(vec![UeMeasReport {
        ue: UeId::Gnb(GnbUeId {
            amf_ue_ngap_id: 1 << 40,
            ..GnbUeId::default()
        }),
        report: MeasReport::single([("A", MeasValue::NoValue)]),
    }]);
    assert_eq!(
        wide.encode(Dialect::Standard).unwrap_err().to_string(),
        "E2SM-KPM-IndicationMessage / ueMeasReportList[0] / ueID / gNB-UEID / amf-UE-NGAP-ID: \
         1099511627776 is outside 0..1099511627775"
    );
}
