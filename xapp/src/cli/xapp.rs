//! The running xApp that a command speaks to.

use super::UsageError;
use anyhow::Context as _;
use std::time::Duration;
use tonic::transport::{Channel, Endpoint};

/// How long an xApp may take to answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(3);

/// Where it is.
#[derive(Debug, clap::Args)]
pub(super) struct Xapp {
    /// Operations API of the xApp
    #[arg(
        long = "xapp",
        global = true,
        value_name = "URL",
        env = "CANTOR_XAPP",
        default_value = "http://127.0.0.1:50051"
    )]
    pub(super) url: String,
}

impl Xapp {
    /// What connects to it.
    pub(super) fn endpoint(&self) -> Result<Endpoint, UsageError> {
        let url = &self.url;
        let wrong = |why: String| {
            UsageError(format!(
                "--xapp {url}: {why}; give one like http://127.0.0.1:50051"
            ))
        };
        let endpoint = Endpoint::from_shared(url.clone()).map_err(|e| wrong(e.to_string()))?;
        if endpoint.uri().scheme_str() != Some("http") {
            return Err(wrong("the scheme must be http".into()));
        }
        Ok(endpoint.connect_timeout(TIMEOUT))
    }

    /// Connects; `patience` is for each answer, `None` for a stream that may take its time.
    pub(super) async fn connect(&self, patience: Option<Duration>) -> anyhow::Result<Channel> {
        let mut endpoint = self.endpoint()?;
        if let Some(patience) = patience {
            endpoint = endpoint.timeout(patience);
        }
        let channel = endpoint.connect().await;
        channel.with_context(|| format!("no answer from the xApp at {}", self.url))
    }
}
