//! The RAN functions that the node offers.

use super::{KpmDialect, NodeConfig, kpm};
use e2sm::common::Plmn;
use e2sm::e2ap::RanFunction;
use e2sm::flexric::{Model, RAN_FUNCTION_REVISION};

/// RAN function id of KPM, as FlexRIC's agents give it.
const KPM_ID: u16 = 2;

/// One RAN function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    /// E2SM-KPM.
    Kpm { dialect: KpmDialect, plmn: Plmn },
    /// FlexRIC's MAC statistics.
    Mac,
    /// FlexRIC's RLC statistics.
    Rlc,
}

impl Function {
    /// The functions of a configuration.
    pub(super) fn offered(config: &NodeConfig, plmn: Plmn) -> Vec<Self> {
        let kpm = config.kpm.map(|dialect| Self::Kpm { dialect, plmn });
        let flexric = [Self::Mac, Self::Rlc].into_iter();
        kpm.into_iter()
            .chain(flexric.filter(|_| config.flexric_models))
            .collect()
    }

    pub(super) fn id(&self) -> u16 {
        match self {
            Self::Kpm { .. } => KPM_ID,
            Self::Mac => Model::Mac.ran_function_id(),
            Self::Rlc => Model::Rlc.ran_function_id(),
        }
    }

    /// As E2 Setup and service updates carry it.
    pub(super) fn describe(&self) -> RanFunction {
        let flexric = |model: Model| RanFunction {
            id: model.ran_function_id(),
            definition: model.definition().into(),
            revision: RAN_FUNCTION_REVISION,
            oid: model.oid().to_owned(),
        };
        match self {
            Self::Kpm { dialect, .. } => RanFunction {
                id: KPM_ID,
                definition: kpm::definition(*dialect),
                // FlexRIC counts the revision by the major version.
                revision: match dialect.version() {
                    e2sm::kpm::Version::V2 => 2,
                    e2sm::kpm::Version::V3 => 3,
                },
                oid: dialect.version().oid().to_owned(),
            },
            Self::Mac => flexric(Model::Mac),
            Self::Rlc => flexric(Model::Rlc),
        }
    }
}
