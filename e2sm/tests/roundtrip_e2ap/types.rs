//! Strategies for the types that messages are made of.

use e2sm::aper::{BitString, Criticality};
use e2sm::common::{
    EnbId, GlobalEnbId, GlobalGnbId, GlobalNgEnbId, GlobalNgRanNodeId, GnbId, NgEnbId, Plmn,
    UnknownChoice,
};
use e2sm::e2ap::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Mostly short; sometimes so long that open types at each level need the longer length forms, or fragments.
pub fn octets() -> BoxedStrategy<Vec<u8>> {
    prop_oneof![
        12 => vec(any::<u8>(), 0..12),
        4 => vec(any::<u8>(), 100..300),
        1 => (16_300usize..16_500, any::<u8>()).prop_map(|(length, octet)| vec![octet; length]),
        1 => (65_000usize..140_000, any::<u8>()).prop_map(|(length, octet)| vec![octet; length]),
    ]
    .boxed()
}

/// Also beyond the root size, and outside of the PrintableString alphabet.
pub fn text() -> BoxedStrategy<String> {
    vec(prop_oneof![9 => 0x20u8..0x7f, 1 => any::<u8>()], 1..180)
        .prop_map(|octets| octets.into_iter().map(char::from).collect())
        .boxed()
}

/// One of the known values or, sometimes, one that is not.
fn value_of<T: Copy + std::fmt::Debug + 'static>(
    known: &[&'static [T]],
    unknown: fn(u32) -> T,
) -> BoxedStrategy<T> {
    let first_unknown = known.get(1).map_or(0, |additions| additions.len() as u32);
    prop_oneof![
        9 => select(known.concat()),
        1 => (first_unknown..200).prop_map(unknown),
    ]
    .boxed()
}

macro_rules! value {
    ($name:ident) => {
        value_of(&[$name::ROOT, $name::ADDITIONS], $name::Unknown)
    };
}

pub fn time_to_wait() -> BoxedStrategy<TimeToWait> {
    value!(TimeToWait)
}

pub fn indication_type() -> BoxedStrategy<RicIndicationType> {
    value!(RicIndicationType)
}

pub fn control_status() -> BoxedStrategy<RicControlStatus> {
    value!(RicControlStatus)
}

fn unknown_choice() -> BoxedStrategy<UnknownChoice> {
    // Beyond any addition that is known.
    (8u32..100, vec(any::<u8>(), 1..20))
        .prop_map(|(addition, contents)| UnknownChoice { addition, contents })
        .boxed()
}

pub fn cause(version: Version) -> BoxedStrategy<Cause> {
    let v1 = version == Version::V1_01;
    let request = if v1 {
        let root = [
            &RicRequestCause::ROOT[..10],
            &[RicRequestCause::Unspecified],
        ]
        .concat();
        prop_oneof![9 => select(root), 1 => (0u32..200).prop_map(RicRequestCause::Unknown)].boxed()
    } else {
        value!(RicRequestCause)
    };
    let node = if v1 {
        Just(Cause::Misc(MiscCause::Unspecified)).boxed()
    } else {
        value!(E2NodeCause).prop_map(Cause::E2Node).boxed()
    };
    prop_oneof![
        request.prop_map(Cause::RicRequest),
        value!(RicServiceCause).prop_map(Cause::RicService),
        node,
        value!(TransportCause).prop_map(Cause::Transport),
        value!(ProtocolCause).prop_map(Cause::Protocol),
        value!(MiscCause).prop_map(Cause::Misc),
        unknown_choice().prop_map(Cause::Unknown),
    ]
    .boxed()
}

pub fn plmn() -> BoxedStrategy<Plmn> {
    any::<[u8; 3]>().prop_map(Plmn).boxed()
}

fn gnb() -> BoxedStrategy<GlobalGnbId> {
    let bits = (22u8..=32, any::<u32>()).prop_map(|(length, value)| GnbId::Bits {
        value: value >> (32 - length),
        length,
    });
    let id = prop_oneof![9 => bits, 1 => unknown_choice().prop_map(GnbId::Unknown)];
    (plmn(), id)
        .prop_map(|(plmn, gnb)| GlobalGnbId { plmn, gnb })
        .boxed()
}

fn bits(count: u32) -> BoxedStrategy<u32> {
    (0..1u32 << count).boxed()
}

fn enb() -> BoxedStrategy<GlobalEnbId> {
    let id = prop_oneof![
        bits(20).prop_map(EnbId::Macro),
        bits(28).prop_map(EnbId::Home),
        bits(18).prop_map(EnbId::ShortMacro),
        bits(21).prop_map(EnbId::LongMacro),
        unknown_choice().prop_map(EnbId::Unknown),
    ];
    (plmn(), id)
        .prop_map(|(plmn, enb)| GlobalEnbId { plmn, enb })
        .boxed()
}

