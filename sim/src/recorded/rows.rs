//! Decisions as rows, and rows as decisions.

use super::Error;
use policies::UeId;
use policies::decision_log::LoggedDecision;
use serde_json::{Map, Number, Value};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Real,
}

use Kind::{Integer, Real, Text};

/// Names of the reports' columns begin with it.
const WINDOW: &str = "window_";

/// All columns in their order.
pub(super) const COLUMNS: [(&str, Kind); 46] = [
    ("edge", Text),
    ("flow", Text),
    ("node", Text),
    ("ue", Text),
    ("sequence", Integer),
    ("time_us", Integer),
    ("controller", Text),
    ("slice_policy", Text),
    ("arm", Text),
    ("previous_rate_bps", Real),
    ("rate_bps", Real),
    ("target_bitrate_bps", Real),
    ("pacing_rate_bps", Real),
    ("prbs", Real),
    ("target_prbs", Real),
    ("gain_bps_per_prb", Real),
    ("chosen_gain", Real),
    ("shadow_controller", Text),
    ("shadow_rate_bps", Real),
    ("note", Text),
    ("target_factor", Real),
    ("cell_prbs", Real),
    ("active_ues", Integer),
    ("rate_min_bps", Real),
    ("rate_max_bps", Real),
    ("report_age_us", Integer),
    ("window_age_us", Integer),
    ("window_length_us", Integer),
    ("window_ran_time_us", Integer),
    ("window_prbs", Real),
    ("window_retx_prbs", Real),
    ("window_cell_prbs", Real),
    ("window_used_prbs", Real),
    ("window_mcs", Real),
    ("window_tb_sent", Integer),
    ("window_tb_retx", Integer),
    ("window_tb_failed", Integer),
    ("window_sinr_db", Real),
    ("window_cqi", Integer),
    ("window_delivered_bytes", Integer),
    ("window_arrived_bytes", Integer),
    ("window_queue_bytes", Integer),
    ("window_head_of_line_us", Integer),
    ("window_rlc_delay_us", Integer),
    ("window_sst", Integer),
    ("window_sd", Integer),
];

/// Without these a row says nothing.
const NEEDED: [&str; 8] = [
    "edge",
    "flow",
    "node",
    "ue",
    "sequence",
    "time_us",
    "previous_rate_bps",
    "rate_bps",
];

/// A value of a column; `Value::Null`: none.
pub(super) type Row = Vec<Value>;

/// The rows of a decision.
pub(super) fn rows(decision: &LoggedDecision) -> Vec<Row> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(decision) else {
        return Vec::new();
    };
    fields.insert("ue".into(), decision.ue.to_string().into());
    let reports = match fields.remove("reports") {
        Some(Value::Array(reports)) => reports,
        _ => vec![Value::Null],
    };
    let row = |report: &Value| {
        let value = |(name, _): &(&str, Kind)| match name.strip_prefix(WINDOW) {
            Some(name) => report.get(name),
            None => fields.get(*name),
        };
        let columns = COLUMNS.iter();
        columns
            .map(|column| value(column).cloned().unwrap_or_default())
            .collect()
    };
    reports.iter().map(row).collect()
}

/// Which columns a file has, and where.
pub(super) fn places<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<Vec<Option<usize>>, Error> {
    let place = |name: &str| names.clone().position(|found| found == name);
    if let Some(missing) = NEEDED.into_iter().find(|name| place(name).is_none()) {
        return Err(Error::Column(missing));
    }
    Ok(COLUMNS.iter().map(|(name, _)| place(name)).collect())
}

/// Puts rows together again.
#[derive(Default)]
pub(super) struct Decisions {
    done: Vec<LoggedDecision>,
    /// The decision whose rows are read, and its reports.
    open: Option<(Map<String, Value>, Vec<Value>)>,
    rows: usize,
}

impl Decisions {
    /// Takes the next row.
    pub(super) fn add(&mut self, row: Row) -> Result<(), Error> {
        self.rows += 1;
        let (mut fields, mut report) = (Map::new(), Map::new());
        for ((name, _), value) in COLUMNS.iter().zip(row) {
            if value.is_null() {
                continue;
            }
            match name.strip_prefix(WINDOW) {
                Some(name) => report.insert(name.into(), value),
                None => fields.insert((*name).into(), value),
            };
        }
        let same = |open: &Map<String, Value>| {
            ["edge", "flow", "sequence"]
                .iter()
                .all(|key| open.get(*key) == fields.get(*key))
        };
        if !self.open.as_ref().is_some_and(|(open, _)| same(open)) {
            self.close()?;
            self.open = Some((fields, Vec::new()));
        }
        if let Some((_, reports)) = &mut self.open
            && !report.is_empty()
        {
            reports.push(report.into());
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        let Some((mut fields, reports)) = self.open.take() else {
            return Ok(());
        };
        let row = self.rows;
        let error = |reason: String| Error::Row { row, reason };
        let ue = fields.get("ue").and_then(Value::as_str).unwrap_or_default();
        let ue: UeId = ue.parse().map_err(error)?;
        let ue = serde_json::to_value(ue).map_err(|cause| error(cause.to_string()))?;
        fields.insert("ue".into(), ue);
        fields.insert("reports".into(), reports.into());
        let decision = serde_json::from_value(fields.into());
        self.done
            .push(decision.map_err(|cause| error(cause.to_string()))?);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<LoggedDecision>, Error> {
        self.close()?;
        Ok(self.done)
    }

    /// The number of the row that comes next.
    pub(super) fn next_row(&self) -> usize {
        self.rows + 1
    }
}

/// A number without a fraction is one of either kind.
pub(super) fn value(kind: Kind, text: &str) -> Option<Value> {
    match kind {
        _ if text.is_empty() => Some(Value::Null),
        Text => Some(text.into()),
        Integer => {
            let number = text.parse::<u64>().map(Number::from);
            let number = number.or_else(|_| text.parse::<i64>().map(Number::from));
            number.ok().map(Value::Number)
        }
        Real => Number::from_f64(text.parse().ok()?).map(Value::Number),
    }
}
