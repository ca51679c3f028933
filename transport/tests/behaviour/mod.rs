//! What both transports promise, each told as a body that takes the protocol.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use transport::{Address, Connection, Listener, Protocol, ReceiveError};

pub const PATIENCE: Duration = Duration::from_secs(60);

pub async fn listener(protocol: Protocol, ip: &str) -> Listener {
    Listener::bind(&Address::new(
        protocol,
        SocketAddr::new(ip.parse().unwrap(), 0),
    ))
    .await
    .unwrap()
}

/// A connection and its other end.
pub async fn pair(protocol: Protocol) -> (Connection, Connection) {
    let listener = listener(protocol, "127.0.0.1").await;
    let (ours, theirs) = tokio::join!(
        Connection::connect(listener.local_address(), PATIENCE),
        listener.accept()
    );
    (ours.unwrap(), theirs.unwrap().0)
}

/// Octets that would show a mix-up of places.
pub fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length)
        .map(|i| ((i * 31 + i / 251 + seed) % 256) as u8)
        .collect()
}

/// Messages of 1 octet to 256 KiB arrive one for one.
pub async fn every_size_arrives_whole(protocol: Protocol) {
    let (ours, theirs) = pair(protocol).await;
    let (mut sender, _keep) = ours.split();
    let (_keep, mut receiver) = theirs.split();
    let sizes = [
        1,
        2,
        3,
        4,
        5,
        100,
        1451,
        1452,
        1453,
        4095,
        4096,
        9000,
        65_535,
        65_536,
        65_537,
        200_000,
        256 * 1024,
    ];
    let send = async {
        for (i, &size) in sizes.iter().enumerate() {
            sender.send(&pattern(size, i)).await.unwrap();
        }
    };
    let receive = async {
        for (i, &size) in sizes.iter().enumerate() {
            let message = receiver.receive().await.unwrap().expect("a message");
            assert_eq!(message.bytes.len(), size);
            assert!(
                message.bytes == pattern(size, i),
                "the octets of message {i} differ"
            );
        }
    };
    tokio::join!(send, receive);
}

/// A sender whose peer does not read waits, and loses nothing.
pub async fn a_slow_reader_makes_the_sender_wait(protocol: Protocol) {
    const MESSAGES: usize = 400;
    const SIZE: usize = 16 * 1024;
    let (ours, theirs) = pair(protocol).await;
    let (mut sender, _keep) = ours.split();
    let (_keep, mut receiver) = theirs.split();
    let (sent, mut progress) = tokio::sync::watch::channel(0);
    let sending = tokio::spawn(async move {
        for i in 0..MESSAGES {
            sender.send(&pattern(SIZE, i)).await.unwrap();
            sent.send_replace(i + 1);
        }
    });
    // It stands still when nothing was sent for a while, however long the kernel took to fill its buffers.
    while let Ok(Ok(())) =
        tokio::time::timeout(Duration::from_millis(500), progress.changed()).await
    {}
    let stuck_at = *progress.borrow();
    assert!(
        stuck_at < MESSAGES,
        "6.5 MB were sent to a peer that reads nothing"
    );
    for i in 0..MESSAGES {
        let message = receiver.receive().await.unwrap().expect("a message");
        assert!(message.bytes == pattern(SIZE, i), "message {i} differs");
    }
    sending.await.unwrap();
}

/// What was sent before the end is read before the end; the end stays.
pub async fn an_orderly_end_is_told_after_the_data(protocol: Protocol) {
    let (ours, theirs) = pair(protocol).await;
    let (mut sender, _keep) = ours.split();
    let (_keep_too, mut receiver) = theirs.split();
    sender.send(b"last words").await.unwrap();
    sender.finish().await.unwrap();
    assert_eq!(
        receiver.receive().await.unwrap().unwrap().bytes,
        b"last words"
    );
    assert!(receiver.receive().await.unwrap().is_none());
    assert!(receiver.receive().await.unwrap().is_none());
}

/// Dropping a connection is an orderly end as well.
pub async fn dropping_both_halves_ends_in_order(protocol: Protocol) {
    let (ours, theirs) = pair(protocol).await;
    let (_keep, mut receiver) = theirs.split();
    drop(ours);
    assert!(receiver.receive().await.unwrap().is_none());
}

