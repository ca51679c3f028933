//! `cantor.operations.v1.ExperimentService`: experiments for operators.

use super::{Error, Experiments};
use crate::guidance::hub::HubHandle;
use policies::experiment::interference;
use policies::experiment::trial::State;
use proto::operations::{
    CreateExperimentsRequest, CreateExperimentsResponse, CreatedExperiment,
    DeleteExperimentRequest, DeleteExperimentResponse, Experiment, ListExperimentsRequest,
    ListExperimentsResponse, ReportExperimentRequest, ReportExperimentResponse,
    StartExperimentRequest, StartExperimentResponse, StopExperimentRequest, StopExperimentResponse,
    experiment_service_server::ExperimentService,
};
use std::time::{Duration, SystemTime};
use tonic::{Request, Response, Status};

/// The service.
#[derive(Debug)]
pub struct ExperimentApi {
    /// The experiments.
    pub experiments: Experiments,
    /// Who knows the cells.
    pub hub: HubHandle,
}

impl ExperimentApi {
    async fn cells(&self) -> usize {
        self.hub.cells().await.map_or(0, |cells| cells.len())
    }
}

#[tonic::async_trait]
impl ExperimentService for ExperimentApi {
    async fn create_experiments(
        &self,
        request: Request<CreateExperimentsRequest>,
    ) -> Result<Response<CreateExperimentsResponse>, Status> {
        let CreateExperimentsRequest { text, name } = request.into_inner();
        let name = if name.is_empty() { "request" } else { &name };
        let cells = self.cells().await;
        let created = self.experiments.create(&text, name)?;
        let created = created.iter().map(|experiment| CreatedExperiment {
            name: experiment.name().into(),
            warnings: interference::warnings(experiment, cells),
        });
        Ok(Response::new(CreateExperimentsResponse {
            experiments: created.collect(),
        }))
    }

    async fn start_experiment(
        &self,
        request: Request<StartExperimentRequest>,
    ) -> Result<Response<StartExperimentResponse>, Status> {
        self.experiments.start(&request.into_inner().name, now())?;
        Ok(Response::new(StartExperimentResponse {}))
    }

    async fn stop_experiment(
        &self,
        request: Request<StopExperimentRequest>,
    ) -> Result<Response<StopExperimentResponse>, Status> {
        let StopExperimentRequest { name, why } = request.into_inner();
        let why = if why.is_empty() {
            "by an operator"
        } else {
            &why
        };
        self.experiments.stop(&name, now(), why)?;
        Ok(Response::new(StopExperimentResponse {}))
    }

    async fn delete_experiment(
        &self,
        request: Request<DeleteExperimentRequest>,
    ) -> Result<Response<DeleteExperimentResponse>, Status> {
        self.experiments.delete(&request.into_inner().name)?;
        Ok(Response::new(DeleteExperimentResponse {}))
    }

    async fn list_experiments(
        &self,
        _: Request<ListExperimentsRequest>,
    ) -> Result<Response<ListExperimentsResponse>, Status> {
        let listed = self.experiments.list().into_iter();
        let listed = listed.map(|(experiment, state, units, observations)| {
            let (state, detail) = match state {
                State::Created => ("created", String::new()),
                State::Running { .. } => ("running", String::new()),
                State::Stopped { why, .. } => ("stopped", why),
            };
            Experiment {
                name: experiment.name().into(),
                state: state.into(),
                detail,
                arms: experiment
                    .spec
                    .arms
                    .iter()
                    .map(|arm| arm.name.clone())
                    .collect(),
                units,
                observations: observations as u64,
            }
        });
        Ok(Response::new(ListExperimentsResponse {
            experiments: listed.collect(),
        }))
    }

    async fn report_experiment(
        &self,
        request: Request<ReportExperimentRequest>,
    ) -> Result<Response<ReportExperimentResponse>, Status> {
        let name = request.into_inner().name;
        let cells = self.cells().await;
        let experiments = self.experiments.clone();
        // Bootstrap and power take a while.
        let report = tokio::task::spawn_blocking(move || experiments.report(&name, now(), cells))
            .await
            .map_err(|error| Status::internal(error.to_string()))??;
        let json = serde_json::to_string(&report)
            .map_err(|error| Status::internal(format!("report: {error}")))?;
        Ok(Response::new(ReportExperimentResponse { json }))
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Document(_) | Error::Empty(_) => Self::invalid_argument(message),
            Error::Exists(_) => Self::already_exists(message),
            Error::Unknown(_) => Self::not_found(message),
            Error::State { .. } => Self::failed_precondition(message),
            Error::Full | Error::Store(_) => Self::resource_exhausted(message),
        }
    }
}

fn now() -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default()
}
