//! Message transports for E2AP: kernel SCTP, and length-prefixed TCP for development.
//!
//! SCTP (RFC 9260) carries one E2AP PDU per user message, payload protocol identifier 70 (O-RAN E2AP;
//! whatever a peer sends is accepted, FlexRIC sends 0). The TCP transport puts a 4-octet big-endian length
//! before each PDU. It exists for hosts whose kernel has no SCTP: no RAN speaks it.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use transport::{Connection, Listener};
//!
//! let listener = Listener::bind(&"sctp://0.0.0.0:36421".parse()?).await?;
//! let (connection, peer) = listener.accept().await?;
//! let (mut sender, mut receiver) = connection.split();
//! while let Some(message) = receiver.receive().await? {
//!     println!("{} octets from {peer}", message.bytes.len());
//!     sender.send(&message.bytes).await?;
//! }
//! # Ok(())
//! # }
//! ```
#![deny(unsafe_code)]

mod address;
mod connection;
pub mod framing;
mod listener;
mod sctp;
mod tcp;

pub use address::{Address, AddressError, Protocol};
pub use connection::{Connection, Message, ReceiveError, Receiver, Sender, abort};
pub use listener::Listener;

/// Payload protocol identifier of E2AP, set on every message sent.
pub const E2AP_PPID: u32 = 70;

/// Longest message that a [`Receiver`] puts together unless told otherwise, in octets.
///
/// The longest E2AP PDUs seen are indications with many UEs (E2AP sets no limit); FlexRIC takes 144 KiB.
pub const DEFAULT_MAX_MESSAGE: usize = 1024 * 1024;

/// Whether the kernel has SCTP (its module is loaded by asking, where that is allowed).
pub fn sctp_available() -> bool {
    sctp::available()
}
