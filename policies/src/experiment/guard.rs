//! Guard rails: an arm that does harm stops by itself.

use super::outcome::{Delays, Sample, SentArrived};
use crate::slice::policy::{FieldError, wrong};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// When an arm stops by itself. Each limit is about all flows of the arm over a window; what is left out has none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct GuardRails {
    /// Largest 99th percentile of the delay, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delay_p99_ms: Option<f64>,
    /// Largest part of the octets lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_loss: Option<f64>,
    /// Smallest mean goodput of a flow, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_goodput_bps: Option<f64>,
    /// Length of the window, seconds.
    pub window_seconds: f64,
}

impl Default for GuardRails {
    fn default() -> Self {
        Self {
            max_delay_p99_ms: None,
            max_loss: None,
            min_goodput_bps: None,
            window_seconds: 10.0,
        }
    }
}

/// What an arm did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Harm {
    /// Delay, ms.
    Delay {
        /// 99th percentile of the window.
        p99_ms: f64,
        /// What it must not exceed.
        limit_ms: f64,
    },
    /// Loss.
    Loss {
        /// Octets lost per octet sent.
        ratio: f64,
        /// What it must not exceed.
        limit: f64,
    },
    /// Goodput, bit/s.
    Goodput {
        /// Mean of a flow.
        bps: f64,
        /// What it must not fall below.
        limit_bps: f64,
    },
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delay { p99_ms, limit_ms } => {
                write!(f, "delay p99 {p99_ms:.1} ms, above {limit_ms} ms")
            }
            Self::Loss { ratio, limit } => {
                write!(f, "loss {:.2} %, above {} %", ratio * 100.0, limit * 100.0)
            }
            Self::Goodput { bps, limit_bps } => {
                let mbps = |bps: f64| bps / 1e6;
                write!(
                    f,
                    "goodput {:.2} Mbit/s, below {}",
                    mbps(*bps),
                    mbps(*limit_bps)
                )
            }
        }
    }
}

impl GuardRails {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        let limits = [
            ("maxDelayP99Ms", self.max_delay_p99_ms),
            ("maxLoss", self.max_loss),
            ("minGoodputBps", self.min_goodput_bps),
            ("windowSeconds", Some(self.window_seconds)),
        ];
        for (field, value) in limits {
            if value.is_some_and(|value| !(value.is_finite() && value > 0.0)) {
                let path = format!("spec.guardRails.{field}");
                return Err(wrong(&path, "give a number above 0"));
            }
        }
        Ok(())
    }
}

/// What an arm's flows did in the present window.
#[derive(Clone, Debug, Default)]
pub struct Window {
    began: Option<Duration>,
    delays: Delays,
    sent_arrived: SentArrived,
    octets: f64,
    seconds: f64,
}

impl Window {
    /// Adds an interval of a flow. At the end of the window: the harm that was done in it, if any.
    pub fn add(&mut self, now: Duration, sample: &Sample, rails: &GuardRails) -> Option<Harm> {
        let began = *self.began.get_or_insert(now);
        if let Some(ms) = sample.delay_ms {
            self.delays.add(ms);
        }
        self.sent_arrived.add(sample);
        if let Some(octets) = sample.delivered_bytes.filter(|octets| octets.is_finite()) {
            self.octets += octets;
            self.seconds += sample.length.as_secs_f64();
        }
        if now.saturating_sub(began).as_secs_f64() < rails.window_seconds {
            return None;
        }
        let harm = self.harm(rails);
        *self = Self::default();
        harm
    }

    fn harm(&self, rails: &GuardRails) -> Option<Harm> {
        let above = |value: Option<f64>, limit: Option<f64>| {
            value.zip(limit).filter(|(value, limit)| value > limit)
        };
        let goodput = (self.seconds > 0.0).then(|| self.octets * 8.0 / self.seconds);
        if let Some((p99_ms, limit_ms)) = above(self.delays.quantile(0.99), rails.max_delay_p99_ms)
        {
            return Some(Harm::Delay { p99_ms, limit_ms });
        }
        if let Some((ratio, limit)) = above(self.sent_arrived.loss(), rails.max_loss) {
            return Some(Harm::Loss { ratio, limit });
        }
        let (limit_bps, bps) = above(rails.min_goodput_bps, goodput)?;
        Some(Harm::Goodput { bps, limit_bps })
    }
}
