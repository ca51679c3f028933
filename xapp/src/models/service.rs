//! `cantor.operations.v1.ModelService`: models for operators.

use super::{Models, Outcome, folder};
use proto::operations::{
    ListModelsRequest, ListModelsResponse, Model, ReloadModelsRequest, ReloadModelsResponse,
    model_service_server::ModelService,
};
use std::path::PathBuf;
use std::time::SystemTime;
use tonic::{Request, Response, Status};

/// The service.
#[derive(Debug)]
pub struct ModelApi {
    /// The model in use.
    pub models: Models,
    /// Folder that it is loaded from; `None`: no model is configured.
    pub folder: Option<PathBuf>,
}

#[tonic::async_trait]
impl ModelService for ModelApi {
    async fn list_models(
        &self,
        _: Request<ListModelsRequest>,
    ) -> Result<Response<ListModelsResponse>, Status> {
        Ok(Response::new(ListModelsResponse {
            models: self.model().into_iter().collect(),
        }))
    }

    async fn reload_models(
        &self,
        _: Request<ReloadModelsRequest>,
    ) -> Result<Response<ReloadModelsResponse>, Status> {
        let Some(folder) = &self.folder else {
            return Err(Status::failed_precondition(
                "no model is configured: set models.prism to the folder of a bundle",
            ));
        };
        let outcome = match folder::look(&self.models, folder).await {
            Outcome::Unchanged => "unchanged",
            Outcome::Loaded => "loaded",
            Outcome::Refused(_) => "refused",
        };
        Ok(Response::new(ReloadModelsResponse {
            outcome: outcome.into(),
            model: self.model(),
        }))
    }
}

impl ModelApi {
    /// The model that is configured, as it stands; `None`: none is.
    fn model(&self) -> Option<Model> {
        let folder = self.folder.as_ref()?;
        let refusal = self.models.refusal();
        let mut listed = Model {
            policy: policies::GainPolicy::Prism.name().into(),
            folder: folder.display().to_string(),
            refusal: refusal.map(|r| r.to_string()).unwrap_or_default(),
            ..Model::default()
        };
        if let Some(model) = self.models.current() {
            let card = &model.card;
            listed.name.clone_from(&card.name);
            listed.folder = model.folder.display().to_string();
            listed.engine = model.engine.into();
            listed.onnx_sha256.clone_from(&card.onnx_sha256);
            listed.licence.clone_from(&card.licence);
            listed.about.clone_from(&card.about);
            let age = SystemTime::now().duration_since(model.loaded);
            listed.age_ms = age.map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        }
        Some(listed)
    }
}
