//! Which flows a policy rules.

use super::policy::FieldError;
use crate::report::{SNssai, UeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::Arc;
use std::{fmt, ops::Not};

/// Slice differentiator that stands for none (TS 23.003 clause 28.4.2).
const NO_SD: u32 = 0xff_ffff;
/// AMF UE NGAP ID ::= INTEGER (0..2^40-1), TS 38.413 clause 9.3.3.1.
const MAX_AMF_UE_NGAP_ID: u64 = (1 << 40) - 1;

/// Which flows a policy rules: those to which all parts apply. Without any part: all flows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Flows of this slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<SliceScope>,
    /// Flows in this cell: an E2 node as Cantor names it, e.g. "gnb:001-01:00000e00/32".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub cell: Option<Arc<str>>,
    /// Flows to this UE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ue: Option<UeScope>,
}

/// A slice (S-NSSAI, TS 23.003 clause 28.4).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SliceScope {
    /// Slice/service type.
    pub sst: u8,
    /// Slice differentiator, six hexadecimal digits in quotes; "ffffff": slices without one. Left out: all of the type.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "sd")]
    #[schemars(with = "Option<String>", regex(pattern = "^[0-9A-Fa-f]{6}$"))]
    pub sd: Option<u32>,
}

/// A UE, by one of its identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UeScope {
    /// IP address under which the edge server registered the flow.
    Ip(IpAddr),
    /// C-RNTI (TS 38.321 clause 7.1).
    CRnti(u16),
    /// AMF UE NGAP ID (TS 38.413 clause 9.3.3.1).
    AmfUeNgapId(u64),
    /// gNB-CU UE F1AP ID (TS 38.473 clause 9.3.1.4).
    CuUeF1apId(u32),
    /// gNB-CU-CP UE E1AP ID (TS 37.483 clause 9.3.1.4).
    CuCpUeE1apId(u32),
    /// RAN UE ID of E2SM-KPM, as a number.
    RanUeId(u64),
}

/// What is known of a flow when its policy is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowFacts {
    /// Its slice.
    pub slice: Option<SNssai>,
    /// E2 node of its UE.
    pub cell: Arc<str>,
    /// Its UE there.
    pub ue: UeId,
    /// IP address under which it was registered.
    pub address: Option<IpAddr>,
}

impl Scope {
    /// It has no part.
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it applies to a flow.
    pub fn contains(&self, flow: &FlowFacts) -> bool {
        self.miss(flow).is_none()
    }

    /// Why it does not apply to a flow.
    pub fn miss(&self, flow: &FlowFacts) -> Option<String> {
        if let Some(wanted) = &self.slice {
            match flow.slice {
                None => return Some("the flow's slice is not known".into()),
                Some(slice) if !wanted.contains(slice) => {
                    let slice = SliceScope::from(slice);
                    return Some(format!("the flow is of slice {slice}"));
                }
                Some(_) => {}
            }
        }
        if let Some(cell) = &self.cell
            && *cell != flow.cell
        {
            return Some(format!("the flow is in cell {}", flow.cell));
        }
        let ue = self.ue.as_ref()?;
        ue.is(flow).not().then(|| match flow.address {
            Some(address) => format!("the flow goes to UE {} ({address})", flow.ue),
            None => format!("the flow goes to UE {}", flow.ue),
        })
    }

    /// How specific it is: the larger, the more. A UE counts for more than a cell, a cell for more than a slice.
    pub fn specificity(&self) -> u8 {
        let sd = self.slice.as_ref().is_some_and(|slice| slice.sd.is_some());
        u8::from(self.ue.is_some()) << 3
            | u8::from(self.cell.is_some()) << 2
            | u8::from(sd) << 1
            | u8::from(self.slice.is_some())
    }

