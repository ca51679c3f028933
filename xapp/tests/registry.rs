//! Which flows are accepted, and which UE each goes to.

use policies::UeId;
use policies::matching::{Change, Match, UeKey};
use proto::guidance::{
    FlowReport, FlowStatus, RanUe, RegisterFlow, UeSelector, flow_status::State,
    guide_response::Message, ran_ue::Id, ue_selector::Selector,
};
use std::sync::Arc;
use std::time::Instant;
use xapp::config::{Binding, Config};
use xapp::guidance::outbox::Outbox;
use xapp::guidance::registry::{Effect, Registered, Registry, StreamId};
use xapp::measure::Identity;
use xapp::ran::NodeId;

const RNTI: UeId = UeId::CRnti(0xf0db);

fn config() -> Config {
    let mut config = Config::default();
    config.guidance.max_flows_per_stream = 3;
    config.binding = vec![Binding {
        ip: [10, 45, 0, 2].into(),
        node: "gnb:a".into(),
        c_rnti: Some(0xf0db),
        amf_ue_ngap_id: None,
        ran_ue_id: None,
        gnb_teid: None,
    }];
    config
}

fn node(name: &str) -> NodeId {
    NodeId(name.into())
}

fn by_rnti(flow: &str, node: &str, rnti: u32) -> RegisterFlow {
    let ran = RanUe {
        node: node.into(),
        id: Some(Id::CRnti(rnti)),
    };
    with(flow, Some(Selector::Ran(ran)))
}

fn by_ip(flow: &str, ip: &str) -> RegisterFlow {
    with(flow, Some(Selector::IpAddress(ip.into())))
}

fn with(flow: &str, selector: Option<Selector>) -> RegisterFlow {
    RegisterFlow {
        flow_id: flow.into(),
        ue: Some(UeSelector { selector }),
        ..RegisterFlow::default()
    }
}

/// A registry with one edge server.
struct Bench {
    registry: Registry,
    outbox: Arc<Outbox>,
    stream: StreamId,
}

impl Bench {
    fn new() -> Self {
        let mut registry = Registry::new(&config());
        let (outbox, stream) = (Arc::new(Outbox::new(3)), StreamId(1));
        assert!(
            registry
                .open(stream, &"edge".into(), outbox.clone())
                .is_empty()
        );
        Self {
            registry,
            outbox,
            stream,
        }
    }

    fn register(&mut self, request: &RegisterFlow) -> (Registered, Vec<String>) {
        let (registered, effects) = self.registry.register(self.stream, request);
        (registered, texts(effects))
    }

    fn statuses(&self) -> Vec<FlowStatus> {
        let mut statuses = Vec::new();
        while let Some(Ok(response)) = self.outbox.take(Instant::now()) {
            if let Some(Message::FlowStatus(status)) = response.message {
                statuses.push(status);
            }
        }
        statuses
    }

    fn status(&self) -> FlowStatus {
        let mut statuses = self.statuses();
        assert_eq!(statuses.len(), 1, "{statuses:?}");
        statuses.remove(0)
    }
}

/// Effects, short: "+node/flow/ue" and "-node/flow".
fn texts(effects: Vec<Effect>) -> Vec<String> {
    effects
        .into_iter()
        .map(|effect| match effect {
            Effect::Bind(node, flow) => format!("+{node}/{}/{}", flow.key.flow, flow.ue),
            Effect::Unbind(node, flow) => format!("-{node}/{}", flow.flow),
        })
        .collect()
}

