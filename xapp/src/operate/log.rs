//! `LogService`: the log of decisions, for those who export it.

use crate::store::Store;
use futures_util::{Stream, StreamExt as _};
use policies::decision_log::LoggedDecision;
use proto::operations::{ReadLogRequest, ReadLogResponse, log_service_server::LogService};
use std::pin::Pin;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

/// The log service.
#[derive(Debug)]
pub struct LogApi {
    /// Where the log is.
    pub store: Store,
    /// Ends the streams.
    pub stop: CancellationToken,
}

#[tonic::async_trait]
impl LogService for LogApi {
    type ReadLogStream = Pin<Box<dyn Stream<Item = Result<ReadLogResponse, Status>> + Send>>;

    async fn read_log(
        &self,
        request: Request<ReadLogRequest>,
    ) -> Result<Response<Self::ReadLogStream>, Status> {
        let ReadLogRequest { since_us, until_us } = request.into_inner();
        let until_us = if until_us == 0 { i64::MAX } else { until_us };
        let log = self.store.log(since_us, until_us).await;
        let log = log.map_err(|error| Status::unavailable(error.to_string()))?;
        let decisions = futures_util::stream::unfold(Some(log), |log| async move {
            let mut log = log?;
            match log.next().await {
                Ok(decisions) => Some((Ok(response(&decisions?)), Some(log))),
                Err(error) => Some((Err(Status::unavailable(error.to_string())), None)),
            }
        });
        let decisions = decisions.take_until(self.stop.clone().cancelled_owned());
        Ok(Response::new(Box::pin(decisions)))
    }
}

fn response(decisions: &[LoggedDecision]) -> ReadLogResponse {
    let decisions = decisions.iter();
    ReadLogResponse {
        // Each was read from JSON, or could be written as such.
        decisions: decisions
            .filter_map(|decision| serde_json::to_string(decision).ok())
            .collect(),
    }
}
