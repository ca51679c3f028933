//! Components of an E2 node, and its transport associations (E2AP §9.2.25 to §9.2.31).

use super::container::Ie;
use super::types::same_in_every_version;
use super::{Cause, Version};
use crate::aper::{
    Alternative, BitString, DecodeError, EncodeError, Locate, Reader, Writer, enumerated,
};
use crate::common::{GlobalEnbId, GlobalGnbId, GlobalNgRanNodeId, UnknownChoice};

type Read<T> = Result<T, DecodeError>;
type Written = Result<(), EncodeError>;

/// Largest id of a gNB-CU-UP, gNB-DU or ng-eNB-DU: 36 bits.
const MAX_SPLIT_ID: u64 = (1 << 36) - 1;

enumerated! {
    /// E2nodeComponentInterfaceType.
    ComponentInterface {
        Ng = "ng", Xn = "xn", E1 = "e1", F1 = "f1", W1 = "w1", S1 = "s1", X2 = "x2",
    }
}

same_in_every_version!(ComponentInterface);

/// E2nodeComponentID: the far end of one of the node's interfaces.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ComponentId {
    /// AMF name.
    Ng(String),
    /// NG-RAN node.
    Xn(GlobalNgRanNodeId),
    /// gNB-CU-UP id.
    E1(u64),
    /// gNB-DU id.
    F1(u64),
    /// ng-eNB-DU id.
    W1(u64),
    /// MME name.
    S1(String),
    /// eNB or en-gNB.
    X2 {
        /// As an eNB.
        enb: Option<GlobalEnbId>,
        /// As an en-gNB.
        en_gnb: Option<GlobalGnbId>,
    },
    /// An interface that is not known here.
    Unknown(UnknownChoice),
}

impl ComponentId {
    fn read(r: &mut Reader<'_>) -> Read<ComponentId> {
        let index = match r.choice(7)? {
            Alternative::Root(index) => index,
            Alternative::Addition(index) => {
                return UnknownChoice::read(r, index).map(ComponentId::Unknown);
            }
        };
        let p = r.sequence(if index == 6 { 2 } else { 0 })?;
        let id = match index {
            0 => ComponentId::Ng(r.printable_string(1, 150).at("amf-name")?),
            1 => ComponentId::Xn(GlobalNgRanNodeId::read(r).at("global-NG-RAN-Node-ID")?),
            2 => ComponentId::E1(r.constrained(0, MAX_SPLIT_ID).at("gNB-CU-UP-ID")?),
            3 => ComponentId::F1(r.constrained(0, MAX_SPLIT_ID).at("gNB-DU-ID")?),
            4 => ComponentId::W1(r.constrained(0, MAX_SPLIT_ID).at("ng-eNB-DU-ID")?),
            5 => ComponentId::S1(r.printable_string(1, 150).at("mme-name")?),
            _ => ComponentId::X2 {
                enb: p
                    .has(0)
                    .then(|| GlobalEnbId::read(r))
                    .transpose()
                    .at("global-eNB-ID")?,
                en_gnb: p
                    .has(1)
                    .then(|| GlobalGnbId::read(r))
                    .transpose()
                    .at("global-en-gNB-ID")?,
            },
        };
        r.skip_additions(p)?;
        Ok(id)
    }

    fn write(&self, w: &mut Writer) -> Written {
        let index = match self {
            ComponentId::Ng(_) => 0,
            ComponentId::Xn(_) => 1,
            ComponentId::E1(_) => 2,
            ComponentId::F1(_) => 3,
            ComponentId::W1(_) => 4,
            ComponentId::S1(_) => 5,
            ComponentId::X2 { .. } => 6,
            ComponentId::Unknown(unknown) => return unknown.write(w),
        };
        w.choice(index, 7)?;
        match self {
            ComponentId::X2 { enb, en_gnb } => {
                w.sequence(false, &[enb.is_some(), en_gnb.is_some()]);
                enb.iter().try_for_each(|id| id.write(w))?;
                en_gnb.iter().try_for_each(|id| id.write(w))
            }
            other => {
                w.sequence(false, &[]);
                match other {
                    ComponentId::Ng(name) | ComponentId::S1(name) => {
                        w.printable_string(name, 1, 150)
                    }
                    ComponentId::E1(id) | ComponentId::F1(id) | ComponentId::W1(id) => {
                        w.constrained(*id, 0, MAX_SPLIT_ID)
                    }
                    ComponentId::Xn(node) => node.write(w),
                    ComponentId::X2 { .. } | ComponentId::Unknown(_) => Ok(()),
                }
            }
        }
    }
}