#[test]
fn a_flow_is_bound_when_its_ue_appears_and_unbound_when_it_goes() {
    let mut bench = Bench::new();
    let (registered, effects) = bench.register(&by_rnti("video", "gnb:a", 0xf0db));
    assert_eq!(registered, Registered::Accepted);
    assert!(effects.is_empty());
    let status = bench.status();
    assert_eq!(status.state(), State::Unbound);
    assert_eq!(status.detail, "node gnb:a is not connected");

    assert!(bench.registry.node_up(node("gnb:a")).is_empty());
    assert_eq!(bench.status().detail, "node gnb:a reports no UE rnti:f0db");
    let other = bench.registry.ue_up(&node("gnb:a"), UeId::CRnti(1));
    assert!(other.is_empty() && bench.statuses().is_empty());

    let effects = bench.registry.ue_up(&node("gnb:a"), RNTI);
    assert_eq!(texts(effects), ["+gnb:a/video/rnti:f0db"]);
    let status = bench.status();
    assert_eq!(status.state(), State::Bound);
    let ue = status.ue.unwrap();
    assert_eq!(
        (ue.node.as_str(), ue.id),
        ("gnb:a", Some(Id::CRnti(0xf0db)))
    );

    let effects = bench.registry.ue_down(&node("gnb:a"), RNTI);
    assert_eq!(texts(effects), ["-gnb:a/video"]);
    assert_eq!(bench.status().state(), State::Unbound);

    bench.registry.ue_up(&node("gnb:a"), RNTI);
    let effects = bench.registry.node_down(&node("gnb:a"));
    assert_eq!(texts(effects), ["-gnb:a/video"]);
    let status = bench.status();
    assert_eq!(status.state(), State::Unbound);
    assert_eq!(status.detail, "node gnb:a is not connected");
    assert!(status.ue.is_none());
}

#[test]
fn an_ip_address_is_looked_up_in_the_static_table() {
    let mut bench = Bench::new();
    bench.registry.node_up(node("gnb:a"));
    bench.registry.ue_up(&node("gnb:a"), RNTI);
    // An IPv4 address may come as its IPv6 form.
    let (_, effects) = bench.register(&by_ip("a", "::ffff:10.45.0.2"));
    assert_eq!(effects, ["+gnb:a/a/rnti:f0db"]);
    bench.statuses();
    let (registered, effects) = bench.register(&by_ip("b", "10.45.0.3"));
    assert_eq!(registered, Registered::Accepted);
    assert!(effects.is_empty());
    assert_eq!(
        bench.status().detail,
        "no UE is known for 10.45.0.3 yet: its traffic is compared with that of the UEs; or add a [[binding]] with this address to the configuration, use `cantor bind`, or register the flow by an identity of the RAN"
    );
}

fn found(address: [u8; 4], rnti: u16) -> Change {
    let ue = UeKey {
        node: "gnb:a".into(),
        ue: UeId::CRnti(rnti),
    };
    let found = Match {
        ue,
        confidence: 0.97,
        lag: 0.02,
    };
    Change::Bound(address.into(), found)
}

#[test]
fn what_the_traffic_tells_binds_and_unbinds() {
    let mut bench = Bench::new();
    bench.registry.node_up(node("gnb:a"));
    bench.registry.ue_up(&node("gnb:a"), RNTI);
    bench.registry.ue_up(&node("gnb:a"), UeId::CRnti(2));
    bench.register(&by_ip("a", "10.45.0.2"));
    bench.register(&by_ip("b", "10.45.0.3"));
    bench.statuses();
    let wanted = bench.registry.wanted();
    // The address of the table is not looked for, and its UE is no candidate.
    let flows: Vec<_> = wanted.flows.keys().map(|key| &*key.flow).collect();
    assert_eq!(flows, ["b"]);
    assert_eq!(wanted.taken.len(), 1);

    let effects = bench.registry.matched(&found([10, 45, 0, 3], 2));
    assert_eq!(texts(effects), ["+gnb:a/b/rnti:0002"]);
    assert_eq!(bench.status().state(), State::Bound);
    let source = bench.registry.flows(None)[1].source.unwrap();
    assert_eq!(
        (source.name(), source.confidence()),
        ("traffic", Some(0.97))
    );

    let gone = Change::Unbound([10, 45, 0, 3].into(), "test".into());
    assert_eq!(texts(bench.registry.matched(&gone)), ["-gnb:a/b"]);
    assert_eq!(bench.status().state(), State::Unbound);
}

