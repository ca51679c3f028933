//! What can go wrong at the edge.

use std::net::SocketAddr;

/// Errors of this crate: what failed, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address of the xApp is not a URI that can be connected to.
    #[error("xApp address {uri:?} is not usable ({why}); give one like http://127.0.0.1:50051")]
    Endpoint {
        /// As configured.
        uri: String,
        /// Reason.
        why: String,
    },
    /// A setting is out of its range.
    #[error("{name}: {why}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// A flow of the same id is registered already.
    #[error("flow {0:?} is registered already; drop its handle first, or choose another id")]
    DuplicateFlow(String),
    /// The client is full.
    #[error("{0} flows are registered, the configured maximum; raise max_flows or drop flows")]
    TooManyFlows(usize),
    /// The client's task has ended.
    #[error("the guidance client has ended")]
    Closed,
    /// A socket operation failed.
    #[error("cannot {what} {address}: {source}")]
    Socket {
        /// The operation, e.g. "listen on".
        what: &'static str,
        /// Local or remote address.
        address: SocketAddr,
        /// Reason of the operating system.
        source: std::io::Error,
    },
}
