//! Learned policies in the deciding core, in virtual time: lists of preference, hot swap, guard rails, shadow.

#[allow(dead_code, reason = "shared by several tests")]
#[path = "../../policies/tests/common/bundle.rs"]
mod bundle;

use bundle::{card, folder, network, spread};
use policies::model::{Bundle, Feature, Folder};
use policies::{GainParameters, GainPolicy, UeId, UeReport};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use xapp::cell::{Cell, DecisionRecord, Settings, Standing};
use xapp::guidance::FlowKey;
use xapp::guidance::hub::Notice;
use xapp::guidance::outbox::Outbox;
use xapp::guidance::registry::BoundFlow;
use xapp::models::{Backend, Engines, Model, Models, Outcome};
use xapp::ran::NodeId;

const MS: Duration = Duration::from_millis(1);

fn engines(backend: Backend) -> Engines {
    Engines {
        backend,
        ..Engines::default()
    }
}

fn model(files: Folder) -> Arc<Model> {
    Arc::new(Model::new(files, Path::new("here"), &engines(Backend::Native)).unwrap())
}

fn settings() -> Settings {
    Settings {
        interval: 200 * MS,
        report_period: 50 * MS,
        valid_for: 600 * MS,
        ue_timeout: 10_000 * MS,
        target_factor: 0.9,
        gain: GainParameters::default(),
        shadow: None,
        rate_min_bps: 1e5,
        rate_max_bps: 1e9,
        peak_bps_per_prb: 1.4e6,
    }
}

/// A cell with UEs that all report the same, and a flow to each.
struct Bench {
    cell: Cell,
    now: Duration,
    ues: u16,
    /// What the RAN gives beside PRB use.
    measurements: bool,
    notices: Vec<(Option<GainPolicy>, String, Standing)>,
}

impl Bench {
    fn new(settings: Settings, model: Option<Arc<Model>>, ues: u16) -> Self {
        let mut bench = Self {
            cell: Cell::new(NodeId("gnb".into()), settings),
            now: 1000 * MS,
            ues,
            measurements: true,
            notices: Vec::new(),
        };
        bench.cell.set_model(model);
        bench.reports();
        for rnti in 1..=ues {
            let flow = BoundFlow {
                key: FlowKey {
                    edge: "edge".into(),
                    flow: format!("{rnti:05}").into(),
                },
                ue: UeId::CRnti(rnti),
                address: None,
                slice: None,
                wired: Duration::ZERO,
                frame_interval: None,
                policies: vec![GainPolicy::Prism, GainPolicy::Rapid],
                current_rate_bps: None,
                last_sequence: 0,
                outbox: Arc::new(Outbox::new(8)),
            };
            bench.cell.bind(flow, 5e6, 0, bench.now);
        }
        bench
    }

    fn reports(&mut self) {
        self.now += 50 * MS;
        let step = (self.now.as_millis() / 50 % 7) as f64;
        let given = |value| self.measurements.then_some(value);
        let reports = (1..=self.ues).map(|rnti| UeReport {
            ue: UeId::CRnti(rnti),
            start: self.now - 50 * MS,
            length: 50 * MS,
            ran_time_us: None,
            prbs: Some(5.0 + step + f64::from(rnti % 3)),
            retx_prbs: None,
            used_prbs: None,
            cell_prbs: 84.8,
            mcs: given(20.0),
            tb_sent: self.measurements.then_some(90),
            tb_retx: self.measurements.then_some(9),
            tb_failed: None,
            sinr_db: given(15.0),
            cqi: None,
            delivered_bytes: Some(10_000),
            arrived_bytes: None,
            queue_bytes: Some(0),
            head_of_line: None,
            rlc_delay: None,
            slice: None,
        });
        let reports = reports.collect();
        self.cell.on_reports(reports, self.now);
    }

    /// The next interval's decisions.
    fn interval(&mut self) -> Vec<DecisionRecord> {
        while !self.cell.due(self.now) {
            self.reports();
        }
        let records = self.cell.decide(self.now, self.now.as_micros() as u64);
        for notice in self.cell.take_notices() {
            if let Notice::Policy {
                policy,
                detail,
                standing,
                ..
            } = notice
            {
                self.notices.push((policy, detail, standing));
            }
        }
        records
    }
}

