//! The direct link over sockets, against nodes made of captured octets.

mod node;

#[path = "../../../transport/tests/kernel/mod.rs"]
mod kernel;

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use node::Node;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use transport::{Address, Connection, Protocol};
use xapp::ran::direct::{Config, Direct, Limits};
use xapp::ran::{Bounds, Counters, RanEvent, ServiceModel, SubscriptionState, Wishes};

/// A link that runs, and its reader's end.
struct Link {
    address: Address,
    events: mpsc::Receiver<RanEvent>,
    counters: std::sync::Arc<Counters>,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl Link {
    async fn start(protocol: Protocol, limits: Limits) -> Link {
        let listen = Address {
            protocol,
            host: "127.0.0.1".into(),
            port: 0,
        };
        let models = vec![ServiceModel::Mac];
        let direct = Direct::bind(Config {
            listen: vec![listen],
            wishes: Wishes {
                models,
                ..Wishes::default()
            },
            limits,
            ..Config::default()
        })
        .await
        .unwrap();
        let (sender, events) = mpsc::channel(8);
        let stop = CancellationToken::new();
        let (address, counters) = (direct.local_addresses().remove(0), direct.counters());
        let running = tokio::spawn(direct.run(sender, stop.clone()));
        Link {
            address,
            events,
            counters,
            stop,
            running,
        }
    }

    /// The next event in short: `up`, `down`, `requested`, `active`, `ended`, `indication`.
    async fn told(&mut self) -> Option<&'static str> {
        Some(match self.events.recv().await? {
            RanEvent::NodeUp { .. } => "up",
            RanEvent::NodeDown { .. } => "down",
            RanEvent::Indication { .. } => "indication",
            RanEvent::Subscription { status, .. } => match status.state {
                SubscriptionState::Requested => "requested",
                SubscriptionState::Active => "active",
                SubscriptionState::Silent => "silent",
                SubscriptionState::Failed => "failed",
                SubscriptionState::Ended => "ended",
            },
        })
    }