#[test]
fn what_an_operator_says_goes_first() {
    let mut bench = Bench::new();
    bench.registry.node_up(node("gnb:a"));
    for rnti in [2, 3] {
        bench.registry.ue_up(&node("gnb:a"), UeId::CRnti(rnti));
    }
    bench.register(&by_ip("b", "10.45.0.3"));
    let address = [10, 45, 0, 3].into();
    assert_eq!(
        texts(
            bench
                .registry
                .bind(address, None, Identity::Ue(UeId::CRnti(2)))
        ),
        ["+gnb:a/b/rnti:0002"]
    );
    assert!(bench.registry.wanted().flows.is_empty());
    // The traffic is overruled, and counts again when the operator takes his word back.
    assert!(bench.registry.matched(&found([10, 45, 0, 3], 3)).is_empty());
    let sources: Vec<_> = bench
        .registry
        .bindings()
        .iter()
        .map(|b| b.source.name())
        .collect();
    assert_eq!(sources, ["static", "operator"]);
    assert_eq!(
        texts(bench.registry.unbind(address).unwrap()),
        ["-gnb:a/b", "+gnb:a/b/rnti:0003"]
    );
    assert!(bench.registry.unbind(address).is_none());
}

/// The operator knows which address has which tunnel, and the gNB's reports which UE has which tunnel now.
#[test]
fn a_tunnel_is_followed_from_c_rnti_to_c_rnti() {
    let mut bench = Bench::new();
    bench.registry.node_up(node("gnb:a"));
    bench.registry.ue_up(&node("gnb:a"), UeId::CRnti(2));
    bench.register(&by_ip("b", "10.45.0.3"));
    let teid = Identity::GnbTeid(0x5f8b_d2d4);
    let address = [10, 45, 0, 3].into();
    bench.statuses();
    assert!(bench.registry.bind(address, None, teid).is_empty());
    assert_eq!(
        bench.status().detail,
        "no node reports a UE gnb-teid:5f8bd2d4"
    );
    let mut told = |ues: &[(Identity, u16)]| {
        let names = ues.iter().map(|(name, rnti)| (*name, UeId::CRnti(*rnti)));
        texts(bench.registry.names(&node("gnb:a"), names.collect()))
    };
    assert_eq!(told(&[(teid, 2)]), ["+gnb:a/b/rnti:0002"]);
    assert!(told(&[(teid, 2), (Identity::GnbTeid(1), 2)]).is_empty());
    // A handover: the new C-RNTI is known before it reports.
    assert_eq!(told(&[(teid, 3)]), ["-gnb:a/b"]);
    let effects = bench.registry.ue_up(&node("gnb:a"), UeId::CRnti(3));
    assert_eq!(texts(effects), ["+gnb:a/b/rnti:0003"]);
}

/// KPM's names of a UE that MAC reports.
#[test]
fn a_flow_may_be_registered_by_any_name_of_its_ue() {
    let mut bench = Bench::new();
    bench.registry.node_up(node("gnb:a"));
    bench.registry.ue_up(&node("gnb:a"), UeId::CRnti(2));
    let names = [(Identity::Ue(UeId::AmfUeNgapId(7)), UeId::CRnti(2))];
    bench.registry.names(&node("gnb:a"), names.into());
    let ran = RanUe {
        node: String::new(),
        id: Some(Id::AmfUeNgapId(7)),
    };
    let (_, effects) = bench.register(&with("a", Some(Selector::Ran(ran))));
    assert_eq!(effects, ["+gnb:a/a/rnti:0002"]);
}