/// One batch for all flows of the tick.
#[test]
fn the_flows_of_a_tick_are_one_batch() {
    let mut bench = Bench::new(settings(), Some(model(folder())), 100);
    for _ in 0..5 {
        let records = bench.interval();
        assert_eq!(records.len(), 100);
        assert_eq!(bench.cell.asked(), (100, None));
        for record in &records {
            assert_eq!(record.policy, GainPolicy::Prism);
            assert!(record.decision.chosen_gain.is_some());
        }
    }
}

/// A flow takes the next policy of its list where there is no model, or the RAN does not give what the model observes;
/// the reason is told. It comes back when there is.
#[test]
fn a_flow_takes_the_first_policy_that_can_run_and_says_why() {
    let mut bench = Bench::new(settings(), None, 1);
    assert_eq!(bench.interval()[0].policy, GainPolicy::Rapid);
    let (policy, detail, _) = bench.notices.pop().unwrap();
    assert_eq!(policy, Some(GainPolicy::Rapid));
    assert_eq!(detail, "prism needs a model, and none is loaded");

    bench.cell.set_model(Some(model(folder())));
    let rate = bench.interval()[0].decision.rate_bps;
    let record = &bench.interval()[0];
    assert_eq!(record.policy, GainPolicy::Prism);
    assert_eq!(record.previous_rate_bps, rate, "it goes on from the rate");
    assert_eq!(bench.notices.pop().unwrap().1, "");

    let mut blind = Bench::new(settings(), Some(model(folder())), 1);
    blind.measurements = false;
    for _ in 0..10 {
        blind.interval();
    }
    let (policy, detail, _) = blind.notices.pop().unwrap();
    assert_eq!(policy, Some(GainPolicy::Rapid));
    assert!(detail.contains("which the RAN does not give"), "{detail}");
}

/// Another bundle rules from one tick to the next; none is left out.
#[test]
fn a_model_is_swapped_between_two_ticks() {
    let mut other = card();
    other.name = "other".into();
    other.gains.iter_mut().for_each(|gain| *gain *= 0.5);
    let candidates: Vec<f32> = spread(7).take(64 * 512).collect();
    let other = Bundle::make(other, &network(), &candidates).unwrap();
    let mut bench = Bench::new(settings(), Some(model(folder())), 20);
    let mut sequences = Vec::new();
    for tick in 0..20 {
        if tick == 10 {
            bench.cell.set_model(Some(model(other.clone())));
        }
        let records = bench.interval();
        assert_eq!(records.len(), 20);
        for record in &records {
            let gain = record.decision.chosen_gain.unwrap();
            let gains = if tick < 10 {
                card().gains
            } else {
                card().gains.iter().map(|g| g * 0.5).collect()
            };
            assert!(gains.contains(&gain), "tick {tick}: {gain}");
        }
        sequences.push(records[0].sequence);
    }
    assert!(
        sequences.windows(2).all(|w| w[1] - w[0] == 200_000),
        "{sequences:?}"
    );
    assert!(
        bench
            .notices
            .iter()
            .all(|(_, _, standing)| *standing == Standing::Chosen)
    );
}

/// A model outside of its training is demoted: RAPID decides, and the flow's status says why. Told once.
#[test]
fn a_demotion_is_told_with_its_reason() {
    let mut narrow = card();
    for input in &mut narrow.features {
        if input.name == Feature::Mcs {
            input.range = [25.0, 28.0];
        }
    }
    let candidates: Vec<f32> = spread(7).take(64 * 512).collect();
    let narrow = Bundle::make(narrow, &network(), &candidates).unwrap();
    let mut bench = Bench::new(settings(), Some(model(narrow)), 1);
    let policies: Vec<_> = (0..10).map(|_| bench.interval()[0].policy).collect();
    assert_eq!(policies[..2], [GainPolicy::Prism; 2]);
    assert_eq!(policies[2..], [GainPolicy::Rapid; 8]);
    let demotions: Vec<_> = bench
        .notices
        .iter()
        .filter(|n| n.2 == Standing::Demoted("outside"))
        .collect();
    assert_eq!(demotions.len(), 1);
    assert_eq!(
        demotions[0].1,
        "prism is demoted: mcs = 20.0000 is far outside the training range"
    );
}

