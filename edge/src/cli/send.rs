//! `cantor-edge send`.

use super::{exit, print};
use anyhow::Context as _;
use clap::ArgGroup;
use edge::client::{Config, EdgeClient, Event, FlowHandle, FlowSpec, Link, Registration, Ue};
use edge::fallback::SafeRate;
use edge::flow::{Guide, Sender, SenderConfig, SenderSample, SenderSummary};
use edge::guidance::{FlowSettings, Phase};
use edge::units;
use policies::controller::RateBounds;
use policies::report::SNssai;
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cantor-edge send --to 10.0.0.7:5201 --rate 40M --seconds 10
  cantor-edge send --to 10.0.0.7:5201 --xapp http://ric:50051 --edge-id edge-1 --flow video-7 --ue-ip 10.0.0.7
  cantor-edge send --to 127.0.0.1:6001 --xapp http://127.0.0.1:50051 --flow f1 --c-rnti 0xf0db --json

Exit codes: 0 done; 1 failed; 2 wrong arguments; 3 the xApp refused the flow; 4 no guidance came.")]
#[command(group = ArgGroup::new("rule").required(true).args(["rate", "xapp"]))]
#[command(group = ArgGroup::new("ue").args(["ue_ip", "c_rnti"]))]
pub(super) struct Args {
    /// Where the packets go (a `cantor-edge receive`, or a relay in front of it).
    #[arg(long, value_name = "HOST:PORT")]
    to: String,
    /// Send at this fixed rate, without guidance (40M, 1.5G, 500k).
    #[arg(long, value_parser = units::parse_rate)]
    rate: Option<f64>,
    /// Follow the guidance of this xApp, e.g. http://127.0.0.1:50051.
    #[arg(
        long,
        value_name = "URL",
        requires = "flow",
        requires = "ue",
        env = "CANTOR_XAPP"
    )]
    xapp: Option<String>,
    /// Name of this edge server.
    #[arg(long, default_value = "cantor-edge")]
    edge_id: String,
    /// Name of the flow.
    #[arg(long)]
    flow: Option<String>,
    /// IP address of the UE.
    #[arg(long, value_name = "ADDRESS")]
    ue_ip: Option<IpAddr>,
    /// C-RNTI of the UE, decimal or 0x-hexadecimal.
    #[arg(long, value_parser = parse_rnti)]
    c_rnti: Option<u16>,
    /// E2 node of the C-RNTI, e.g. gnb:001-01:00000e00/32; without it, the one node where the UE is.
    #[arg(long, requires = "c_rnti")]
    node: Option<String>,
    /// Slice of the flow as SST or SST:SD (SD in hexadecimal).
    #[arg(long, value_parser = parse_slice)]
    slice: Option<SNssai>,
    /// One-way delay to the base station, where known.
    #[arg(long, value_parser = units::parse_duration)]
    wired_delay: Option<Duration>,
    /// Gain policies preferred, in order.
    #[arg(long, value_delimiter = ',')]
    policies: Vec<String>,
    /// Rate before guidance comes.
    #[arg(long, value_parser = units::parse_rate, default_value = "2M")]
    start_rate: f64,
    /// Rate to which the flow goes without guidance.
    #[arg(long, value_parser = units::parse_rate, default_value = "1M")]
    safe_rate: f64,
    /// Never send faster than this, whatever the guidance.
    #[arg(long, value_parser = units::parse_rate, default_value = "10G")]
    max_rate: f64,
    /// Dither the rate by this part (0 to 0.9) while the xApp does not know the UE, so that it can tell it by its traffic.
    #[arg(long, value_name = "PART", default_value_t = 0.0, value_parser = parse_part)]
    dither: f64,
    /// How long to send; without it until interrupted.
    #[arg(long, value_name = "N", value_parser = units::parse_duration)]
    seconds: Option<Duration>,
    /// Octets of each IP packet.
    #[arg(long, default_value_t = 1400)]
    packet_size: usize,
    /// Local address, to which the receiver's reports come.
    #[arg(long, value_name = "ADDRESS:PORT")]
    bind: Option<SocketAddr>,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
    /// No status lines.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) async fn run(args: Args, stop: CancellationToken) -> anyhow::Result<ExitCode> {
    let to = tokio::net::lookup_host(&args.to)
        .await
        .with_context(|| format!("--to {}: not an address; give HOST:PORT", args.to))?
        .next()
        .with_context(|| format!("--to {}: the host has no address", args.to))?;
    let sender = Sender::bind(SenderConfig {
        local: args.bind,
        packet_bytes: args.packet_size,
        duration: args.seconds,
        ..SenderConfig::new(to)
    })
    .await?;
    let mut status = None;
    let guide = match (args.rate, &args.xapp) {
        (Some(bps), _) => Guide::Fixed(bps),
        (None, Some(xapp)) => {
            let flow = register(&args, xapp, stop.clone()).await?;
            status = Some(flow.status());
            Guide::Flow(flow)
        }
        (None, None) => anyhow::bail!("give --rate or --xapp"),
    };
    let quiet = args.quiet;
    let mut lines = StatusLines::default();
    let summary = sender
        .run(guide, stop, |sample| {
            if !quiet {
                lines.sample(sample);
            }
        })
        .await?;
    let status = status.map(|s| s.borrow().clone());
    if args.json {
        print::result(format_args!(
            "{}\n",
            serde_json::to_string_pretty(&summary)?
        ))?;
    } else {
        print::result(summary_text(&summary, args.xapp.is_some()))?;
    }
    Ok(match status {
        Some(status) if status.state == Registration::Refused => {
            print::status(format_args!(
                "cantor-edge: the xApp refused the flow: {}",
                status.detail
            ));
            ExitCode::from(exit::REFUSED)
        }
        Some(_) if summary.guidance_accepted == 0 => {
            print::status(format_args!("cantor-edge: no guidance came"));
            ExitCode::from(exit::UNGUIDED)
        }
        _ => ExitCode::SUCCESS,
    })
}

