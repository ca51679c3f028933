//! Cantor's E42 link, running.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use e2sm::e2ap::Version;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use transport::Address;
use xapp::ran::flexric::{Config, Flexric, Timing};
use xapp::ran::{Counters, RanEvent, SubscriptionState, Wishes};

pub struct Cantor {
    pub events: mpsc::Receiver<RanEvent>,
    pub counters: Arc<Counters>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

pub fn config(version: Version, e2: &Address, e42: &Address) -> Config {
    Config {
        ric: e42.clone(),
        guard: Some(e2.clone()),
        version,
        wishes: Wishes {
            period_ms: 10,
            ..Wishes::default()
        },
        timing: Timing {
            settle: Duration::from_millis(100),
            answer: Duration::from_millis(1000),
            nudge: Duration::from_millis(200),
            overdue: Duration::from_millis(300),
            refresh: Duration::from_millis(100),
            retry: Duration::from_millis(20),
            silence: Duration::from_millis(300),
            stop: Duration::from_secs(5),
        },
        ..Config::default()
    }
}

impl Cantor {
    pub fn start(config: Config) -> Cantor {
        let link = Flexric::new(config);
        let counters = link.counters();
        let (sender, events) = mpsc::channel(64);
        let stop = CancellationToken::new();
        let task = tokio::spawn(link.run(sender, stop.clone()));
        Cantor {
            events,
            counters,
            stop,
            task,
        }
    }

    /// Reads until an event is as wanted.
    pub async fn until(&mut self, mut wanted: impl FnMut(&RanEvent) -> bool) -> RanEvent {
        loop {
            let event = self.events.recv().await.expect("the link goes on");
            if wanted(&event) {
                return event;
            }
        }
    }

    /// Reads until so many subscriptions are active, and each has reported.
    pub async fn until_reporting(&mut self, subscriptions: usize) {
        let mut active = std::collections::BTreeSet::new();
        let mut reporting = std::collections::BTreeSet::new();
        self.until(|event| {
            match event {
                RanEvent::NodeDown { node, .. } => {
                    active.retain(|(of, _)| of != node);
                    reporting.retain(|(of, _)| of != node);
                }
                RanEvent::Subscription { node, status } => {
                    let key = (node.clone(), format!("{:?}", status.model));
                    match status.state {
                        SubscriptionState::Active => active.insert(key),
                        _ => active.remove(&key),
                    };
                }
                RanEvent::Indication { node, model, .. } => {
                    reporting.insert((node.clone(), format!("{model:?}")));
                }
                RanEvent::NodeUp { .. } => {}
            }
            active.len() == subscriptions && reporting.is_superset(&active)
        })
        .await;
    }

    pub async fn until_down(&mut self) {
        self.until(|event| matches!(event, RanEvent::NodeDown { .. }))
            .await;
    }

    pub fn foreign(&self) -> u64 {
        self.counters.indications_foreign.load(Relaxed)
    }

    /// Killed: nothing is deleted.
    pub fn kill(self) {
        self.task.abort();
    }

    /// Stops, reading what is still told.
    pub async fn stop(mut self) {
        self.stop.cancel();
        while self.events.recv().await.is_some() {}
        self.task.await.unwrap();
    }
}
