//! What a client and a flow are told when they start.

use crate::Error;
use crate::fallback::{Fallback, SafeRate};
use crate::guidance::FlowSettings;
use policies::report::SNssai;
use proto::guidance as pb;
use std::net::IpAddr;
use std::time::Duration;
use tonic::transport::Endpoint;

/// Settings of a client.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address of the xApp's guidance service, e.g. `http://127.0.0.1:50051`.
    pub xapp: String,
    /// Stable name of this edge server. A second client of the same name replaces the first one.
    pub edge_id: String,
    /// Flows that can be registered at a time.
    pub max_flows: usize,
    /// Limit for connecting, and for the xApp's first message after it.
    pub connect_timeout: Duration,
    /// First wait after a lost connection; doubles with every failure.
    pub backoff_base: Duration,
    /// Longest wait.
    pub backoff_max: Duration,
    /// Interval of HTTP/2 pings; an answer must come within the same time.
    pub keepalive: Duration,
    /// A connection on which nothing comes for so long although a flow is bound is given up. xApps send every
    /// control interval.
    pub silence_limit: Duration,
    /// Interval of flow reports. The xApp tells by them which UE a flow goes to, if nobody else does: 100 ms at most.
    pub report_interval: Duration,
}

impl Config {
    /// The usual settings.
    pub fn new(xapp: impl Into<String>, edge_id: impl Into<String>) -> Self {
        Self {
            xapp: xapp.into(),
            edge_id: edge_id.into(),
            max_flows: 4_096,
            connect_timeout: Duration::from_secs(5),
            backoff_base: Duration::from_millis(100),
            backoff_max: Duration::from_secs(5),
            keepalive: Duration::from_secs(5),
            silence_limit: Duration::from_secs(10),
            report_interval: Duration::from_millis(50),
        }
    }

    /// Checks the settings and makes the endpoint of them.
    pub(super) fn endpoint(&self) -> Result<Endpoint, Error> {
        check_id("edge_id", &self.edge_id)?;
        for (name, value) in [
            ("connect_timeout", self.connect_timeout),
            ("backoff_base", self.backoff_base),
            ("keepalive", self.keepalive),
            ("silence_limit", self.silence_limit),
            ("report_interval", self.report_interval),
        ] {
            if value.is_zero() {
                return Err(Error::Setting {
                    name,
                    why: "must be longer than zero".into(),
                });
            }
        }
        let unusable = |why: String| Error::Endpoint {
            uri: self.xapp.clone(),
            why,
        };
        let endpoint =
            Endpoint::from_shared(self.xapp.clone()).map_err(|e| unusable(e.to_string()))?;
        if endpoint.uri().scheme_str() != Some("http") {
            return Err(unusable("the scheme must be http".into()));
        }
        Ok(endpoint
            .connect_timeout(self.connect_timeout)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(self.keepalive)
            .keep_alive_timeout(self.keepalive)
            .keep_alive_while_idle(true))
    }
}

/// A flow, as it is registered.
pub struct FlowSpec {
    /// Unique on this client; 1 to 128 characters.
    pub flow_id: String,
    /// The UE that it goes to.
    pub ue: Ue,
    /// Its slice, where known.
    pub slice: Option<SNssai>,
    /// One-way delay between edge server and base station, where known.
    pub wired_delay: Option<Duration>,
    /// Interval between frames, for frame-based video.
    pub frame_interval: Option<Duration>,
    /// Gain policies preferred, in order; empty: the xApp's own list.
    pub policies: Vec<String>,
    /// How it follows guidance.
    pub settings: FlowSettings,
    /// Who rules it without guidance.
    pub fallback: Box<dyn Fallback>,
}

impl FlowSpec {
    /// A flow with the usual settings, and [`SafeRate`] as its fallback.
    pub fn new(flow_id: impl Into<String>, ue: Ue) -> Self {
        Self {
            flow_id: flow_id.into(),
            ue,
            slice: None,
            wired_delay: None,
            frame_interval: None,
            policies: Vec::new(),
            settings: FlowSettings::default(),
            fallback: Box::new(SafeRate::default()),
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        check_id("flow_id", &self.flow_id)?;
        let bounds = self.settings.bounds;
        let rates = [self.settings.start_rate_bps, bounds.min_bps, bounds.max_bps];
        if !rates.iter().all(|r| r.is_finite() && *r >= 0.0) || bounds.min_bps > bounds.max_bps {
            return Err(Error::Setting {
                name: "rates",
                why: format!(
                    "start {}, floor {} and ceiling {} bit/s must be numbers of at least 0, the floor not \
                     above the ceiling",
                    rates[0], rates[1], rates[2]
                ),
            });
        }
        Ok(())
    }

    /// The registration message.
    pub(super) fn registration(&self) -> pb::RegisterFlow {
        let micros =
            |d: Option<Duration>| d.map_or(0, |d| u64::try_from(d.as_micros()).unwrap_or(u64::MAX));
        pb::RegisterFlow {
            flow_id: self.flow_id.clone(),
            ue: Some(self.ue.to_proto()),
            slice: self.slice.map(|s| pb::SNssai {
                sst: s.sst.into(),
                sd: s.sd,
            }),
            wired_delay_us: micros(self.wired_delay),
            frame_interval_us: micros(self.frame_interval),
            policies: self.policies.clone(),
            current_rate_bps: self.settings.start_rate_bps as u64,
            last_sequence: 0,
        }
    }
}

/// Which UE a flow goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ue {
    /// By its IP address.
    Ip(IpAddr),
    /// By its C-RNTI (TS 38.321 clause 7.1).
    CRnti {
        /// E2 node as Cantor names it; `None`: any node, if just one UE fits. Likewise below.
        node: Option<String>,
        /// The C-RNTI.
        c_rnti: u16,
    },
    /// By its AMF UE NGAP ID (TS 38.413 clause 9.3.3.1).
    AmfUeNgapId {
        /// E2 node.
        node: Option<String>,
        /// The id, 40 bits.
        id: u64,
    },
    /// By E2SM's RAN UE ID.
    RanUeId {
        /// E2 node.
        node: Option<String>,
        /// Its 8 octets as a big-endian number.
        id: u64,
    },
}

impl Ue {
    fn to_proto(&self) -> pb::UeSelector {
        use pb::{ran_ue::Id, ue_selector::Selector};
        let ran = |node: &Option<String>, id| {
            Selector::Ran(pb::RanUe {
                node: node.clone().unwrap_or_default(),
                id: Some(id),
            })
        };
        let selector = match self {
            Self::Ip(address) => Selector::IpAddress(address.to_string()),
            Self::CRnti { node, c_rnti } => ran(node, Id::CRnti((*c_rnti).into())),
            Self::AmfUeNgapId { node, id } => ran(node, Id::AmfUeNgapId(*id)),
            Self::RanUeId { node, id } => ran(node, Id::RanUeId(*id)),
        };
        pb::UeSelector {
            selector: Some(selector),
        }
    }
}

fn check_id(name: &'static str, id: &str) -> Result<(), Error> {
    if (1..=128).contains(&id.chars().count()) {
        return Ok(());
    }
    Err(Error::Setting {
        name,
        why: format!("must have 1 to 128 characters, has {}", id.chars().count()),
    })
}
