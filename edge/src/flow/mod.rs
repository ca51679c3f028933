//! A paced UDP test flow: what `cantor-edge send` and `cantor-edge receive` run, for use in-process, too.
//!
//! The sender numbers and time-stamps its packets ([`packet`]); the receiver measures goodput, loss, reordering
//! and one-way delay, and reports them back, so that the sender can report them to the xApp. Both tell a callback
//! about each interval; intervals begin at whole multiples of their length in Unix time, so that the samples of a
//! sender and of a receiver fit together.
//!
//! One-way delay compares the clocks of two hosts (CLOCK_REALTIME): it means something only if these are
//! synchronised to much better than the delay. What would be negative counts as zero.

pub mod packet;

mod delay;
mod feedback;
mod receiver;
mod run;
mod sender;
mod track;

pub use delay::DelaySummary;
pub use receiver::{Receiver, ReceiverConfig, ReceiverSample, ReceiverSummary};
pub use sender::{Guide, Sender, SenderConfig, SenderSample, SenderSummary};
pub use track::{FlowTotals, Track};

use crate::Error;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::UdpSocket;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// Unix time in microseconds (CLOCK_REALTIME).
pub fn unix_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX))
}

/// Octets of IP and UDP headers in front of a payload.
pub fn header_bytes(peer: SocketAddr) -> usize {
    if peer.is_ipv6() && !peer.ip().to_canonical().is_ipv4() {
        48
    } else {
        28
    }
}

/// Binds a UDP socket with room for bursts.
fn bind(address: SocketAddr) -> Result<UdpSocket, Error> {
    use socket2::{Domain, Protocol, Socket, Type};
    let make = || {
        let socket = Socket::new(
            Domain::for_address(address),
            Type::DGRAM,
            Some(Protocol::UDP),
        )?;
        socket.set_nonblocking(true)?;
        // As much as the system allows: less only means that a slow reader loses packets earlier.
        let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
        let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
        socket.bind(&address.into())?;
        UdpSocket::from_std(socket.into())
    };
    make().map_err(|source| Error::Socket {
        what: "listen on",
        address,
        source,
    })
}

const SOCKET_BUFFER: usize = 4 << 20;

/// Ticks at whole multiples of `length` in Unix time.
fn aligned_ticks(length: Duration) -> Interval {
    let micros = length.as_micros().max(1);
    let into = unix_micros().unsigned_abs() as u128 % micros;
    let first = Duration::from_micros((micros - into) as u64);
    let mut ticks = interval_at(Instant::now() + first, length.max(Duration::from_micros(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks
}

/// Start of the interval that a tick at `now_us` ends, in Unix microseconds.
fn interval_start(now_us: i64, length: Duration) -> i64 {
    let length = i64::try_from(length.as_micros()).unwrap_or(i64::MAX).max(1);
    // A timer may fire a little before the wall clock is there.
    let end = (now_us + length / 4).div_euclid(length) * length;
    end - length
}

#[cfg(test)]
mod tests;
