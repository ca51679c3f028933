//! The live cell with real UDP sockets on loopback.

use sim::cell::{CellConfig, UeConfig};
use sim::live::{self, LiveConfig, RelayConfig};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Far longer than anything here takes: only a test that hangs sees it.
const PATIENCE: Duration = Duration::from_secs(30);

fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

fn config(relays: Vec<RelayConfig>, ue: UeConfig) -> LiveConfig {
    LiveConfig {
        cell: CellConfig {
            ues: vec![ue; relays.len().max(1)],
            ..CellConfig::default()
        },
        relays,
        ..LiveConfig::default()
    }
}

#[tokio::test]
async fn datagrams_cross_the_cell_unchanged_and_too_long_ones_are_counted() {
    let receiver = UdpSocket::bind(loopback()).await.unwrap();
    let relay = RelayConfig::new(0, loopback(), receiver.local_addr().unwrap());
    let stop = CancellationToken::new();
    // Without errors no datagram overtakes another.
    let ue = UeConfig {
        first_error: 0.0,
        ..UeConfig::default()
    };
    let cell = live::start(config(vec![relay], ue), stop.clone())
        .await
        .unwrap();

    let sender = UdpSocket::bind(loopback()).await.unwrap();
    sender.connect(cell.ingress()[0]).await.unwrap();
    sender.send(&[0; 3000]).await.unwrap();
    let mut buffer = [0; 2048];
    for number in 0..50_u8 {
        let datagram = vec![number; 100 + usize::from(number)];
        sender.send(&datagram).await.unwrap();
        let length = timeout(PATIENCE, receiver.recv(&mut buffer))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(buffer[..length], datagram);
    }
    let mut stats = cell.stats();
    let seen = timeout(
        PATIENCE,
        stats.wait_for(|s| s.relays.first().is_some_and(|r| r.forwarded == 50)),
    );
    let relay = seen.await.unwrap().unwrap().relays[0];
    assert_eq!(
        (relay.received, relay.too_long, relay.queue_full),
        (51, 1, 0)
    );

    stop.cancel();
    timeout(PATIENCE, cell.finished()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_full_queue_drops_and_counts() {
    let receiver = UdpSocket::bind(loopback()).await.unwrap();
    let relay = RelayConfig::new(0, loopback(), receiver.local_addr().unwrap());
    let ue = UeConfig {
        queue_limit_bytes: 500,
        ..UeConfig::default()
    };
    let stop = CancellationToken::new();
    let cell = live::start(config(vec![relay], ue), stop.clone())
        .await
        .unwrap();
    let sender = UdpSocket::bind(loopback()).await.unwrap();
    sender.send_to(&[0; 1000], cell.ingress()[0]).await.unwrap();
    let mut stats = cell.stats();
    let dropped = stats.wait_for(|s| s.relays.first().is_some_and(|r| r.queue_full == 1));
    timeout(PATIENCE, dropped).await.unwrap().unwrap();
    stop.cancel();
    timeout(PATIENCE, cell.finished()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_relay_needs_a_ue() {
    let relay = RelayConfig::new(3, loopback(), loopback());
    let error = live::start(
        config(vec![relay], UeConfig::default()),
        CancellationToken::new(),
    )
    .await
    .unwrap_err();
    assert!(
        error.to_string().contains("no UE 3; the cell has 1"),
        "{error}"
    );
}
