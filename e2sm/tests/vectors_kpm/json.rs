//! Decoded values in the notation of `pycrate/INDEX.md`: ASN.1 names, `h:` octets, `b:` bits, CHOICE as an object of one key.
//!
//! A REAL is `REAL` and its bits, an unknown alternative `{"unknown": n}`.

use super::ids::{cgi, ue_id, ue_list};
use e2sm::common::{Plmn, SNssai, UnknownChoice};
use e2sm::kpm::*;
use serde_json::{Map, Value, json};

pub fn octets(octets: &[u8]) -> Value {
    format!("h:{}", hex::encode(octets)).into()
}

pub fn bits(value: u64, length: usize) -> Value {
    format!("b:{value:0length$b}/{length}").into()
}

fn real(value: f64) -> Value {
    format!("REAL {:016x}", value.to_bits()).into()
}

pub fn unknown(choice: &UnknownChoice) -> Value {
    json!({"unknown": choice.addition})
}

/// An object of those components that are there.
pub fn sequence<const N: usize>(components: [(&str, Option<Value>); N]) -> Value {
    let present = components
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}

pub fn list<'a, T: 'a>(
    items: impl IntoIterator<Item = &'a T>,
    item: impl Fn(&T) -> Value,
) -> Value {
    items.into_iter().map(item).collect()
}

pub fn non_empty<T>(items: &[T], item: impl Fn(&T) -> Value) -> Option<Value> {
    (!items.is_empty()).then(|| list(items, item))
}

fn flag(set: bool) -> Option<Value> {
    set.then(|| "true".into())
}

pub fn plmn(plmn: Plmn) -> Value {
    octets(&plmn.0)
}

pub fn header(h: &IndicationHeader) -> Value {
    let time = match h.collect_start_time {
        TimeStamp::Short(t) => octets(&t),
        TimeStamp::Long(t) => octets(&t),
    };
    json!({"indicationHeader-formats": {"indicationHeader-Format1": sequence([
        ("colletStartTime", Some(time)),
        ("fileFormatversion", h.file_format_version.clone().map(Into::into)),
        ("senderName", h.sender_name.clone().map(Into::into)),
        ("senderType", h.sender_type.clone().map(Into::into)),
        ("vendorName", h.vendor_name.clone().map(Into::into)),
    ])}})
}

pub fn trigger(t: &EventTrigger) -> Value {
    json!({"eventDefinition-formats": {"eventDefinition-Format1": {"reportingPeriod": t.period_ms}}})
}

pub fn description(d: &RanFunctionDescription) -> Value {
    let name = sequence([
        (
            "ranFunction-ShortName",
            Some(d.name.short_name.clone().into()),
        ),
        ("ranFunction-E2SM-OID", Some(d.name.e2sm_oid.clone().into())),
        (
            "ranFunction-Description",
            Some(d.name.description.clone().into()),
        ),
        ("ranFunction-Instance", d.name.instance.map(Into::into)),
    ]);
    let trigger = |s: &EventTriggerStyle| {
        json!({
            "ric-EventTriggerStyle-Type": s.style,
            "ric-EventTriggerStyle-Name": s.name,
            "ric-EventTriggerFormat-Type": s.format,
        })
    };
    let measurement = |m: &MeasInfoAction| {
        sequence([
            ("measName", Some(m.name.clone().into())),
            ("measID", m.id.map(Into::into)),
            ("binRangeDef", m.bin_range.as_ref().map(bin_ranges)),
        ])
    };
    let report = |s: &ReportStyle| {
        json!({
            "ric-ReportStyle-Type": s.style,
            "ric-ReportStyle-Name": s.name,
            "ric-ActionFormat-Type": s.action_format,
            "measInfo-Action-List": list(&s.measurements, measurement),
            "ric-IndicationHeaderFormat-Type": s.header_format,
            "ric-IndicationMessageFormat-Type": s.message_format,
        })
    };
    sequence([
        ("ranFunction-Name", Some(name)),
        (
            "ric-EventTriggerStyle-List",
            non_empty(&d.event_trigger_styles, trigger),
        ),
        ("ric-ReportStyle-List", non_empty(&d.report_styles, report)),
    ])
}

fn bin_ranges(d: &BinRangeDefinition) -> Value {
    let value = |v: &BinRangeValue| match v {
        BinRangeValue::Integer(v) => json!({"valueInt": v}),
        BinRangeValue::Real(v) => json!({"valueReal": real(*v)}),
        BinRangeValue::Unknown(u) => unknown(u),
    };
    let bin = |b: &BinRange| json!({"binIndex": b.index, "startValue": value(&b.start), "endValue": value(&b.end)});
    sequence([
        ("binRangeListX", non_empty(&d.x, bin)),
        ("binRangeListY", non_empty(&d.y, bin)),
        ("binRangeListZ", non_empty(&d.z, bin)),
    ])
}

