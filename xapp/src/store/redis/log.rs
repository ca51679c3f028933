//! Reads the stream of decisions.

use super::Address;
use super::connection::Connection;
use crate::store::backend::Failure;
use crate::store::record;
use crate::store::settings::Settings;
use policies::decision_log::LoggedDecision;
use redis::pipe;
use std::fmt;
use std::time::Duration;

/// Entries carry Redis's time, decisions Cantor's. Clocks that differ by more lose the first ones of a time.
const SKEW: Duration = Duration::from_secs(60);

/// The entries of a stream from a time on.
pub(in crate::store) struct LogInRedis {
    connection: Connection,
    key: String,
    /// Start of the next range: the first ID, or the last one that was read, to be left out.
    start: String,
    ended: bool,
}

impl fmt::Debug for LogInRedis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogInRedis({} from {})", self.key, self.start)
    }
}

type Entry = (String, Vec<(String, Vec<u8>)>);

impl LogInRedis {
    pub(in crate::store) async fn open(
        settings: Settings,
        address: &Address,
        since_us: i64,
    ) -> Result<Self, Failure> {
        let since = Duration::from_micros(since_us.try_into().unwrap_or(0));
        Ok(Self {
            connection: Connection::open(address, settings.timeout).await?,
            key: settings.naming.key(&settings.namespace, "log"),
            start: since.saturating_sub(SKEW).as_millis().to_string(),
            ended: false,
        })
    }

    /// The next decisions: up to `max`, perhaps none although there are more.
    pub(in crate::store) async fn next(
        &mut self,
        max: usize,
    ) -> Result<Vec<LoggedDecision>, Failure> {
        let mut range = pipe();
        let command = range.cmd("XRANGE").arg(&self.key).arg(&self.start);
        command.arg("+").arg("COUNT").arg(max);
        let (entries,): (Vec<Entry>,) = self.connection.query(&range).await?;
        match entries.last() {
            Some((id, _)) => self.start = format!("({id}"),
            None => self.ended = true,
        }
        let decisions = entries.iter().flat_map(|(_, fields)| fields);
        let decisions = decisions.filter(|(name, _)| name == "decision");
        Ok(decisions
            .filter_map(|(_, octets)| record::readable(octets))
            .collect())
    }

    /// There are no more.
    pub(in crate::store) fn ended(&self) -> bool {
        self.ended
    }
}
