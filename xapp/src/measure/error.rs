//! What makes an indication unusable as a whole.

use crate::ran::ServiceModel;

/// An indication could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The message is not what the service model says.
    #[error("{model:?} indication message: {cause}")]
    Message {
        /// Which service model.
        model: ServiceModel,
        /// What is wrong, and where.
        #[source]
        cause: e2sm::flexric::Error,
    },
    /// The KPM message is malformed, or of an unknown format.
    #[error("Kpm indication message: {0}")]
    Kpm(#[from] e2sm::aper::DecodeError),
}
