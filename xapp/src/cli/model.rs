//! `cantor model`: bundles of learned policies, on disk and in a running xApp.

use super::xapp::{TIMEOUT, Xapp};
use crate::models::{Backend, Engines, onnxruntime};
use clap::Subcommand;
use policies::model::{Bundle, Folder, Refusal};
use proto::operations::model_service_client::ModelServiceClient;
use proto::operations::{ListModelsRequest, Model, ReloadModelsRequest};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tonic::transport::Channel;

const EXAMPLES: &str = "\
Examples:
  cantor model check policies/models/prism-v1
  cantor model list
  cantor model reload

What a bundle is, and what is checked: docs/models.md.";

/// A reload answers when the bundle is checked.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Check model bundles, and list and reload those of a running xApp
#[derive(Debug, clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check a bundle as `cantor run` does before it uses one, with every engine that is here
    Check {
        /// Folder of the bundle
        folder: PathBuf,
        /// Library of ONNX Runtime [default: the system's]
        #[arg(long, value_name = "FILE", env = "ORT_DYLIB_PATH")]
        onnxruntime: Option<PathBuf>,
    },
    /// List the models that a running xApp is configured to use, and how they stand
    List(Xapp),
    /// Let a running xApp look at its model folders now
    Reload(Xapp),
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        match self.command {
            Command::Check {
                folder,
                onnxruntime,
            } => {
                let bundle = Bundle::new(Folder::read(&folder)?)?;
                let library = onnxruntime.unwrap_or_default();
                Ok(super::print(check(&bundle, &library)?)?)
            }
            Command::List(xapp) => super::runtime()?.block_on(async {
                let mut client = client(&xapp, TIMEOUT).await?;
                let listed = client.list_models(ListModelsRequest {}).await;
                let models = listed.map_err(plain)?.into_inner().models;
                Ok(super::print(list(&models))?)
            }),
            Command::Reload(xapp) => super::runtime()?.block_on(async {
                let mut client = client(&xapp, RELOAD_TIMEOUT).await?;
                let answer = client.reload_models(ReloadModelsRequest {}).await;
                let answer = answer.map_err(plain)?.into_inner();
                let models = answer.model.as_slice();
                super::print(format_args!("{}\n{}", answer.outcome, list(models)))?;
                anyhow::ensure!(answer.outcome != "refused", "the bundle was refused");
                Ok(())
            }),
        }
    }
}

async fn client(xapp: &Xapp, patience: Duration) -> anyhow::Result<ModelServiceClient<Channel>> {
    let channel = xapp.connect(Some(patience)).await?;
    Ok(ModelServiceClient::new(channel))
}

/// What is on the card, and what each engine makes of the network.
fn check(bundle: &Bundle, library: &Path) -> Result<String, Refusal> {
    let card = bundle.card();
    let features: Vec<_> = card.features.iter().map(|f| f.name.name()).collect();
    let mut text = format!(
        "{} for {}, {}\n  in     {} windows of {} ms: {}\n  out    {} gains from {} to {}\n",
        card.name,
        card.policy,
        card.licence,
        card.history,
        card.report_interval_ms,
        features.join(", "),
        card.gains.len(),
        card.gains.iter().copied().fold(f64::INFINITY, f64::min),
        card.gains.iter().copied().fold(0.0, f64::max),
    );
    if !card.training.command.is_empty() {
        let _ = writeln!(text, "  from   {}", card.training.command);
    }
    let goldens = bundle.goldens().iter().len();
    let run = |backend| {
        let engines = Engines {
            backend,
            library: library.to_owned(),
        };
        let mut network = engines.open(bundle)?;
        bundle.check(network.as_mut())
    };
    run(Backend::Native)?;
    let _ = writeln!(text, "  native       all {goldens} goldens");
    match onnxruntime(library) {
        Ok(()) => {
            run(Backend::OnnxRuntime)?;
            let _ = writeln!(text, "  onnxruntime  all {goldens} goldens");
        }
        Err(reason) => {
            let _ = writeln!(text, "  onnxruntime  not checked: {reason}");
        }
    }
    Ok(text)
}

fn list(models: &[Model]) -> String {
    if models.is_empty() {
        return "no model is configured: set models.prism to the folder of a bundle\n".into();
    }
    let mut text = String::new();
    for model in models {
        let name = match model.name.as_str() {
            "" => "none in use",
            name => name,
        };
        let _ = writeln!(text, "{}  {name}  {}", model.policy, model.folder);
        if !model.name.is_empty() {
            let sha256 = model.onnx_sha256.get(..12).unwrap_or(&model.onnx_sha256);
            let _ = writeln!(
                text,
                "  {} for {} s, sha256 {sha256}…, {}",
                model.engine,
                model.age_ms / 1000,
                model.licence
            );
        }
        if !model.refusal.is_empty() {
            let _ = writeln!(
                text,
                "  the bundle in the folder is refused: {}",
                model.refusal
            );
        }
    }
    text
}

fn plain(status: tonic::Status) -> anyhow::Error {
    anyhow::anyhow!("{}", status.message().to_owned())
}