#[test]
fn without_a_node_the_ue_must_be_the_only_one() {
    let mut bench = Bench::new();
    for name in ["gnb:a", "gnb:b"] {
        bench.registry.node_up(node(name));
        bench.registry.ue_up(&node(name), RNTI);
    }
    let (_, effects) = bench.register(&by_rnti("video", "", 0xf0db));
    assert!(effects.is_empty());
    assert_eq!(
        bench.status().detail,
        "several nodes have a UE rnti:f0db (gnb:a, gnb:b): name the node in the registration"
    );
    bench.registry.node_down(&node("gnb:a"));
    let effects = bench.registry.ue_up(&node("gnb:b"), RNTI);
    assert_eq!(texts(effects), ["+gnb:b/video/rnti:f0db"]);
    // A twin that appears later does not take a flow away, and takes it over when the first is gone.
    bench.registry.node_up(node("gnb:c"));
    assert!(bench.registry.ue_up(&node("gnb:c"), RNTI).is_empty());
    let effects = bench.registry.node_down(&node("gnb:b"));
    assert_eq!(texts(effects), ["-gnb:b/video", "+gnb:c/video/rnti:f0db"]);
}

#[test]
fn refusals_say_what_to_change() {
    let long = "x".repeat(129);
    let ran = |id| {
        Some(Selector::Ran(RanUe {
            node: String::new(),
            id,
        }))
    };
    let mut many_policies = by_rnti("f", "", 1);
    many_policies.policies = vec!["rapid".into(); 9];
    let mut unknown_policy = by_rnti("f", "", 1);
    unknown_policy.policies = vec!["pcc".into()];
    let cases = [
        (by_rnti("", "", 1), "flow_id has 0 octets: give 1 to 128"),
        (
            by_rnti(&long, "", 1),
            "flow_id has 129 octets: give 1 to 128",
        ),
        (
            by_rnti("a\nb", "", 1),
            "flow_id contains control characters",
        ),
        (
            with("f", None),
            "ue is missing: give ip_address, or ran with an identity of the UE",
        ),
        (
            with("f", ran(None)),
            "ue.ran has no identity: give c_rnti, amf_ue_ngap_id or ran_ue_id",
        ),
        (
            by_rnti("f", "", 65_536),
            "ue.ran.c_rnti is 65536: a C-RNTI has 16 bits",
        ),
        (
            with("f", ran(Some(Id::AmfUeNgapId(1 << 40)))),
            "ue.ran.amf_ue_ngap_id is 1099511627776: an AMF UE NGAP ID has 40 bits",
        ),
        (
            by_ip("f", "ue1.example"),
            "ue.ip_address \"ue1.example\" is neither an IPv4 nor an IPv6 address",
        ),
        (
            by_rnti("f", &long, 1),
            "ue.ran.node has 129 octets: give 1 to 128",
        ),
        (many_policies, "9 policies: give at most 8"),
        (
            unknown_policy,
            "unknown gain policy \"pcc\": use one of rapid, rapid-peak, prism, choir",
        ),
    ];
    let mut bench = Bench::new();
    for (request, reason) in cases {
        let (registered, effects) = bench.register(&request);
        assert_eq!(registered, Registered::Refused, "{reason}");
        assert!(effects.is_empty());
        let status = bench.status();
        assert_eq!(status.state(), State::Refused);
        assert_eq!(status.detail, reason);
    }
    assert!(bench.registry.flows(None).is_empty());
}

#[test]
fn a_stream_has_a_limit_of_flows_and_a_refused_change_leaves_the_flow_as_it_was() {
    let mut bench = Bench::new();
    bench.registry.node_up(node("gnb:a"));
    bench.registry.ue_up(&node("gnb:a"), RNTI);
    for flow in ["a", "b", "c"] {
        bench.register(&by_rnti(flow, "gnb:a", 0xf0db));
    }
    bench.statuses();
    let (registered, _) = bench.register(&by_rnti("d", "", 1));
    assert_eq!(registered, Registered::Refused);
    assert!(
        bench
            .status()
            .detail
            .starts_with("the stream has 3 flows already")
    );

    let (registered, effects) = bench.register(&by_rnti("a", "", 70_000));
    assert_eq!((registered, effects.len()), (Registered::Refused, 0));
    let detail = bench.status().detail;
    assert!(
        detail.ends_with("the earlier registration stays in force"),
        "{detail}"
    );
    let flows = bench.registry.flows(Some("edge"));
    assert_eq!(flows[0].bound, Some((node("gnb:a"), RNTI)));

    // A change of a known flow needs no further room; one that ended makes some.
    let (registered, effects) = bench.register(&by_rnti("a", "gnb:a", 0xf0db));
    assert_eq!(registered, Registered::Accepted);
    assert_eq!(effects, ["-gnb:a/a", "+gnb:a/a/rnti:f0db"]);
    let effects = bench.registry.unregister(bench.stream, "b");
    assert_eq!(texts(effects), ["-gnb:a/b"]);
    assert_eq!(bench.register(&by_rnti("d", "", 1)).0, Registered::Accepted);
}

