//! The four tables: cells, UEs, flows, decisions. Pure functions of a snapshot.

use super::fetch::Snapshot;
use edge::units;
use proto::operations::{Decision, Flow, Node, Ue};
use std::cmp::Ordering;
use std::fmt::Write as _;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Panel {
    Cells,
    Ues,
    Flows,
    Decisions,
}

impl Panel {
    pub(super) const ALL: [Self; 4] = [Self::Cells, Self::Ues, Self::Flows, Self::Decisions];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Cells => "Cells",
            Self::Ues => "UEs",
            Self::Flows => "Flows",
            Self::Decisions => "Decisions",
        }
    }

    /// Heads of the columns; those of numbers begin with `>`.
    fn heads(self) -> &'static [&'static str] {
        match self {
            Self::Cells => &[
                "NODE",
                "LINK",
                ">UES",
                ">PRBS",
                ">OF",
                "SUBSCRIPTIONS",
                ">INDICATIONS",
                ">REJECTED",
                ">QUARANTINED",
                "PEER",
            ],
            Self::Ues => &[
                "UE", ">PRBS", ">MCS", ">RETX", ">SINR", ">CQI", ">RATE", ">QUEUE", ">OLDEST",
                ">AGE", "STATE", "NODE",
            ],
            Self::Flows => &[
                "FLOW", "EDGE", "STATE", "UE", "BOUND BY", "POLICY", ">RATE", ">PRBS", ">TARGET",
                ">GOODPUT", ">DELAY", ">P99", ">LOST", "DETAIL",
            ],
            Self::Decisions => &[
                ">AGE", "FLOW", "UE", "POLICY", ">RATE", ">CHANGE", ">PRBS", ">TARGET", ">ACTIVE",
                ">QUEUE", "NOTE",
            ],
        }
    }

    /// The table of a snapshot.
    pub(super) fn table(self, snapshot: &Snapshot) -> Table {
        let now_us = snapshot.taken_us;
        let rows = match self {
            Self::Cells => snapshot.nodes.iter().map(cell).collect(),
            Self::Ues => snapshot.ues.iter().map(ue).collect(),
            Self::Flows => snapshot.flows.iter().map(flow).collect(),
            Self::Decisions => {
                let decisions = snapshot.decisions.iter();
                decisions.map(|d| decision(d, now_us)).collect()
            }
        };
        let columns = self.heads().iter().map(|head| Column {
            head: head.trim_start_matches('>'),
            number: head.starts_with('>'),
        });
        Table {
            columns: columns.collect(),
            rows,
        }
    }
}

/// A table of texts.
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Field>>,
}

pub(super) struct Column {
    pub(super) head: &'static str,
    /// Aligned to the right, sorted by value.
    pub(super) number: bool,
}

/// What a field means to the one who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Good,
    Attention,
    Bad,
}

pub(super) struct Field {
    pub(super) text: String,
    pub(super) tone: Tone,
    /// Value to sort by; `None`: by the text.
    value: Option<f64>,
}

impl Table {
    /// Sorts by a column; rows without a value come last either way.
    pub(super) fn sort(&mut self, column: usize, descending: bool) {
        let Some(Column { number, .. }) = self.columns.get(column) else {
            return;
        };
        let number = *number;
        self.rows.sort_by(|a, b| {
            let (a, b) = (&a[column], &b[column]);
            let order = match (a.value, b.value) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                (Some(_), None) if number => return Ordering::Less,
                (None, Some(_)) if number => return Ordering::Greater,
                _ => a.text.cmp(&b.text),
            };
            if descending { order.reverse() } else { order }
        });
    }

    /// Width of each column: its widest text.
    pub(super) fn widths(&self) -> Vec<usize> {
        let fields = |i: usize| self.rows.iter().map(move |row| row[i].text.chars().count());
        self.columns
            .iter()
            .enumerate()
            .map(|(i, column)| fields(i).max().unwrap_or(0).max(column.head.len() + 1))
            .collect()
    }
}

/// All tables as plain text.
pub(super) fn text(snapshot: &Snapshot) -> String {
    let mut out = format!("{}\n", head(snapshot));
    for panel in Panel::ALL {
        let table = panel.table(snapshot);
        let _ = writeln!(out, "\n{} ({})", panel.title(), table.rows.len());
        if table.rows.is_empty() {
            continue;
        }
        let widths = table.widths();
        let heads = table.columns.iter().map(|c| c.head);
        out.push_str(&line(&table, &widths, heads));
        for row in &table.rows {
            out.push_str(&line(&table, &widths, row.iter().map(|f| f.text.as_str())));
        }
    }
    out
}

fn line<'a>(table: &Table, widths: &[usize], texts: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for ((text, width), column) in texts.zip(widths).zip(&table.columns) {
        let _ = if column.number {
            write!(out, "{text:>width$}  ")
        } else {
            write!(out, "{text:<width$}  ")
        };
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// Who answers, on one line.
pub(super) fn head(snapshot: &Snapshot) -> String {
    let status = &snapshot.status;
    let ready = if status.ready {
        "ready".into()
    } else {
        format!("not ready: {}", clean(&status.not_ready_reason))
    };
    let uptime = status.uptime_ms / 1_000;
    format!(
        "{} {} · {} · E2 by {} · up {}:{:02}:{:02}",
        clean(&status.xapp_id),
        clean(&status.version),
        ready,
        clean(&status.ran_link),
        uptime / 3_600,
        uptime / 60 % 60,
        uptime % 60
    )
}

