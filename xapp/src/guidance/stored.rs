//! Operators' bindings as they outlive the process.

use super::hub::{HubHandle, Message};
use crate::measure::Identity;
use crate::store::{Kind, Store, Stored};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// What an operator said of an address, which is the key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OperatorBinding {
    pub(super) node: Option<String>,
    pub(super) ue: Identity,
}

impl Stored for OperatorBinding {
    const KIND: Kind = Kind::Binding;
    const VERSION: u32 = 1;
}

/// Tells the hub whenever bindings have changed in the store: most of all when it was read, which may be late.
pub(crate) async fn follow(store: Store, hub: HubHandle, stop: CancellationToken) {
    let mut changes = store.changes(Kind::Binding);
    changes.mark_changed();
    loop {
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
        changes.mark_unchanged();
        if hub.send(Message::BindingsStored).await.is_err() {
            return;
        }
    }
}
