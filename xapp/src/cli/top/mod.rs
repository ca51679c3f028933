//! `cantor top`: a live view of a running Cantor, from its operations API.

mod draw;
mod fetch;
mod json;
mod table;
#[cfg(test)]
mod tests;
mod view;

use super::UsageError;
use super::xapp::Xapp;
use fetch::Feed;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use std::io::IsTerminal as _;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use view::{Outcome, View};

const EXAMPLES: &str = "\
Examples:
  cantor top
  cantor top --xapp http://ric:50051 --interval 200ms
  cantor top --once
  cantor top --json | jq '.flows[].last_decision.rate_bps'

Keys: q quits, Tab goes to the next table, arrows scroll, s sorts by the next column, r turns the
order round, Enter shows one table only.";

/// How often keys are looked for while there are none.
const KEY_POLL: Duration = Duration::from_millis(100);

/// Watch cells, UEs, flows and decisions of a running Cantor
#[derive(Debug, clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
pub struct Args {
    #[command(flatten)]
    xapp: Xapp,

    /// Time between two looks
    #[arg(long, value_name = "TIME", value_parser = edge::units::parse_duration, default_value = "500ms")]
    interval: Duration,

    /// Print the tables once as text, and end
    #[arg(long)]
    once: bool,

    /// Print everything once as JSON, and end
    #[arg(long, conflicts_with = "once")]
    json: bool,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let feed = Feed::new(self.xapp.endpoint()?);
        let runtime = super::runtime()?;
        if self.once || self.json {
            let snapshot = runtime.block_on(feed.once())?;
            if self.json {
                super::print(format_args!("{:#}\n", json::snapshot(&snapshot)))?;
            } else {
                super::print(table::text(&snapshot))?;
            }
            return Ok(());
        }
        if !std::io::stdout().is_terminal() {
            return Err(UsageError(
                "standard output is not a terminal: use --once for text or --json".into(),
            )
            .into());
        }
        if self.interval < Duration::from_millis(20) {
            return Err(UsageError("--interval must be at least 20ms".into()).into());
        }
        let mut terminal = ratatui::try_init()?;
        let ended = runtime.block_on(watch(&mut terminal, feed, self.interval, &self.xapp.url));
        ratatui::try_restore()?;
        // The thread that reads keys may still wait for one.
        runtime.shutdown_background();
        ended
    }
}

/// Draws until the user, or a signal, ends it.
async fn watch(
    terminal: &mut ratatui::DefaultTerminal,
    feed: Feed,
    interval: Duration,
    xapp: &str,
) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut keys = keys();
    let mut updates = feed.watch(interval);
    let mut view = View::new(xapp);
    loop {
        terminal.draw(|frame| draw::draw(frame, &mut view))?;
        tokio::select! {
            update = updates.recv() => match update {
                Some(update) => view.update(update),
                None => return Ok(()),
            },
            key = keys.recv() => match key {
                Some(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    if view.key(key) == Outcome::Quit {
                        return Ok(());
                    }
                }
                // A change of size: drawn anew.
                Some(_) => {}
                None => return Err(anyhow::anyhow!("the terminal gives no more keys")),
            },
            _ = terminate.recv() => return Ok(()),
            _ = hangup.recv() => return Ok(()),
        }
    }
}

/// Keys come from a blocking call: a thread of its own waits for them.
fn keys() -> mpsc::Receiver<Event> {
    let (sender, keys) = mpsc::channel(16);
    std::thread::spawn(move || {
        while !sender.is_closed() {
            let event = match event::poll(KEY_POLL) {
                Ok(false) => continue,
                Ok(true) => event::read(),
                Err(error) => Err(error),
            };
            let Ok(event) = event else { return };
            if sender.blocking_send(event).is_err() {
                return;
            }
        }
    });
    keys
}