#[test]
fn a_second_stream_of_an_edge_server_replaces_the_first() {
    let mut bench = Bench::new();
    bench.registry.node_up(node("gnb:a"));
    bench.registry.ue_up(&node("gnb:a"), RNTI);
    bench.register(&by_rnti("video", "gnb:a", 0xf0db));
    bench.statuses();

    let (second, outbox) = (StreamId(2), Arc::new(Outbox::new(3)));
    let effects = bench.registry.open(second, &"edge".into(), outbox.clone());
    assert_eq!(texts(effects), ["-gnb:a/video"]);
    assert!(bench.outbox.closed().is_cancelled());
    let end = bench.outbox.take(Instant::now()).unwrap().unwrap_err();
    assert_eq!(end.code(), tonic::Code::Aborted);

    // What the first one still says is not heard, nor that it ended.
    let late = bench.register(&by_rnti("late", "gnb:a", 0xf0db));
    assert_eq!(late.0, Registered::NoStream);
    assert!(bench.registry.close(bench.stream).is_empty());
    let (registered, effects) = bench
        .registry
        .register(second, &by_rnti("video", "gnb:a", 0xf0db));
    assert_eq!(registered, Registered::Accepted);
    assert_eq!(texts(effects), ["+gnb:a/video/rnti:f0db"]);
    assert!(!outbox.closed().is_cancelled());
    assert_eq!(bench.registry.streams(), 1);
}

#[test]
fn flows_of_an_edge_server_that_is_gone_stay_listed_and_their_reports_too() {
    let mut bench = Bench::new();
    bench.registry.node_up(node("gnb:a"));
    bench.registry.ue_up(&node("gnb:a"), RNTI);
    bench.register(&by_rnti("video", "gnb:a", 0xf0db));
    let report = FlowReport {
        flow_id: "video".into(),
        sent_bytes: Some(7),
        ..FlowReport::default()
    };
    assert!(
        bench
            .registry
            .report(bench.stream, report.clone(), Instant::now())
    );
    let unknown = FlowReport::default();
    assert!(!bench.registry.report(bench.stream, unknown, Instant::now()));
    assert_eq!(bench.registry.counts(), (1, 0));

    let effects = bench.registry.close(bench.stream);
    assert_eq!(texts(effects), ["-gnb:a/video"]);
    let flows = bench.registry.flows(None);
    assert_eq!(flows.len(), 1);
    assert!(!flows[0].connected && !flows[0].guided && flows[0].bound.is_none());
    assert_eq!(flows[0].report.as_ref().unwrap().0, report);
    assert_eq!(bench.registry.counts(), (0, 0));
    // Its UE going and coming is nothing to a flow that nobody sends.
    assert!(bench.registry.ue_up(&node("gnb:a"), RNTI).is_empty());

    // Edge servers that never come back are forgotten, the longest gone first.
    for n in 0..100 {
        let stream = StreamId(100 + n);
        let edge: Arc<str> = format!("edge-{n}").into();
        bench.registry.open(stream, &edge, Arc::new(Outbox::new(1)));
        bench.registry.register(stream, &by_rnti("f", "", 1));
        bench.registry.close(stream);
    }
    let flows = bench.registry.flows(None);
    assert_eq!(flows.len(), 64);
    assert!(flows.iter().any(|flow| &*flow.key.edge == "edge-99"));
    assert!(!flows.iter().any(|flow| &*flow.key.edge == "edge"));
}
