//! What a registration must look like. The texts go to the edge server: they say what to change.

use crate::config;
use crate::measure::Identity;
use policies::{GainPolicy, SNssai, UeId};
use proto::guidance::{
    RanUe, RegisterFlow, SNssai as SNssaiMessage, UeSelector, ran_ue, ue_selector::Selector,
};
use proto::operations::{Binding, binding};
use std::net::IpAddr;
use std::time::Duration;

/// Longest `edge_id`, `flow_id` and node name, octets.
pub(super) const MAX_NAME: usize = 128;
const MAX_POLICIES: usize = 8;
/// AMF UE NGAP ID ::= INTEGER (0..2^40-1), TS 38.413 clause 9.3.3.1.
const AMF_UE_NGAP_ID_BITS: u32 = 40;
/// 1 Tbit/s: no radio link is faster.
const MAX_RATE_BPS: u64 = 1_000_000_000_000;
/// No clock gave a sequence beyond, and as many decisions as there are above will never be made.
const MAX_SEQUENCE: u64 = i64::MAX as u64;

/// Which UE a flow goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The UE with this address.
    Ip(IpAddr),
    /// A UE by its identity in the RAN.
    Ran {
        /// E2 node; `None`: any, if just one UE fits.
        node: Option<String>,
        /// Its identity there.
        ue: UeId,
    },
}

/// A registration that can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    /// Which UE.
    pub target: Target,
    /// Slice of the flow, if the edge server knows it.
    pub slice: Option<SNssai>,
    /// One-way delay between edge server and base station; 0 if unknown.
    pub wired: Duration,
    /// Interval between its video frames; `None`: not announced.
    pub frame_interval: Option<Duration>,
    /// Gain policies that the edge prefers; empty: the xApp's own list.
    pub policies: Vec<GainPolicy>,
    /// Rate at which the edge sends now, bit/s.
    pub current_rate_bps: Option<f64>,
    /// Sequence of the newest guidance that the edge has; 0: none.
    pub last_sequence: u64,
}

/// Checks the name of an edge server or a flow.
pub(super) fn name(field: &str, name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(format!(
            "{field} has {} octets: give 1 to {MAX_NAME}",
            name.len()
        ));
    }
    if name.chars().any(char::is_control) {
        return Err(format!("{field} contains control characters"));
    }
    Ok(())
}

/// Checks a registration.
pub(super) fn registration(request: &RegisterFlow) -> Result<Registration, String> {
    name("flow_id", &request.flow_id)?;
    let target = target(request.ue.as_ref())?;
    if request.policies.len() > MAX_POLICIES {
        return Err(format!(
            "{} policies: give at most {MAX_POLICIES}",
            request.policies.len()
        ));
    }
    let policies = request
        .policies
        .iter()
        .map(|name| name.chars().take(MAX_NAME).collect::<String>())
        .map(|name| name.parse::<GainPolicy>().map_err(|e| e.to_string()))
        .collect::<Result<_, _>>()?;
    if request.current_rate_bps > MAX_RATE_BPS {
        return Err(format!(
            "current_rate_bps is {}: give at most {MAX_RATE_BPS}, or 0 if unknown",
            request.current_rate_bps
        ));
    }
    Ok(Registration {
        target,
        slice: request.slice.as_ref().map(slice).transpose()?,
        wired: Duration::from_micros(request.wired_delay_us),
        frame_interval: Some(request.frame_interval_us)
            .filter(|us| *us > 0)
            .map(Duration::from_micros),
        policies,
        current_rate_bps: (request.current_rate_bps > 0).then_some(request.current_rate_bps as f64),
        last_sequence: Some(request.last_sequence)
            .filter(|sequence| *sequence <= MAX_SEQUENCE)
            .unwrap_or(0),
    })
}

/// S-NSSAI: 8 bits of SST, 24 of SD (TS 23.003 clause 28.4.2).
fn slice(slice: &SNssaiMessage) -> Result<SNssai, String> {
    let sst = u8::try_from(slice.sst)
        .map_err(|_| format!("slice.sst is {}: give 0 to 255", slice.sst))?;
    match slice.sd {
        Some(sd) if sd > 0xff_ffff => Err(format!("slice.sd is {sd}: it has 24 bits")),
        sd => Ok(SNssai { sst, sd }),
    }
}