async fn register(args: &Args, xapp: &str, stop: CancellationToken) -> anyhow::Result<FlowHandle> {
    let ue = match (args.ue_ip, args.c_rnti) {
        (Some(address), _) => Ue::Ip(address),
        (None, Some(c_rnti)) => Ue::CRnti {
            node: args.node.clone(),
            c_rnti,
        },
        (None, None) => anyhow::bail!("give --ue-ip or --c-rnti"),
    };
    let client = EdgeClient::connect(Config::new(xapp, &args.edge_id))?;
    tokio::spawn(tell(client.events(), args.quiet, stop));
    let flow_id = args.flow.clone().unwrap_or_default();
    let defaults = FlowSettings::default();
    let spec = FlowSpec {
        slice: args.slice,
        wired_delay: args.wired_delay,
        policies: args.policies.clone(),
        settings: FlowSettings {
            dither: args.dither,
            start_rate_bps: args.start_rate,
            bounds: RateBounds {
                max_bps: args.max_rate,
                min_bps: defaults.bounds.min_bps.min(args.max_rate),
            },
            ..defaults
        },
        fallback: Box::new(SafeRate::new(args.safe_rate, Duration::from_millis(250))),
        ..FlowSpec::new(flow_id, ue)
    };
    Ok(client.register(spec).await?)
}

/// Tells what happens to the flow, and ends it when it is refused.
async fn tell(
    mut events: tokio::sync::broadcast::Receiver<Event>,
    quiet: bool,
    stop: CancellationToken,
) {
    loop {
        let text = match events.recv().await {
            Err(RecvError::Closed) => return,
            Err(RecvError::Lagged(_)) => continue,
            Ok(Event::Link(Link::Connected {
                xapp_id, version, ..
            })) => format!("connected to {xapp_id} ({version})"),
            Ok(Event::Link(Link::Disconnected { reason, retry_in })) => {
                format!("no xApp: {reason}; next attempt in {retry_in:.1?}")
            }
            Ok(Event::Link(Link::Connecting) | Event::Dropped { .. }) => continue,
            Ok(Event::Status { status, .. }) => match status.state {
                Registration::Bound if status.policy.is_empty() => "bound".to_owned(),
                Registration::Bound => format!("bound; policy {}", status.policy),
                Registration::Unbound => format!("no UE fits yet: {}", status.detail),
                Registration::Pending => continue,
                Registration::Refused => {
                    stop.cancel();
                    continue;
                }
            },
            Ok(Event::Phase {
                from, to, rate_bps, ..
            }) => format!("{from} -> {to} at {}", units::rate(rate_bps)),
        };
        if !quiet {
            print::status(format_args!("* {text}"));
        }
    }
}

/// One line per second.
#[derive(Default)]
struct StatusLines {
    samples: u32,
    seconds: f64,
    sent_bytes: u64,
    acknowledged_bytes: u64,
    rate_bps: f64,
}

