//! The E2 node's session, driven by messages that real RICs sent.

use e2sm::e2ap::{
    Cause, E2SetupFailure, ErrorIndication, MiscCause, Pdu, ProtocolCause, RicIndication,
    RicRequestCause, RicRequestId, TimeToWait, Version, decode, encode,
};
use e2sm::flexric::{MacUe, RlcBearer, Stats};
use e2sm::kpm::{
    self, ActionDefinition, ActionFormat, CellAction, Dialect, IndicationHeader, IndicationMessage,
    MeasInfo, MeasValue,
};
use sim::cell::{Background, Cell, CellConfig, UeConfig};
use sim::node::{KpmDialect, Node, NodeConfig, NodeError};
use std::path::PathBuf;
use std::time::Duration;

/// 30 November 2026, Unix microseconds.
const TODAY_US: i64 = 1_796_061_419_094_548;

fn vector(path: &str) -> Vec<u8> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/vectors")
        .join(path);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let digits: String = text.split_whitespace().collect();
    hex::decode(digits).unwrap()
}

fn greedy() -> UeConfig {
    UeConfig {
        background: Background::Greedy,
        ..UeConfig::default()
    }
}

/// A node, its cell and a clock.
struct Rig {
    node: Node,
    cell: Cell,
    now: Duration,
}

impl Rig {
    fn new(kpm: KpmDialect, ues: Vec<UeConfig>) -> Self {
        let config = NodeConfig {
            kpm: Some(kpm),
            ..NodeConfig::default()
        };
        let cell = CellConfig {
            ues,
            ..CellConfig::default()
        };
        Self {
            node: Node::new(&config).unwrap(),
            cell: Cell::new(cell, 1).unwrap(),
            now: Duration::ZERO,
        }
    }

    /// One that a RIC has accepted.
    fn up(kpm: KpmDialect, ues: Vec<UeConfig>) -> Self {
        let mut rig = Self::new(kpm, ues);
        rig.node.connected(rig.now);
        rig.poll();
        rig.receive("flexric/v2_e2_setup_resp.hex");
        assert!(rig.node.is_up());
        rig
    }

    fn receive(&mut self, name: &str) {
        self.node.received(self.now, &self.cell, &vector(name));
    }

    fn receive_pdu(&mut self, pdu: &Pdu) {
        let octets = encode(pdu, Version::V2_03).unwrap();
        self.node.received(self.now, &self.cell, &octets);
    }

    fn poll(&mut self) -> Vec<Pdu> {
        let unix_us = TODAY_US + self.now.as_micros() as i64;
        let messages = self.node.poll(self.now, unix_us, &self.cell);
        messages
            .iter()
            .map(|octets| decode(octets, Version::V2_03).unwrap().value)
            .collect()
    }

    /// The only message that there is to send.
    fn answer(&mut self) -> Pdu {
        let mut messages = self.poll();
        assert_eq!(messages.len(), 1, "{messages:?}");
        messages.remove(0)
    }

    /// Time passes; the indications on the way.
    fn run(&mut self, length: Duration) -> Vec<RicIndication> {
        let end = self.now + length;
        let mut indications = Vec::new();
        while self.now < end {
            self.now += Duration::from_millis(1);
            while self.cell.duration(self.cell.slot() + 1) <= self.now {
                self.cell.run_slot();
            }
            for pdu in self.poll() {
                match pdu {
                    Pdu::RicIndication(indication) => indications.push(indication),
                    other => panic!("{other:?}"),
                }
            }
        }
        indications
    }
}

const MILLISECOND: Duration = Duration::from_millis(1);

#[test]
fn setup_is_repeated_until_it_is_answered() {
    let mut rig = Rig::new(KpmDialect::Standard, vec![]);
    assert!(rig.poll().is_empty(), "not connected");
    rig.node.connected(rig.now);
    let Pdu::E2SetupRequest(request) = rig.answer() else {
        panic!()
    };
    let functions: Vec<_> = request
        .functions
        .iter()
        .map(|f| (f.id, f.oid.as_str()))
        .collect();
    assert_eq!(
        functions,
        [
            (2, "1.3.6.1.4.1.53148.1.3.2.2"),
            (142, "0.0.0.0.0.0.0.0.1.142.0"),
            (143, "0.0.0.0.0.0.0.0.1.143.0")
        ]
    );
    assert_eq!(request.functions[1].definition, b"MAC_STATS_V0");
    assert_eq!(request.node.to_string(), "gnb:001-01:00000e00/32");
    let (description, _) =
        kpm::RanFunctionDescription::decode(&request.functions[0].definition).unwrap();
    assert!(description.report_style(4).is_some());

    rig.now += Duration::from_millis(2999);
    assert!(rig.poll().is_empty());
    rig.now += MILLISECOND;
    assert!(matches!(rig.answer(), Pdu::E2SetupRequest(_)));
    rig.receive("flexric/v2_e2_setup_resp.hex");
    assert!(rig.node.is_up());
    rig.now += Duration::from_secs(10);
    assert!(rig.poll().is_empty());
}

