//! Addresses of Redis: one server, servers behind Sentinels, or a cluster.

use redis::{ConnectionInfo, IntoConnectionInfo as _};
use std::fmt;
use std::str::FromStr;

const FORMS: &str = "write memory, file:PATH, redis://[USER:PASSWORD@]HOST:PORT[/DB], redis+unix:///PATH, \
redis-sentinel://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…]/MASTER[/DB] \
or redis-cluster://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…]";
const SENTINEL_PORT: u16 = 26379;

/// Where Redis is.
#[derive(Clone, PartialEq)]
pub struct Address {
    /// As it was written, without user and password.
    shown: String,
    pub(super) kind: Kind,
}

/// URLs that [`redis`] has read once already.
#[derive(Clone, PartialEq)]
pub(super) enum Kind {
    Server(String),
    Sentinel {
        /// With the database and the login of the master.
        sentinels: Vec<String>,
        master: String,
    },
    Cluster(Vec<String>),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(format!("{text:?} is no place for a store: {FORMS}"));
        };
        let (login, place) = match rest.rsplit_once('@') {
            Some((login, place)) => (format!("{login}@"), place),
            None => (String::new(), rest),
        };
        let kind = match scheme {
            "redis" => Kind::Server(server(&format!("redis://{login}{place}"))?),
            "redis+unix" => Kind::Server(server(text)?),
            "redis-sentinel" => {
                let mut parts = place.splitn(3, '/');
                let hosts = parts.next().unwrap_or_default();
                let master = parts.next().filter(|master| !master.is_empty());
                let master = master.ok_or(
                    "the name of the master is missing: redis-sentinel://HOST[:PORT]/MASTER",
                )?;
                let database = parts.next().unwrap_or("0");
                Kind::Sentinel {
                    sentinels: servers(hosts, |host| {
                        let port = match host.rsplit_once(':') {
                            // The last colon of an IPv6 address in brackets is none of a port.
                            Some((_, port)) if !port.contains(']') => String::new(),
                            _ => format!(":{SENTINEL_PORT}"),
                        };
                        format!("redis://{login}{host}{port}/{database}")
                    })?,
                    master: master.to_owned(),
                }
            }
            "redis-cluster" => {
                Kind::Cluster(servers(place, |host| format!("redis://{login}{host}"))?)
            }
            "rediss" => {
                return Err(
                    "rediss: Cantor does not speak TLS to Redis yet; write redis:// and keep Redis in a protected network"
                        .into(),
                );
            }
            _ => return Err(format!("\"{scheme}://\" is no place for a store: {FORMS}")),
        };
        Ok(Self {
            shown: format!("{scheme}://{}", place.split('?').next().unwrap_or_default()),
            kind,
        })
    }
}

fn servers(hosts: &str, url: impl Fn(&str) -> String) -> Result<Vec<String>, String> {
    hosts.split(',').map(|host| server(&url(host))).collect()
}

fn server(url: &str) -> Result<String, String> {
    // The texts of the library do not repeat the URL, and with it a password.
    match connection_info(url) {
        Ok(_) => Ok(url.to_owned()),
        Err(error) => Err(format!("{error}: {FORMS}")),
    }
}

pub(super) fn connection_info(url: &str) -> redis::RedisResult<ConnectionInfo> {
    url.into_connection_info()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Address, String> {
        text.parse()
    }

    #[test]
    fn all_forms_are_read_and_shown_without_the_password() {
        for (text, shown) in [
            ("redis://127.0.0.1:6379/2", "redis://127.0.0.1:6379/2"),
            ("redis://u:p%40ss@redis.example", "redis://redis.example"),
            (
                "redis+unix:///run/redis.sock?pass=secret",
                "redis+unix:///run/redis.sock",
            ),
            (
                "redis-sentinel://u:secret@a,b:26380/dbaasmaster/1",
                "redis-sentinel://a,b:26380/dbaasmaster/1",
            ),
            (
                "redis-cluster://:secret@[::1]:7000,b",
                "redis-cluster://[::1]:7000,b",
            ),
        ] {
            let address = parse(text).unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), shown);
        }
        let Kind::Sentinel { sentinels, master } =
            parse("redis-sentinel://a,[::1]/m").unwrap().kind
        else {
            panic!("no Sentinel");
        };
        assert_eq!(master, "m");
        assert_eq!(sentinels, ["redis://a:26379/0", "redis://[::1]:26379/0"]);
    }

    #[test]
    fn what_cannot_be_used_is_explained_without_the_password() {
        for (text, hint) in [
            ("redis.example:6379", "redis://"),
            ("http://redis.example", "redis-cluster://"),
            ("rediss://u:secret@redis.example", "does not speak TLS"),
            ("redis-sentinel://u:secret@a:26379", "name of the master"),
            ("redis://u:secret@redis.example:port", "HOST:PORT"),
            ("redis-sentinel://u:secret@a/m/x", "Invalid database number"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(hint), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