/// E2nodeComponentConfigAddition-Item and -Update-Item: a component and what was said on its interface's setup.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ComponentConfig {
    /// Kind of interface.
    pub interface: ComponentInterface,
    /// Its far end.
    pub id: ComponentId,
    /// e2nodeComponentRequestPart: the interface's setup request.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::common::hex"))]
    pub request: Vec<u8>,
    /// e2nodeComponentResponsePart: the answer to it.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::common::hex"))]
    pub response: Vec<u8>,
}

impl Ie for ComponentConfig {
    fn read(r: &mut Reader<'_>, _: Version) -> Read<ComponentConfig> {
        let p = r.sequence(0)?;
        let interface = ComponentInterface::decode(r).at("e2nodeComponentInterfaceType")?;
        let id = ComponentId::read(r).at("e2nodeComponentID")?;
        let inner = r.sequence(0)?;
        let request = r
            .octet_string()
            .at("e2nodeComponentRequestPart")?
            .into_owned();
        let response = r
            .octet_string()
            .at("e2nodeComponentResponsePart")?
            .into_owned();
        r.skip_additions(inner)?;
        r.skip_additions(p)?;
        Ok(ComponentConfig {
            interface,
            id,
            request,
            response,
        })
    }

    fn write(&self, w: &mut Writer, _: Version) -> Written {
        w.sequence(false, &[]);
        self.interface.encode(w)?;
        self.id.write(w).at("e2nodeComponentID")?;
        w.sequence(false, &[]);
        w.octet_string(&self.request)?;
        w.octet_string(&self.response)
    }
}

/// E2nodeComponentConfigRemoval-Item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ComponentRemoval {
    /// Kind of interface.
    pub interface: ComponentInterface,
    /// Its far end.
    pub id: ComponentId,
}

impl Ie for ComponentRemoval {
    fn read(r: &mut Reader<'_>, _: Version) -> Read<ComponentRemoval> {
        let p = r.sequence(0)?;
        let interface = ComponentInterface::decode(r).at("e2nodeComponentInterfaceType")?;
        let id = ComponentId::read(r).at("e2nodeComponentID")?;
        r.skip_additions(p)?;
        Ok(ComponentRemoval { interface, id })
    }

    fn write(&self, w: &mut Writer, _: Version) -> Written {
        w.sequence(false, &[]);
        self.interface.encode(w)?;
        self.id.write(w).at("e2nodeComponentID")
    }
}

enumerated! {
    /// updateOutcome of E2nodeComponentConfigurationAck.
    UpdateOutcome { Success = "success", Failure = "failure" }
}

/// E2nodeComponentConfigAdditionAck-Item, -UpdateAck-Item and -RemovalAck-Item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ComponentConfigAck {
    /// Kind of interface.
    pub interface: ComponentInterface,
    /// Its far end.
    pub id: ComponentId,
    /// Whether the near-RT RIC took it.
    pub outcome: UpdateOutcome,
    /// Why not.
    pub failure: Option<Cause>,
}

impl Ie for ComponentConfigAck {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<ComponentConfigAck> {
        let p = r.sequence(0)?;
        let interface = ComponentInterface::decode(r).at("e2nodeComponentInterfaceType")?;
        let id = ComponentId::read(r).at("e2nodeComponentID")?;
        let inner = r.sequence(1)?;
        let outcome = UpdateOutcome::decode(r).at("updateOutcome")?;
        let failure = inner
            .has(0)
            .then(|| Cause::read(r, version))
            .transpose()
            .at("failureCause")?;
        r.skip_additions(inner)?;
        r.skip_additions(p)?;
        Ok(ComponentConfigAck {
            interface,
            id,
            outcome,
            failure,
        })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(false, &[]);
        self.interface.encode(w)?;
        self.id.write(w).at("e2nodeComponentID")?;
        w.sequence(false, &[self.failure.is_some()]);
        self.outcome.encode(w)?;
        self.failure
            .iter()
            .try_for_each(|cause| cause.write(w, version))
            .at("failureCause")
    }
}