#[test]
fn refused_setup_waits_as_long_as_the_ric_says() {
    let mut rig = Rig::new(KpmDialect::Standard, vec![]);
    rig.node.connected(rig.now);
    rig.poll();
    rig.receive_pdu(&Pdu::E2SetupFailure(E2SetupFailure {
        transaction: 1,
        cause: Cause::Misc(MiscCause::ControlProcessingOverload),
        time_to_wait: Some(TimeToWait::S10),
        diagnostics: None,
        tnl: None,
    }));
    rig.now += Duration::from_millis(9999);
    assert!(rig.poll().is_empty());
    rig.now += MILLISECOND;
    assert!(matches!(rig.answer(), Pdu::E2SetupRequest(_)));
}

#[test]
fn mac_and_rlc_report_on_their_periods() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![UeConfig::default(), greedy()]);
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    let Pdu::RicSubscriptionResponse(response) = rig.answer() else {
        panic!()
    };
    assert_eq!(
        (response.request.requestor, response.ran_function),
        (1021, 142)
    );
    assert_eq!(response.admitted.len(), 1);
    rig.receive("flexric/v2_e2_sub_req_rlc.hex");
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionResponse(_)));
    assert_eq!(rig.node.subscriptions(), 2);

    let indications = rig.run(Duration::from_secs(1));
    let of = |function| {
        indications
            .iter()
            .filter(move |i| i.ran_function == function)
    };
    assert_eq!((of(142).count(), of(143).count()), (4, 4), "every 250 ms");
    let mac = Stats::<MacUe>::decode(&of(142).next_back().unwrap().message).unwrap();
    assert_eq!(mac.tstamp_us, TODAY_US + 1_000_000);
    assert_eq!(mac.records.len(), 2);
    let truth = rig.cell.ue(1).unwrap();
    assert_eq!(mac.records[1].dl_aggr_tbs, truth.mac.tbs_octets);
    assert_eq!(mac.records[1].dl_aggr_prb as u64, truth.mac.prbs);
    let rlc = Stats::<RlcBearer>::decode(&of(143).next_back().unwrap().message).unwrap();
    assert_eq!(rlc.records[1].txsdu_bytes, truth.rlc.sent_sdu_octets);
    assert_eq!(
        u64::from(rlc.records[1].txbuf_occ_bytes),
        truth.queue_octets
    );
}

#[test]
fn late_polls_give_one_report_and_keep_the_rhythm() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    rig.poll();
    rig.now += Duration::from_millis(900);
    assert_eq!(rig.poll().len(), 1);
    rig.now += Duration::from_millis(99);
    assert!(rig.poll().is_empty());
    rig.now += MILLISECOND;
    assert_eq!(
        rig.poll().len(),
        1,
        "due at 1000 ms, not 250 ms after the late one"
    );
}

#[test]
fn deleted_subscriptions_are_silent_and_unknown_ones_are_refused() {
    let mut rig = Rig::up(KpmDialect::Oai2024, vec![greedy()]);
    rig.receive("oai/oai_e2_sub_req_kpm.hex");
    let Pdu::RicSubscriptionResponse(response) = rig.answer() else {
        panic!()
    };
    let mut delete = vector("oai/oai_e2_subdel_req_kpm.hex");
    rig.node.received(rig.now, &rig.cell, &delete);
    let Pdu::RicSubscriptionDeleteResponse(deleted) = rig.answer() else {
        panic!()
    };
    assert_eq!(deleted.request, response.request);
    assert!(rig.run(Duration::from_secs(2)).is_empty());

    // The same once more, and as if the function were MAC.
    rig.node.received(rig.now, &rig.cell, &delete);
    let Pdu::RicSubscriptionDeleteFailure(failure) = rig.answer() else {
        panic!()
    };
    assert_eq!(
        failure.cause,
        Cause::RicRequest(RicRequestCause::RequestIdUnknown)
    );
    *delete.last_mut().unwrap() = 142;
    rig.node.received(rig.now, &rig.cell, &delete);
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionDeleteFailure(_)));
}

