//! Slice policies: reading them, and which one rules a flow.

use policies::slice::{
    EffectivePolicy, Entry, Factor, FlowFacts, Origin, Place, PolicySet, Scope, SlicePolicy,
    SliceScope, Source, Spec, UeScope, Verdict, parse, schema, to_yaml,
};
use policies::{SNssai, UeId};
use proptest::prelude::*;
use std::path::Path;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/slices"))
}

fn error(text: &str) -> String {
    parse(text, "test.yaml").unwrap_err().to_string()
}

/// A policy with this as its spec, in flow style.
fn with(spec: &str) -> String {
    format!(
        "apiVersion: cantor.io/v1\nkind: SlicePolicy\nmetadata:\n  name: test\nspec:\n{}",
        spec.lines().map(|l| format!("  {l}\n")).collect::<String>()
    )
}

#[test]
fn the_examples_load_and_survive_a_round_trip() {
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder()).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (policy, _) in parse(&text, &path.display().to_string()).unwrap() {
            let again = parse(&to_yaml(&policy), "again").unwrap();
            assert_eq!(again[0].0, policy);
            let json = serde_json::to_string(&policy).unwrap();
            assert_eq!(parse(&json, "json").unwrap()[0].0, policy);
            names.push(policy.name().to_owned());
        }
    }
    names.sort();
    let expected = [
        "bulk",
        "camera-7",
        "default",
        "interactive",
        "interactive-stage",
    ];
    assert_eq!(names, expected);
}

/// Set `CANTOR_WRITE_SCHEMAS` to write the file anew.
#[test]
fn the_published_schema_is_that_of_the_types() {
    let file = folder().join("slice-policy.schema.json");
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("CANTOR_WRITE_SCHEMAS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
}

#[test]
fn mistakes_are_told_with_line_field_and_what_is_accepted() {
    for (text, expected) in [
        (
            with("latency:\n  statistic: p99\n  ms: 0"),
            "test.yaml:8: spec.latency.ms: 0 is not within 0 (exclusive) to 60000",
        ),
        (
            with("latency: { statistic: p100, ms: 5 }"),
            "test.yaml:6: spec.latency.statistic: \"p100\" is no statistic: give \"mean\", or a percentile like \"p99\"",
        ),
        (
            with("\n\nflowRate: { minBps: 2, maxBps: 1 }"),
            "test.yaml:8: spec.flowRate.minBps: 2 is above spec.flowRate.maxBps (1)",
        ),
        (
            with("prb: { targetFactor: auto }"),
            "test.yaml:6: spec.prb.targetFactor: \"auto\" needs an objective: give spec.latency, or a number",
        ),
        (
            with("prb: { targetFactor: 1.5 }"),
            "test.yaml:6: spec.prb.targetFactor: invalid value: floating point `1.5`, expected a number above 0 and at most 1, or \"auto\"",
        ),
        (
            with("prb: { targetFactor: 0.5, minFactor: 0.1 }"),
            "test.yaml:6: spec.prb.targetFactor: a fixed factor has no bounds: leave out minFactor and maxFactor, or write \"auto\"",
        ),
        (
            with("gainPolicies: [rapid, rapid]"),
            "test.yaml:6: spec.gainPolicies[1]: rapid is named twice",
        ),
        (
            with("scope:\n  slice:\n    sst: 1\n    sd: 12"),
            "test.yaml:9: spec.scope.slice.sd: invalid type: integer `12`, expected a string; give six hexadecimal digits in quotes, like \"00000a\"",
        ),
    ] {
        assert_eq!(error(&text), expected, "{text}");
    }
    for (text, expected) in [
        (
            with("latencies: {}"),
            "test.yaml:6: spec.latencies: unknown field",
        ),
        (
            with("scope: { slice: { sst: 256 } }"),
            "test.yaml:6: spec.scope.slice.sst: invalid value",
        ),
        (
            with("gainPolicies: [fast]"),
            "test.yaml:6: spec.gainPolicies[0]: ",
        ),
        (
            "kind: ConfigMap".into(),
            "test.yaml:1: kind: unknown variant `ConfigMap`",
        ),
        ("a: b: c".into(), "test.yaml:1: "),
        ("[1, 2".into(), "test.yaml:"),
        (
            with("priority: 1").replace("name: test", "name: \"\""),
            "test.yaml:4: metadata.name: give 1 to 253",
        ),
        (with(""), "test.yaml:5: spec: invalid type: null"),
        (
            with("priority: 1").replace("name: test", "name: a/b"),
            "test.yaml:4: metadata.name: give 1 to 253",
        ),
    ] {
        let error = error(&text);
        assert!(error.starts_with(expected), "{error}\n{text}");
    }
    // The second of two documents has its own line.
    let text = format!("{}---\n{}", with("priority: 1"), with("priority: x"));
    assert!(
        error(&text).starts_with("test.yaml:13: spec.priority: "),
        "{}",
        error(&text)
    );
}

#[test]
fn what_is_no_policy_is_refused_and_bounded() {
    assert_eq!(parse("", "x").unwrap(), []);
    let huge = " ".repeat(2 << 20);
    assert!(error(&huge).contains("octets: give at most"));
    // Aliases that multiply.
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let all = format!("*a{},", n - 1).repeat(10);
        bomb += &format!("a{n}: &a{n} [{all}]\n");
    }
    error(&bomb);
    error(&"[".repeat(100_000));
}

