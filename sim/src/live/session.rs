//! Between the E2 node and its connection.

use super::link::{self, LinkEvent};
use super::{E2Config, E2Status};
use crate::cell::Cell;
use crate::node::{Node, NodeError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The node and its connection.
#[derive(Debug)]
pub(super) struct Session {
    node: Node,
    events: mpsc::Receiver<LinkEvent>,
    outgoing: Option<mpsc::Sender<Vec<u8>>>,
}

impl Session {
    /// Starts to connect.
    pub(super) fn start(config: E2Config, stop: CancellationToken) -> Result<Self, NodeError> {
        Ok(Self {
            node: Node::new(&config.node)?,
            events: link::start(config.address, stop),
            outgoing: None,
        })
    }

    pub(super) fn status(&self) -> E2Status {
        if self.node.is_up() {
            E2Status::Up
        } else if self.node.is_setting_up() {
            E2Status::Setup
        } else {
            E2Status::Down
        }
    }

    pub(super) fn subscriptions(&self) -> usize {
        self.node.subscriptions()
    }

    /// Takes what has come and sends what is due.
    pub(super) fn turn(&mut self, now: Duration, cell: &Cell) {
        while let Ok(event) = self.events.try_recv() {
            match event {
                LinkEvent::Up(outgoing) => {
                    self.outgoing = Some(outgoing);
                    self.node.connected(now);
                }
                LinkEvent::Received(octets) => self.node.received(now, cell, &octets),
                LinkEvent::Down => self.disconnect(),
            }
        }
        for message in self.node.poll(now, unix_us(), cell) {
            let sent = self.outgoing.as_ref().map(|o| o.try_send(message));
            if let Some(Err(error)) = sent {
                tracing::warn!(%error, "the RIC does not read: connection given up");
                self.disconnect();
                break;
            }
        }
    }

    fn disconnect(&mut self) {
        // Without its sender the link ends the connection and makes another one.
        self.outgoing = None;
        self.node.disconnected();
    }
}

fn unix_us() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    since_1970.map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX))
}
