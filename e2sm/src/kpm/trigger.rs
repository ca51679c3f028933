//! Event trigger definition (clause 8.2.1.1).

use super::whole;
use crate::aper::{
    Alternative, DecodeError, DecodeErrorKind, EncodeError, Locate, Notes, Reader, Writer,
};

/// Event trigger definition, format 1 (clause 8.2.1.1.1): report periodically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EventTrigger {
    /// Reporting period in ms, at least 1. FlexRIC's agent aborts above 10000.
    pub period_ms: u32,
}

impl EventTrigger {
    /// Reads a RIC event trigger definition.
    ///
    /// # Errors
    /// A format other than 1 has no meaning here and is an error.
    pub fn decode(octets: &[u8]) -> Result<(Self, Notes), DecodeError> {
        whole(octets, "E2SM-KPM-EventTriggerDefinition", Self::read)
    }

    /// Octets of the RIC event trigger definition.
    ///
    /// # Errors
    /// A period of 0.
    pub fn encode(self) -> Result<Vec<u8>, EncodeError> {
        let mut w = Writer::new();
        w.sequence(false, &[]);
        w.choice(0, 1)?;
        w.sequence(false, &[]);
        w.constrained(u64::from(self.period_ms), 1, u64::from(u32::MAX))
            .at("reportingPeriod")?;
        Ok(w.finish())
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let outer = r.sequence(0)?;
        if let Alternative::Addition(n) = r.choice(1)? {
            return Err(r.error(DecodeErrorKind::UnknownAlternative(n)));
        }
        let p = r.sequence(0)?;
        let period_ms = r
            .constrained(1, u64::from(u32::MAX))
            .at("reportingPeriod")? as u32;
        r.skip_additions(p)?;
        r.skip_additions(outer)?;
        Ok(Self { period_ms })
    }
}
