//! The connection to the RIC: made again whenever it is lost.

use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use transport::{Address, Connection};

/// Time for one attempt to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Time between two attempts.
const RETRY: Duration = Duration::from_secs(1);
/// Messages that wait for a slow RIC; when there are more, the connection is given up.
const OUTGOING: usize = 1024;
/// Messages from the RIC that wait for the cell.
const INCOMING: usize = 64;

/// What happens on the connection.
#[derive(Debug)]
pub(super) enum LinkEvent {
    /// Connected. What is sent here goes to the RIC; dropping it ends the connection.
    Up(mpsc::Sender<Vec<u8>>),
    /// A message of the RIC.
    Received(Vec<u8>),
    /// The connection is lost.
    Down,
}

/// Starts connecting to `address`, until `stop`.
pub(super) fn start(address: Address, stop: CancellationToken) -> mpsc::Receiver<LinkEvent> {
    let (events, receiver) = mpsc::channel(INCOMING);
    tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = keep_connected(&address, &events) => {}
        }
    });
    receiver
}

/// Returns when nobody listens to the events any more.
async fn keep_connected(address: &Address, events: &mpsc::Sender<LinkEvent>) {
    let mut reachable = true;
    while !events.is_closed() {
        match Connection::connect(address, CONNECT_TIMEOUT).await {
            Ok(connection) => {
                reachable = true;
                tracing::info!(%address, "connected to the RIC");
                serve(connection, events).await;
                tracing::info!(%address, "connection to the RIC ended");
            }
            // Told once, not at every attempt.
            Err(error) if reachable => {
                reachable = false;
                tracing::warn!(%address, %error, "no RIC there; trying on");
            }
            Err(_) => {}
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn serve(connection: Connection, events: &mpsc::Sender<LinkEvent>) {
    let (mut sender, mut receiver) = connection.split();
    let (outgoing, mut queue) = mpsc::channel::<Vec<u8>>(OUTGOING);
    if events.send(LinkEvent::Up(outgoing)).await.is_err() {
        return;
    }
    let send = async {
        while let Some(message) = queue.recv().await {
            if let Err(error) = sender.send(&message).await {
                tracing::warn!(%error, "sending to the RIC failed");
                break;
            }
        }
    };
    let receive = async {
        loop {
            match receiver.receive().await {
                Ok(Some(message)) => {
                    if events
                        .send(LinkEvent::Received(message.bytes))
                        .await
                        .is_err()
                    {
                        break;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "receiving from the RIC failed");
                    break;
                }
            }
        }
    };
    tokio::select! {
        () = send => {}
        () = receive => {}
    }
    // If nobody listens any more there is nothing to tell.
    let _ = events.send(LinkEvent::Down).await;
}
