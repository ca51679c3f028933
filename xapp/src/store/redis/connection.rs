//! A connection to Redis, whichever way it is reached. It is used until its first failure.

use super::address::{Address, Kind, connection_info};
use crate::store::backend::Failure;
use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClientBuilder, SentinelServerType};
use redis::{AsyncConnectionConfig, Client, FromRedisValue, Pipeline, RedisError, RedisResult};
use std::time::Duration;
use tokio::time::timeout;

/// A connection.
pub(super) enum Connection {
    Server(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connection {
    /// Connects. Asking Sentinels and finding the way around a cluster takes several answers, and each may take
    /// `patience`.
    pub(super) async fn open(address: &Address, patience: Duration) -> Result<Self, Failure> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(patience))
            .set_response_timeout(Some(patience));
        let connected = async {
            Ok::<_, RedisError>(match &address.kind {
                Kind::Server(url) => {
                    let client = Client::open(url.as_str())?;
                    let connection = client.get_multiplexed_async_connection_with_config(&config);
                    Self::Server(connection.await?)
                }
                Kind::Sentinel { sentinels, master } => {
                    let mut client = sentinel(sentinels, master)?.build()?;
                    let connection = client.get_async_connection_with_config(&config);
                    Self::Server(connection.await?)
                }
                Kind::Cluster(nodes) => {
                    let nodes = nodes.iter().map(String::as_str);
                    let client = ClusterClient::builder(nodes)
                        .connection_timeout(patience)
                        .response_timeout(patience)
                        .retries(1)
                        .build()?;
                    Self::Cluster(client.get_async_connection().await?)
                }
            })
        };
        let steps = match &address.kind {
            Kind::Server(_) => 2,
            Kind::Sentinel {
                sentinels: hosts, ..
            }
            | Kind::Cluster(hosts) => 2 + 2 * u32::try_from(hosts.len()).unwrap_or(u32::MAX),
        };
        match timeout(patience.saturating_mul(steps), connected).await {
            Ok(connection) => connection.map_err(failure),
            Err(_) => Err(Failure::new("no connection in time")),
        }
    }

    /// Sends commands and takes their answers.
    pub(super) async fn query<T: FromRedisValue>(
        &mut self,
        commands: &Pipeline,
    ) -> Result<T, Failure> {
        let answer = match self {
            Self::Server(connection) => commands.query_async(connection).await,
            Self::Cluster(connection) => commands.query_async(connection).await,
        };
        answer.map_err(failure)
    }
}

/// Sentinels are asked without a login; it is for the master.
fn sentinel(sentinels: &[String], master: &str) -> RedisResult<SentinelClientBuilder> {
    let infos = sentinels.iter().map(|url| connection_info(url));
    let infos = infos.collect::<RedisResult<Vec<_>>>()?;
    let addresses = infos.iter().map(|info| info.addr().clone());
    let kind = SentinelServerType::Master;
    let mut builder = SentinelClientBuilder::new(addresses, master, kind)?;
    if let Some(login) = infos.first().map(|info| info.redis_settings()) {
        builder = builder.set_client_to_redis_db(login.db());
        if let Some(user) = login.username() {
            builder = builder.set_client_to_redis_username(user);
        }
        if let Some(password) = login.password() {
            builder = builder.set_client_to_redis_password(password);
        }
    }
    Ok(builder)
}

fn failure(error: RedisError) -> Failure {
    let text = error.to_string();
    let full = text.contains("OOM");
    let reason = if full {
        "full (maxmemory is reached)".to_owned()
    } else if text.contains("READONLY") || text.contains("ReadOnly") {
        "a read-only replica answers (failover?)".to_owned()
    } else if error.is_timeout() {
        "no answer in time".to_owned()
    } else {
        text
    };
    Failure { reason, full }
}
