//! `cantor policy`: slice policies of a running xApp.

mod changes;
mod files;
mod show;

use crate::cli::xapp::{TIMEOUT, Xapp};
use clap::{Subcommand, ValueEnum};
use proto::operations::policy_service_client::PolicyServiceClient;
use proto::operations::{
    ApplyPoliciesRequest, DeletePolicyRequest, ExplainFlowRequest, ListPoliciesRequest, SlicePolicy,
};
use std::path::PathBuf;
use tonic::transport::Channel;

const EXAMPLES: &str = "\
Examples:
  cantor policy apply -f interactive.yaml
  cantor policy diff -f policies/
  cantor policy list
  cantor policy get interactive --output json
  cantor policy explain video
  cantor policy delete interactive

How policies are written, and which one rules a flow: docs/operating.md.";

/// 65,536 policies are some dozens of MiB.
const MAX_MESSAGE: usize = 256 << 20;

/// Apply, list and explain slice policies
#[derive(Debug, clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
pub struct Args {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    xapp: Xapp,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Put policies into force; nothing changes if one of them is wrong
    Apply {
        #[command(flatten)]
        files: Files,
        /// Only say what would change
        #[arg(long)]
        dry_run: bool,
    },
    /// Show what applying the files would change
    Diff {
        #[command(flatten)]
        files: Files,
    },
    /// Print a policy
    Get {
        /// Its name
        name: String,
        /// Form
        #[arg(long, short, value_enum, default_value_t = Output::Yaml)]
        output: Output,
    },
    /// List the policies in force, and how their objectives stand
    List,
    /// Take back a policy that was applied
    Delete {
        /// Its name
        name: String,
    },
    /// Say which policy rules a flow, and why
    Explain {
        /// The flow, as its edge server registered it
        flow: String,
        /// Its edge server, where several have a flow of this name
        #[arg(long, value_name = "ID", default_value = "")]
        edge: String,
    },
    /// Print the JSON Schema of slice policies
    Schema,
}

#[derive(Debug, clap::Args)]
struct Files {
    /// File of policies (YAML or JSON), folder of such files, or - for standard input; may be repeated
    #[arg(long = "file", short = 'f', value_name = "PATH", required = true)]
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Output {
    Yaml,
    Json,
}

type Client = PolicyServiceClient<Channel>;

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        if let Command::Schema = self.command {
            let schema = serde_json::to_string_pretty(&policies::slice::schema())?;
            return Ok(super::print(format_args!("{schema}\n"))?);
        }
        super::runtime()?.block_on(self.run())
    }

    async fn run(self) -> anyhow::Result<()> {
        // What is wrong in a file is told before anything is sent.
        let texts = match &self.command {
            Command::Apply { files, .. } | Command::Diff { files } => files::read(&files.files)?,
            _ => Vec::new(),
        };
        let mut client = self.client().await?;
        match self.command {
            Command::Apply { dry_run, .. } => apply(&mut client, texts, dry_run).await,
            Command::Diff { .. } => diff(&mut client, texts).await,
            Command::Get { name, output } => get(&mut client, &name, output).await,
            Command::List => {
                let request = ListPoliciesRequest::default();
                let listed = client.list_policies(request).await.map_err(plain)?;
                Ok(super::print(show::list(&listed.into_inner()))?)
            }
            Command::Delete { name } => {
                let request = DeletePolicyRequest { name: name.clone() };
                client.delete_policy(request).await.map_err(plain)?;
                Ok(super::print(format_args!("{name} deleted\n"))?)
            }
            Command::Explain { flow, edge } => {
                let request = ExplainFlowRequest {
                    flow_id: flow,
                    edge_id: edge,
                };
                let explained = client.explain_flow(request).await.map_err(plain)?;
                Ok(super::print(show::explained(&explained.into_inner()))?)
            }
            Command::Schema => Ok(()),
        }
    }

    async fn client(&self) -> anyhow::Result<Client> {
        let channel = self.xapp.connect(Some(TIMEOUT)).await?;
        Ok(Client::new(channel).max_decoding_message_size(MAX_MESSAGE))
    }
}

async fn apply(client: &mut Client, texts: Vec<files::Text>, dry_run: bool) -> anyhow::Result<()> {
    for text in texts {
        let request = ApplyPoliciesRequest {
            text: text.content,
            name: text.name,
            dry_run,
        };
        let answer = client.apply_policies(request).await.map_err(plain)?;
        for policy in answer.into_inner().policies {
            let dry = if dry_run { " (dry run)" } else { "" };
            super::print(format_args!("{} {}{dry}\n", policy.name, policy.outcome))?;
        }
    }
    Ok(())
}

async fn diff(client: &mut Client, texts: Vec<files::Text>) -> anyhow::Result<()> {
    let request = ListPoliciesRequest::default();
    let listed = client.list_policies(request).await.map_err(plain)?;
    let present = listed.into_inner().policies;
    let by_operator = |name: &str| {
        let mut found = present.iter();
        let found = found.find(|policy| policy.source == "operator" && policy.name == name)?;
        files::policy(&found.document).ok()
    };
    for text in &texts {
        for (policy, _) in policies::slice::parse(&text.content, &text.name)? {
            let before = by_operator(policy.name());
            super::print(changes::text(before.as_ref(), &policy)?)?;
        }
    }
    Ok(())
}

async fn get(client: &mut Client, name: &str, output: Output) -> anyhow::Result<()> {
    let request = ListPoliciesRequest { name: name.into() };
    let listed = client.list_policies(request).await.map_err(plain)?;
    let policies = listed.into_inner().policies;
    anyhow::ensure!(!policies.is_empty(), "no policy {name:?}");
    for (index, policy) in policies.iter().enumerate() {
        let text = match output {
            Output::Yaml => {
                let separator = if index > 0 { "---\n" } else { "" };
                let SlicePolicy { source, origin, .. } = policy;
                format!("{separator}# {source}: {origin}\n{}", policy.document)
            }
            Output::Json => {
                let policy = files::policy(&policy.document)?;
                serde_json::to_string_pretty(&policy)? + "\n"
            }
        };
        super::print(text)?;
    }
    Ok(())
}

fn plain(status: tonic::Status) -> anyhow::Error {
    anyhow::anyhow!("{}", status.message().to_owned())
}
