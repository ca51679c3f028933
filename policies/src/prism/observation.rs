//! What PRISM's network sees: the features of the last report windows.

use crate::{
    controller::Interval,
    model::{Card, Feature},
    report::UeReport,
    windows::{groups, mean_prbs},
};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Windows within Δ at most: at a window every millisecond, ten seconds.
const MAX_RECENT: usize = 10_000;

/// The last windows of one flow, as its network takes them.
#[derive(Clone, Debug)]
pub struct Observations {
    card: Arc<Card>,
    /// Normalised features, window after window, the newest last.
    rows: Vec<f32>,
    /// There was a window.
    begun: bool,
    /// End and PRB share of the windows in the Δ that ends with the newest.
    recent: VecDeque<(Duration, f64)>,
    channel: Channel,
    outside: Option<Outside>,
}

/// What a report without transport blocks leaves out stays as it was.
#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    retransmission_ratio: Option<f64>,
    mcs: Option<f64>,
    sinr_db: Option<f64>,
}

/// A value outside of what the model saw in training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outside {
    /// Which feature.
    pub feature: Feature,
    /// Its value, in the feature's unit.
    pub value: f64,
    /// How far outside, in widths of the training range.
    pub by: f64,
}

impl Observations {
    /// Nothing was observed yet.
    pub fn new(card: Arc<Card>) -> Self {
        Self {
            rows: vec![0.0; card.inputs()],
            begun: false,
            recent: VecDeque::new(),
            channel: Channel::default(),
            outside: None,
            card,
        }
    }

    /// Takes the reports of an interval, through which the flow was sent at `rate_bps`. `false`: there was no usable one.
    pub fn observe(&mut self, interval: &Interval<'_>, rate_bps: f64) -> bool {
        let groups = groups(interval.reports, self.card.report_interval());
        self.outside = None;
        for reports in &groups {
            self.window(reports, interval.target.prbs(), rate_bps);
        }
        !groups.is_empty()
    }

    /// The newest observation: [`Card::history`] windows, oldest first.
    pub fn newest(&self) -> &[f32] {
        &self.rows
    }

    /// The value of the last interval that is farthest outside the training range; `None` if all are inside.
    pub fn outside(&self) -> Option<Outside> {
        self.outside
    }

    fn window(&mut self, reports: &[UeReport], target_prbs: f64, rate_bps: f64) {
        let (Some(newest), Some(prbs)) = (reports.last(), mean_prbs(reports)) else {
            return;
        };
        let share = |prbs: f64| {
            let share = prbs / newest.cell_prbs;
            if share.is_finite() { share } else { 0.0 }
        };
        let end = newest.end();
        self.recent.push_back((end, share(prbs)));
        let begin = end.saturating_sub(self.card.control_interval());
        while let Some((oldest, _)) = self.recent.front()
            && (*oldest <= begin || self.recent.len() > MAX_RECENT)
            && self.recent.len() > 1
        {
            self.recent.pop_front();
        }
        self.channel.update(reports, &self.card);
        let recent = || self.recent.iter().map(|(_, share)| *share);
        let value = |feature| match feature {
            Feature::Prbs => Some(share(prbs)),
            Feature::MinPrbs => recent().reduce(f64::min),
            Feature::MaxPrbs => recent().reduce(f64::max),
            Feature::TargetPrbs => Some(share(target_prbs)),
            Feature::RateBps => Some(rate_bps),
            Feature::RetransmissionRatio => self.channel.retransmission_ratio,
            Feature::Mcs => self.channel.mcs,
            Feature::SinrDb => self.channel.sinr_db,
        };
        let width = self.card.features.len();
        let start = self.rows.len() - width;
        self.rows.copy_within(width.., 0);
        let mut outside: Option<Outside> = None;
        for (input, x) in self.card.features.iter().zip(&mut self.rows[start..]) {
            // What was never told is taken to be the least that training saw.
            let value = value(input.name).unwrap_or(input.range[0]);
            *x = input.normalise(value);
            let by = input.outside(value);
            if by > outside.map_or(0.0, |o| o.by) {
                outside = Some(Outside {
                    feature: input.name,
                    value,
                    by,
                });
            }
        }
        if outside.map_or(0.0, |o| o.by) > self.outside.map_or(0.0, |o| o.by) {
            self.outside = outside;
        }
        if !self.begun {
            self.begun = true;
            for row in 0..self.card.history - 1 {
                self.rows.copy_within(start.., row * width);
            }
        }
    }
}

impl Channel {
    fn update(&mut self, reports: &[UeReport], card: &Card) {
        let sum = |count: fn(&UeReport) -> Option<u64>| {
            reports.iter().filter_map(count).reduce(u64::saturating_add)
        };
        if let (Some(sent), Some(retx)) = (sum(|r| r.tb_sent), sum(|r| r.tb_retx)) {
            let ratio = if sent == 0 {
                0.0
            } else {
                retx as f64 / sent as f64
            };
            self.retransmission_ratio = Some(ratio);
        }
        let sinr_db = |report: &UeReport| {
            report.sinr_db.or_else(|| {
                let table = card.cqi_to_sinr.as_ref()?;
                let index = usize::from(report.cqi?).checked_sub(1)?;
                table.sinr_db.get(index).copied()
            })
        };
        self.mcs = mean(reports.iter().filter_map(|r| r.mcs)).or(self.mcs);
        self.sinr_db = mean(reports.iter().filter_map(sinr_db)).or(self.sinr_db);
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let finite = values.filter(|x| x.is_finite());
    let (sum, count) = finite.fold((0.0, 0_u32), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
