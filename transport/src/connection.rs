//! A connection over either transport, and its two halves.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::address::{Address, Protocol};
use crate::framing::FramingError;
use crate::{sctp, tcp};

/// A message as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The user message: one PDU.
    pub bytes: Vec<u8>,
    /// Payload protocol identifier (SCTP).
    pub ppid: Option<u32>,
    /// Stream on which it came (SCTP).
    pub stream: Option<u16>,
}

/// Why nothing more can be received. The connection is of no further use.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The socket failed: reset, path lost …
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// A message is longer than the limit.
    #[error("a message is longer than the limit of {limit} octets")]
    TooLong {
        /// Longest message accepted.
        limit: usize,
    },
    /// The peer closed in the middle of a message.
    #[error("the connection ended {received} octets into a message")]
    Incomplete {
        /// Octets received of the message.
        received: usize,
    },
    /// The peer's SCTP stack started anew within the association (RFC 9260, 5.2.4.1): what it knew is lost.
    #[error("the peer restarted its end of the association")]
    Restarted,
    /// The TCP stream does not follow the framing.
    #[error("the stream is not framed: {0}")]
    Framing(FramingError),
}

/// A connection to one peer.
#[derive(Debug)]
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
}

impl Connection {
    /// Connects to the first address of the host that answers, each tried for at most `timeout`.
    pub async fn connect(address: &Address, timeout: Duration) -> io::Result<Connection> {
        let mut last = None;
        for target in address.resolve().await? {
            match tokio::time::timeout(timeout, Self::connect_one(address.protocol, target)).await {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(error)) => last = Some(error),
                Err(_) => {
                    last = Some(io::Error::new(
                        io::ErrorKind::TimedOut,
                        format!("{target} does not answer"),
                    ))
                }
            }
        }
        Err(last.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    async fn connect_one(protocol: Protocol, target: SocketAddr) -> io::Result<Connection> {
        match protocol {
            Protocol::Sctp => sctp::connect(target).await.map(Connection::from),
            Protocol::Tcp => tcp::connect(target).await.map(Connection::from),
        }
    }

    /// Separates sending from receiving. The connection ends in order when both halves are gone.
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }

    /// Ends the connection at once: what is on its way is lost and the peer sees a reset.
    pub fn abort(self) {
        abort(self.sender, self.receiver);
    }
}

/// Ends a split connection at once: what is on its way is lost and the peer sees a reset.
pub fn abort(sender: Sender, receiver: Receiver) {
    match sender.0 {
        SenderKind::Sctp(sender) => sender.reset_on_close(),
        SenderKind::Tcp(sender) => sender.reset_on_close(),
    }
    drop(receiver);
}

impl From<(sctp::Sender, sctp::Receiver)> for Connection {
    fn from((sender, receiver): (sctp::Sender, sctp::Receiver)) -> Self {
        Connection {
            sender: Sender(SenderKind::Sctp(sender)),
            receiver: Receiver(ReceiverKind::Sctp(receiver)),
        }
    }
}

impl From<(tcp::Sender, tcp::Receiver)> for Connection {
    fn from((sender, receiver): (tcp::Sender, tcp::Receiver)) -> Self {
        Connection {
            sender: Sender(SenderKind::Tcp(sender)),
            receiver: Receiver(ReceiverKind::Tcp(receiver)),
        }
    }
}

/// The half that sends.
#[derive(Debug)]
pub struct Sender(SenderKind);

#[derive(Debug)]
enum SenderKind {
    Sctp(sctp::Sender),
    Tcp(tcp::Sender),
}

impl Sender {
    /// Sends one message, waiting while the peer or the path is slow.
    ///
    /// `InvalidInput`: the message is empty or can never be sent over this socket (SCTP: longer than its
    /// send buffer, see `net.core.wmem_max`). Other errors end the connection. Over TCP a send that is
    /// cancelled may leave half a message: drop the connection then.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "an empty message cannot be sent",
            ));
        }
        match &mut self.0 {
            SenderKind::Sctp(sender) => sender.send(bytes).await,
            SenderKind::Tcp(sender) => sender.send(bytes).await,
        }
    }

    /// Sets the payload protocol identifier of the messages to come ([`crate::E2AP_PPID`] at first); over TCP there is none.
    pub fn set_ppid(&mut self, ppid: u32) -> io::Result<()> {
        match &mut self.0 {
            SenderKind::Sctp(sender) => sender.set_ppid(ppid),
            SenderKind::Tcp(_) => Ok(()),
        }
    }

    /// Ends the connection in order: the peer reads what was sent, then the end.
    ///
    /// SCTP has no half-closed state: what the peer sends after it has seen the end is lost.
    pub async fn finish(self) -> io::Result<()> {
        match self.0 {
            SenderKind::Sctp(sender) => sender.finish(),
            SenderKind::Tcp(sender) => sender.finish().await,
        }
    }
}

/// The half that receives.
#[derive(Debug)]
pub struct Receiver(ReceiverKind);

#[derive(Debug)]
enum ReceiverKind {
    Sctp(sctp::Receiver),
    Tcp(tcp::Receiver),
}

impl Receiver {
    /// Receives one message; `None` is the orderly end. Safe to cancel: nothing is lost.
    ///
    /// After an error or the end every further call gives `None`.
    pub async fn receive(&mut self) -> Result<Option<Message>, ReceiveError> {
        match &mut self.0 {
            ReceiverKind::Sctp(receiver) => receiver.receive().await,
            ReceiverKind::Tcp(receiver) => receiver.receive().await,
        }
    }

    /// Sets the longest message that is put together ([`crate::DEFAULT_MAX_MESSAGE`] at first).
    pub fn set_max_message(&mut self, octets: usize) {
        match &mut self.0 {
            ReceiverKind::Sctp(receiver) => receiver.set_max_message(octets),
            ReceiverKind::Tcp(receiver) => receiver.set_max_message(octets),
        }
    }
}
