//! Kernel SCTP, one-to-one style (RFC 6458, section 4), on tokio's reactor.
//!
//! Why not a crate: `docs/decisions/sctp.md`.

mod assembly;
mod options;
// The only place with unsafe code.
#[allow(unsafe_code)]
mod sys;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::E2AP_PPID;
use crate::connection::{Message, ReceiveError};
use assembly::{Assembly, Step};

const IPPROTO_SCTP: i32 = 132;
const READ_CHUNK: usize = 64 * 1024;

pub(crate) fn available() -> bool {
    socket(Domain::IPV4).is_ok()
}

fn socket(domain: Domain) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::from(IPPROTO_SCTP)))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Connects; the caller bounds the time.
pub(crate) async fn connect(address: SocketAddr) -> io::Result<(Sender, Receiver)> {
    let socket = socket(Domain::for_address(address))?;
    options::before_association(&socket)?;
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
        _ => {}
    }
    let socket = sys::register(socket)?;
    // A refused association shows as an error, or as readable with the error, and never as writable alone:
    // waiting for writability only would wait for ever.
    loop {
        let mut guard = socket
            .ready(Interest::READABLE | Interest::WRITABLE | Interest::ERROR)
            .await?;
        if let Some(error) = socket.get_ref().take_error()? {
            return Err(error);
        }
        let ready = guard.ready();
        if ready.is_write_closed() || ready.is_read_closed() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if ready.is_writable() {
            break;
        }
        guard.clear_ready();
    }
    halves(socket)
}

fn halves(socket: AsyncFd<Socket>) -> io::Result<(Sender, Receiver)> {
    options::of_association(socket.get_ref())?;
    sys::set_default_ppid(socket.get_ref(), E2AP_PPID)?;
    let longest = socket.get_ref().send_buffer_size()?;
    let socket = Arc::new(socket);
    let sender = Sender {
        socket: Arc::clone(&socket),
        longest,
    };
    let receiver = Receiver {
        socket,
        chunk: vec![0; READ_CHUNK].into(),
        assembly: Assembly::new(crate::DEFAULT_MAX_MESSAGE),
        ended: false,
    };
    Ok((sender, receiver))
}

#[derive(Debug)]
pub(crate) struct Listener {
    socket: AsyncFd<Socket>,
}

impl Listener {
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Listener> {
        let socket = socket(Domain::for_address(address))?;
        if address.is_ipv6() {
            socket.set_only_v6(false)?;
        }
        socket.set_reuse_address(true)?;
        options::before_association(&socket)?;
        socket.bind(&address.into())?;
        socket.listen(64)?;
        Ok(Listener {
            socket: sys::register(socket)?,
        })
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        inet(&self.socket.get_ref().local_addr()?)
    }

    pub(crate) async fn accept(&self) -> io::Result<((Sender, Receiver), SocketAddr)> {
        let (socket, peer) = self
            .socket
            .async_io(Interest::READABLE, Socket::accept)
            .await?;
        socket.set_nonblocking(true)?;
        let peer = inet(&peer)?;
        Ok((halves(sys::register(socket)?)?, peer))
    }
}

fn inet(address: &socket2::SockAddr) -> io::Result<SocketAddr> {
    address
        .as_socket()
        .ok_or_else(|| io::Error::other("the kernel gave an address that is neither IPv4 nor IPv6"))
}

#[derive(Debug)]
pub(crate) struct Sender {
    socket: Arc<AsyncFd<Socket>>,
    longest: usize,
}

impl Sender {
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        // The kernel would answer EMSGSIZE; which limit it is helps more.
        if bytes.len() > self.longest {
            let problem = format!(
                "a message of {} octets does not fit the socket's send buffer of {}; raise net.core.wmem_max",
                bytes.len(),
                self.longest
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        // A message goes into the send buffer whole or not at all.
        self.socket
            .async_io(Interest::WRITABLE | Interest::ERROR, |socket| {
                socket.send_with_flags(bytes, libc::MSG_NOSIGNAL)
            })
            .await?;
        Ok(())
    }

    pub(crate) fn set_ppid(&mut self, ppid: u32) -> io::Result<()> {
        sys::set_default_ppid(self.socket.get_ref(), ppid)
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        self.socket.get_ref().shutdown(std::net::Shutdown::Write)
    }

    /// SO_LINGER with time 0 makes close() send ABORT (RFC 6458, 8.1.4).
    pub(crate) fn reset_on_close(self) {
        // A socket that cannot linger is closed in order: nothing better is left to do.
        let _ = self.socket.get_ref().set_linger(Some(Duration::ZERO));
    }
}

#[derive(Debug)]
pub(crate) struct Receiver {
    socket: Arc<AsyncFd<Socket>>,
    chunk: Box<[u8]>,
    assembly: Assembly,
    ended: bool,
}

impl Receiver {
    pub(crate) fn set_max_message(&mut self, octets: usize) {
        self.assembly.set_limit(octets);
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
            let Self {
                socket,
                chunk,
                assembly,
                ..
            } = self;
            let received = socket
                .async_io(Interest::READABLE | Interest::ERROR, |socket| {
                    sys::receive(socket, chunk)
                })
                .await
                .or_else(|error| {
                    if error.kind() == io::ErrorKind::NotConnected {
                        Ok(sys::Received::END)
                    } else {
                        Err(error)
                    }
                })?;
            match assembly.step(chunk.get(..received.length).unwrap_or_default(), &received)? {
                Step::More => {}
                Step::Message(message) => return Ok(Some(message)),
                Step::End => return Ok(None),
            }
        }
    }
}
