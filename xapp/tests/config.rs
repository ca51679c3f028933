//! Configuration: the example file, the layers, and the texts of the errors.

use std::ffi::OsString;
use std::path::Path;
use xapp::config::{self, Binding, Config, Node, Origin};
use xapp::measure::KpmDialect;

const EXAMPLE: &str = include_str!("../cantor.example.toml");

fn load(text: &str, environment: &[(&str, &str)]) -> Result<config::Loaded, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cantor.toml");
    std::fs::write(&path, text).unwrap();
    let environment = environment
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    config::load(Some(&path), environment).map_err(|error| {
        error
            .to_string()
            .replace(&path.display().to_string(), "cantor.toml")
    })
}

#[test]
fn the_example_holds_the_defaults_and_names_every_key() {
    let loaded = load(EXAMPLE, &[]).unwrap();
    assert_eq!(loaded.config, Config::default());

    let written: toml::Table = EXAMPLE.parse().unwrap();
    for (section, keys) in toml::Table::try_from(Config::default()).unwrap() {
        let Some(keys) = keys.as_table() else {
            continue;
        };
        for key in keys.keys() {
            assert!(
                written.get(&section).and_then(|s| s.get(key)).is_some(),
                "cantor.example.toml does not mention {section}.{key}"
            );
        }
    }
    // These tables are empty by default: their keys stand in the example as comments.
    let node = Node {
        id: "n".into(),
        carrier_prbs: Some(1),
        numerology: Some(1),
        downlink_share: Some(1.0),
        learn_downlink_share: Some(true),
        lost_after_ms: Some(1),
        kpm_dialect: Some(KpmDialect::Auto),
        target_factor: Some(1.0),
    };
    let binding = Binding {
        ip: [10, 45, 0, 2].into(),
        node: "n".into(),
        c_rnti: Some(1),
        amf_ue_ngap_id: Some(1),
        ran_ue_id: Some(1),
        gnb_teid: Some(1),
    };
    let keys = |table: toml::Table| table.keys().cloned().collect::<Vec<_>>();
    let node = keys(toml::Table::try_from(node).unwrap());
    let binding = keys(toml::Table::try_from(binding).unwrap());
    for key in node.into_iter().chain(binding) {
        assert!(
            EXAMPLE.contains(&format!("\n# {key} = ")),
            "cantor.example.toml does not mention {key}"
        );
    }
}

#[test]
fn a_node_may_differ_in_its_cell_and_its_target() {
    let text = "[cell]\ncarrier_prbs = 273\n[control]\ntarget_factor = 0.7\n\
        [[node]]\nid = \"gnb:1\"\ndownlink_share = 1.0\ntarget_factor = 0.8\n";
    let config = load(text, &[]).unwrap().config;
    let (there, elsewhere) = (config.of_node("gnb:1"), config.of_node("gnb:2"));
    assert_eq!(there.cell.downlink_share, 1.0);
    assert_eq!(there.cell.carrier_prbs, 273);
    assert_eq!(there.control.target_factor, 0.8);
    assert_eq!(elsewhere, config);
    assert_eq!(elsewhere.control.target_factor, 0.7);
}

#[test]
fn the_environment_overrides_the_file_and_the_origin_is_remembered() {
    let loaded = load(
        "[control]\ninterval_ms = 100\ngain = 1\n[[binding]]\nip = \"10.0.0.1\"\nc_rnti = 0x4601\n",
        &[
            ("CANTOR_CONTROL__INTERVAL_MS", "400"),
            ("CANTOR_RAN__MODELS", "[\"mac\"]"),
            ("CANTOR_XAPP__ID", "north"),
            // Set by Kubernetes for a service named cantor: not ours.
            ("CANTOR_SERVICE_HOST", "10.96.0.1"),
        ],
    )
    .unwrap();
    assert_eq!(loaded.config.control.interval_ms, 400);
    assert_eq!(loaded.config.control.gain, 1.0);
    assert_eq!(loaded.config.ran.models, [config::Model::Mac]);
    assert_eq!(loaded.config.xapp.id, "north");
    assert_eq!(loaded.config.binding[0].c_rnti, Some(0x4601));
    assert_eq!(
        loaded.origin("control.interval_ms"),
        Origin::Environment("CANTOR_CONTROL__INTERVAL_MS".into())
    );
    assert!(matches!(loaded.origin("control.gain"), Origin::File(_)));
    assert_eq!(loaded.origin("http.listen"), Origin::Default);

    let described = loaded.describe();
    let line = described
        .lines()
        .find(|line| line.starts_with("control.interval_ms = 400 "))
        .unwrap();
    assert!(line.ends_with("# environment variable CANTOR_CONTROL__INTERVAL_MS"));
    let settings: toml::Table = described.parse().expect("the description is TOML itself");
    assert_eq!(settings["xapp"]["id"].as_str(), Some("north"));
}

