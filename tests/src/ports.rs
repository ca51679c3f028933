//! Ports for processes that end and come back on the same one.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ports that the kernel hands out: one of those could be taken while its owner is away, even by the
/// client that calls for it (TCP connects to itself then).
const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;

/// A loopback address that nobody uses.
///
/// # Panics
/// When there is none.
pub fn free() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Tests of other executables run at the same time: each starts somewhere else.
    let start = std::process::id().wrapping_mul(37);
    for _ in 0..COUNT {
        let offset = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
        let port = u16::try_from(FIRST + offset).expect("a port");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no port is free");
}
