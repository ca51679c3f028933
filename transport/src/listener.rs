//! Waiting for peers.

use std::io;
use std::net::SocketAddr;

use crate::address::{Address, Protocol};
use crate::connection::Connection;
use crate::{sctp, tcp};

/// A socket that accepts connections.
#[derive(Debug)]
pub struct Listener {
    kind: Kind,
    local: Address,
}

#[derive(Debug)]
enum Kind {
    Sctp(sctp::Listener),
    Tcp(tokio::net::TcpListener),
}

impl Listener {
    /// Listens at the first address of the host. `[::]` takes IPv4 peers as well.
    pub async fn bind(address: &Address) -> io::Result<Listener> {
        let targets = address.resolve().await?;
        let target = *targets.first().ok_or(io::ErrorKind::NotFound)?;
        let (kind, local) = match address.protocol {
            Protocol::Sctp => {
                let listener = sctp::Listener::bind(target)?;
                let local = listener.local_address()?;
                (Kind::Sctp(listener), local)
            }
            Protocol::Tcp => {
                let listener = tcp::listen(target)?;
                let local = listener.local_addr()?;
                (Kind::Tcp(listener), local)
            }
        };
        Ok(Listener {
            kind,
            local: Address::new(address.protocol, local),
        })
    }

    /// Waits for the next peer. Safe to cancel.
    ///
    /// An error concerns that one connection or the lack of a resource (file descriptors): wait a moment
    /// and go on.
    pub async fn accept(&self) -> io::Result<(Connection, SocketAddr)> {
        match &self.kind {
            Kind::Sctp(listener) => listener
                .accept()
                .await
                .map(|(halves, peer)| (halves.into(), peer)),
            Kind::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                Ok((tcp::halves(stream)?.into(), peer))
            }
        }
    }

    /// Where it listens, with the port that the kernel chose.
    pub fn local_address(&self) -> &Address {
        &self.local
    }
}