#[test]
fn errors_name_source_and_key_and_say_what_to_write() {
    // File, environment, error.
    type Case = (
        &'static str,
        &'static [(&'static str, &'static str)],
        &'static str,
    );
    let cases: [Case; 16] = [
        (
            "[[node]]\nid = \"gnb:1\"\ncarrier_prbs = 300\n",
            &[],
            "cantor.toml: `node`: gnb:1: cell.carrier_prbs: 300 is not within 1 to 275",
        ),
        (
            "[[node]]\ncarrier_prbs = 51\n",
            &[],
            "cantor.toml: `node`: a table has no id: give the E2 node, as `cantor top` names it",
        ),
        (
            "[grpc]\nlisten_on = \"127.0.0.1:1\"\n",
            &[],
            "cantor.toml: unknown key `grpc.listen_on`; did you mean `grpc.listen`?",
        ),
        (
            "[control]\nreport_period_ms = 20\n",
            &[],
            "cantor.toml: unknown key `control.report_period_ms`; did you mean `ran.report_period_ms`?",
        ),
        (
            "[zebra]\nstripes = 7\n",
            &[],
            "cantor.toml: unknown key `zebra`; cantor.example.toml describes all keys",
        ),
        (
            "",
            &[("CANTOR_GRPC_LISTEN", "0.0.0.0:1")],
            "environment variable CANTOR_GRPC_LISTEN: unknown key `grpc_listen`; did you mean `grpc.listen`?",
        ),
        (
            "",
            &[("CANTOR_CONTROL__INTERVALL_MS", "200")],
            "environment variable CANTOR_CONTROL__INTERVALL_MS: unknown key `control.intervall_ms`; did you mean `control.interval_ms`?",
        ),
        (
            "[control]\ninterval_ms = \"fast\"\n",
            &[],
            "cantor.toml: `control.interval_ms`: invalid type: string \"fast\", expected u32",
        ),
        (
            "[ran]\nmodels = [\"kpm\", \"slice\"]\n",
            &[],
            "cantor.toml: `ran.models`: unknown variant `slice`, expected one of `kpm`, `mac`, `rlc`, `pdcp`, `gtp`",
        ),
        (
            "",
            &[("CANTOR_HTTP__LISTEN", "8080")],
            "environment variable CANTOR_HTTP__LISTEN: `http.listen`: invalid type: integer `8080`, expected socket address",
        ),
        (
            "[ran]\nreport_period_ms = 11000\n",
            &[],
            "cantor.toml: `ran.report_period_ms`: 11000 is not within 1 to 10000",
        ),
        (
            "[control]\ntarget_factor = 1.5\n",
            &[],
            "cantor.toml: `control.target_factor`: 1.5 is not within 0 (exclusive) to 1",
        ),
        (
            "[control]\ninterval_ms = 40\n",
            &[],
            "cantor.toml: `control.interval_ms`: 40 is shorter than ran.report_period_ms (50): no interval would have a report",
        ),
        (
            "[guidance]\nvalid_for_ms = 100\n",
            &[],
            "cantor.toml: `guidance.valid_for_ms`: 100 is shorter than control.interval_ms (200): guidance would expire before the next",
        ),
        (
            "[[binding]]\nip = \"10.0.0.1\"\n",
            &[],
            "cantor.toml: `binding`: 10.0.0.1: give exactly one of c_rnti, amf_ue_ngap_id, ran_ue_id and gnb_teid",
        ),
        (
            "[[binding]]\nip = \"10.0.0.1\"\nrnti = 5\n",
            &[],
            "cantor.toml: `binding`: unknown field `rnti`, expected one of `ip`, `node`, `c_rnti`, `amf_ue_ngap_id`, `ran_ue_id`, `gnb_teid`",
        ),
    ];
    for (file, environment, expected) in cases {
        assert_eq!(load(file, environment).unwrap_err(), expected);
    }
}

#[test]
fn a_file_that_is_not_there_or_not_toml_is_named() {
    let error = config::load(Some(Path::new("/nonexistent/cantor.toml")), []).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("/nonexistent/cantor.toml: cannot read the configuration: "),
        "{error}"
    );
    let error = load("[control\n", &[]).unwrap_err();
    assert!(
        error.starts_with("cantor.toml: not valid TOML: "),
        "{error}"
    );
    assert!(error.contains("line 1"), "{error}");
}