/// An abort is told as a failure, and then the end; sending fails as well.
pub async fn an_abort_is_a_failure(protocol: Protocol) {
    let (ours, theirs) = pair(protocol).await;
    let (mut sender, mut receiver) = theirs.split();
    ours.abort();
    match receiver.receive().await {
        Err(ReceiveError::Io(error)) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
        other => panic!("not a reset: {other:?}"),
    }
    assert!(receiver.receive().await.unwrap().is_none());
    assert!(sender.send(b"is anyone there?").await.is_err());
}

/// A refused connection is told at once, not after the timeout.
pub async fn a_refused_connection_is_an_error(protocol: Protocol) {
    let address = listener(protocol, "127.0.0.1")
        .await
        .local_address()
        .clone();
    let error = Connection::connect(&address, Duration::from_secs(3600))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
}

/// IPv6, and a dual-stack listener that takes IPv4.
pub async fn both_address_families_work(protocol: Protocol) {
    let listener = listener(protocol, "::").await;
    let port = listener.local_address().port;
    for host in ["::1", "127.0.0.1"] {
        let address = Address {
            protocol,
            host: host.to_owned(),
            port,
        };
        let (ours, theirs) =
            tokio::join!(Connection::connect(&address, PATIENCE), listener.accept());
        let (mut sender, _keep) = ours.unwrap().split();
        let (_keep, mut receiver) = theirs.unwrap().0.split();
        sender.send(b"hello").await.unwrap();
        assert_eq!(receiver.receive().await.unwrap().unwrap().bytes, b"hello");
    }
}

/// A message over the receiver's limit ends the connection instead of filling memory.
pub async fn a_message_over_the_limit_is_refused(protocol: Protocol) {
    let (ours, theirs) = pair(protocol).await;
    let (mut sender, _keep) = ours.split();
    let (_keep, mut receiver) = theirs.split();
    receiver.set_max_message(100_000);
    sender.send(&pattern(100_000, 1)).await.unwrap();
    sender.send(&pattern(100_001, 2)).await.unwrap();
    assert_eq!(
        receiver.receive().await.unwrap().unwrap().bytes.len(),
        100_000
    );
    assert!(matches!(
        receiver.receive().await,
        Err(ReceiveError::TooLong { limit: 100_000 })
    ));
    assert!(receiver.receive().await.unwrap().is_none());
}

/// Cancelling a receive loses nothing.
pub async fn a_cancelled_receive_loses_nothing(protocol: Protocol) {
    let (ours, theirs) = pair(protocol).await;
    let (mut sender, _keep) = ours.split();
    let (_keep, mut receiver) = theirs.split();
    let sending = tokio::spawn(async move {
        for i in 0..50 {
            sender.send(&pattern(70_000, i)).await.unwrap();
        }
        sender
    });
    for i in 0..50 {
        let message = loop {
            tokio::select! {
                biased;
                message = receiver.receive() => break message.unwrap().unwrap(),
                () = tokio::task::yield_now() => {}
            }
        };
        assert!(message.bytes == pattern(70_000, i), "message {i} differs");
    }
    sending.await.unwrap();
}

/// Connections that come, fail and go leave no descriptor behind.
pub async fn no_descriptor_is_leaked(protocol: Protocol) {
    let listener = listener(protocol, "127.0.0.1").await;
    let address = listener.local_address().clone();
    let before = open_descriptors();
    let mut open = Vec::new();
    for _ in 0..50 {
        let (ours, theirs) =
            tokio::join!(Connection::connect(&address, PATIENCE), listener.accept());
        open.push((ours.unwrap(), theirs.unwrap().0));
    }
    assert_eq!(open_descriptors(), before + 100);
    for (i, (ours, theirs)) in open.into_iter().enumerate() {
        if i % 2 == 0 {
            ours.abort();
        }
        drop(theirs);
    }
    drop(listener);
    for _ in 0..20 {
        Connection::connect(&address, PATIENCE).await.unwrap_err();
    }
    assert_eq!(open_descriptors(), before - 1);
}

/// Sockets only: what else the process opens meanwhile (other tests' files) does not matter.
fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(Result::ok)
        .filter_map(|e| std::fs::read_link(e.path()).ok())
        .filter(|t| t.to_string_lossy().starts_with("socket:"))
        .count()
}
