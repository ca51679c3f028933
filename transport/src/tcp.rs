//! TCP with a length before each message: for hosts without SCTP, development only.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{Domain, SockRef, Socket, TcpKeepalive, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::connection::{Message, ReceiveError};
use crate::framing::{self, Decoder, FramingError};

/// A peer that acknowledges nothing for so long is lost.
const PEER_TIMEOUT: Duration = Duration::from_secs(6);
const READ_CHUNK: usize = 16 * 1024;

pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(64)?;
    TcpListener::from_std(socket.into())
}

pub(crate) async fn connect(address: SocketAddr) -> io::Result<(Sender, Receiver)> {
    halves(TcpStream::connect(address).await?)
}

pub(crate) fn halves(stream: TcpStream) -> io::Result<(Sender, Receiver)> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    socket.set_tcp_user_timeout(Some(PEER_TIMEOUT))?;
    socket.set_tcp_keepalive(
        &TcpKeepalive::new()
            .with_time(Duration::from_secs(2))
            .with_interval(Duration::from_secs(1))
            .with_retries(4),
    )?;
    let (read, write) = stream.into_split();
    let receiver = Receiver {
        read,
        decoder: Decoder::new(crate::DEFAULT_MAX_MESSAGE),
        chunk: vec![0; READ_CHUNK].into(),
        ended: false,
    };
    Ok((Sender { write }, receiver))
}

#[derive(Debug)]
pub(crate) struct Sender {
    write: OwnedWriteHalf,
}

impl Sender {
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let prefix = framing::prefix(bytes.len()).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "the message is too long for its length prefix",
            )
        })?;
        let written = self
            .write
            .write_vectored(&[IoSlice::new(&prefix), IoSlice::new(bytes)])
            .await?;
        if let Some(rest) = prefix.get(written..) {
            self.write.write_all(rest).await?;
        }
        self.write
            .write_all(
                bytes
                    .get(written.saturating_sub(prefix.len())..)
                    .unwrap_or_default(),
            )
            .await
    }

    pub(crate) async fn finish(mut self) -> io::Result<()> {
        self.write.shutdown().await
    }

    pub(crate) fn reset_on_close(self) {
        // A socket that cannot linger is closed in order: nothing better is left to do.
        let _ = SockRef::from(self.write.as_ref()).set_linger(Some(Duration::ZERO));
        // Dropping this half would send an orderly end first.
        self.write.forget();
    }
}

#[derive(Debug)]
pub(crate) struct Receiver {
    read: OwnedReadHalf,
    decoder: Decoder,
    chunk: Box<[u8]>,
    ended: bool,
}

impl Receiver {
    pub(crate) fn set_max_message(&mut self, octets: usize) {
        self.decoder.set_limit(octets);
    }

    pub(crate) async fn receive(&mut self) -> Result<Option<Message>, ReceiveError> {
        if self.ended {
            return Ok(None);
        }
        let result = self.next().await;
        self.ended = !matches!(result, Ok(Some(_)));
        result
    }

    async fn next(&mut self) -> Result<Option<Message>, ReceiveError> {
        loop {
            match self.decoder.next_message() {
                Ok(Some(bytes)) => {
                    return Ok(Some(Message {
                        bytes,
                        ppid: None,
                        stream: None,
                    }));
                }
                Ok(None) => {}
                Err(FramingError::TooLong { limit, .. }) => {
                    return Err(ReceiveError::TooLong { limit });
                }
                Err(error) => return Err(ReceiveError::Framing(error)),
            }
            let length = self.read.read(&mut self.chunk).await?;
            if length == 0 {
                return match self.decoder.incomplete() {
                    0 => Ok(None),
                    received => Err(ReceiveError::Incomplete { received }),
                };
            }
            self.decoder
                .feed(self.chunk.get(..length).unwrap_or_default());
        }
    }
}
