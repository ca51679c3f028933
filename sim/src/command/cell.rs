//! `cantor-sim cell`: the live cell.

use super::Failure;
use anyhow::Context;
use serde::Deserialize;
use sim::cell::{Background, UeConfig};
use sim::live::{self, E2Config, LiveConfig, LiveError, RelayConfig};
use sim::mac::link::Link;
use sim::node::NodeConfig;
use sim::scenario::ChannelSpec;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

const EXAMPLES: &str = "\
Examples:
  A cell with one guided and one greedy UE. What is sent to UDP port 5000 crosses the cell and leaves for port 6000;
  the cell's E2 node connects to the RIC at port 36421:
      cantor-sim cell --e2 sctp://127.0.0.1:36421 --ue 127.0.0.1:5000=127.0.0.1:6000 --greedy 1

  The same over TCP, where the kernel has no SCTP, at MCS 20, with a line of statistics per second:
      cantor-sim cell --e2 tcp://127.0.0.1:36421 --ue 127.0.0.1:5000=127.0.0.1:6000 --greedy 1 --mcs 20 --stats

  A cell that behaves as an OpenAirInterface gNB, its UEs walking about; or on channels recorded elsewhere:
      cantor-sim cell --profile gnb --walk --ue 127.0.0.1:5000=127.0.0.1:6000 --greedy 1
      cantor-sim cell --profile gnb --traces trace.csv --ue 127.0.0.1:5000=127.0.0.1:6000 --greedy 1

  Everything from a file (--ue and --greedy add UEs to those of the file):
      cantor-sim cell --config cell.toml

  cell.toml (sim/cell.example.toml explains every key):
      [[cell.ues]]
      link = { sinr_db = 18.0 }
      [[cell.ues]]
      background = \"greedy\"
      [[relays]]
      ue = 0
      ingress = \"127.0.0.1:5000\"
      egress = \"127.0.0.1:6000\"
      [e2]
      address = \"sctp://127.0.0.1:36421\"

SIGTERM, ctrl-c and --seconds end it in order.";

/// Run a cell by the wall clock: relays UDP packets through its queues and reports to a RIC over E2
#[derive(clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
pub struct Args {
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// RIC to connect to: sctp://HOST:PORT or tcp://HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    e2: Option<transport::Address>,
    /// gNB id of the E2 node
    #[arg(long, value_name = "ID")]
    gnb_id: Option<u32>,
    /// Add a UE, and relay to EGRESS what comes in at INGRESS; port 0 of INGRESS lets the kernel choose
    #[arg(long = "ue", value_name = "INGRESS=EGRESS")]
    ues: Vec<RelayArg>,
    /// Add so many UEs that always have something to receive
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    greedy: u16,
    /// Behave as this base station: "gnb" (OpenAirInterface's, docs/calibration.md) or "lena" (5G-LENA's)
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The UEs walk through an indoor office (TR 38.901); link adaptation and errors follow the channel
    #[arg(long, conflicts_with = "traces")]
    walk: bool,
    /// Replay recorded SINRs (CSV with time_ms and sinr_db, and ue for several UEs) instead of a channel model; with a
    /// column mcs, also the base station's choice of the MCS
    #[arg(long, value_name = "FILE")]
    traces: Option<PathBuf>,
    /// MCS of the UEs added here, unless they have a channel
    #[arg(long, value_name = "INDEX", default_value_t = 28)]
    mcs: u8,
    /// Probability that a first transmission to the UEs added here fails
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.1)]
    first_error: f64,
    /// Seed of the random draws (default: the file's, or 0)
    #[arg(long)]
    seed: Option<u64>,
    /// End after so many seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Print a line of statistics (JSON) per second on standard output
    #[arg(long)]
    stats: bool,
    /// Print the effective cell configuration (TOML) and end
    #[arg(long)]
    print_config: bool,
}

/// `INGRESS=EGRESS`.
#[derive(Clone)]
struct RelayArg {
    ingress: SocketAddr,
    egress: SocketAddr,
}

