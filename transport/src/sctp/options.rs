//! Socket options: what E2 needs of an association.
//!
//! A node whose path is dead should be noticed within seconds, not after RFC 9260's default of minutes:
//! with data outstanding after at most `(ASSOCIATION_RETRANSMISSIONS + 1) × RTO_MAX_MS`, when idle after
//! about `(ASSOCIATION_RETRANSMISSIONS + 1) × (HEARTBEAT_MS + RTO_MAX_MS)`.

use std::io;

use socket2::Socket;

use super::sys;

/// Asked of the kernel, which grants what net.core.{w,r}mem_max allow (doubled); with Debian's defaults
/// messages of 400 KiB fit.
const BUFFER: usize = 1024 * 1024;
const RTO_INITIAL_MS: u32 = 500;
const RTO_MIN_MS: u32 = 200;
const RTO_MAX_MS: u32 = 1000;
const HEARTBEAT_MS: u32 = 1000;
const PATH_RETRANSMISSIONS: u16 = 3;
const ASSOCIATION_RETRANSMISSIONS: u16 = 4;
const INIT_ATTEMPTS: u16 = 4;
const STREAMS: u16 = 8;

/// What the handshake announces or inherits: before connect() or listen().
pub(super) fn before_association(socket: &Socket) -> io::Result<()> {
    socket.set_send_buffer_size(BUFFER)?;
    socket.set_recv_buffer_size(BUFFER)?;
    sys::set_init(socket, STREAMS, INIT_ATTEMPTS, RTO_MAX_MS as u16)?;
    sys::set_retransmission_timeout(socket, RTO_INITIAL_MS, RTO_MIN_MS, RTO_MAX_MS)?;
    sys::set_association_retransmissions(socket, ASSOCIATION_RETRANSMISSIONS)?;
    sys::set_path(socket, HEARTBEAT_MS, PATH_RETRANSMISSIONS)
}

/// What belongs to an established association.
///
/// Its change events are switched on only here: during the handshake they would disturb the wait for its
/// end, and the first thing read would be the association coming up.
pub(super) fn of_association(socket: &Socket) -> io::Result<()> {
    sys::set_no_delay(socket)?;
    sys::set_receive_info(socket)?;
    sys::set_association_events(socket)
}