#[test]
fn what_kills_other_agents_is_refused() {
    let mut rig = Rig::up(KpmDialect::Oai2024, vec![greedy()]);
    rig.receive("flexric/err_e2_sub_req_ranfunc200.hex");
    let Pdu::RicSubscriptionFailure(failure) = rig.answer() else {
        panic!()
    };
    assert_eq!(
        failure.cause,
        Cause::RicRequest(RicRequestCause::RanFunctionIdInvalid)
    );

    for period in [0_u32, 10_001, u32::MAX] {
        let request = decode(&vector("flexric/v2_e2_sub_req_mac.hex"), Version::V2_03).unwrap();
        let Pdu::RicSubscriptionRequest(mut request) = request.value else {
            panic!()
        };
        request.details.event_trigger = period.to_le_bytes().to_vec();
        rig.receive_pdu(&Pdu::RicSubscriptionRequest(request));
        assert!(
            matches!(rig.answer(), Pdu::RicSubscriptionFailure(_)),
            "{period} ms"
        );
    }

    rig.receive("flexric/v2_e2_ctrl_req_mac.hex");
    let Pdu::RicControlFailure(failure) = rig.answer() else {
        panic!()
    };
    assert_eq!(
        failure.cause,
        Cause::RicRequest(RicRequestCause::ActionNotSupported)
    );

    rig.receive("flexric/err_malformed.hex");
    let Pdu::ErrorIndication(error) = rig.answer() else {
        panic!()
    };
    assert!(matches!(error.cause, Some(Cause::Protocol(_))), "{error:?}");
    assert!(rig.node.is_up());
}

#[test]
fn two_actions_run_side_by_side() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    let request = decode(&vector("flexric/v2_e2_sub_req_mac.hex"), Version::V2_03).unwrap();
    let Pdu::RicSubscriptionRequest(mut request) = request.value else {
        panic!()
    };
    let first = request.details.actions[0].clone();
    for id in [7, 0] {
        let mut action = first.clone();
        action.id = id;
        request.details.actions.push(action);
    }
    rig.receive_pdu(&Pdu::RicSubscriptionRequest(request));
    let Pdu::RicSubscriptionResponse(response) = rig.answer() else {
        panic!()
    };
    let admitted: Vec<u8> = response.admitted.iter().map(|a| a.id).collect();
    assert_eq!(admitted, [0, 7]);
    let refused = response.not_admitted.unwrap();
    assert_eq!(
        refused[0].cause,
        Cause::RicRequest(RicRequestCause::DuplicateAction)
    );
    let actions: Vec<u8> = rig
        .run(Duration::from_millis(250))
        .iter()
        .map(|i| i.action)
        .collect();
    assert_eq!(actions, [0, 7]);
}

#[test]
fn reset_ends_subscriptions_but_not_the_session() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    rig.poll();
    rig.receive("flexric/syn_reset_req.hex");
    let Pdu::ResetResponse(response) = rig.answer() else {
        panic!()
    };
    assert_eq!(response.transaction, 3);
    assert!(rig.node.is_up());
    assert!(rig.run(Duration::from_secs(1)).is_empty());
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionResponse(_)));
}

#[test]
fn a_lost_connection_loses_the_subscriptions_and_leads_to_a_new_setup() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    rig.node.disconnected();
    rig.now += Duration::from_secs(1);
    assert!(
        rig.poll().is_empty(),
        "neither the answer nor a report goes anywhere"
    );
    rig.node.connected(rig.now);
    assert!(!rig.node.is_up());
    assert!(matches!(rig.answer(), Pdu::E2SetupRequest(_)));
    rig.receive("flexric/v2_e2_setup_resp.hex");
    assert!(rig.run(Duration::from_secs(1)).is_empty());
}

#[test]
fn queries_are_answered_with_all_functions() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![]);
    rig.receive("flexric/syn_service_query.hex");
    let Pdu::RicServiceUpdate(update) = rig.answer() else {
        panic!()
    };
    let ids =
        |functions: &[e2sm::e2ap::RanFunction]| functions.iter().map(|f| f.id).collect::<Vec<_>>();
    assert_eq!(
        (ids(&update.modified), ids(&update.added)),
        (vec![2], vec![142, 143])
    );
    rig.node.update_service();
    let Pdu::RicServiceUpdate(update) = rig.answer() else {
        panic!()
    };
    assert_eq!(ids(&update.modified), [2, 142, 143]);
}

