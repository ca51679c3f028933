//! Limits of the values: what the types alone do not say.

use super::{Binding, Config, Store};
use std::collections::HashSet;

/// Key and complaint.
pub(super) type Complaint = (&'static str, String);

impl Config {
    /// The first value that is outside its limits: its key and what is accepted.
    pub(super) fn complaint(&self) -> Option<Complaint> {
        self.ran_complaint()
            .or_else(|| self.control_complaint())
            .or_else(|| self.model_complaint())
            .or_else(|| self.service_complaint())
            .or_else(|| self.node_complaint())
            .or_else(|| store_complaint(&self.store))
            .or_else(|| binding_complaint(&self.binding))
    }

    /// The settings by themselves are sound: what is wrong at a node is its table's.
    fn node_complaint(&self) -> Option<Complaint> {
        let mut ids = HashSet::new();
        self.node.iter().find_map(|node| {
            let id = node.id.as_str();
            let text = if id.is_empty() {
                "a table has no id: give the E2 node, as `cantor top` names it".into()
            } else if !ids.insert(id) {
                format!("{id} has two tables")
            } else {
                let there = self.of_node(id);
                let complaint = there.ran_complaint().or_else(|| there.control_complaint());
                let (key, text) = complaint?;
                format!("{id}: {key}: {text}")
            };
            Some(("node", text))
        })
    }

    fn ran_complaint(&self) -> Option<Complaint> {
        let (ran, cell) = (&self.ran, &self.cell);
        if let Some((address, error)) = ran
            .listen
            .iter()
            .find_map(|a| Some((a, a.parse::<transport::Address>().err()?)))
        {
            return Some(("ran.listen", format!("{address:?}: {error}")));
        }
        let unreadable =
            |address: &str| Some(address.parse::<transport::Address>().err()?.to_string());
        if let Some(error) = unreadable(&ran.ric) {
            return Some(("ran.ric", format!("{:?}: {error}", ran.ric)));
        }
        if !ran.ric_guard.is_empty()
            && let Some(error) = unreadable(&ran.ric_guard)
        {
            return Some(("ran.ric_guard", format!("{:?}: {error}", ran.ric_guard)));
        }
        first([
            (
                !(1..=10_000).contains(&ran.report_period_ms),
                "ran.report_period_ms",
                format!("{} is not within 1 to 10000", ran.report_period_ms),
            ),
            (
                !(1..=1000).contains(&ran.expected_ues),
                "ran.expected_ues",
                format!("{} is not within 1 to 1000", ran.expected_ues),
            ),
            (
                !(1000..=3_600_000).contains(&ran.silent_after_ms),
                "ran.silent_after_ms",
                format!("{} is not within 1000 to 3600000", ran.silent_after_ms),
            ),
            (
                ran.listen.is_empty(),
                "ran.listen",
                "empty: give at least one address, e.g. \"sctp://[::]:36421\"".into(),
            ),
            (
                ran.models.is_empty(),
                "ran.models",
                "empty: give at least one of \"kpm\", \"mac\", \"rlc\", \"pdcp\", \"gtp\"".into(),
            ),
            (
                !(1..=275).contains(&cell.carrier_prbs),
                "cell.carrier_prbs",
                format!("{} is not within 1 to 275", cell.carrier_prbs),
            ),
            (
                cell.numerology > 4,
                "cell.numerology",
                format!("{} is not within 0 to 4", cell.numerology),
            ),
            (
                !(cell.downlink_share > 0.0 && cell.downlink_share <= 1.0),
                "cell.downlink_share",
                format!("{} is not within 0 (exclusive) to 1", cell.downlink_share),
            ),
        ])
    }

    fn control_complaint(&self) -> Option<Complaint> {
        let c = &self.control;
        let period = self.ran.report_period_ms;
        first([
            (
                !(10..=60_000).contains(&c.interval_ms),
                "control.interval_ms",
                format!("{} is not within 10 to 60000", c.interval_ms),
            ),
            (
                c.interval_ms < period,
                "control.interval_ms",
                format!(
                    "{} is shorter than ran.report_period_ms ({period}): no interval would have a report",
                    c.interval_ms
                ),
            ),
            (
                c.policies.is_empty(),
                "control.policies",
                "empty: give at least one gain policy, e.g. \"rapid\"".into(),
            ),
            (
                !(c.target_factor > 0.0 && c.target_factor <= 1.0),
                "control.target_factor",
                format!("{} is not within 0 (exclusive) to 1", c.target_factor),
            ),
            (
                !(c.gain > 0.0 && c.gain <= 100.0),
                "control.gain",
                format!("{} is not within 0 (exclusive) to 100", c.gain),
            ),
            (
                c.rate_min_bps == 0 || c.rate_min_bps > c.rate_max_bps,
                "control.rate_min_bps",
                format!(
                    "{} is not within 1 to control.rate_max_bps ({})",
                    c.rate_min_bps, c.rate_max_bps
                ),
            ),
            (
                c.peak_bps_per_prb == 0,
                "control.peak_bps_per_prb",
                "0 would allow no rate at all".into(),
            ),
            (
                c.ue_timeout_ms < c.interval_ms,
                "control.ue_timeout_ms",
                format!(
                    "{} is shorter than control.interval_ms ({})",
                    c.ue_timeout_ms, c.interval_ms
                ),
            ),
        ])
    }

    fn model_complaint(&self) -> Option<Complaint> {
        let look_every_ms = self.models.look_every_ms;
        let limits = self.guard.rails().validate().err();
        first([
            (
                !(10..=3_600_000).contains(&look_every_ms),
                "models.look_every_ms",
                format!("{look_every_ms} is not within 10 to 3600000"),
            ),
            (
                limits.is_some(),
                "guard",
                limits.map(|error| error.to_string()).unwrap_or_default(),
            ),
        ])
    }

    fn service_complaint(&self) -> Option<Complaint> {
        let (g, grpc) = (&self.guidance, &self.grpc);
        first([
            (
                self.xapp.id.is_empty() || self.xapp.id.len() > 128,
                "xapp.id",
                "must have 1 to 128 octets".into(),
            ),
            (
                self.valid_for() < self.control.interval(),
                "guidance.valid_for_ms",
                format!(
                    "{} is shorter than control.interval_ms ({}): guidance would expire before the next",
                    g.valid_for_ms, self.control.interval_ms
                ),
            ),
            (
                !(10..=3_600_000).contains(&self.policies.look_every_ms),
                "policies.look_every_ms",
                format!(
                    "{} is not within 10 to 3600000",
                    self.policies.look_every_ms
                ),
            ),
            (
                !self.a1.listen.is_empty() && self.a1.address().is_none(),
                "a1.listen",
                format!(
                    "{:?}: give an address and port, e.g. \"127.0.0.1:10000\", or \"\"",
                    self.a1.listen
                ),
            ),
            (
                g.max_streams == 0,
                "guidance.max_streams",
                "0 would admit no edge server".into(),
            ),
            (
                g.max_flows_per_stream == 0,
                "guidance.max_flows_per_stream",
                "0 would admit no flow".into(),
            ),
            (
                grpc.keepalive_interval_ms == 0 || grpc.keepalive_timeout_ms == 0,
                "grpc.keepalive_interval_ms",
                "keepalive times of 0 are not possible: dead peers would never be noticed".into(),
            ),
            (
                !(1024..=16 << 20).contains(&grpc.max_message_bytes),
                "grpc.max_message_bytes",
                format!("{} is not within 1024 to 16777216", grpc.max_message_bytes),
            ),
        ])
    }
}

fn store_complaint(store: &Store) -> Option<Complaint> {
    if let Err(error) = store.settings() {
        return Some(("store.url", error));
    }
    let namespace = &store.namespace;
    first([
        (
            namespace.is_empty()
                || namespace.len() > 128
                || namespace.contains(['{', '}'])
                || namespace.contains(|c: char| c.is_control() || c.is_whitespace()),
            "store.namespace",
            format!(
                "{namespace:?}: give 1 to 128 octets without braces, spaces and control characters"
            ),
        ),
        (
            !(10..=60_000).contains(&store.timeout_ms),
            "store.timeout_ms",
            format!("{} is not within 10 to 60000", store.timeout_ms),
        ),
        (
            store.log_length > 100_000_000,
            "store.log_length",
            format!("{} is not within 0 to 100000000", store.log_length),
        ),
    ])
}

fn binding_complaint(bindings: &[Binding]) -> Option<Complaint> {
    let mut addresses = HashSet::new();
    bindings.iter().find_map(|binding| {
        let ip = binding.ip;
        let identities = usize::from(binding.c_rnti.is_some())
            + usize::from(binding.amf_ue_ngap_id.is_some())
            + usize::from(binding.ran_ue_id.is_some())
            + usize::from(binding.gnb_teid.is_some());
        let text = if identities != 1 {
            format!("{ip}: give exactly one of c_rnti, amf_ue_ngap_id, ran_ue_id and gnb_teid")
        } else if !addresses.insert(ip.to_canonical()) {
            format!("{ip} is bound twice")
        } else {
            return None;
        };
        Some(("binding", text))
    })
}

fn first<const N: usize>(checks: [(bool, &'static str, String); N]) -> Option<Complaint> {
    checks
        .into_iter()
        .find(|check| check.0)
        .map(|(_, key, text)| (key, text))
}
