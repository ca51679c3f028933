//! The sockets of one relay, and the datagrams that are in the cell.

use super::{LiveError, RelayConfig, RelayStats};
use crate::cell::Cell;
use crate::rlc::{Fate, Packet};
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::UdpSocket;

/// Receive buffer asked of the kernel: what a fast sender sends while the machine does something else.
const RECEIVE_BUFFER: usize = 4 << 20;
/// Datagrams read at most before the cell gets its turn again.
const READS_PER_TURN: usize = 1024;

/// One relay.
#[derive(Debug)]
pub(super) struct Relay {
    config: RelayConfig,
    ingress: UdpSocket,
    ingress_address: SocketAddr,
    egress: UdpSocket,
    /// Octets of IP and UDP headers.
    header: u32,
    buffer: Vec<u8>,
    /// Datagrams in the cell, by packet id. The RLC queue's limit bounds it.
    inside: HashMap<u64, Box<[u8]>>,
    stats: RelayStats,
}

impl Relay {
    /// Opens the sockets.
    pub(super) async fn open(config: RelayConfig) -> Result<Self, LiveError> {
        let error = |role, address| {
            move |source| LiveError::Socket {
                role,
                address,
                source,
            }
        };
        let ingress = bind(config.ingress).map_err(error("ingress", config.ingress))?;
        let ingress_address = ingress
            .local_addr()
            .map_err(error("ingress", config.ingress))?;
        let egress = connect(config.egress)
            .await
            .map_err(error("egress", config.egress))?;
        Ok(Self {
            ingress,
            ingress_address,
            egress,
            header: if config.egress.is_ipv4() { 28 } else { 48 },
            // One octet more than the limit tells a datagram that was cut from one that fits.
            buffer: vec![0; config.max_datagram + 1],
            inside: HashMap::new(),
            stats: RelayStats::default(),
            config,
        })
    }

    pub(super) fn ingress(&self) -> SocketAddr {
        self.ingress_address
    }

    pub(super) fn stats(&self) -> RelayStats {
        self.stats
    }

    /// Moves what has arrived into the UE's queue.
    pub(super) fn receive(&mut self, cell: &mut Cell, next_id: &mut u64) {
        for _ in 0..READS_PER_TURN {
            let length = match self.ingress.try_recv(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    tracing::debug!(%error, ingress = %self.ingress_address, "receive failed");
                    return;
                }
            };
            self.stats.received += 1;
            if length > self.config.max_datagram {
                self.stats.too_long += 1;
                continue;
            }
            let packet = Packet {
                id: *next_id,
                len: length as u32 + self.header,
            };
            *next_id += 1;
            if cell.enqueue(self.config.ue, packet) {
                self.inside.insert(packet.id, self.buffer[..length].into());
            } else {
                self.stats.queue_full += 1;
            }
        }
    }

    /// A packet has left the cell: sends it on if it is one of this relay's and was delivered.
    pub(super) fn forward(&mut self, id: u64, fate: Fate) {
        let Some(datagram) = self.inside.remove(&id) else {
            return;
        };
        if fate == Fate::Lost {
            self.stats.lost += 1;
            return;
        }
        match self.egress.try_send(&datagram) {
            Ok(_) => self.stats.forwarded += 1,
            // Nobody listens, or the receiver is slow: UDP's receivers must bear the loss.
            Err(_) => self.stats.send_failed += 1,
        }
    }
}

fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    UdpSocket::from_std(socket.into())
}

/// A socket that sends to `address`; bound to loopback if the receiver is there.
async fn connect(address: SocketAddr) -> io::Result<UdpSocket> {
    let local = match address.ip() {
        ip if ip.is_loopback() => ip,
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((local, 0)).await?;
    socket.connect(address).await?;
    Ok(socket)
}