    pub(super) fn check(&self) -> Result<(), FieldError> {
        let wrong = |path: &str, reason: String| {
            let path = path.to_owned();
            Err(FieldError { path, reason })
        };
        if let Some(cell) = &self.cell
            && (cell.is_empty() || cell.len() > 128)
        {
            return wrong(
                "spec.scope.cell",
                format!("has {} octets: give 1 to 128", cell.len()),
            );
        }
        match self.ue {
            Some(UeScope::AmfUeNgapId(id)) if id > MAX_AMF_UE_NGAP_ID => wrong(
                "spec.scope.ue.amfUeNgapId",
                format!("{id} is above {MAX_AMF_UE_NGAP_ID}: it has 40 bits"),
            ),
            _ => Ok(()),
        }
    }
}

impl SliceScope {
    pub(crate) fn contains(&self, slice: SNssai) -> bool {
        self.sst == slice.sst && self.sd.is_none_or(|sd| sd == slice.sd.unwrap_or(NO_SD))
    }
}

/// Exactly this slice.
impl From<SNssai> for SliceScope {
    fn from(slice: SNssai) -> Self {
        Self {
            sst: slice.sst,
            sd: Some(slice.sd.unwrap_or(NO_SD)),
        }
    }
}

impl UeScope {
    fn is(self, flow: &FlowFacts) -> bool {
        match self {
            Self::Ip(address) => flow.address == Some(address),
            ran => ran == flow.ue.into(),
        }
    }
}

impl From<UeId> for UeScope {
    fn from(ue: UeId) -> Self {
        match ue {
            UeId::CRnti(id) => Self::CRnti(id),
            UeId::AmfUeNgapId(id) => Self::AmfUeNgapId(id),
            UeId::CuUeF1apId(id) => Self::CuUeF1apId(id),
            UeId::CuCpUeE1apId(id) => Self::CuCpUeE1apId(id),
            UeId::RanUeId(id) => Self::RanUeId(id),
        }
    }
}

impl fmt::Display for SliceScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sd {
            Some(sd) => write!(f, "{}:{sd:06x}", self.sst),
            None => write!(f, "{}", self.sst),
        }
    }
}

impl fmt::Display for UeScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(address) => write!(f, "ip:{address}"),
            Self::CRnti(id) => UeId::CRnti(*id).fmt(f),
            Self::AmfUeNgapId(id) => UeId::AmfUeNgapId(*id).fmt(f),
            Self::CuUeF1apId(id) => UeId::CuUeF1apId(*id).fmt(f),
            Self::CuCpUeE1apId(id) => UeId::CuCpUeE1apId(*id).fmt(f),
            Self::RanUeId(id) => UeId::RanUeId(*id).fmt(f),
        }
    }
}

/// `slice 1:000002, cell gnb:…`; "all flows" for everything.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slice = self.slice.as_ref().map(|slice| format!("slice {slice}"));
        let cell = self.cell.as_ref().map(|cell| format!("cell {cell}"));
        let ue = self.ue.as_ref().map(|ue| format!("UE {ue}"));
        let parts: Vec<_> = [slice, cell, ue].into_iter().flatten().collect();
        match parts.as_slice() {
            [] => f.write_str("all flows"),
            parts => f.write_str(&parts.join(", ")),
        }
    }
}

/// Slice differentiators are written as six hexadecimal digits.
pub(crate) mod sd {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(sd: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
        match sd {
            Some(sd) => serializer.collect_str(&format_args!("{sd:06x}")),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u32>, D::Error> {
        const WANTED: &str = "six hexadecimal digits in quotes, like \"00000a\"";
        let Some(text) = Option::<String>::deserialize(deserializer)
            .map_err(|error| de::Error::custom(format!("{error}; give {WANTED}")))?
        else {
            return Ok(None);
        };
        let digits = text.len() == 6 && text.chars().all(|c| c.is_ascii_hexdigit());
        match u32::from_str_radix(&text, 16) {
            Ok(sd) if digits => Ok(Some(sd)),
            _ => Err(de::Error::custom(format!("{text:?}: give {WANTED}"))),
        }
    }
}