pub fn action(a: &ActionDefinition) -> Value {
    let format = match &a.format {
        ActionFormat::Format1(action) => json!({"actionDefinition-Format1": cell_action(action)}),
        ActionFormat::Format2 { ue, action } => json!({"actionDefinition-Format2": {
            "ueID": ue_id(ue), "subscriptInfo": cell_action(action),
        }}),
        ActionFormat::Format3 {
            measurements,
            granularity_ms,
            cell,
        } => {
            let measurement = |m: &MeasCondition| {
                sequence([
                    ("measType", Some(measure(&m.measure))),
                    ("matchingCond", Some(list(&m.conditions, matching))),
                    ("binRangeDef", m.bin_range.as_ref().map(bin_ranges)),
                ])
            };
            json!({"actionDefinition-Format3": sequence([
                ("measCondList", Some(list(measurements, measurement))),
                ("granulPeriod", Some((*granularity_ms).into())),
                ("cellGlobalID", cell.as_ref().map(cgi)),
            ])})
        }
        ActionFormat::Format4 { conditions, action } => {
            let condition = |c: &UeCondition| {
                sequence([
                    ("testCondInfo", Some(test(&c.test))),
                    ("logicalOR", flag(c.logical_or)),
                ])
            };
            json!({"actionDefinition-Format4": {
                "matchingUeCondList": list(conditions, condition),
                "subscriptionInfo": cell_action(action),
            }})
        }
        ActionFormat::Format5 { ues, action } => json!({"actionDefinition-Format5": {
            "matchingUEidList": ue_list(ues), "subscriptionInfo": cell_action(action),
        }}),
    };
    json!({"ric-Style-Type": a.style, "actionDefinition-formats": format})
}

fn cell_action(a: &CellAction) -> Value {
    let bins = |b: &BinRangeFor| json!({"measType": measure(&b.measure), "binRangeDef": bin_ranges(&b.bin_range)});
    sequence([
        ("measInfoList", Some(list(&a.info, info))),
        ("granulPeriod", Some(a.granularity_ms.into())),
        ("cellGlobalID", a.cell.as_ref().map(cgi)),
        ("distMeasBinRangeInfo", non_empty(&a.bin_ranges, bins)),
    ])
}

fn measure(m: &MeasurementType<'_>) -> Value {
    match m {
        MeasurementType::Name(name) => json!({"measName": name}),
        MeasurementType::Id(id) => json!({"measID": id}),
        MeasurementType::Unknown(u) => unknown(u),
    }
}

fn info(i: &MeasInfo<'_>) -> Value {
    let labels: Value = i.labels().map(|l| json!({"measLabel": label(l)})).collect();
    json!({"measType": measure(&i.measure), "labelInfoList": labels})
}

fn label(label: &Label) -> Value {
    let Some(l) = label.labels() else {
        return json!({"noLabel": "true"});
    };
    let slice = |s: &SNssai| {
        let sd = s.sd.map(|sd| octets(&sd.to_be_bytes()[1..]));
        sequence([("sST", Some(octets(&[s.sst]))), ("sD", sd)])
    };
    let at = |at: StartEnd| match at {
        StartEnd::Start => "start".into(),
        StartEnd::End => "end".into(),
        StartEnd::Unknown(n) => format!("unknown {n}").into(),
    };
    sequence([
        ("noLabel", flag(l.no_label)),
        ("plmnID", l.plmn_id.map(plmn)),
        ("sliceID", l.slice_id.as_ref().map(slice)),
        ("fiveQI", l.five_qi.map(Into::into)),
        ("qFI", l.qfi.map(Into::into)),
        ("qCI", l.qci.map(Into::into)),
        ("qCImax", l.qci_max.map(Into::into)),
        ("qCImin", l.qci_min.map(Into::into)),
        ("aRPmax", l.arp_max.map(Into::into)),
        ("aRPmin", l.arp_min.map(Into::into)),
        ("bitrateRange", l.bitrate_range.map(Into::into)),
        ("layerMU-MIMO", l.layer_mu_mimo.map(Into::into)),
        ("sUM", flag(l.sum)),
        ("distBinX", l.dist_bin_x.map(Into::into)),
        ("distBinY", l.dist_bin_y.map(Into::into)),
        ("distBinZ", l.dist_bin_z.map(Into::into)),
        ("preLabelOverride", flag(l.pre_label_override)),
        ("startEndInd", l.start_end_ind.map(at)),
        ("min", flag(l.min)),
        ("max", flag(l.max)),
        ("avg", flag(l.avg)),
        ("ssbIndex", l.ssb_index.map(Into::into)),
        (
            "nonGoB-BFmode-Index",
            l.non_gob_bf_mode_index.map(Into::into),
        ),
        ("mIMO-mode-Index", l.mimo_mode_index.map(Into::into)),
    ])
}

