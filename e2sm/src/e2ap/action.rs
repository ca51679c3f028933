//! Subscriptions and their actions (E2AP §9.2.9 to §9.2.13, §9.2.20).

use super::container::Ie;
use super::values::ACTIONS_TO_BE_SETUP;
use super::{Cause, RicRequestId, Version};
use crate::aper::{
    Alternative, DecodeError, EncodeError, EncodeErrorKind, Locate, Reader, Writer, enumerated,
};

type Read<T> = Result<T, DecodeError>;
type Written = Result<(), EncodeError>;

enumerated! {
    /// RICactionType.
    RicActionType { Report = "report", Insert = "insert", Policy = "policy" }
}

enumerated! {
    /// RICsubsequentActionType.
    RicSubsequentActionType { Continue = "continue", Wait = "wait" }
}

/// ricTimeToWait of a subsequent action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RicTimeToWait {
    /// No wait at all; only in v1.01.
    Zero,
    /// One of [`RicTimeToWait::STEPS`], by its position.
    Step(u8),
    /// The n-th value after the extension marker.
    Unknown(u32),
}

impl RicTimeToWait {
    /// The steps from 1 ms to 60 s, by name.
    pub const STEPS: [&str; 17] = [
        "w1ms", "w2ms", "w5ms", "w10ms", "w20ms", "w30ms", "w40ms", "w50ms", "w100ms", "w200ms",
        "w500ms", "w1s", "w2s", "w5s", "w10s", "w20s", "w60s",
    ];
    const COUNT: u32 = Self::STEPS.len() as u32;
}

impl std::fmt::Display for RicTimeToWait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RicTimeToWait::Zero => f.write_str("zero"),
            RicTimeToWait::Step(step) => {
                f.write_str(Self::STEPS.get(usize::from(*step)).unwrap_or(&"?"))
            }
            RicTimeToWait::Unknown(index) => write!(f, "unknown addition {index}"),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for RicTimeToWait {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// RICsubsequentAction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RicSubsequentAction {
    /// What the node does after the action.
    pub kind: RicSubsequentActionType,
    /// For how long it waits.
    pub time_to_wait: RicTimeToWait,
}

impl Ie for RicSubsequentAction {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<RicSubsequentAction> {
        let p = r.sequence(0)?;
        let kind = RicSubsequentActionType::decode(r).at("ricSubsequentActionType")?;
        // v1.01 has `zero` in front of the steps.
        let zeros = u32::from(version == Version::V1_01);
        let time_to_wait = match r
            .enumerated(RicTimeToWait::COUNT + zeros)
            .at("ricTimeToWait")?
        {
            Alternative::Root(index) => index
                .checked_sub(zeros)
                .map_or(RicTimeToWait::Zero, |step| RicTimeToWait::Step(step as u8)),
            Alternative::Addition(index) => {
                r.notes_mut().enumerated_values += 1;
                RicTimeToWait::Unknown(index)
            }
        };
        r.skip_additions(p)?;
        Ok(RicSubsequentAction { kind, time_to_wait })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(false, &[]);
        self.kind.encode(w)?;
        let zeros = u32::from(version == Version::V1_01);
        match self.time_to_wait {
            RicTimeToWait::Zero if zeros == 0 => Err(EncodeError::new(
                EncodeErrorKind::NotInVersion("ricTimeToWait zero"),
            )),
            RicTimeToWait::Zero => w.enumerated(0, RicTimeToWait::COUNT + zeros),
            RicTimeToWait::Step(step) => {
                w.enumerated(u32::from(step) + zeros, RicTimeToWait::COUNT + zeros)
            }
            RicTimeToWait::Unknown(index) => w.enumerated_addition(index),
        }
        .at("ricTimeToWait")
    }
}

/// RICaction-ToBeSetup-Item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RicAction {
    /// RICactionID.
    pub id: u8,
    /// Report, insert or policy.
    pub kind: RicActionType,
    /// RICactionDefinition, as the service model encodes it.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::hex_option"))]
    pub definition: Option<Vec<u8>>,
    /// What the node does afterwards.
    pub subsequent: Option<RicSubsequentAction>,
}

