//! What needs unsafe code: the system calls whose SCTP structures neither libc nor socket2 know (Linux,
//! `include/uapi/linux/sctp.h`), and the registration with tokio's reactor.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::AsRawFd;

use socket2::Socket;
use tokio::io::unix::AsyncFd;

const SOL_SCTP: libc::c_int = 132;

const SCTP_RTOINFO: libc::c_int = 0;
const SCTP_ASSOCINFO: libc::c_int = 1;
const SCTP_INITMSG: libc::c_int = 2;
const SCTP_NODELAY: libc::c_int = 3;
const SCTP_PEER_ADDR_PARAMS: libc::c_int = 9;
const SCTP_RECVRCVINFO: libc::c_int = 32;
const SCTP_DEFAULT_SNDINFO: libc::c_int = 34;
const SCTP_EVENT: libc::c_int = 127;

/// cmsg_type of a [`RcvInfo`].
const SCTP_RCVINFO: libc::c_int = 3;
const SCTP_ASSOC_CHANGE: u16 = 0x8001;
const SPP_HB_ENABLE: u32 = 1;
const MSG_NOTIFICATION: libc::c_int = 0x8000;

/// struct sctp_rtoinfo.
#[repr(C)]
struct RtoInfo {
    assoc_id: i32,
    initial: u32,
    max: u32,
    min: u32,
}

/// struct sctp_assocparams.
#[repr(C)]
struct AssocParams {
    assoc_id: i32,
    max_retransmissions: u16,
    peer_destinations: u16,
    peer_window: u32,
    local_window: u32,
    cookie_life: u32,
}

/// struct sctp_initmsg.
#[repr(C)]
struct InitMsg {
    out_streams: u16,
    max_in_streams: u16,
    max_attempts: u16,
    max_timeout_ms: u16,
}

/// struct sctp_paddrparams: `packed, aligned(4)`, hence one octet of padding to 156; 160 gives EINVAL.
#[repr(C, packed)]
struct PeerAddrParams {
    assoc_id: i32,
    address: [u8; 128],
    heartbeat_ms: u32,
    path_retransmissions: u16,
    path_mtu: u32,
    sack_delay: u32,
    flags: u32,
    ipv6_flow_label: u32,
    dscp: u8,
    padding: u8,
}
const _: () = assert!(size_of::<PeerAddrParams>() == 156);

/// struct sctp_event.
#[repr(C)]
struct Event {
    assoc_id: i32,
    kind: u16,
    on: u8,
}

/// struct sctp_sndinfo.
#[repr(C)]
struct SndInfo {
    stream: u16,
    flags: u16,
    ppid: u32,
    context: u32,
    assoc_id: i32,
}

/// struct sctp_rcvinfo.
#[repr(C)]
#[derive(Clone, Copy)]
struct RcvInfo {
    stream: u16,
    stream_sequence: u16,
    flags: u16,
    ppid: u32,
    tsn: u32,
    cumulative_tsn: u32,
    context: u32,
    assoc_id: i32,
}
const _: () = assert!(size_of::<RcvInfo>() == 28);

/// Octets of control data: room for one RcvInfo, and as much again for what was not asked for.
const CONTROL: usize = 128;

/// A control buffer with the alignment that its headers need.
#[repr(C, align(8))]
struct Control([MaybeUninit<u8>; CONTROL]);

