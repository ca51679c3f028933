//! Evidence that a flow goes to a UE, for every lag.

use super::curve::Curve;
use super::series::Bin;

/// Lags that are tried, seconds: the first, the step, their number. The time of RAN and edge is that of receipt, so
/// the lag is the wired delay, more or less the difference of the ways here.
const FIRST_LAG: f64 = -0.2;
const LAG_STEP: f64 = 0.025;
const LAGS: usize = 49;
/// The flow must be known for so long after a bin.
pub(super) const LEAD: f64 = -FIRST_LAG;

/// A packet more or less, octets.
const PACKET: f64 = 1000.0;
/// Headers that one end counts and the other does not.
const HEADERS: f64 = 0.03;
/// Weight of the unpredictable where the flow is known.
const SURPRISE: f64 = 0.03;
/// Evidence is cut to this.
const LEAST: f32 = -6.0;
pub(super) const MOST: f32 = 25.0;
/// Part of the recent evidence that is left after a bin: that of about six seconds.
const RECENT: f32 = 0.97;
/// A good past must not hide for long that a pair does not fit any more.
const RECENT_MOST: f32 = 1.0;
/// Bounds of the evidence of one bin: a bin that came late must not end a binding by itself.
const OF_ONE_BIN: (f64, f64) = (-3.0, 8.0);

/// Scale of a number of octets, whose own variance is known.
pub(super) fn scale(octets: f64, variance: f64) -> f64 {
    (PACKET * PACKET + (HEADERS * octets).powi(2) + variance).sqrt()
}

/// Density of octets that nobody can predict: flat in the logarithm, from packets to what a cell can carry.
pub(super) fn broad(octets: f64) -> f64 {
    const DECADES: f64 = 9.0;
    1.0 / ((octets.max(0.0) + 3.0 * PACKET) * DECADES)
}

/// Density of Student's t with four degrees of freedom.
fn student(difference: f64, scale: f64) -> f64 {
    let z = difference / scale;
    let base = 1.0 + z * z / 4.0;
    0.375 / (scale * base * base * base.sqrt())
}

/// Predicts a series from its past: as its last value, or as its mean with its usual deviation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tracker {
    last: f32,
    mean: f32,
    deviation: f32,
}

impl Tracker {
    pub(super) fn new(value: f64, scale: f64) -> Self {
        Self {
            last: value as f32,
            mean: value as f32,
            deviation: scale as f32,
        }
    }

    pub(super) fn density(&self, value: f64, own: f64) -> f64 {
        let spread = f64::from(self.deviation).max(own);
        0.5 * student(value - f64::from(self.last), own)
            + 0.5 * student(value - f64::from(self.mean), spread)
    }

    pub(super) fn observe(&mut self, value: f64, own: f64) {
        /// Memory of mean and deviation: six bins.
        const STEP: f64 = 1.0 / 6.0;
        let (mean, deviation) = (f64::from(self.mean), f64::from(self.deviation));
        let off = (value - mean).abs();
        self.deviation = (deviation + STEP * (off.max(own) - deviation)) as f32;
        self.mean = (mean + STEP * (value - mean)) as f32;
        self.last = value as f32;
    }
}

/// One lag of a pair.
#[derive(Clone, Copy, Debug)]
struct Lag {
    /// What the UE gets beside the flow.
    rest: Option<Tracker>,
    /// What the flow sent in the bin before.
    sent: f32,
    sum: f32,
    recent: f32,
}

/// What the best lag says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    /// Seconds.
    pub(super) lag: f64,
    /// Evidence so far, less the penalty of the lag.
    pub(super) sum: f32,
    /// Evidence of late.
    pub(super) recent: f32,
}

/// A flow and a UE.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// Number of the next bin.
    pub(super) next: u64,
    lags: Box<[Lag; LAGS]>,
}

fn lag_of(index: usize) -> f64 {
    FIRST_LAG + LAG_STEP * index as f64
}

