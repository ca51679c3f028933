//! Where to listen or connect: `sctp://HOST:PORT` or `tcp://HOST:PORT`.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::str::FromStr;

/// Which transport carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Kernel SCTP, one-to-one style.
    Sctp,
    /// TCP with a length before each message; for development only.
    Tcp,
}

impl Protocol {
    fn scheme(self) -> &'static str {
        match self {
            Protocol::Sctp => "sctp",
            Protocol::Tcp => "tcp",
        }
    }
}

/// A transport and where it ends. IPv6 literals stand in brackets: `sctp://[::1]:36421`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// Transport.
    pub protocol: Protocol,
    /// Host name or address literal, without brackets.
    pub host: String,
    /// Port; 0 lets the kernel choose when listening.
    pub port: u16,
}

impl Address {
    /// An address that needs no name look-up.
    pub fn new(protocol: Protocol, address: SocketAddr) -> Self {
        Address {
            protocol,
            host: address.ip().to_string(),
            port: address.port(),
        }
    }

    /// The socket addresses that the host stands for, in the resolver's order; never empty.
    pub(crate) async fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        let found: Vec<_> = tokio::net::lookup_host((self.host.as_str(), self.port))
            .await?
            .collect();
        if found.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("{} has no address", self.host),
            ));
        }
        Ok(found)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, host, port) = (self.protocol.scheme(), &self.host, self.port);
        if host.contains(':') {
            write!(f, "{scheme}://[{host}]:{port}")
        } else {
            write!(f, "{scheme}://{host}:{port}")
        }
    }
}

/// Why a text is no [`Address`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no transport address ({problem}); write sctp://HOST:PORT or tcp://HOST:PORT, e.g. sctp://0.0.0.0:36421"
)]
pub struct AddressError {
    text: String,
    problem: &'static str,
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let error = |problem| AddressError {
            text: text.to_owned(),
            problem,
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| error("no scheme"))?;
        let protocol = match scheme {
            "sctp" => Protocol::Sctp,
            "tcp" => Protocol::Tcp,
            _ => return Err(error("unknown scheme")),
        };
        let (host, port) = rest.rsplit_once(':').ok_or_else(|| error("no port"))?;
        let port = port
            .parse()
            .map_err(|_| error("the port is no number from 0 to 65535"))?;
        let host = match host.strip_prefix('[') {
            Some(literal) => literal
                .strip_suffix(']')
                .ok_or_else(|| error("a bracket is not closed"))?,
            None if host.contains(':') => return Err(error("an IPv6 address needs brackets")),
            None => host,
        };
        if host.is_empty() || host.contains(['/', '@', ' ']) {
            return Err(error("the host is empty or holds other characters"));
        }
        Ok(Address {
            protocol,
            host: host.to_owned(),
            port,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_again() {
        for text in [
            "sctp://127.0.0.1:36421",
            "tcp://[::1]:36421",
            "sctp://ric.example.org:36421",
            "sctp://[fe80::1%eth0]:1",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn wrong_addresses_say_what_is_wrong() {
        for (text, problem) in [
            ("127.0.0.1:36421", "no scheme"),
            ("udp://127.0.0.1:36421", "unknown scheme"),
            ("sctp://127.0.0.1", "no port"),
            ("sctp://127.0.0.1:65536", "the port is no number"),
            ("sctp://::1:36421", "needs brackets"),
            ("sctp://[::1:36421", "not closed"),
            ("sctp://:36421", "host is empty"),
            ("tcp://user@host:1", "other characters"),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
