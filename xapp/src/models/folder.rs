//! Keeps the model as a folder says, which is looked at again and again.

use super::{Models, Outcome};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Looks at the folder on a thread that may block, and logs what came of it.
pub async fn look(models: &Models, folder: &Path) -> Outcome {
    let (looking, path) = (models.clone(), folder.to_owned());
    let looked = tokio::task::spawn_blocking(move || looking.look(&path)).await;
    let outcome = looked.unwrap_or(Outcome::Unchanged);
    match &outcome {
        Outcome::Unchanged => {}
        Outcome::Loaded => {
            if let Some(model) = models.current() {
                let card = model.card();
                info!(
                    model = card.name,
                    engine = model.engine(),
                    sha256 = card.onnx_sha256,
                    folder = %folder.display(),
                    "model loaded"
                );
            }
        }
        Outcome::Refused(reason) => {
            let stays = models.current();
            let stays = stays.as_ref().map_or("none", |model| &model.card().name);
            warn!(%reason, stays, folder = %folder.display(), "model bundle refused");
        }
    }
    outcome
}

/// Looks at the folder every `period`, until `stop`.
pub async fn watch(models: Models, folder: PathBuf, period: Duration, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        look(&models, &folder).await;
    }
}