proptest! {
    #[test]
    fn no_text_brings_the_reader_down(text in "\\PC{0,200}") {
        let _ = parse(&text, "x");
    }
}

fn facts(slice: Option<(u8, Option<u32>)>, cell: &str, rnti: u16) -> FlowFacts {
    FlowFacts {
        slice: slice.map(|(sst, sd)| SNssai { sst, sd }),
        cell: cell.into(),
        ue: UeId::CRnti(rnti),
        address: None,
    }
}

fn entry(source: Source, name: &str, priority: i32, scope: Scope) -> Entry {
    let spec = Spec {
        scope,
        priority,
        ..Spec::default()
    };
    let place = Place {
        text: "test".into(),
        line: 0,
    };
    Entry::new(SlicePolicy::new(name, spec), Origin { source, place })
}

fn slice(sst: u8, sd: Option<u32>) -> Scope {
    Scope {
        slice: Some(SliceScope { sst, sd }),
        ..Scope::default()
    }
}

fn ruling(set: &PolicySet, flow: &FlowFacts) -> Option<String> {
    Some(set.resolve(flow)?.policy.name().to_owned())
}

#[test]
fn the_most_specific_scope_wins_then_the_source_then_the_priority() {
    let cell = |scope: Scope| Scope {
        cell: Some("gnb:1".into()),
        ..scope
    };
    let mut set = PolicySet::default();
    let flow = facts(Some((1, Some(10))), "gnb:1", 7);
    assert_eq!(ruling(&set, &flow), None);
    // Each goes before those above it.
    let ladder = [
        entry(Source::A1, "everything", 99, Scope::default()),
        entry(Source::File, "type", 0, slice(1, None)),
        entry(Source::File, "slice-b", 0, slice(1, Some(10))),
        entry(Source::File, "slice-a", 0, slice(1, Some(10))),
        entry(Source::File, "slice-priority", 1, slice(1, Some(10))),
        entry(Source::Operator, "slice-operator", -5, slice(1, Some(10))),
        entry(Source::A1, "slice-a1", -9, slice(1, Some(10))),
        entry(Source::File, "cell", 0, cell(Scope::default())),
        entry(Source::File, "slice-cell", 0, cell(slice(1, Some(10)))),
        entry(
            Source::File,
            "ue",
            0,
            Scope {
                ue: Some(UeScope::CRnti(7)),
                ..Scope::default()
            },
        ),
    ];
    for entry in ladder.clone() {
        let name = entry.policy.name().to_owned();
        set.insert(entry);
        assert_eq!(ruling(&set, &flow), Some(name));
    }
    // Other flows are not concerned.
    assert_eq!(
        ruling(&set, &facts(None, "gnb:2", 1)).as_deref(),
        Some("everything")
    );
    assert_eq!(
        ruling(&set, &facts(Some((1, None)), "gnb:2", 1)).as_deref(),
        Some("type")
    );
    assert_eq!(
        ruling(&set, &facts(Some((2, Some(10))), "gnb:2", 1)).as_deref(),
        Some("everything")
    );

    let explained = set.explain(&flow);
    assert_eq!(explained.len(), ladder.len());
    assert_eq!(explained[0].verdict, Verdict::Rules);
    let verdict = |name: &str| {
        let candidate = explained.iter().find(|c| c.entry.policy.name() == name);
        candidate.unwrap().verdict.clone()
    };
    let scope = Verdict::Outranked("ue has the more specific scope".into());
    assert_eq!(verdict("slice-cell"), scope);
    set.remove(Source::File, "ue");
    set.remove(Source::File, "slice-cell");
    set.remove(Source::File, "cell");
    let why = |name: &str, set: &PolicySet| {
        let found = set.explain(&flow);
        found
            .into_iter()
            .find(|c| c.entry.policy.name() == name)
            .unwrap()
            .verdict
    };
    assert_eq!(
        why("slice-operator", &set),
        Verdict::Outranked("slice-a1 is from A1, which goes before operator".into())
    );
    set.remove(Source::A1, "slice-a1");
    set.remove(Source::Operator, "slice-operator");
    assert_eq!(
        why("slice-a", &set),
        Verdict::Outranked("slice-priority has priority 1, this one 0".into())
    );
    set.remove(Source::File, "slice-priority");
    assert_eq!(
        why("slice-b", &set),
        Verdict::Outranked("slice-a comes first by name".into())
    );
    let other = facts(Some((2, None)), "gnb:1", 7);
    let explained = set.explain(&other);
    let miss = explained
        .iter()
        .find(|c| c.entry.policy.name() == "slice-a");
    assert_eq!(
        miss.unwrap().verdict,
        Verdict::OutOfScope("the flow is of slice 2:ffffff".into())
    );
}