impl StatusLines {
    fn sample(&mut self, sample: &SenderSample) {
        self.samples += 1;
        self.seconds += 0.1;
        self.sent_bytes += sample.sent_bytes;
        self.acknowledged_bytes += sample.acknowledged_bytes;
        self.rate_bps += sample.rate_bps;
        if self.samples < 10 {
            return;
        }
        let colour = print::colours(&std::io::stderr());
        let phase = match sample.phase {
            None => "fixed".to_owned(),
            Some(phase) => {
                let ansi = match phase {
                    Phase::Guided => print::GREEN,
                    Phase::Fallback => print::RED,
                    Phase::Waiting | Phase::Holding | Phase::Ramping => print::YELLOW,
                };
                print::coloured(&format!("{phase:<8}"), ansi, colour)
            }
        };
        let prbs = match (sample.prbs, sample.target_prbs) {
            (Some(prbs), Some(target)) => format!("  PRBs {prbs:5.1} of {target:5.1}"),
            _ => String::new(),
        };
        let delay = sample
            .delay_mean_us
            .map_or_else(|| "-".to_owned(), |mean| units::micros(f64::from(mean)));
        print::status(format_args!(
            "{:6.1} s  {phase}  rate {:>11}  sent {:>11}  received {:>11}  delay {delay:>8}{prbs}",
            self.seconds,
            units::rate(self.rate_bps / 10.0),
            units::rate(self.sent_bytes as f64 * 8.0),
            units::rate(self.acknowledged_bytes as f64 * 8.0),
        ));
        *self = Self {
            seconds: self.seconds,
            ..Self::default()
        };
    }
}

fn summary_text(summary: &SenderSummary, guided: bool) -> String {
    let colour = print::colours(&std::io::stdout());
    let mut text = print::coloured("Sent", print::BOLD, colour) + "\n";
    let seconds = summary.duration_us as f64 / 1e6;
    text += &print::line(
        "packets",
        format!(
            "{} ({} octets) in {seconds:.1} s",
            summary.packets, summary.bytes
        ),
    );
    text += &print::line(
        "rate",
        format!(
            "{} sent, {} allowed",
            units::rate(summary.sent_bps),
            units::rate(summary.rate_bps)
        ),
    );
    if summary.reports == 0 {
        text += &print::line("receiver", "sent no report");
    } else {
        let delay = summary.delay_mean_us.map_or("-".into(), units::micros);
        text += &print::line(
            "received",
            format!(
                "{} octets; {} packets lost, {} reordered; one-way delay {delay} in the mean",
                summary.acknowledged_bytes, summary.lost_packets, summary.reordered_packets
            ),
        );
    }
    if guided {
        let total: u64 = summary.phases_us.values().sum();
        let shares: Vec<String> = summary
            .phases_us
            .iter()
            .map(|(phase, us)| format!("{phase} {:.0} %", *us as f64 * 100.0 / total.max(1) as f64))
            .collect();
        text += &print::line("ruled", shares.join(", "));
        text += &print::line(
            "guidance",
            format!(
                "{} applied, {} dropped as old or invalid",
                summary.guidance_accepted, summary.guidance_dropped
            ),
        );
    }
    text
}

fn parse_rnti(text: &str) -> Result<u16, String> {
    let number = match text.strip_prefix("0x") {
        Some(hex) => u16::from_str_radix(hex, 16),
        None => text.parse(),
    };
    number.map_err(|_| format!("{text:?} is not a C-RNTI; write one like 61659 or 0xf0db"))
}

fn parse_part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| (0.0..=0.9).contains(part));
    part.ok_or_else(|| format!("{text:?} is not a part from 0 to 0.9"))
}

fn parse_slice(text: &str) -> Result<SNssai, String> {
    let wrong = || format!("{text:?} is not a slice; write SST or SST:SD, e.g. 1 or 1:00000a");
    let (sst, sd) = match text.split_once(':') {
        Some((sst, sd)) => {
            let sd = u32::from_str_radix(sd, 16).map_err(|_| wrong())?;
            (
                sst,
                Some(sd)
                    .filter(|sd| *sd < 1 << 24)
                    .ok_or_else(wrong)?
                    .into(),
            )
        }
        None => (text, None),
    };
    Ok(SNssai {
        sst: sst.parse().map_err(|_| wrong())?,
        sd,
    })
}