/// The policy in the shadow decides from the rate that is really sent at, and changes nothing.
#[test]
fn a_policy_in_the_shadow_is_compared_and_not_followed() {
    let with_shadow = Settings {
        shadow: Some(GainPolicy::Rapid),
        ..settings()
    };
    let mut bench = Bench::new(with_shadow, Some(model(folder())), 3);
    let mut alone = Bench::new(settings(), Some(model(folder())), 3);
    let mut differences = 0;
    for _ in 0..20 {
        let (records, without) = (bench.interval(), alone.interval());
        for (record, without) in records.iter().zip(&without) {
            assert_eq!(record.decision, without.decision);
            let shadow = record.shadow.as_ref().unwrap();
            assert_eq!(shadow.policy, GainPolicy::Rapid);
            let prbs: f64 = record.reports.iter().filter_map(|r| r.prbs).sum();
            let mean = prbs / record.reports.len() as f64;
            let law = record.previous_rate_bps - 0.5e6 * (mean - record.decision.target_prbs);
            assert!((shadow.rate_bps - law).abs() < 1.0, "{record:?}");
            differences += u32::from((shadow.rate_bps - record.decision.rate_bps).abs() > 1.0);
        }
    }
    assert!(differences > 30, "{differences}");
}

/// A learned policy in the shadow is asked in the same batch.
#[test]
fn a_learned_policy_can_be_in_the_shadow() {
    let with_shadow = Settings {
        shadow: Some(GainPolicy::Prism),
        ..settings()
    };
    let mut bench = Bench::new(with_shadow, None, 3);
    assert!(bench.interval()[0].shadow.is_none(), "there is no model");
    bench.cell.set_model(Some(model(folder())));
    // PRISM rules now, and stands in nobody's shadow.
    bench.interval();
    assert!(bench.interval()[0].shadow.is_none());
}

/// What is refused leaves the model that was there; the folder's state is looked at once.
#[test]
fn a_refused_bundle_leaves_the_model_that_was_there() {
    let path = tempfile::tempdir().unwrap();
    let models = Models::new(engines(Backend::Native), None);
    assert!(matches!(models.look(path.path()), Outcome::Refused(_)));
    folder().write(path.path()).unwrap();
    assert_eq!(models.look(path.path()), Outcome::Loaded);
    assert_eq!(models.look(path.path()), Outcome::Unchanged);
    let loaded = models.current().unwrap();
    for (kind, files, reason) in bundle::spoilt() {
        files.write(path.path()).unwrap();
        match models.look(path.path()) {
            Outcome::Refused(refusal) => {
                assert!(refusal.to_string().contains(reason), "{kind}: {refusal}");
            }
            other => panic!("{kind}: {other:?}"),
        }
        assert_eq!(models.look(path.path()), Outcome::Unchanged, "{kind}");
        assert!(Arc::ptr_eq(&models.current().unwrap(), &loaded), "{kind}");
        assert!(models.refusal().is_some());
    }
    folder().write(path.path()).unwrap();
    assert_eq!(models.look(path.path()), Outcome::Loaded);
    assert_eq!(models.refusal(), None);
}

/// Without its library ONNX Runtime is an engine that is not there, and nothing else.
#[test]
fn a_missing_library_is_no_panic() {
    let bundle = Bundle::new(folder()).unwrap();
    let missing = |backend| Engines {
        backend,
        library: "/nowhere/libonnxruntime.so".into(),
    };
    // Another test of this process may have loaded the library already: then it is there.
    match missing(Backend::OnnxRuntime).open(&bundle) {
        Err(refusal) => assert!(refusal.to_string().contains("onnxruntime"), "{refusal}"),
        Ok(network) => assert_eq!(network.engine(), "onnxruntime"),
    }
    assert!(missing(Backend::Auto).open(&bundle).is_ok());
}