impl FromStr for RelayArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (ingress, egress) = text
            .split_once('=')
            .ok_or("write INGRESS=EGRESS, e.g. 127.0.0.1:5000=127.0.0.1:6000")?;
        let address = |text: &str| {
            text.parse()
                .map_err(|_| format!("{text:?} is not an address with a port, e.g. 127.0.0.1:5000"))
        };
        Ok(Self {
            ingress: address(ingress)?,
            egress: address(egress)?,
        })
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    let config = configuration(&args).map_err(Failure::usage)?;
    if args.print_config {
        let text = toml::to_string(&config.cell).map_err(Failure::running)?;
        return super::print(text);
    }
    let runtime = tokio::runtime::Runtime::new()
        .context("cannot start the async runtime")
        .map_err(Failure::running)?;
    runtime.block_on(live(config, &args))
}

/// The file's configuration with the command line's additions.
fn configuration(args: &Args) -> anyhow::Result<LiveConfig> {
    let mut config = read(args.config.as_deref(), args.profile.as_deref())?;
    if args.walk {
        config.channel = Some(ChannelSpec::default());
    }
    if let Some(traces) = &args.traces {
        config.traces = Some(traces.clone());
    }
    let ue = UeConfig {
        link: Link::Mcs(args.mcs),
        first_error: args.first_error,
        ..UeConfig::default()
    };
    for relay in &args.ues {
        let index = config.cell.ues.len();
        config.cell.ues.push(ue.clone());
        let relay = RelayConfig::new(index, relay.ingress, relay.egress);
        config.relays.push(relay);
    }
    let greedy = UeConfig {
        background: Background::Greedy,
        ..ue
    };
    let count = config.cell.ues.len() + usize::from(args.greedy);
    config.cell.ues.resize(count, greedy);
    if let Some(seed) = args.seed {
        config.seed = seed;
    }
    if let Some(address) = &args.e2 {
        let node = config.e2.map_or_else(NodeConfig::default, |e2| e2.node);
        config.e2 = Some(E2Config {
            address: address.clone(),
            node,
        });
    }
    if let (Some(id), Some(e2)) = (args.gnb_id, &mut config.e2) {
        e2.node.gnb_id = id;
    }
    config.cell.check()?;
    Ok(config)
}

/// The file's configuration, if any, on top of the profile's.
fn read(path: Option<&Path>, profile: Option<&str>) -> anyhow::Result<LiveConfig> {
    let (text, name) = match path {
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
            (text, name)
        }
        None => (String::new(), "--profile".to_owned()),
    };
    let Some(profile) = profile else {
        return toml::from_str(&text).context(name);
    };
    let mut table: toml::Table = text.parse().with_context(|| name.clone())?;
    let cell = table
        .entry("cell")
        .or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if let toml::Value::Table(cell) = cell {
        cell.insert("profile".to_owned(), profile.into());
    }
    LiveConfig::deserialize(table).context(name)
}

async fn live(config: LiveConfig, args: &Args) -> Result<(), Failure> {
    let mut terminate = signal(SignalKind::terminate()).map_err(Failure::running)?;
    let stop = CancellationToken::new();
    let cell = live::start(config, stop.clone())
        .await
        .map_err(|error| match error {
            LiveError::Socket { .. } | LiveError::Panicked(_) => Failure::running(error),
            _ => Failure::usage(error),
        })?;
    for (index, address) in cell.ingress().iter().enumerate() {
        super::print(format_args!("relay {index}: send to {address}\n"))?;
    }
    let end = async {
        match args.seconds {
            Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
            None => std::future::pending().await,
        }
    };
    let stats = cell.stats();
    let print = async {
        if !args.stats {
            std::future::pending::<()>().await;
        }
        let mut seconds = tokio::time::interval(Duration::from_secs(1));
        seconds.tick().await;
        loop {
            seconds.tick().await;
            let line = serde_json::to_string(&*stats.borrow());
            // Whoever read them has seen enough: then the cell ends.
            if line.is_ok_and(|line| super::write(format_args!("{line}\n")).is_err()) {
                break;
            }
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
        () = end => {}
        () = print => {}
    }
    stop.cancel();
    cell.finished().await.map_err(Failure::running)
}