fn ng_enb() -> BoxedStrategy<GlobalNgEnbId> {
    let id = prop_oneof![
        bits(20).prop_map(NgEnbId::Macro),
        bits(18).prop_map(NgEnbId::ShortMacro),
        bits(21).prop_map(NgEnbId::LongMacro),
        unknown_choice().prop_map(NgEnbId::Unknown),
    ];
    (plmn(), id)
        .prop_map(|(plmn, enb)| GlobalNgEnbId { plmn, enb })
        .boxed()
}

/// 36 bits, of every length.
fn split_id() -> BoxedStrategy<u64> {
    (0u32..=36, any::<u64>())
        .prop_map(|(length, value)| value & ((1 << length) - 1))
        .boxed()
}

pub fn node(version: Version) -> BoxedStrategy<GlobalE2NodeId> {
    let since_v2 = version != Version::V1_01;
    let en_gnb = option::of(gnb()).prop_map(move |id| id.filter(|_| since_v2));
    let eutra = option::of(enb()).prop_map(move |id| id.filter(|_| since_v2));
    let ng_enb_du = option::of(split_id()).prop_map(move |id| id.filter(|_| since_v2));
    prop_oneof![
        (
            gnb(),
            en_gnb,
            option::of(split_id()),
            option::of(split_id())
        )
            .prop_map(|(gnb, en_gnb, cu_up, du)| GlobalE2NodeId::Gnb {
                gnb,
                en_gnb,
                cu_up,
                du
            }),
        (gnb(), option::of(split_id()), option::of(split_id()))
            .prop_map(|(en_gnb, cu_up, du)| GlobalE2NodeId::EnGnb { en_gnb, cu_up, du }),
        (ng_enb(), eutra, ng_enb_du).prop_map(|(ng_enb, enb, du)| GlobalE2NodeId::NgEnb {
            ng_enb,
            enb,
            du
        }),
        enb().prop_map(GlobalE2NodeId::Enb),
        unknown_choice().prop_map(GlobalE2NodeId::Unknown),
    ]
    .boxed()
}

pub fn ric() -> BoxedStrategy<GlobalRicId> {
    (plmn(), bits(20))
        .prop_map(|(plmn, ric_id)| GlobalRicId { plmn, ric_id })
        .boxed()
}

pub fn request() -> BoxedStrategy<RicRequestId> {
    any::<(u16, u16)>()
        .prop_map(|(requestor, instance)| RicRequestId {
            requestor,
            instance,
        })
        .boxed()
}

/// RANfunctionID and RANfunctionRevision.
pub fn number12() -> BoxedStrategy<u16> {
    (0u16..4096).boxed()
}

/// 0 in v1.01, which has none.
pub fn transaction(version: Version) -> BoxedStrategy<u32> {
    match version {
        Version::V1_01 => Just(0).boxed(),
        _ => prop_oneof![0u32..256, any::<u32>()].boxed(),
    }
}

pub fn functions(version: Version, least: usize) -> BoxedStrategy<Vec<RanFunction>> {
    let oid = if version == Version::V1_01 {
        prop_oneof![Just(String::new()), text()].boxed()
    } else {
        text()
    };
    let function =
        (number12(), octets(), number12(), oid).prop_map(|(id, definition, revision, oid)| {
            RanFunction {
                id,
                definition,
                revision,
                oid,
            }
        });
    vec(function, least..5).boxed()
}

pub fn function_ids() -> BoxedStrategy<Vec<RanFunctionId>> {
    let id = (number12(), number12()).prop_map(|(id, revision)| RanFunctionId { id, revision });
    prop_oneof![vec(id.clone(), 0..5), vec(id, 256)].boxed()
}

pub fn rejected_functions(version: Version) -> BoxedStrategy<Vec<RejectedRanFunction>> {
    vec(
        (number12(), cause(version)).prop_map(|(id, cause)| RejectedRanFunction { id, cause }),
        0..5,
    )
    .boxed()
}

pub fn details(version: Version) -> BoxedStrategy<RicSubscriptionDetails> {
    let step = (0u8..17).prop_map(RicTimeToWait::Step);
    let time_to_wait = if version == Version::V1_01 {
        prop_oneof![
            step,
            Just(RicTimeToWait::Zero),
            (0u32..100).prop_map(RicTimeToWait::Unknown)
        ]
        .boxed()
    } else {
        prop_oneof![step, (0u32..100).prop_map(RicTimeToWait::Unknown)].boxed()
    };
    let subsequent = (value!(RicSubsequentActionType), time_to_wait)
        .prop_map(|(kind, time_to_wait)| RicSubsequentAction { kind, time_to_wait });
    let action = (
        any::<u8>(),
        value!(RicActionType),
        option::of(octets()),
        option::of(subsequent),
    )
        .prop_map(|(id, kind, definition, subsequent)| RicAction {
            id,
            kind,
            definition,
            subsequent,
        });
    let actions = prop_oneof![9 => vec(action.clone(), 1..4), 1 => vec(action, 16)];
    (octets(), actions)
        .prop_map(|(event_trigger, actions)| RicSubscriptionDetails {
            event_trigger,
            actions,
        })
        .boxed()
}