impl Ie for RicAction {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<RicAction> {
        let p = r.sequence(2)?;
        let id = r.constrained(0, 255).at("ricActionID")? as u8;
        let kind = RicActionType::decode(r).at("ricActionType")?;
        let definition = p
            .has(0)
            .then(|| r.octet_string())
            .transpose()
            .at("ricActionDefinition")?;
        let definition = definition.map(|octets| octets.into_owned());
        let subsequent = p
            .has(1)
            .then(|| RicSubsequentAction::read(r, version))
            .transpose()
            .at("ricSubsequentAction")?;
        r.skip_additions(p)?;
        Ok(RicAction {
            id,
            kind,
            definition,
            subsequent,
        })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(
            false,
            &[self.definition.is_some(), self.subsequent.is_some()],
        );
        w.constrained(u64::from(self.id), 0, 255)?;
        self.kind.encode(w)?;
        self.definition
            .iter()
            .try_for_each(|octets| w.octet_string(octets))?;
        self.subsequent
            .iter()
            .try_for_each(|action| action.write(w, version))
            .at("ricSubsequentAction")
    }
}

/// RICsubscriptionDetails.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RicSubscriptionDetails {
    /// RICeventTriggerDefinition, as the service model encodes it.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::common::hex"))]
    pub event_trigger: Vec<u8>,
    /// 1 to 16 actions.
    pub actions: Vec<RicAction>,
}

impl Ie for RicSubscriptionDetails {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<RicSubscriptionDetails> {
        let p = r.sequence(0)?;
        let event_trigger = r
            .octet_string()
            .at("ricEventTriggerDefinition")?
            .into_owned();
        let actions = ACTIONS_TO_BE_SETUP
            .read(r, version)
            .at("ricAction-ToBeSetup-List")?;
        r.skip_additions(p)?;
        Ok(RicSubscriptionDetails {
            event_trigger,
            actions,
        })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(false, &[]);
        w.octet_string(&self.event_trigger)?;
        ACTIONS_TO_BE_SETUP
            .write(&self.actions, w, version)
            .at("ricAction-ToBeSetup-List")
    }
}

/// RICaction-Admitted-Item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AdmittedAction {
    /// RICactionID.
    pub id: u8,
}

impl Ie for AdmittedAction {
    fn read(r: &mut Reader<'_>, _: Version) -> Read<AdmittedAction> {
        let p = r.sequence(0)?;
        let id = r.constrained(0, 255)? as u8;
        r.skip_additions(p)?;
        Ok(AdmittedAction { id })
    }

    fn write(&self, w: &mut Writer, _: Version) -> Written {
        w.sequence(false, &[]);
        w.constrained(u64::from(self.id), 0, 255)
    }
}

/// RICaction-NotAdmitted-Item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NotAdmittedAction {
    /// RICactionID.
    pub id: u8,
    /// Why not.
    pub cause: Cause,
}

impl Ie for NotAdmittedAction {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<NotAdmittedAction> {
        let p = r.sequence(0)?;
        let id = r.constrained(0, 255)? as u8;
        let cause = Cause::read(r, version).at("cause")?;
        r.skip_additions(p)?;
        Ok(NotAdmittedAction { id, cause })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(false, &[]);
        w.constrained(u64::from(self.id), 0, 255)?;
        self.cause.write(w, version).at("cause")
    }
}

/// RICsubscription-withCause-Item: a subscription that the node wants to end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SubscriptionToBeRemoved {
    /// Which subscription.
    pub request: RicRequestId,
    /// RANfunctionID, 0 to 4095.
    pub ran_function: u16,
    /// Why.
    pub cause: Cause,
}

impl Ie for SubscriptionToBeRemoved {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<SubscriptionToBeRemoved> {
        let p = r.sequence(0)?;
        let request = RicRequestId::read(r, version).at("ricRequestID")?;
        let ran_function = r.constrained(0, 4095).at("ranFunctionID")? as u16;
        let cause = Cause::read(r, version).at("cause")?;
        r.skip_additions(p)?;
        Ok(SubscriptionToBeRemoved {
            request,
            ran_function,
            cause,
        })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(false, &[]);
        self.request.write(w, version)?;
        w.constrained(u64::from(self.ran_function), 0, 4095)
            .at("ranFunctionID")?;
        self.cause.write(w, version).at("cause")
    }
}