fn matching(m: &MatchingConditionItem) -> Value {
    let choice = match &m.condition {
        MatchingCondition::Label(l) => json!({"measLabel": label(l)}),
        MatchingCondition::Test(t) => json!({"testCondInfo": test(t)}),
        MatchingCondition::Unknown(u) => unknown(u),
    };
    sequence([
        ("matchingCondChoice", Some(choice)),
        ("logicalOR", flag(m.logical_or)),
    ])
}

fn test(t: &TestCondition) -> Value {
    let name = match &t.test {
        TestType::Gbr => "gBR",
        TestType::Ambr => "aMBR",
        TestType::IsStat => "isStat",
        TestType::IsCatM => "isCatM",
        TestType::Rsrp => "rSRP",
        TestType::Rsrq => "rSRQ",
        TestType::UlRsrp => "ul-rSRP",
        TestType::Cqi => "cQI",
        TestType::FiveQi => "fiveQI",
        TestType::Qci => "qCI",
        TestType::SNssai => "sNSSAI",
        TestType::Unknown(_) => "unknown",
    };
    let value = |v: &TestValue| match v {
        TestValue::Int(v) => json!({"valueInt": v}),
        TestValue::Enum(v) => json!({"valueEnum": v}),
        TestValue::Bool(v) => json!({"valueBool": v}),
        TestValue::Bits(v) => {
            let number = v.octets().iter().fold(0, |n, o| n << 8 | u64::from(*o));
            json!({"valueBitS": bits(number >> (v.octets().len() * 8 - v.len()), v.len())})
        }
        TestValue::Octets(v) => json!({"valueOctS": octets(v)}),
        TestValue::Text(v) => json!({"valuePrtS": v}),
        TestValue::Real(v) => json!({"valueReal": real(*v)}),
        TestValue::Unknown(u) => unknown(u),
    };
    sequence([
        ("testType", Some(json!({name: "true"}))),
        ("testExpr", t.expression.map(|e| e.to_string().into())),
        ("testValue", t.value.as_ref().map(value)),
    ])
}

pub fn message(m: &IndicationMessage<'_>) -> Value {
    let format = match m {
        IndicationMessage::Format1(r) => json!({"indicationMessage-Format1": report(r)}),
        IndicationMessage::Format2(r) => {
            let per_period = |m: &MatchedPerPeriod| {
                let matched = match m {
                    MatchedPerPeriod::NoUe => json!({"noUEmatched": "true"}),
                    MatchedPerPeriod::Ues(ues) => json!({"oneOrMoreUEmatched": ue_list(ues)}),
                    MatchedPerPeriod::Unknown(u) => unknown(u),
                };
                json!({"matchedPerGP": matched})
            };
            let condition = |c: &ConditionUes<'_>| {
                let ues = (!c.ues.is_empty()).then(|| ue_list(&c.ues));
                sequence([
                    ("measType", Some(measure(&c.measure))),
                    ("matchingCond", Some(list(&c.conditions, matching))),
                    ("matchingUEidList", ues),
                    (
                        "matchingUEidPerGP",
                        non_empty(&c.ues_per_period, per_period),
                    ),
                ])
            };
            json!({"indicationMessage-Format2": sequence([
                ("measData", Some(data(&r.data))),
                ("measCondUEidList", Some(list(&r.conditions, condition))),
                ("granulPeriod", r.granularity_ms.map(Into::into)),
            ])})
        }
        IndicationMessage::Format3(ues) => {
            let ue = |u: &UeMeasReport<'_>| json!({"ueID": ue_id(&u.ue), "measReport": report(&u.report)});
            json!({"indicationMessage-Format3": {"ueMeasReportList": list(ues, ue)}})
        }
    };
    json!({"indicationMessage-formats": format})
}

fn report(r: &MeasReport<'_>) -> Value {
    sequence([
        ("measData", Some(data(&r.data))),
        ("measInfoList", non_empty(&r.info, info)),
        ("granulPeriod", r.granularity_ms.map(Into::into)),
    ])
}

fn data(d: &MeasData) -> Value {
    let value = |v: &MeasValue| match v {
        MeasValue::Integer(v) => json!({"integer": v}),
        MeasValue::Real(v) => json!({"real": real(*v)}),
        MeasValue::NoValue => json!({"noValue": 0}),
        MeasValue::NotSatisfied => json!({"notSatisfied": 0}),
        MeasValue::Unknown(n) => json!({"unknown": n}),
    };
    let record = |r: MeasRecord<'_>| {
        sequence([
            ("measRecord", Some(list(r.values, value))),
            ("incompleteFlag", flag(r.incomplete)),
        ])
    };
    d.records().map(record).collect()
}