pub fn ack_request(version: Version) -> BoxedStrategy<RicControlAckRequest> {
    let mut known = vec![RicControlAckRequest::NoAck, RicControlAckRequest::Ack];
    if version == Version::V1_01 {
        known.push(RicControlAckRequest::NAck);
    }
    prop_oneof![9 => select(known), 1 => (0u32..100).prop_map(RicControlAckRequest::Unknown)]
        .boxed()
}

fn component_id() -> BoxedStrategy<ComponentId> {
    prop_oneof![
        text().prop_map(ComponentId::Ng),
        gnb().prop_map(|id| ComponentId::Xn(GlobalNgRanNodeId::Gnb(id))),
        ng_enb().prop_map(|id| ComponentId::Xn(GlobalNgRanNodeId::NgEnb(id))),
        unknown_choice().prop_map(|id| ComponentId::Xn(GlobalNgRanNodeId::Unknown(id))),
        split_id().prop_map(ComponentId::E1),
        split_id().prop_map(ComponentId::F1),
        split_id().prop_map(ComponentId::W1),
        text().prop_map(ComponentId::S1),
        (option::of(enb()), option::of(gnb()))
            .prop_map(|(enb, en_gnb)| ComponentId::X2 { enb, en_gnb }),
        unknown_choice().prop_map(ComponentId::Unknown),
    ]
    .boxed()
}

pub fn components(version: Version, least: usize) -> BoxedStrategy<Vec<ComponentConfig>> {
    if version == Version::V1_01 {
        return Just(Vec::new()).boxed();
    }
    let component = (
        value!(ComponentInterface),
        component_id(),
        octets(),
        octets(),
    )
        .prop_map(|(interface, id, request, response)| ComponentConfig {
            interface,
            id,
            request,
            response,
        });
    vec(component, least..4).boxed()
}

pub fn component_removals(version: Version) -> BoxedStrategy<Vec<ComponentRemoval>> {
    if version == Version::V1_01 {
        return Just(Vec::new()).boxed();
    }
    let removal = (value!(ComponentInterface), component_id())
        .prop_map(|(interface, id)| ComponentRemoval { interface, id });
    vec(removal, 0..4).boxed()
}

pub fn component_acks(version: Version, least: usize) -> BoxedStrategy<Vec<ComponentConfigAck>> {
    if version == Version::V1_01 {
        return Just(Vec::new()).boxed();
    }
    let ack = (
        value!(ComponentInterface),
        component_id(),
        value!(UpdateOutcome),
        option::of(cause(version)),
    )
        .prop_map(|(interface, id, outcome, failure)| ComponentConfigAck {
            interface,
            id,
            outcome,
            failure,
        });
    vec(ack, least..4).boxed()
}

pub fn tnl() -> BoxedStrategy<TnlInformation> {
    let address = vec(any::<u8>(), 1..40)
        .prop_flat_map(|octets| (Just(octets.clone()), 1..=octets.len() * 8))
        .prop_map(|(octets, length)| BitString::new(octets, length).unwrap());
    (address, option::of(any::<u16>()))
        .prop_map(|(address, port)| TnlInformation { address, port })
        .boxed()
}

pub fn connections() -> BoxedStrategy<Vec<E2Connection>> {
    vec(
        (tnl(), value!(TnlUsage)).prop_map(|(tnl, usage)| E2Connection { tnl, usage }),
        0..4,
    )
    .boxed()
}

pub fn diagnostics() -> BoxedStrategy<CriticalityDiagnostics> {
    let criticality = || {
        select(vec![
            Criticality::Reject,
            Criticality::Ignore,
            Criticality::Notify,
        ])
    };
    let outcome = select(vec![
        Outcome::InitiatingMessage,
        Outcome::SuccessfulOutcome,
        Outcome::UnsuccessfulOutcome,
    ]);
    let ie =
        (criticality(), any::<u16>(), value!(TypeOfError)).prop_map(|(criticality, id, error)| {
            IeDiagnostics {
                criticality,
                id,
                error,
            }
        });
    let ies = prop_oneof![9 => vec(ie.clone(), 0..4), 1 => vec(ie, 256)];
    (
        option::of(any::<u8>()),
        option::of(outcome),
        option::of(criticality()),
        option::of(request()),
        ies,
    )
        .prop_map(
            |(procedure_code, triggering_message, procedure_criticality, request, ies)| {
                CriticalityDiagnostics {
                    procedure_code,
                    triggering_message,
                    procedure_criticality,
                    request,
                    ies,
                }
            },
        )
        .boxed()
}
