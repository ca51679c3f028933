//! One association: sockets and clock around a [`Session`].

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use transport::{Connection, Sender};

use super::Shared;
use super::places::Place;
use super::session::Session;
use crate::ran::outlet::AssociationId;

/// How long the last PDUs may take to leave when an association is closed.
const LAST_PDUS: Duration = Duration::from_millis(500);

/// Serves one peer until it leaves, misbehaves, or `stop` is cancelled.
pub(super) async fn serve(
    shared: Arc<Shared>,
    id: AssociationId,
    connection: Connection,
    peer: SocketAddr,
    place: Place,
    stop: CancellationToken,
) {
    let (sender, mut receiver) = connection.split();
    receiver.set_max_message(shared.config.limits.pdu);
    let (unsent, queue) = mpsc::channel(shared.config.limits.unsent);
    let unsent_octets = Arc::new(Semaphore::new(shared.config.limits.unsent_octets));
    let mut writer = AbortOnDropHandle::new(tokio::spawn(write(sender, queue)));
    // Cancelled when the node sets up over another association.
    let superseded = CancellationToken::new();
    let mut session = Session::new(
        shared.config.clone(),
        Arc::clone(&shared.counters),
        peer.to_string(),
        shared.requestor(id),
        Instant::now(),
    );
    let (mut stopping, mut gives_way) = (false, true);

    let reason = 'serving: loop {
        while let Some(pdu) = session.next_pdu() {
            let octets = u32::try_from(pdu.len()).unwrap_or(u32::MAX);
            let room = Arc::clone(&unsent_octets).try_acquire_many_owned(octets);
            if room.is_ok_and(|room| unsent.try_send((pdu, room)).is_ok()) {
                shared.counters.pdus_sent.fetch_add(1, Relaxed);
            } else {
                break 'serving "it does not read what is sent to it".to_owned();
            }
        }
        while let Some(event) = session.next_event() {
            shared.outlet.push(id, &superseded, event).await;
        }
        if let Some(reason) = session.finished() {
            break reason.to_owned();
        }
        if gives_way && session.has_set_up() {
            gives_way = !place.keep();
        }
        tokio::select! {
            () = superseded.cancelled() => break "it connected again over another association".to_owned(),
            () = place.wanted_back(), if gives_way => {
                break "it has not set up, and another one needs its place".to_owned();
            }
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                session.stop(Instant::now());
            }
            () = until(session.next_timeout()) => session.time_out(Instant::now()),
            received = receiver.receive() => match received {
                Ok(Some(message)) => session.receive(&message.bytes, Instant::now()),
                Ok(None) => break "it closed the association".to_owned(),
                Err(error) => break error.to_string(),
            },
            ended = &mut writer => break match ended {
                Ok(Err(error)) => format!("sending failed: {error}"),
                _ => "sending ended".to_owned(),
            },
        }
    };

    session.lost(&reason);
    while let Some(event) = session.next_event() {
        shared.outlet.push(id, &superseded, event).await;
    }
    tracing::info!(%peer, reason, "E2 association closed");
    drop(unsent);
    if !writer.is_finished() {
        // A peer that does not read them does not get them.
        tokio::select! {
            _ = tokio::time::timeout(LAST_PDUS, writer) => {}
            () = place.wanted_back() => {}
        }
    }
}

/// Sends what is queued, then ends the association in order.
async fn write(
    mut sender: Sender,
    mut queue: mpsc::Receiver<(Vec<u8>, OwnedSemaphorePermit)>,
) -> std::io::Result<()> {
    while let Some((pdu, _room)) = queue.recv().await {
        sender.send(&pdu).await?;
    }
    sender.finish().await
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