fn cell(node: &Node) -> Vec<Field> {
    let active = node
        .subscriptions
        .iter()
        .filter(|s| s.state == "active" || s.state == "silent")
        .count();
    let all = node.subscriptions.len();
    let trouble = node.subscriptions.iter().find(|s| s.state == "failed");
    let subscriptions = match trouble {
        Some(failed) => {
            text_field(&format!("{active} of {all}: {}", failed.detail)).tone(Tone::Bad)
        }
        None if active < all => text_field(&format!("{active} of {all}")).tone(Tone::Attention),
        None => text_field(&format!("{active} of {all}")),
    };
    let link = match (node.connected, node.silent) {
        (true, false) => text_field("up").tone(Tone::Good),
        (true, true) => text_field("silent").tone(Tone::Attention),
        (false, _) => text_field("down").tone(Tone::Bad),
    };
    vec![
        text_field(&node.id),
        link,
        count(node.active_ues.into()),
        number(Some(node.used_prbs), 1),
        number(Some(node.available_prbs), 1),
        subscriptions,
        count(node.indications),
        count(node.rejected).unless_zero(Tone::Bad),
        count(node.quarantined).unless_zero(Tone::Attention),
        text_field(&node.peer),
    ]
}

fn ue(ue: &Ue) -> Vec<Field> {
    let state = match (ue.lost, ue.active) {
        (true, _) => text_field("lost").tone(Tone::Bad),
        (false, true) => text_field("active").tone(Tone::Good),
        (false, false) => text_field("idle"),
    };
    vec![
        text_field(&ue.id),
        number(ue.prbs, 1),
        number(ue.mcs, 1),
        shown(ue.retransmission_ratio, |r| format!("{:.1} %", r * 100.0)),
        shown(ue.sinr_db, |db| format!("{db:.1} dB")),
        shown(ue.cqi.map(f64::from), |cqi| format!("{cqi:.0}")),
        shown(ue.throughput_bps, units::rate),
        octets(ue.queue_bytes),
        micros(ue.head_of_line_us),
        micros(Some(ue.report_age_us)),
        state,
        text_field(&ue.node),
    ]
}

fn flow(flow: &Flow) -> Vec<Field> {
    let state = match (flow.connected, flow.state.as_str()) {
        (false, _) => text_field("edge gone").tone(Tone::Bad),
        (true, "bound") => text_field("bound").tone(Tone::Good),
        (true, "refused") => text_field("refused").tone(Tone::Bad),
        (true, other) => text_field(other).tone(Tone::Attention),
    };
    let last = flow.last_decision.as_ref();
    let report = flow.last_report.as_ref();
    let goodput = report.and_then(|r| {
        let seconds = r.interval_us as f64 / 1e6;
        (seconds > 0.0).then_some(r.acknowledged_bytes? as f64 * 8.0 / seconds)
    });
    let note = last.map_or("", |d| d.note.as_str());
    let detail = if flow.detail.is_empty() {
        note
    } else {
        &flow.detail
    };
    vec![
        text_field(&flow.flow_id),
        text_field(&flow.edge_id),
        state,
        text_field(&flow.ue),
        text_field(&bound_by(flow)),
        text_field(last.map_or("", |d| &d.controller)),
        shown(last.map(|d| d.rate_bps as f64), units::rate),
        number(last.and_then(|d| d.prbs), 1),
        number(last.map(|d| d.target_prbs), 1),
        shown(goodput, units::rate),
        micros(report.and_then(|r| r.one_way_delay_mean_us)),
        micros(report.and_then(|r| r.one_way_delay_p99_us)),
        shown(report.and_then(|r| r.lost_packets).map(|n| n as f64), |n| {
            format!("{n:.0}")
        }),
        text_field(detail),
    ]
}

fn bound_by(flow: &Flow) -> String {
    match flow.confidence {
        Some(confidence) => format!("{} {:.0} %", flow.bound_by, confidence * 100.0),
        None => flow.bound_by.clone(),
    }
}

fn decision(decision: &Decision, now_us: i64) -> Vec<Field> {
    let age = u64::try_from(now_us.saturating_sub(decision.time_us)).unwrap_or(0);
    let (rate, before) = (decision.rate_bps as f64, decision.previous_rate_bps as f64);
    let change = (before > 0.0).then(|| (rate / before - 1.0) * 100.0);
    vec![
        micros(Some(age)),
        text_field(&decision.flow_id),
        text_field(&decision.ue),
        text_field(&decision.controller),
        shown(Some(rate), units::rate),
        shown(change, |percent| format!("{percent:+.1} %")),
        number(decision.prbs, 1),
        number(Some(decision.target_prbs), 1),
        count(decision.active_ues.into()),
        octets(Some(decision.queue_bytes)),
        text_field(&decision.note),
    ]
}

impl Field {
    fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    fn unless_zero(self, tone: Tone) -> Self {
        if self.value == Some(0.0) {
            self
        } else {
            self.tone(tone)
        }
    }
}

fn text_field(text: &str) -> Field {
    Field {
        text: clean(text),
        tone: Tone::Plain,
        value: None,
    }
}

fn shown(value: Option<f64>, show: impl Fn(f64) -> String) -> Field {
    Field {
        text: value.map_or("-".into(), show),
        tone: Tone::Plain,
        value,
    }
}

fn number(value: Option<f64>, digits: usize) -> Field {
    shown(value, |v| format!("{v:.digits$}"))
}

fn count(value: u64) -> Field {
    shown(Some(value as f64), |_| value.to_string())
}

fn micros(us: Option<u64>) -> Field {
    shown(us.map(|us| us as f64), units::micros)
}

fn octets(bytes: Option<u64>) -> Field {
    shown(bytes.map(|b| b as f64), |b| match b {
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b if b >= 1e3 => format!("{:.1} kB", b / 1e3),
        b => format!("{b:.0} B"),
    })
}

/// Text of others without control characters, which could play with the terminal.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '·' } else { c })
        .collect()
}
