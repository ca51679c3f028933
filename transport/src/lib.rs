//! Message transports for E2AP: kernel SCTP, and length-prefixed TCP for development.
//!
//! SCTP (RFC 9260) carries one E2AP PDU per user message (O-RAN E2AP, payload protocol identifier 70).
//! The TCP transport (4-octet big-endian length before each PDU) exists for hosts whose kernel has no SCTP.
//!
//! API (to be kept by the implementation):
//! - [`Address`]: `sctp://HOST:PORT` or `tcp://HOST:PORT`, `FromStr` and `Display`.
//! - `Listener::bind(&Address) -> io::Result<Listener>`, `.accept() -> io::Result<(Connection, SocketAddr)>`, `.local_address() -> Address`.
//! - `Connection::connect(&Address, timeout) -> io::Result<Connection>`, `.split() -> (Sender, Receiver)`, `.abort()`.
//! - `Receiver::receive(&mut self) -> Result<Option<Message>, ReceiveError>` (`None`: orderly end), `Message { bytes, ppid, stream }`.
//! - `Sender::send(&mut self, bytes: &[u8]) -> io::Result<()>`, waits under back-pressure.
//! - `sctp_available() -> bool`.
#![deny(unsafe_code)]