/// What is held against a lag: up to 2 for long ones, more for those by which the RAN would be ahead of the edge. Where
/// the lag is known, 8 for others, and 2 in favour of it: one of the few that are near it fits by chance less often
/// than one of all.
fn penalty(lag: f64, known: Option<f64>) -> f32 {
    const NEAR: f64 = 0.1;
    const KNOWN_WITHIN: f64 = 0.06;
    match known {
        None if lag < 0.0 => (20.0 * (-lag - NEAR / 2.0)).max(0.0) as f32,
        None => (8.0 * (lag - NEAR)).clamp(0.0, 2.0) as f32,
        Some(known) if (lag - known).abs() <= KNOWN_WITHIN => -2.0,
        Some(_) => 8.0,
    }
}

impl Pair {
    /// Nothing is known before bin `next`.
    pub(super) fn new(next: u64) -> Self {
        let lag = Lag {
            rest: None,
            sent: 0.0,
            sum: 0.0,
            recent: 0.0,
        };
        Self {
            next,
            lags: Box::new([lag; LAGS]),
        }
    }

    /// Takes a bin of the UE.
    pub(super) fn observe(&mut self, flow: &Curve, bin: &Bin) {
        for (index, lag) in self.lags.iter_mut().enumerate() {
            let shift = lag_of(index);
            let (Some(a), Some(b)) = (flow.at(bin.from - shift), flow.at(bin.to - shift)) else {
                lag.rest = None;
                continue;
            };
            let sent = b.total - a.total;
            let own = scale(sent, a.variance + b.variance);
            lag.observe(bin, sent, own);
        }
    }

    /// The best lag, where `known` is that of the edge server and the node.
    pub(super) fn best(&self, known: Option<f64>) -> Best {
        let rated = self.lags.iter().enumerate().map(|(index, lag)| {
            let at = lag_of(index);
            Best {
                lag: at,
                sum: lag.sum - penalty(at, known),
                recent: lag.recent,
            }
        });
        rated
            .max_by(|a, b| a.sum.total_cmp(&b.sum).then(a.recent.total_cmp(&b.recent)))
            .unwrap_or(Best {
                lag: 0.0,
                sum: LEAST,
                recent: 0.0,
            })
    }

    /// Evidence of late at a lag, or the steps beside it.
    pub(super) fn recent(&self, lag: f64) -> f32 {
        let near = self
            .lags
            .iter()
            .enumerate()
            .filter(|(index, _)| (lag_of(*index) - lag).abs() < 1.5 * LAG_STEP);
        near.map(|(_, lag)| lag.recent).fold(f32::MIN, f32::max)
    }
}

impl Lag {
    fn observe(&mut self, bin: &Bin, sent: f64, own: f64) {
        let rest = bin.octets - sent;
        let evidence = match (bin.by_past, &self.rest) {
            (Some(by_past), Some(tracker)) => {
                let changed = change(sent - f64::from(self.sent), own);
                evidence(bin, rest, own, by_past, tracker, changed)
            }
            _ => 0.0,
        };
        match &mut self.rest {
            // What is missing is no traffic of others.
            Some(tracker) => tracker.observe(rest.max(0.0), own),
            None => self.rest = Some(Tracker::new(rest.max(0.0), own)),
        }
        self.sent = sent as f32;
        self.recent = (self.recent * RECENT + evidence as f32).min(RECENT_MOST);
        self.sum = (self.sum + evidence as f32).clamp(LEAST, MOST);
    }
}

/// How much of a change there is in what a flow sent, 0 to 1: none where it is within its uncertainty.
fn change(difference: f64, own: f64) -> f64 {
    /// Less than this is none, so that noise does not add up.
    const LEAST: f64 = 0.1;
    let squared = difference * difference;
    let part = squared / (squared + 2.0 * own * own);
    if part < LEAST { 0.0 } else { part }
}

fn evidence(bin: &Bin, rest: f64, own: f64, by_past: f64, tracker: &Tracker, changed: f64) -> f64 {
    /// Scales by which octets may miss.
    const MISSING: f64 = 4.0;
    let missing = rest < -MISSING * own;
    if missing && bin.may_drop {
        return 0.0;
    }
    let by_flow = if missing {
        0.0
    } else {
        0.4 * student(rest, own) + 0.6 * tracker.density(rest, own)
    };
    let with_flow = (1.0 - SURPRISE) * by_flow + SURPRISE * broad(bin.octets);
    let weight = if missing { 1.0 } else { changed };
    let (least, most) = OF_ONE_BIN;
    weight * (with_flow / by_past).ln().clamp(least, most)
}