/// TNLinformation: an address for an E2 association.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TnlInformation {
    /// Transport layer address: 32 bits of IPv4, 128 of IPv6, or 160 of both (TS 38.414).
    pub address: BitString,
    /// Port.
    pub port: Option<u16>,
}

impl Ie for TnlInformation {
    fn read(r: &mut Reader<'_>, _: Version) -> Read<TnlInformation> {
        let p = r.sequence(1)?;
        let address = r.extensible_bit_string(1, 160).at("tnlAddress")?;
        let port = p
            .has(0)
            .then(|| r.bit_field(16))
            .transpose()
            .at("tnlPort")?
            .map(|port| port as u16);
        r.skip_additions(p)?;
        Ok(TnlInformation { address, port })
    }

    fn write(&self, w: &mut Writer, _: Version) -> Written {
        w.sequence(false, &[self.port.is_some()]);
        w.extensible_bit_string(&self.address, 1, 160)
            .at("tnlAddress")?;
        self.port
            .iter()
            .try_for_each(|port| w.bit_field(u64::from(*port), 16))
    }
}

enumerated! {
    /// TNLusage.
    TnlUsage { RicService = "ric-service", SupportFunction = "support-function", Both = "both" }
}

/// E2connectionUpdate-Item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct E2Connection {
    /// Address of the association.
    pub tnl: TnlInformation,
    /// What it is for.
    pub usage: TnlUsage,
}

impl Ie for E2Connection {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<E2Connection> {
        let p = r.sequence(0)?;
        let tnl = TnlInformation::read(r, version).at("tnlInformation")?;
        let usage = TnlUsage::decode(r).at("tnlUsage")?;
        r.skip_additions(p)?;
        Ok(E2Connection { tnl, usage })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(false, &[]);
        self.tnl.write(w, version).at("tnlInformation")?;
        self.usage.encode(w)
    }
}

/// E2connectionUpdateRemove-Item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct E2ConnectionRemoval {
    /// Address of the association.
    pub tnl: TnlInformation,
}

impl Ie for E2ConnectionRemoval {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<E2ConnectionRemoval> {
        let p = r.sequence(0)?;
        let tnl = TnlInformation::read(r, version).at("tnlInformation")?;
        r.skip_additions(p)?;
        Ok(E2ConnectionRemoval { tnl })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(false, &[]);
        self.tnl.write(w, version).at("tnlInformation")
    }
}

/// E2connectionSetupFailed-Item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct E2ConnectionFailure {
    /// Address of the association.
    pub tnl: TnlInformation,
    /// Why it could not be set up.
    pub cause: Cause,
}

impl Ie for E2ConnectionFailure {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<E2ConnectionFailure> {
        let p = r.sequence(0)?;
        let tnl = TnlInformation::read(r, version).at("tnlInformation")?;
        let cause = Cause::read(r, version).at("cause")?;
        r.skip_additions(p)?;
        Ok(E2ConnectionFailure { tnl, cause })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(false, &[]);
        self.tnl.write(w, version).at("tnlInformation")?;
        self.cause.write(w, version).at("cause")
    }
}

/// E2nodeTNLassociationRemoval-Item: both ends of an association.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TnlAssociationRemoval {
    /// The node's end.
    pub node: TnlInformation,
    /// The near-RT RIC's end.
    pub ric: TnlInformation,
}

impl Ie for TnlAssociationRemoval {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<TnlAssociationRemoval> {
        let p = r.sequence(0)?;
        let node = TnlInformation::read(r, version).at("tnlInformation")?;
        let ric = TnlInformation::read(r, version).at("tnlInformationRIC")?;
        r.skip_additions(p)?;
        Ok(TnlAssociationRemoval { node, ric })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(false, &[]);
        self.node.write(w, version).at("tnlInformation")?;
        self.ric.write(w, version).at("tnlInformationRIC")
    }
}
