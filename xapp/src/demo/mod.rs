//! The whole loop on loopback, in one process and in real time: a cell with two guided UEs and a greedy one, the
//! xApp, two edge flows. First guided, then sent at a fixed rate, so that the difference shows.

mod phase;
mod report;
mod series;
pub mod slices;
mod summary;

pub use phase::{FlowNow, Progress};
pub use report::page;
pub use series::Series;
pub use summary::{FlowSummary, Outcome, PhaseSummary};

use phase::Sending;
use policies::GainPolicy;
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Guided UEs; one more UE is greedy.
pub const GUIDED_UES: usize = 2;
/// How far above its share a flow sends that nobody guides.
pub const UNGUIDED_EXCESS: f64 = 1.5;

/// What the E2 interface runs over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Transport {
    /// SCTP where the kernel has it, else TCP
    #[default]
    Auto,
    /// Kernel SCTP, as in production
    Sctp,
    /// TCP with a length prefix, for development
    Tcp,
}

impl Transport {
    /// The scheme of the listen address.
    fn scheme(self) -> &'static str {
        match self {
            Self::Sctp => "sctp",
            Self::Tcp => "tcp",
            Self::Auto if transport::sctp_available() => "sctp",
            Self::Auto => "tcp",
        }
    }
}

/// Settings of a demo.
#[derive(Clone, Debug)]
pub struct Options {
    /// Length of each of the two runs.
    pub length: Duration,
    /// Transport of E2.
    pub transport: Transport,
    /// Gain policy of the guided run.
    pub policy: GainPolicy,
    /// Folder of the model bundle that a learned policy runs.
    pub model: Option<PathBuf>,
    /// Seed of the cell's random draws.
    pub seed: u64,
}

impl Options {
    /// The start of a run that the means of rates and PRBs leave out: the controllers begin at 1 Mbit/s.
    pub fn settling(&self) -> Duration {
        (self.length / 3).min(Duration::from_secs(5))
    }
}

/// Runs both phases; `watch` sees how they go, twice a second.
///
/// # Errors
/// When a socket cannot be opened, a part fails, or `stop` is cancelled before the end.
pub async fn run(
    options: &Options,
    stop: &CancellationToken,
    watch: &mut dyn FnMut(&Progress),
) -> anyhow::Result<(Outcome, [Series; 2])> {
    tokio::select! {
        biased;
        () = stop.cancelled() => anyhow::bail!("interrupted"),
        result = both_runs(options, stop, watch) => result,
    }
}

async fn both_runs(
    options: &Options,
    stop: &CancellationToken,
    watch: &mut dyn FnMut(&Progress),
) -> anyhow::Result<(Outcome, [Series; 2])> {
    let guided = phase::run(options, Sending::Guided, stop, watch).await?;
    let guided_summary = PhaseSummary::of(&guided, options.settling());
    let share = guided_summary.share_bps().ok_or_else(|| {
        anyhow::anyhow!("the guided flows delivered nothing: is the machine overloaded?")
    })?;
    let fixed = Sending::Fixed(share * UNGUIDED_EXCESS);
    let unguided = phase::run(options, fixed, stop, watch).await?;
    let unguided_summary = PhaseSummary::of(&unguided, options.settling());
    let outcome = Outcome::new(options, guided_summary, unguided_summary);
    Ok((outcome, [guided, unguided]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_interruption_before_anything_runs_is_one() {
        let options = Options {
            length: Duration::from_secs(3),
            transport: Transport::Tcp,
            policy: GainPolicy::Rapid,
            model: None,
            seed: 1,
        };
        let stop = CancellationToken::new();
        stop.cancel();
        let error = run(&options, &stop, &mut |_| {}).await.unwrap_err();
        assert_eq!(error.to_string(), "interrupted");
    }
}
