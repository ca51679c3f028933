//! Any value of the types that all service models share.

use e2sm::common::*;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

pub fn text(most: usize) -> impl Strategy<Value = String> {
    // Beyond the root sizes too, and with the Latin-1 characters that real nodes send.
    prop_oneof![
        8 => vec(prop_oneof![proptest::char::range(' ', '~'), Just('_'), Just('é')], 1..20),
        1 => vec(proptest::char::range('A', 'Z'), most..most + 3),
    ]
    .prop_map(|chars| chars.into_iter().collect())
}

pub fn number() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), -300..70000i64]
}

pub fn real() -> impl Strategy<Value = f64> {
    // NaN is not equal to itself; it has a test of its own.
    prop_oneof![
        any::<f64>().prop_filter("NaN", |v| !v.is_nan()),
        (-1000..1000i32).prop_map(f64::from),
        Just(f64::INFINITY),
    ]
}

pub fn unknown(from: u32) -> impl Strategy<Value = UnknownChoice> {
    (from..100, vec(any::<u8>(), 1..5))
        .prop_map(|(addition, contents)| UnknownChoice { addition, contents })
}

pub fn plmn() -> impl Strategy<Value = Plmn> {
    any::<[u8; 3]>().prop_map(Plmn)
}

pub fn slice() -> impl Strategy<Value = SNssai> {
    (any::<u8>(), of(0..1u32 << 24)).prop_map(|(sst, sd)| SNssai { sst, sd })
}

pub fn guami() -> impl Strategy<Value = Guami> {
    (plmn(), any::<u8>(), 0..1024u16, 0..64u8).prop_map(|(plmn, region, set, pointer)| Guami {
        plmn,
        region,
        set,
        pointer,
    })
}

pub fn cgi() -> impl Strategy<Value = Cgi> {
    prop_oneof![
        (plmn(), 0..1u64 << 36).prop_map(|(plmn, cell)| Cgi::Nr { plmn, cell }),
        (plmn(), 0..1u32 << 28).prop_map(|(plmn, cell)| Cgi::Eutra { plmn, cell }),
    ]
}

pub fn gnb() -> impl Strategy<Value = GlobalGnbId> {
    let bits = (22..=32u8, any::<u32>()).prop_map(|(length, value)| GnbId::Bits {
        value: value >> (32 - length),
        length,
    });
    let gnb = prop_oneof![bits, unknown(0).prop_map(GnbId::Unknown)];
    (plmn(), gnb).prop_map(|(plmn, gnb)| GlobalGnbId { plmn, gnb })
}

pub fn ng_enb() -> impl Strategy<Value = GlobalNgEnbId> {
    let enb = prop_oneof![
        (0..1u32 << 20).prop_map(NgEnbId::Macro),
        (0..1u32 << 18).prop_map(NgEnbId::ShortMacro),
        (0..1u32 << 21).prop_map(NgEnbId::LongMacro),
        unknown(0).prop_map(NgEnbId::Unknown),
    ];
    (plmn(), enb).prop_map(|(plmn, enb)| GlobalNgEnbId { plmn, enb })
}

pub fn enb() -> impl Strategy<Value = GlobalEnbId> {
    let enb = prop_oneof![
        (0..1u32 << 20).prop_map(EnbId::Macro),
        (0..1u32 << 28).prop_map(EnbId::Home),
        (0..1u32 << 18).prop_map(EnbId::ShortMacro),
        (0..1u32 << 21).prop_map(EnbId::LongMacro),
        unknown(2).prop_map(EnbId::Unknown),
    ];
    (plmn(), enb).prop_map(|(plmn, enb)| GlobalEnbId { plmn, enb })
}

pub fn ran_node() -> impl Strategy<Value = GlobalNgRanNodeId> {
    prop_oneof![
        gnb().prop_map(GlobalNgRanNodeId::Gnb),
        ng_enb().prop_map(GlobalNgRanNodeId::NgEnb),
        unknown(0).prop_map(GlobalNgRanNodeId::Unknown),
    ]
}

pub fn ran_id() -> impl Strategy<Value = Option<RanUeId>> {
    of(any::<[u8; 8]>().prop_map(RanUeId))
}

pub fn rnti() -> impl Strategy<Value = Option<CellRnti>> {
    of((any::<u16>(), cgi()).prop_map(|(c_rnti, cell)| CellRnti { c_rnti, cell }))
}

pub fn ue() -> impl Strategy<Value = UeId> {
    let amf = 0..1u64 << 40;
    prop_oneof![
        (
            (
                amf.clone(),
                guami(),
                vec(any::<u32>(), 0..=4),
                vec(any::<u32>(), 0..6)
            ),
            (
                ran_id(),
                of(any::<u32>()),
                of(gnb()),
                of(ran_node()),
                rnti()
            ),
        )
            .prop_map(|((amf, guami, f1ap, e1ap), (ran, xnap, gnb, node, rnti))| {
                UeId::Gnb(GnbUeId {
                    amf_ue_ngap_id: amf,
                    guami,
                    f1ap_ids: f1ap,
                    e1ap_ids: e1ap,
                    ran_ue_id: ran,
                    xnap_id: xnap,
                    global_gnb_id: gnb,
                    global_ng_ran_node_id: node,
                    cell_rnti: rnti,
                })
            }),
        (any::<u32>(), ran_id(), rnti()).prop_map(|(f1ap_id, ran_ue_id, cell_rnti)| {
            UeId::GnbDu(GnbDuUeId {
                f1ap_id,
                ran_ue_id,
                cell_rnti,
            })
        }),
        (any::<u32>(), ran_id())
            .prop_map(|(e1ap_id, ran_ue_id)| UeId::GnbCuUp(GnbCuUpUeId { e1ap_id, ran_ue_id })),
        (
            amf,
            guami(),
            of(any::<u32>()),
            of(any::<u32>()),
            of(ng_enb()),
            of(ran_node())
        )
            .prop_map(|(amf, guami, w1ap_id, xnap_id, enb, node)| {
                UeId::NgEnb(NgEnbUeId {
                    amf_ue_ngap_id: amf,
                    guami,
                    w1ap_id,
                    xnap_id,
                    global_ng_enb_id: enb,
                    global_ng_ran_node_id: node,
                })
            }),
        any::<u32>().prop_map(|w1ap_id| UeId::NgEnbDu(NgEnbDuUeId { w1ap_id })),
        (
            0..4096u16,
            of(number()),
            enb(),
            of(any::<u32>()),
            vec(any::<u32>(), 0..300),
            ran_id()
        )
            .prop_map(|(x2ap_id, extension, enb, f1ap_id, e1ap_ids, ran_ue_id)| {
                UeId::EnGnb(EnGnbUeId {
                    x2ap_id,
                    x2ap_id_extension: extension,
                    global_enb_id: enb,
                    f1ap_id,
                    e1ap_ids,
                    ran_ue_id,
                })
            }),
        (
            any::<u32>(),
            (plmn(), any::<u16>(), any::<u8>()),
            of(0..4096u16),
            of(number()),
            of(enb())
        )
            .prop_map(|(mme, (plmn, group, code), x2ap_id, extension, enb)| {
                UeId::Enb(EnbUeId {
                    mme_ue_s1ap_id: mme,
                    gummei: Gummei { plmn, group, code },
                    x2ap_id,
                    x2ap_id_extension: extension,
                    global_enb_id: enb,
                })
            }),
        unknown(0).prop_map(UeId::Unknown),
    ]
}