#[test]
fn an_error_indication_about_a_subscription_ends_it() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    rig.poll();
    let about = |function, cause| {
        Pdu::ErrorIndication(ErrorIndication {
            transaction: None,
            request: Some(RicRequestId {
                requestor: 1021,
                instance: 0,
            }),
            ran_function: Some(function),
            cause: Some(cause),
            diagnostics: None,
        })
    };
    let unknown = Cause::RicRequest(RicRequestCause::RequestIdUnknown);
    rig.receive_pdu(&about(143, unknown.clone()));
    rig.receive_pdu(&about(142, Cause::Protocol(ProtocolCause::SemanticError)));
    assert_eq!(
        rig.node.subscriptions(),
        1,
        "another subscription, another error"
    );
    rig.receive_pdu(&about(142, unknown));
    assert_eq!(rig.node.subscriptions(), 0);
}

/// Values of the named measurement, by UE.
fn values(indication: &RicIndication, name: &str) -> Vec<MeasValue> {
    let (message, _) = IndicationMessage::decode(&indication.message, Dialect::Standard).unwrap();
    let column = |report: &kpm::MeasReport<'_>| {
        let index = report
            .info
            .iter()
            .position(|i| i.measure.name() == Some(name))
            .unwrap();
        report.data.records().next().unwrap().values[index]
    };
    message
        .reports()
        .map(|(_, report)| column(report))
        .collect()
}

#[test]
fn kpm_reports_each_ue_of_the_slice() {
    let mut other = greedy();
    other.slice.sd = Some(5);
    let mut rig = Rig::up(
        KpmDialect::Oai2024,
        vec![greedy(), other, UeConfig::default()],
    );
    rig.receive("flexric/v2_e2_sub_req_kpm.hex");
    let Pdu::RicSubscriptionResponse(_) = rig.answer() else {
        panic!()
    };
    let indications = rig.run(Duration::from_secs(2));
    assert_eq!(indications.len(), 2);
    let last = &indications[1];

    let (header, _) = IndicationHeader::decode(&last.header, kpm::Version::V2).unwrap();
    assert_eq!(header.sender_name.as_deref(), Some("ngran_gNB"));
    let start = header.collect_start_time.flexric_unix_us();
    assert_eq!(start / 1_000_000, (TODAY_US + 1_000_000) / 1_000_000);

    let (message, notes) = IndicationMessage::decode(&last.message, Dialect::Standard).unwrap();
    assert_eq!(notes.skipped(), 0);
    let ues: Vec<_> = message
        .reports()
        .map(|(ue, _)| ue.unwrap().amf_ue_ngap_id())
        .collect();
    assert_eq!(ues, [Some(1), Some(3)], "UE 2 has a slice differentiator");
    let prbs = values(last, "RRU.PrbTotDl");
    let MeasValue::Integer(greedy_prbs) = prbs[0] else {
        panic!()
    };
    assert!(
        (70_000..90_000).contains(&greedy_prbs),
        "about half of 84.8 × 2000: {greedy_prbs}"
    );
    assert_eq!(prbs[1], MeasValue::Integer(0));
    assert_eq!(
        values(last, "DRB.UEThpUl"),
        [MeasValue::NoValue; 2],
        "not measured here"
    );
}

#[test]
fn kpm_in_standard_units_and_time() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy(), greedy()]);
    rig.run(Duration::from_secs(1));
    rig.receive("flexric/v2_e2_sub_req_kpm.hex");
    rig.poll();
    let indications = rig.run(Duration::from_secs(1));
    assert_eq!(indications.len(), 1);
    let (header, _) = IndicationHeader::decode(&indications[0].header, kpm::Version::V3).unwrap();
    let start = header.collect_start_time.ntp_unix_us();
    assert!((start - (TODAY_US + 1_000_000)).abs() <= 2000, "{start}");
    for value in values(&indications[0], "RRU.PrbTotDl") {
        let MeasValue::Integer(percent) = value else {
            panic!()
        };
        assert!((47..=50).contains(&percent), "{percent}");
    }
    for value in values(&indications[0], "DRB.UEThpDl") {
        let MeasValue::Real(kbps) = value else {
            panic!()
        };
        assert!((55_000.0..70_000.0).contains(&kbps), "{kbps}");
    }
}

#[test]
fn oai_counts_its_first_report_from_the_attach_on() {
    let first = |dialect| {
        let mut rig = Rig::up(dialect, vec![greedy()]);
        rig.run(Duration::from_secs(4));
        rig.receive("flexric/v2_e2_sub_req_kpm.hex");
        rig.poll();
        let indications = rig.run(Duration::from_secs(1));
        let MeasValue::Real(kbps) = values(&indications[0], "DRB.UEThpDl")[0] else {
            panic!()
        };
        kbps
    };
    let (standard, oai) = (first(KpmDialect::Standard), first(KpmDialect::Oai2024));
    assert!((oai / standard - 5.0).abs() < 0.05, "{oai} {standard}");
}

