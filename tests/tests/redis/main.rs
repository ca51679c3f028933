//! State in a real Redis: it outlives the xApp, and the xApp outlives Redis.

mod outages;
mod restart;
mod topologies;

use serde::{Deserialize, Serialize};
use std::time::Duration;
use system_tests::within_patience;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use xapp::store::{Kind, Settings, Standing, Store, Stored};

/// An item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Policy {
    factor: f64,
}

impl Stored for Policy {
    const KIND: Kind = Kind::Policy;
    const VERSION: u32 = 1;
}

/// A store that is written to Redis.
struct Writing {
    store: Store,
    stop: CancellationToken,
    writer: JoinHandle<()>,
}

impl Writing {
    async fn open(url: &str) -> Self {
        Self::with(Settings {
            place: url.parse().expect("an address"),
            // Far longer than a busy machine needs, far shorter than the tests' patience.
            timeout: Duration::from_secs(2),
            ..Settings::default()
        })
        .await
    }

    async fn with(settings: Settings) -> Self {
        let stop = CancellationToken::new();
        let (store, writer) = Store::open(settings, stop.clone()).await.expect("a store");
        Self {
            store,
            stop,
            writer: writer.expect("Redis is written"),
        }
    }

    fn put(&self, key: &str, factor: f64) {
        self.store.put(key, &Policy { factor }).expect("accepted");
    }

    /// Waits until the store stands well.
    async fn good(&self) {
        self.stands("the store is written", Standing::is_good).await;
    }

    /// Waits until it cannot be written, and gives the reason.
    async fn lost(&self) -> String {
        let lost = |standing: &Standing| matches!(standing, Standing::Lost { .. });
        self.stands("the store is lost", lost).await.to_string()
    }

    async fn stands(&self, what: &str, wanted: impl Fn(&Standing) -> bool) -> Standing {
        let mut standing = self.store.standing();
        let reached = within_patience(what, standing.wait_for(wanted)).await;
        reached.expect("the store is open").clone()
    }

    /// Waits until all is written.
    async fn written(&self) {
        within_patience("all is written", self.store.all_written()).await;
    }

    async fn end(self) {
        self.stop.cancel();
        within_patience("the end of the writer", self.writer)
            .await
            .expect("no panic");
    }
}

/// All policies in their order.
fn policies(store: &Store) -> Vec<(String, f64)> {
    let all = store.load_all::<Policy>().into_iter();
    all.map(|(key, policy)| (key, policy.factor)).collect()
}
