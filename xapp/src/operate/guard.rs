//! Connections to services that anyone in the network may open: bounded in number, and closed if nothing is asked.
//!
//! Otherwise clients that connect and say nothing use up the file descriptors of the process, and no E2 node can
//! connect any more.

use axum::serve::Listener;
use futures_util::Stream;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};
use tonic::transport::server::{Connected, TcpConnectInfo};
use tracing::warn;

/// After a failed accept (no file descriptors left …): a pause, so that it is not tried in a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// Length of HTTP/2's connection preface (RFC 9113 clause 3.4).
const PREFACE: usize = 24;

/// What a client must do within the patience of its [`Guard`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// HTTP/1: ask, and ask again after each answer.
    Requests,
    /// HTTP/2: begin. From then on the server pings it.
    Preface,
}

/// A listener whose connections are [`Guarded`]. Those beyond its limit wait in the kernel.
#[derive(Debug)]
pub struct Guard {
    listener: TcpListener,
    places: Arc<Semaphore>,
    expected: Expected,
    patience: Duration,
}

impl Guard {
    /// Lets in `limit` connections at a time.
    pub fn new(
        listener: TcpListener,
        limit: usize,
        expected: Expected,
        patience: Duration,
    ) -> Self {
        Self {
            listener,
            places: Arc::new(Semaphore::new(limit)),
            expected,
            patience,
        }
    }

    /// The connections one after the other, as tonic takes them.
    pub fn into_stream(self) -> impl Stream<Item = io::Result<Guarded>> {
        futures_util::stream::unfold(self, |mut guard| async move {
            let (connection, _) = guard.accept().await;
            Some((Ok(connection), guard))
        })
    }

    async fn next(&self) -> io::Result<(Guarded, SocketAddr)> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(io::Error::other)?;
        let (stream, peer) = self.listener.accept().await?;
        stream.set_nodelay(true)?;
        let connection = Guarded {
            stream,
            expected: self.expected,
            heard: 0,
            patience: self.patience,
            silence: Some(Box::pin(tokio::time::sleep(self.patience))),
            _place: place,
        };
        Ok((connection, peer))
    }
}

impl Listener for Guard {
    type Io = Guarded;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match self.next().await {
                Ok(accepted) => return accepted,
                Err(error) => {
                    warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection that fails with `TimedOut` once its client does not do what is [`Expected`].
#[derive(Debug)]
pub struct Guarded {
    stream: TcpStream,
    expected: Expected,
    heard: usize,
    patience: Duration,
    /// Ends when the client has been silent for too long; `None`: others see to that.
    silence: Option<Pin<Box<Sleep>>>,
    _place: OwnedSemaphorePermit,
}

impl Guarded {
    /// What a socket that waits has to say.
    fn pending<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        match &mut self.silence {
            Some(silence) => {
                ready!(silence.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            None => Poll::Pending,
        }
    }

    fn answered(&mut self) {
        if let (Expected::Requests, Some(silence)) = (self.expected, &mut self.silence) {
            silence.as_mut().reset(Instant::now() + self.patience);
        }
    }
}

impl AsyncRead for Guarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let Poll::Ready(result) = Pin::new(&mut self.stream).poll_read(context, buffer) else {
            return self.pending(context);
        };
        self.heard = self.heard.saturating_add(buffer.filled().len() - before);
        if self.expected == Expected::Preface && self.heard >= PREFACE {
            self.silence = None;
        }
        Poll::Ready(result)
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Poll::Ready(result) = Pin::new(&mut self.stream).poll_write(context, octets) else {
            return self.pending(context);
        };
        self.answered();
        Poll::Ready(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        octets: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Poll::Ready(result) = Pin::new(&mut self.stream).poll_write_vectored(context, octets)
        else {
            return self.pending(context);
        };
        self.answered();
        Poll::Ready(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Connected for Guarded {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    const SOON: Duration = Duration::from_millis(20);
    const NEVER: Duration = Duration::from_secs(3600);

    async fn guard(limit: usize, expected: Expected, patience: Duration) -> (Guard, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (Guard::new(listener, limit, expected, patience), address)
    }

    #[tokio::test]
    async fn a_client_that_does_not_ask_is_closed_and_leaves_its_place() {
        for expected in [Expected::Requests, Expected::Preface] {
            let (mut guard, address) = guard(1, expected, SOON).await;
            let mut silent = TcpStream::connect(address).await.unwrap();
            let _waiting = TcpStream::connect(address).await.unwrap();
            let (mut served, _) = guard.accept().await;
            // The beginning of a request is none.
            silent.write_all(b"GET /").await.unwrap();
            let error = served.read_to_end(&mut Vec::new()).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            drop(served);
            guard.accept().await;
        }
    }

    #[tokio::test]
    async fn connections_beyond_the_limit_wait() {
        let (mut guard, address) = guard(1, Expected::Requests, NEVER).await;
        let _clients = [
            TcpStream::connect(address).await.unwrap(),
            TcpStream::connect(address).await.unwrap(),
        ];
        let served = guard.accept().await;
        assert!(guard.accept().now_or_never().is_none());
        drop(served);
        guard.accept().await;
    }

    #[tokio::test]
    async fn a_client_of_http_2_that_has_begun_may_be_silent() {
        let (mut guard, address) = guard(1, Expected::Preface, NEVER).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        let (mut served, _) = guard.accept().await;
        client.write_all(&[0; PREFACE]).await.unwrap();
        served.read_exact(&mut [0; PREFACE]).await.unwrap();
        assert!(served.silence.is_none());
    }
}