#[test]
fn the_old_dialect_and_integer_conditions_are_refused() {
    let mut rig = Rig::up(KpmDialect::Oai2024, vec![greedy()]);
    rig.receive("flexric/v1_e2_sub_req_kpm.hex");
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionFailure(_)));
}

/// A subscription to KPM with this action definition, period 1000 ms.
fn kpm_request(style: i64, format: ActionFormat) -> Pdu {
    let request = decode(&vector("flexric/v2_e2_sub_req_kpm.hex"), Version::V2_03).unwrap();
    let Pdu::RicSubscriptionRequest(mut request) = request.value else {
        panic!()
    };
    let definition = ActionDefinition { style, format }
        .encode(Dialect::Standard)
        .unwrap();
    request.details.actions[0].definition = Some(definition);
    Pdu::RicSubscriptionRequest(request)
}

fn prb_total() -> CellAction {
    CellAction {
        info: vec![MeasInfo::named("RRU.PrbTotDl")],
        granularity_ms: 1000,
        cell: None,
        bin_ranges: Vec::new(),
    }
}

#[test]
fn kpm_of_the_whole_node() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy(), greedy()]);
    rig.receive_pdu(&kpm_request(1, ActionFormat::Format1(prb_total())));
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionResponse(_)));
    let indications = rig.run(Duration::from_secs(1));
    let [MeasValue::Integer(percent)] = values(&indications[0], "RRU.PrbTotDl")[..] else {
        panic!()
    };
    assert!((96..=100).contains(&percent), "{percent}");
}

#[test]
fn kpm_of_listed_ues() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy(), greedy(), greedy()]);
    rig.receive("flexric/v2_e2_sub_req_kpm.hex");
    rig.poll();
    let all = rig.run(Duration::from_secs(1));
    let (message, _) = IndicationMessage::decode(&all[0].message, Dialect::Standard).unwrap();
    let mut ues: Vec<_> = message
        .reports()
        .map(|(ue, _)| ue.unwrap().clone())
        .collect();
    ues.remove(1);
    let format = ActionFormat::Format5 {
        ues: ues.clone(),
        action: prb_total(),
    };
    rig.receive_pdu(&kpm_request(5, format));
    rig.poll();
    let listed = rig.run(Duration::from_secs(1));
    let (message, _) = IndicationMessage::decode(&listed[0].message, Dialect::Standard).unwrap();
    let reported: Vec<_> = message
        .reports()
        .map(|(ue, _)| ue.unwrap().clone())
        .collect();
    assert_eq!(reported, ues);
}

#[test]
fn unknown_measurements_alone_are_refused() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    let mut action = prb_total();
    action.info = vec![MeasInfo::named("No.Such")];
    rig.receive_pdu(&kpm_request(1, ActionFormat::Format1(action)));
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionFailure(_)));
}

#[test]
fn nothing_is_reported_without_ues() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![]);
    for name in [
        "flexric/v2_e2_sub_req_mac.hex",
        "flexric/v2_e2_sub_req_kpm.hex",
    ] {
        rig.receive(name);
        assert!(matches!(rig.answer(), Pdu::RicSubscriptionResponse(_)));
    }
    assert!(rig.run(Duration::from_secs(2)).is_empty());
}

#[test]
fn no_message_makes_the_node_panic_or_stop() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    for name in [
        "v2_e2_sub_req_kpm",
        "v2_e2_sub_req_mac",
        "v2_e2_subdel_req_kpm",
        "syn_reset_req",
    ] {
        let original = vector(&format!("flexric/{name}.hex"));
        for index in 0..original.len() {
            for bit in 0..8 {
                let mut mutant = original.clone();
                mutant[index] ^= 1 << bit;
                rig.node.received(rig.now, &rig.cell, &mutant);
                rig.now += MILLISECOND;
                rig.poll();
            }
        }
        rig.receive(&format!("flexric/{name}.hex"));
        assert!(!rig.poll().is_empty(), "{name} is still answered");
    }
    assert!(rig.node.is_up());
}

#[test]
fn wrong_identities_are_named() {
    let node = |config| Node::new(&config).map(|_| ()).unwrap_err();
    let plmn = NodeConfig {
        plmn: "1x".to_owned(),
        ..NodeConfig::default()
    };
    assert_eq!(node(plmn), NodeError::Plmn("1x".to_owned()));
    let id = NodeConfig {
        gnb_id: 1 << 22,
        gnb_id_bits: 22,
        ..NodeConfig::default()
    };
    assert_eq!(
        node(id),
        NodeError::GnbId {
            id: 1 << 22,
            bits: 22
        }
    );
}
