//! `cantor bind`: says which UE an IP address belongs to.

use super::xapp::{TIMEOUT, Xapp};
use clap::ArgGroup;
use proto::operations::operations_service_client::OperationsServiceClient;
use proto::operations::{BindRequest, Binding, ListBindingsRequest, UnbindRequest, binding::Ue};
use std::net::IpAddr;
use tonic::transport::Channel;

const EXAMPLES: &str = "\
Examples:
  cantor bind --list
  cantor bind 10.45.0.2 --c-rnti 0xf0db
  cantor bind 10.45.0.2 --amf-ue-ngap-id 112358132134 --node gnb:001-01:00000e00/32
  cantor bind 10.45.0.2 --gnb-teid 0x5f8bd2d4
  cantor bind 10.45.0.2 --remove

What is bound here goes before the configuration's [[binding]] tables and before what the traffic tells,
and is kept in the store (docs/store.md) until --remove. UEs get new C-RNTIs with each handover and reconnection.";

/// Say which UE an IP address belongs to, or list what is known
#[derive(Debug, clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
#[command(group = ArgGroup::new("what").required(true).args(["c_rnti", "amf_ue_ngap_id", "ran_ue_id", "gnb_teid", "remove", "list"]))]
pub struct Args {
    /// IP address of the UE
    #[arg(value_name = "ADDRESS", required_unless_present = "list")]
    address: Option<IpAddr>,

    /// C-RNTI, decimal or 0x-hexadecimal
    #[arg(long, value_parser = |text: &str| parse::<u16>(text, "a C-RNTI; write one like 61659 or 0xf0db"))]
    c_rnti: Option<u16>,

    /// AMF UE NGAP ID
    #[arg(long, value_name = "ID")]
    amf_ue_ngap_id: Option<u64>,

    /// RAN UE ID of E2SM-KPM, as a number
    #[arg(long, value_name = "ID")]
    ran_ue_id: Option<u64>,

    /// Tunnel endpoint id of the gNB for its PDU session (N3), as the core network has it, decimal or 0x-hexadecimal
    #[arg(long, value_name = "TEID", value_parser = |text: &str| parse::<u32>(text, "a TEID; write one like 0x5f8bd2d4"))]
    gnb_teid: Option<u32>,

    /// E2 node of the UE as `cantor top` names it; without it, the one node where such a UE is
    #[arg(long, conflicts_with_all = ["remove", "list"])]
    node: Option<String>,

    /// Take an earlier binding of the address back
    #[arg(long)]
    remove: bool,

    /// List all known addresses, their UEs, and how they are known
    #[arg(long, conflicts_with = "address")]
    list: bool,

    #[command(flatten)]
    xapp: Xapp,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        super::runtime()?.block_on(self.run())
    }

    async fn run(self) -> anyhow::Result<()> {
        let channel = self.xapp.connect(Some(TIMEOUT)).await?;
        let mut client = OperationsServiceClient::new(channel);
        match self.address {
            None => list(&mut client).await,
            Some(address) if self.remove => {
                let ip_address = address.to_string();
                let request = UnbindRequest { ip_address };
                client.unbind(request).await.map_err(super::plain)?;
                Ok(super::print(format_args!(
                    "{address} is not bound any more\n"
                ))?)
            }
            Some(address) => {
                let ue = self
                    .c_rnti
                    .map(|rnti| Ue::CRnti(rnti.into()))
                    .or(self.amf_ue_ngap_id.map(Ue::AmfUeNgapId))
                    .or(self.ran_ue_id.map(Ue::RanUeId))
                    .or(self.gnb_teid.map(Ue::GnbTeid));
                let binding = Binding {
                    ip_address: address.to_string(),
                    node: self.node.unwrap_or_default(),
                    ue,
                    ..Binding::default()
                };
                let text = ue_text(&binding);
                let request = BindRequest {
                    binding: Some(binding),
                };
                client.bind(request).await.map_err(super::plain)?;
                Ok(super::print(format_args!(
                    "{address} is bound to {text}\n"
                ))?)
            }
        }
    }
}

async fn list(client: &mut OperationsServiceClient<Channel>) -> anyhow::Result<()> {
    let answer = client.list_bindings(ListBindingsRequest {}).await;
    let bindings = answer.map_err(super::plain)?.into_inner().bindings;
    let (address, ue, by) = ("ADDRESS", "UE", "BOUND BY");
    let mut table = format!("{address:<40} {ue:<24} {by:<14} NODE\n");
    for binding in bindings {
        let by = match binding.confidence {
            Some(confidence) => format!("{} {:.0} %", binding.source, confidence * 100.0),
            None => binding.source.clone(),
        };
        let node = if binding.node.is_empty() {
            "any"
        } else {
            &binding.node
        };
        let ue = ue_text(&binding);
        let address = &binding.ip_address;
        table += &format!("{address:<40} {ue:<24} {by:<14} {node}\n");
    }
    Ok(super::print(table)?)
}

fn ue_text(binding: &Binding) -> String {
    match binding.ue {
        Some(Ue::CRnti(rnti)) => format!("rnti:{rnti:04x}"),
        Some(Ue::AmfUeNgapId(id)) => format!("amf:{id}"),
        Some(Ue::RanUeId(id)) => format!("ran:{id:016x}"),
        Some(Ue::GnbTeid(teid)) => format!("gnb-teid:{teid:08x}"),
        None => "-".into(),
    }
}

fn parse<N: TryFrom<u64>>(text: &str, what: &str) -> Result<N, String> {
    let number = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    let number = number.ok().and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| format!("{text:?} is not {what}"))
}