#[test]
fn a_ue_is_found_by_its_address_too_and_no_sd_is_one_of_its_own() {
    let mut set = PolicySet::default();
    let address = "10.45.0.7".parse().unwrap();
    let ue = Scope {
        ue: Some(UeScope::Ip(address)),
        ..Scope::default()
    };
    set.insert(entry(Source::File, "camera", 0, ue));
    set.insert(entry(Source::File, "no-sd", 0, slice(1, Some(0xff_ffff))));
    let mut flow = facts(Some((1, None)), "gnb:1", 7);
    assert_eq!(ruling(&set, &flow).as_deref(), Some("no-sd"));
    flow.address = Some(address);
    assert_eq!(ruling(&set, &flow).as_deref(), Some("camera"));
    // Two names of one UE: the rank decides.
    let rnti = Scope {
        ue: Some(UeScope::CRnti(7)),
        ..Scope::default()
    };
    set.insert(entry(Source::A1, "by-rnti", 0, rnti));
    assert_eq!(ruling(&set, &flow).as_deref(), Some("by-rnti"));
}

#[test]
fn a_policy_of_the_same_name_and_source_is_replaced() {
    let mut set = PolicySet::default();
    set.insert(entry(Source::File, "a", 0, slice(1, None)));
    let previous = set.insert(entry(Source::File, "a", 0, slice(2, None)));
    assert_eq!(previous.unwrap().policy.spec.scope, slice(1, None));
    assert!(
        set.insert(entry(Source::A1, "a", 0, slice(3, None)))
            .is_none()
    );
    assert_eq!(set.len(), 2);
    assert_eq!(ruling(&set, &facts(Some((1, None)), "gnb:1", 7)), None);
    assert_eq!(
        ruling(&set, &facts(Some((2, None)), "gnb:1", 7)).as_deref(),
        Some("a")
    );
}