/// Sets one option from a structure that is plain data for the kernel.
fn set<T>(socket: &Socket, option: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: the descriptor is open for as long as `socket` is borrowed; `value` points to size_of::<T>()
    // readable octets, of which the kernel keeps no reference.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            SOL_SCTP,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Registers a socket with the reactor of the runtime in which this is called.
pub(super) fn register(socket: Socket) -> io::Result<AsyncFd<Socket>> {
    // SAFETY: a Socket owns its descriptor: as_raw_fd() names the same open one until the Socket is dropped,
    // which AsyncFd does only after it has deregistered it.
    Ok(unsafe { AsyncFd::register(socket) }?)
}

pub(super) fn set_no_delay(socket: &Socket) -> io::Result<()> {
    set::<libc::c_int>(socket, SCTP_NODELAY, &1)
}

pub(super) fn set_receive_info(socket: &Socket) -> io::Result<()> {
    set::<libc::c_int>(socket, SCTP_RECVRCVINFO, &1)
}

pub(super) fn set_association_events(socket: &Socket) -> io::Result<()> {
    set(
        socket,
        SCTP_EVENT,
        &Event {
            assoc_id: 0,
            kind: SCTP_ASSOC_CHANGE,
            on: 1,
        },
    )
}

pub(super) fn set_init(
    socket: &Socket,
    streams: u16,
    max_attempts: u16,
    max_timeout_ms: u16,
) -> io::Result<()> {
    set(
        socket,
        SCTP_INITMSG,
        &InitMsg {
            out_streams: streams,
            max_in_streams: streams,
            max_attempts,
            max_timeout_ms,
        },
    )
}

pub(super) fn set_retransmission_timeout(
    socket: &Socket,
    initial: u32,
    min: u32,
    max: u32,
) -> io::Result<()> {
    set(
        socket,
        SCTP_RTOINFO,
        &RtoInfo {
            assoc_id: 0,
            initial,
            max,
            min,
        },
    )
}

pub(super) fn set_association_retransmissions(socket: &Socket, max: u16) -> io::Result<()> {
    let value = AssocParams {
        assoc_id: 0,
        max_retransmissions: max,
        peer_destinations: 0,
        peer_window: 0,
        local_window: 0,
        cookie_life: 0,
    };
    set(socket, SCTP_ASSOCINFO, &value)
}

pub(super) fn set_path(
    socket: &Socket,
    heartbeat_ms: u32,
    path_retransmissions: u16,
) -> io::Result<()> {
    let value = PeerAddrParams {
        assoc_id: 0,
        address: [0; 128],
        heartbeat_ms,
        path_retransmissions,
        path_mtu: 0,
        sack_delay: 0,
        flags: SPP_HB_ENABLE,
        ipv6_flow_label: 0,
        dscp: 0,
        padding: 0,
    };
    set(socket, SCTP_PEER_ADDR_PARAMS, &value)
}

/// Stream 0 and this payload protocol identifier for everything sent. The kernel passes it on as it is, so
/// it is put in network order here (RFC 6458, 5.3.2).
pub(super) fn set_default_ppid(socket: &Socket, ppid: u32) -> io::Result<()> {
    set(
        socket,
        SCTP_DEFAULT_SNDINFO,
        &SndInfo {
            stream: 0,
            flags: 0,
            ppid: ppid.to_be(),
            context: 0,
            assoc_id: 0,
        },
    )
}

/// What one read gave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    /// Octets read.
    pub(super) length: usize,
    /// They end a user message or notification.
    pub(super) end_of_record: bool,
    /// They are a notification, not data.
    pub(super) notification: bool,
    /// Payload protocol identifier.
    pub(super) ppid: Option<u32>,
    /// Stream.
    pub(super) stream: Option<u16>,
}

impl Received {
    /// What the kernel gives at the end of an association.
    pub(super) const END: Received = Received {
        length: 0,
        end_of_record: false,
        notification: false,
        ppid: None,
        stream: None,
    };
}

/// Reads once into `buffer`.
pub(super) fn receive(socket: &Socket, buffer: &mut [u8]) -> io::Result<Received> {
    let mut control = Control([MaybeUninit::uninit(); CONTROL]);
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: msghdr is a C structure for which all zeros is a valid value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = CONTROL as _;
    // SAFETY: the descriptor is open; `header` points to one iovec over `buffer` and to `control`, all of
    // which outlive the call and have the lengths given.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    let info = receive_info(&header);
    Ok(Received {
        length,
        end_of_record: header.msg_flags & libc::MSG_EOR != 0,
        notification: header.msg_flags & MSG_NOTIFICATION != 0,
        ppid: info.map(|info| u32::from_be(info.ppid)),
        stream: info.map(|info| info.stream),
    })
}

/// Finds the RcvInfo among the control messages that recvmsg left.
fn receive_info(header: &libc::msghdr) -> Option<RcvInfo> {
    // SAFETY: recvmsg set msg_control and msg_controllen to the initialised part of an 8-aligned buffer that
    // is still alive; the CMSG macros stay inside it and end with null.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !message.is_null() {
        // SAFETY: not null, so it points to a whole header inside the buffer.
        let found = unsafe { &*message };
        // SAFETY: computes a length only.
        let needed = unsafe { libc::CMSG_LEN(size_of::<RcvInfo>() as u32) } as usize;
        if found.cmsg_level == SOL_SCTP
            && found.cmsg_type == SCTP_RCVINFO
            && found.cmsg_len as usize >= needed
        {
            // SAFETY: the message is long enough for a RcvInfo, for which every bit pattern is valid.
            return Some(unsafe { libc::CMSG_DATA(message).cast::<RcvInfo>().read_unaligned() });
        }
        // SAFETY: `message` came from this header and is inside its buffer.
        message = unsafe { libc::CMSG_NXTHDR(header, message) };
    }
    None
}
