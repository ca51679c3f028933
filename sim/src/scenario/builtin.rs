//! The built-in scenarios, by name.

/// Names and texts.
pub const BUILTIN: [(&str, &str); 13] = [
    ("choir-7", include_str!("../../scenarios/choir-7.toml")),
    ("choir-14", include_str!("../../scenarios/choir-14.toml")),
    (
        "choir-single",
        include_str!("../../scenarios/choir-single.toml"),
    ),
    (
        "slice-objectives",
        include_str!("../../scenarios/slice-objectives.toml"),
    ),
    (
        "experiment",
        include_str!("../../scenarios/experiment.toml"),
    ),
    (
        "prism-test",
        include_str!("../../scenarios/prism-test.toml"),
    ),
    (
        "prism-validate",
        include_str!("../../scenarios/prism-validate.toml"),
    ),
    (
        "prism-train",
        include_str!("../../scenarios/prism-train.toml"),
    ),
    (
        "rapid-fig2a",
        include_str!("../../scenarios/rapid-fig2a.toml"),
    ),
    (
        "rapid-fig2b",
        include_str!("../../scenarios/rapid-fig2b.toml"),
    ),
    (
        "rapid-fig3a",
        include_str!("../../scenarios/rapid-fig3a.toml"),
    ),
    (
        "rapid-fig3b",
        include_str!("../../scenarios/rapid-fig3b.toml"),
    ),
    (
        "rapid-fig4",
        include_str!("../../scenarios/rapid-fig4.toml"),
    ),
];

/// The text of a built-in scenario.
pub fn builtin(name: &str) -> Option<&'static str> {
    BUILTIN
        .iter()
        .find(|(n, _)| *n == name)
        .map(|&(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;
    use super::*;
    use std::path::Path;

    #[test]
    fn all_of_them_can_be_built() {
        for (name, text) in BUILTIN {
            let scenario = Scenario::parse(text, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
            let built = scenario.build(3, Path::new(""));
            assert!(built.is_ok(), "{name}: {}", built.err().unwrap());
        }
    }
}