#[test]
fn an_objective_adapts_the_factor_unless_that_is_fixed() {
    let factor = |spec: &str| -> Factor {
        let (policy, place) = parse(&with(spec), "test").unwrap().remove(0);
        let source = Source::File;
        let entry = Entry::new(policy, Origin { source, place });
        let effective: &EffectivePolicy = &entry.effective;
        assert_eq!(effective.policy_name(), "test");
        effective.factor
    };
    let auto = |min, max| Factor::Auto { min, max };
    assert_eq!(factor("priority: 1"), Factor::Configured);
    assert_eq!(
        factor("latency: { statistic: mean, ms: 5 }"),
        auto(0.2, 0.95)
    );
    assert_eq!(
        factor("latency: { statistic: p99, ms: 5 }\nprb: { minFactor: 0.97 }"),
        auto(0.97, 0.97)
    );
    assert_eq!(
        factor("latency: { statistic: p99, ms: 5 }\nprb: { targetFactor: 1 }"),
        Factor::Fixed(1.0)
    );
}

proptest! {
    /// The look-up finds what going through all policies finds.
    #[test]
    fn the_index_agrees_with_a_search(
        policies in prop::collection::vec((0..3usize, 0..12u8, -1..2i32, scopes()), 0..40),
        removed in prop::collection::vec((0..3usize, 0..12u8), 0..10),
        flow in flows(),
    ) {
        let mut set = PolicySet::default();
        for (source, name, priority, scope) in policies {
            set.insert(entry(Source::ALL[source], &format!("p{name:02}"), priority, scope));
        }
        for (source, name) in removed {
            set.remove(Source::ALL[source], &format!("p{name:02}"));
        }
        let expected = set
            .iter()
            .filter(|entry| entry.policy.spec.scope.contains(&flow))
            .max_by_key(|entry| {
                let spec = &entry.policy.spec;
                let name = std::cmp::Reverse(entry.policy.name());
                (spec.scope.specificity(), entry.origin.source, spec.priority, name)
            });
        prop_assert_eq!(set.resolve(&flow), expected);
        let rules = |c: &policies::slice::Candidate| c.verdict == Verdict::Rules;
        let explained = set.explain(&flow);
        prop_assert_eq!(explained.len(), set.len());
        prop_assert_eq!(explained.iter().find(|c| rules(c)).map(|c| &c.entry), expected);
    }
}

fn scopes() -> impl Strategy<Value = Scope> {
    let slices = (
        1..3u8,
        prop::option::of(prop_oneof![Just(1u32), Just(0xff_ffff)]),
    );
    let ue = prop_oneof![
        (1..3u16).prop_map(UeScope::CRnti),
        (1..3u8).prop_map(|n| UeScope::Ip([10, 0, 0, n].into())),
    ];
    (
        prop::option::of(slices),
        prop::option::of(1..3u8),
        prop::option::of(ue),
    )
        .prop_map(|(slice, cell, ue)| Scope {
            slice: slice.map(|(sst, sd)| SliceScope { sst, sd }),
            cell: cell.map(|n| format!("gnb:{n}").into()),
            ue,
        })
}

fn flows() -> impl Strategy<Value = FlowFacts> {
    let slices = (1..3u8, prop::option::of(Just(1u32)));
    (
        prop::option::of(slices),
        1..3u8,
        1..3u16,
        prop::option::of(1..3u8),
    )
        .prop_map(|(slice, cell, rnti, address)| FlowFacts {
            address: address.map(|n| [10, 0, 0, n].into()),
            ..facts(slice, &format!("gnb:{cell}"), rnti)
        })
}