    async fn expect(&mut self, expected: &[&'static str]) {
        for expected in expected {
            assert_eq!(self.told().await, Some(*expected));
        }
    }
}

/// A test that waits for an event that never comes should fail, not hang.
async fn bounded(body: impl Future<Output = ()>) {
    tokio::time::timeout(Duration::from_secs(120), body)
        .await
        .expect("what was awaited did not happen");
}

async fn a_node_comes_reports_dies_and_comes_back(protocol: Protocol) {
    let mut link = Link::start(protocol, Limits::default()).await;
    for _ in 0..2 {
        let mut node = Node::connect(&link.address).await;
        let subscription = node.set_up().await;
        link.expect(&["up", "requested", "active"]).await;
        for mark in 0..3 {
            node.report(subscription, &[mark]).await;
            let Some(RanEvent::Indication { model, message, .. }) = link.events.recv().await else {
                panic!()
            };
            assert_eq!((model, message), (ServiceModel::Mac, vec![mark]));
        }
        node.abort();
        // The subscription is gone with its node.
        link.expect(&["down"]).await;
    }
}

async fn the_newest_association_of_a_node_wins(protocol: Protocol) {
    let mut link = Link::start(protocol, Limits::default()).await;
    let mut first = Node::connect(&link.address).await;
    let stale = first.set_up().await;
    link.expect(&["up", "requested", "active"]).await;
    let mut second = Node::connect(&link.address).await;
    let subscription = second.set_up().await;
    link.expect(&["down", "up", "requested", "active"]).await;
    assert_ne!(stale.request, subscription.request);
    first.wait_for_end().await;
    second.report(subscription, b"news").await;
    link.expect(&["indication"]).await;
}

async fn stopping_deletes_subscriptions_and_closes_in_order(protocol: Protocol) {
    let mut link = Link::start(protocol, Limits::default()).await;
    let mut node = Node::connect(&link.address).await;
    let subscription = node.set_up().await;
    link.expect(&["up", "requested", "active"]).await;
    link.stop.cancel();
    assert_eq!(node.deleted().await, subscription.request);
    node.wait_for_end().await;
    link.expect(&["ended", "down"]).await;
    assert_eq!(link.told().await, None);
    link.running.await.unwrap();
}

async fn when_nobody_reads_any_more_the_link_ends_in_order(protocol: Protocol) {
    let mut link = Link::start(protocol, Limits::default()).await;
    let mut node = Node::connect(&link.address).await;
    let subscription = node.set_up().await;
    link.expect(&["up", "requested", "active"]).await;
    drop(link.events);
    assert_eq!(node.deleted().await, subscription.request);
    node.wait_for_end().await;
    link.running.await.unwrap();
}

async fn stopping_does_not_wait_for_peers_that_do_nothing(protocol: Protocol) {
    let limits = Limits {
        stop_wait: Duration::from_millis(50),
        ..Limits::default()
    };
    let mut link = Link::start(protocol, limits).await;
    let silent = Connection::connect(&link.address, Duration::from_secs(30))
        .await
        .unwrap();
    let mut deaf = Node::connect(&link.address).await;
    deaf.set_up().await;
    link.expect(&["up", "requested", "active"]).await;
    link.stop.cancel();
    link.running.await.unwrap();
    drop((silent, deaf));
}

async fn a_silent_peer_is_closed_and_others_are_served_meanwhile(protocol: Protocol) {
    let limits = Limits {
        setup_wait: Duration::from_millis(300),
        associations: 2,
        ..Limits::default()
    };
    let mut link = Link::start(protocol, limits).await;
    let silent = Node::connect(&link.address).await;
    let mut node = Node::connect(&link.address).await;
    node.set_up().await;
    link.expect(&["up", "requested", "active"]).await;
    silent.wait_for_end().await;
}

async fn associations_beyond_the_limit_are_refused(protocol: Protocol) {
    let mut link = Link::start(
        protocol,
        Limits {
            associations: 1,
            ..Limits::default()
        },
    )
    .await;
    let mut node = Node::connect(&link.address).await;
    node.set_up().await;
    link.expect(&["up", "requested", "active"]).await;
    if let Ok(refused) = Node::try_connect(&link.address).await {
        refused.wait_for_end().await;
    }
    assert_eq!(link.counters.associations_refused.load(Relaxed), 1);
    // Its place is free again afterwards.
    node.abort();
    link.expect(&["down"]).await;
    loop {
        if let Ok(mut node) = Node::try_connect(&link.address).await
            && node.try_set_up().await.is_some()
        {
            break;
        }
    }
}

async fn peers_that_do_not_set_up_keep_no_node_out(protocol: Protocol) {
    let limits = Limits {
        associations: 2,
        setup_wait: Duration::from_secs(3600),
        ..Limits::default()
    };
    let mut link = Link::start(protocol, limits).await;
    let oldest = Node::connect(&link.address).await;
    let silent = Node::connect(&link.address).await;
    let mut node = Node::connect(&link.address).await;
    node.set_up().await;
    link.expect(&["up", "requested", "active"]).await;
    oldest.wait_for_end().await;
    let mut second = Node::connect(&link.address).await;
    second.set_up().await;
    silent.wait_for_end().await;
    let counters = &link.counters;
    assert_eq!(counters.associations_displaced.load(Relaxed), 2);
    assert_eq!(counters.associations_refused.load(Relaxed), 0);
}

async fn what_waits_for_a_peer_is_bounded_in_octets(protocol: Protocol) {
    let limits = Limits {
        unsent_octets: 100,
        ..Limits::default()
    };
    let mut link = Link::start(protocol, limits).await;
    // The answer to its setup is longer.
    let mut node = Node::connect(&link.address).await;
    assert!(node.try_set_up().await.is_none());
    assert_eq!(link.counters.pdus_sent.load(Relaxed), 0);
    link.expect(&["up", "down"]).await;
}

async fn a_slow_reader_loses_old_indications_and_nothing_else(protocol: Protocol) {
    const SENT: u64 = 2000;
    let mut link = Link::start(
        protocol,
        Limits {
            queued: Bounds {
                indications: 100,
                ..Bounds::default()
            },
            ..Limits::default()
        },
    )
    .await;
    let mut node = Node::connect(&link.address).await;
    let subscription = node.set_up().await;
    for mark in 0..SENT {
        node.report(subscription, &mark.to_be_bytes()).await;
    }
    // Nobody has read an event yet, but the link has read everything that was sent.
    node.synchronise().await;
    node.finish().await;
    link.expect(&["up", "requested", "active"]).await;
    let mut marks = Vec::new();
    let reason = loop {
        match link.events.recv().await {
            Some(RanEvent::Indication { message, .. }) => {
                marks.push(u64::from_be_bytes(message.try_into().unwrap()))
            }
            Some(RanEvent::NodeDown { reason, .. }) => break reason,
            other => panic!("{other:?}"),
        }
    };
    assert!(marks.is_sorted());
    assert_eq!(marks.last(), Some(&(SENT - 1)));
    assert_eq!(
        marks.len() as u64 + link.counters.indications_dropped.load(Relaxed),
        SENT
    );
    assert!(marks.len() <= 120, "{} were kept", marks.len());
    assert_eq!(reason, "it closed the association");
}

macro_rules! over_tcp_and_sctp {
    ($($name:ident),* $(,)?) => {
        mod tcp {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::bounded(super::$name(super::Protocol::Tcp)).await;
            })*
        }
        mod sctp {
            $(#[test]
            fn $name() {
                super::kernel::with_sctp(concat!("sctp::", stringify!($name)), super::bounded(super::$name(super::Protocol::Sctp)));
            })*
        }
    };
}

over_tcp_and_sctp!(
    a_node_comes_reports_dies_and_comes_back,
    the_newest_association_of_a_node_wins,
    stopping_deletes_subscriptions_and_closes_in_order,
    stopping_does_not_wait_for_peers_that_do_nothing,
    when_nobody_reads_any_more_the_link_ends_in_order,
    a_silent_peer_is_closed_and_others_are_served_meanwhile,
    associations_beyond_the_limit_are_refused,
    peers_that_do_not_set_up_keep_no_node_out,
    what_waits_for_a_peer_is_bounded_in_octets,
    a_slow_reader_loses_old_indications_and_nothing_else,
);

/// Octets that do not follow the framing end the association; the next node is served.
#[tokio::test]
async fn a_peer_that_speaks_something_else_is_closed() {
    bounded(async {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut link = Link::start(Protocol::Tcp, Limits::default()).await;
        let mut stranger = tokio::net::TcpStream::connect(("127.0.0.1", link.address.port))
            .await
            .unwrap();
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        // The kernel resets when octets are left unread.
        let _ = stranger.read_to_end(&mut Vec::new()).await;
        Node::connect(&link.address).await.set_up().await;
        link.expect(&["up", "requested", "active", "down"]).await;
    })
    .await;
}