fn target(selector: Option<&UeSelector>) -> Result<Target, String> {
    match selector.and_then(|selector| selector.selector.as_ref()) {
        None => Err("ue is missing: give ip_address, or ran with an identity of the UE".into()),
        Some(Selector::IpAddress(text)) => address(text)
            .map(Target::Ip)
            .map_err(|complaint| format!("ue.{complaint}")),
        Some(Selector::Ran(ue)) => ran_ue(ue),
    }
}

fn ran_ue(ue: &RanUe) -> Result<Target, String> {
    let id = match ue.id {
        None => {
            return Err("ue.ran has no identity: give c_rnti, amf_ue_ngap_id or ran_ue_id".into());
        }
        Some(ran_ue::Id::CRnti(rnti)) => u16::try_from(rnti)
            .map(UeId::CRnti)
            .map_err(|_| format!("ue.ran.c_rnti is {rnti}: a C-RNTI has 16 bits"))?,
        Some(ran_ue::Id::AmfUeNgapId(id)) if id >> AMF_UE_NGAP_ID_BITS != 0 => {
            return Err(format!(
                "ue.ran.amf_ue_ngap_id is {id}: an AMF UE NGAP ID has {AMF_UE_NGAP_ID_BITS} bits"
            ));
        }
        Some(ran_ue::Id::AmfUeNgapId(id)) => UeId::AmfUeNgapId(id),
        Some(ran_ue::Id::RanUeId(id)) => UeId::RanUeId(id),
    };
    if !ue.node.is_empty() {
        name("ue.ran.node", &ue.node)?;
    }
    Ok(Target::Ran {
        node: (!ue.node.is_empty()).then(|| ue.node.clone()),
        ue: id,
    })
}

/// Checks what an operator says of an address: the address, and the node and identity of its UE.
pub(crate) fn binding(binding: &Binding) -> Result<(IpAddr, Option<String>, Identity), String> {
    let address = address(&binding.ip_address)?;
    let id = match binding.ue {
        Some(binding::Ue::GnbTeid(teid)) => {
            let node = binding.node.clone();
            if !node.is_empty() {
                name("node", &node)?;
            }
            let node = (!node.is_empty()).then_some(node);
            return Ok((address, node, Identity::GnbTeid(teid)));
        }
        Some(binding::Ue::CRnti(rnti)) => Some(ran_ue::Id::CRnti(rnti)),
        Some(binding::Ue::AmfUeNgapId(id)) => Some(ran_ue::Id::AmfUeNgapId(id)),
        Some(binding::Ue::RanUeId(id)) => Some(ran_ue::Id::RanUeId(id)),
        None => None,
    };
    let node = binding.node.clone();
    match ran_ue(&RanUe { node, id })? {
        Target::Ran { node, ue } => Ok((address, node, Identity::Ue(ue))),
        Target::Ip(_) => Err("the UE is missing".into()),
    }
}

/// Reads an address.
pub(crate) fn address(text: &str) -> Result<IpAddr, String> {
    let address = text.parse::<IpAddr>().map(|ip| ip.to_canonical());
    address.map_err(|_| {
        let start: String = text.chars().take(64).collect();
        format!("ip_address {start:?} is neither an IPv4 nor an IPv6 address")
    })
}

/// Node and UE of a line of the static table; `None` for a line that the configuration's check refuses.
pub(super) fn bound_ue(binding: &config::Binding) -> Option<(Option<String>, Identity)> {
    let ue = binding
        .c_rnti
        .map(UeId::CRnti)
        .or(binding.amf_ue_ngap_id.map(UeId::AmfUeNgapId))
        .or(binding.ran_ue_id.map(UeId::RanUeId))
        .map(Identity::Ue)
        .or(binding.gnb_teid.map(Identity::GnbTeid))?;
    let node = (!binding.node.is_empty()).then(|| binding.node.clone());
    Some((node, ue))
}

/// A UE as edge servers are told about it; identities that the contract does not know stay out.
pub(super) fn ran_ue_message(node: &str, ue: UeId) -> RanUe {
    let id = match ue {
        UeId::CRnti(rnti) => Some(ran_ue::Id::CRnti(rnti.into())),
        UeId::AmfUeNgapId(id) => Some(ran_ue::Id::AmfUeNgapId(id)),
        UeId::RanUeId(id) => Some(ran_ue::Id::RanUeId(id)),
        UeId::CuUeF1apId(_) | UeId::CuCpUeE1apId(_) => None,
    };
    RanUe {
        node: node.to_owned(),
        id,
    }
}
