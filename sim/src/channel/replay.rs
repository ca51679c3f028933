//! Recorded channels: SINR over time from a CSV file, repeated from its start when it ends.
//!
//! Columns by name: `time_ms` and `sinr_db`, others are ignored; with a column `ue`, one UE's rows are taken, with a
//! column `harq_retx`, first transmissions only (a retransmission alone in its slot may be sent at another power). With a
//! column `mcs`, the base station's choices are part of the recording and take the place of link adaptation.

use std::sync::Arc;
use std::time::Duration;

/// UEs of a file that [`Replay::all_from_csv`] looks at.
const MOST_UES: usize = 256;

/// Why a recording cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// No such column.
    #[error("channel trace: no column {0:?} in its first line; it needs time_ms and sinr_db")]
    NoColumn(&'static str),
    /// A value that is no number, or times that run backwards.
    #[error("channel trace, line {line}: {column} = {value:?} is no usable number")]
    BadValue {
        /// Line, from 1.
        line: usize,
        /// Column.
        column: &'static str,
        /// What is there.
        value: String,
    },
    /// Fewer than two rows.
    #[error("channel trace: fewer than two rows{}", .ue.map(|u| format!(" of UE {u}")).unwrap_or_default())]
    TooShort {
        /// The UE asked for.
        ue: Option<u32>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    at: Duration,
    sinr_db: f64,
    mcs: Option<u8>,
}

/// A recorded channel.
#[derive(Clone, Debug)]
pub struct Replay {
    samples: Arc<[Sample]>,
    period: Duration,
    /// Index of the sample that held when last asked.
    index: usize,
    /// Repetitions completed then.
    round: u32,
}

impl Replay {
    /// Reads a recording; of UE `ue` if the file holds several.
    pub fn from_csv(text: &str, ue: Option<u32>) -> Result<Self, ReplayError> {
        let mut lines = text.lines().enumerate();
        let header: Vec<&str> = lines.next().map_or(Vec::new(), |(_, line)| {
            line.split(',').map(str::trim).collect()
        });
        let column = |name: &str| header.iter().position(|c| *c == name);
        let time = column("time_ms").ok_or(ReplayError::NoColumn("time_ms"))?;
        let sinr = column("sinr_db").ok_or(ReplayError::NoColumn("sinr_db"))?;
        let (ue_column, retx_column) = (column("ue"), column("harq_retx"));
        let mcs_column = column("mcs");

        let mut samples: Vec<Sample> = Vec::new();
        let mut start = None;
        for (index, line) in lines.filter(|(_, l)| !l.trim().is_empty()) {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let number = |at: usize, column: &'static str| {
                let value = fields.get(at).copied().unwrap_or_default();
                let bad = || ReplayError::BadValue {
                    line: index + 1,
                    column,
                    value: value.to_owned(),
                };
                match value.parse::<f64>() {
                    Ok(number) if number.is_finite() => Ok(number),
                    _ => Err(bad()),
                }
            };
            if let (Some(at), Some(ue)) = (ue_column, ue)
                && number(at, "ue")? != f64::from(ue)
            {
                continue;
            }
            if let Some(at) = retx_column
                && number(at, "harq_retx")? != 0.0
            {
                continue;
            }
            let mcs = match mcs_column.map(|at| number(at, "mcs")).transpose()? {
                Some(mcs) if !(0.0..=31.0).contains(&mcs) => {
                    return Err(ReplayError::BadValue {
                        line: index + 1,
                        column: "mcs",
                        value: mcs.to_string(),
                    });
                }
                mcs => mcs.map(|mcs| mcs as u8),
            };
            let ms = number(time, "time_ms")?;
            let offset = (ms - *start.get_or_insert(ms)) / 1e3;
            let at = Duration::try_from_secs_f64(offset).ok();
            match at.filter(|at| samples.last().is_none_or(|s| s.at <= *at)) {
                Some(at) => samples.push(Sample {
                    at,
                    sinr_db: number(sinr, "sinr_db")?,
                    mcs,
                }),
                None => {
                    return Err(ReplayError::BadValue {
                        line: index + 1,
                        column: "time_ms",
                        value: fields[time].to_owned(),
                    });
                }
            }
        }
        let period = match samples.as_slice() {
            [first, .., last] if last.at > first.at => {
                // The last value holds as long as the values do on average.
                last.at + last.at / (samples.len() as u32 - 1)
            }
            _ => return Err(ReplayError::TooShort { ue }),
        };
        Ok(Self {
            samples: samples.into(),
            period,
            index: 0,
            round: 0,
        })
    }

    /// The recordings of all UEs of a file, in the order in which the column `ue` first names them; one, if there is none.
    pub fn all_from_csv(text: &str) -> Result<Vec<Self>, ReplayError> {
        let header = text.lines().next().unwrap_or_default();
        let Some(column) = header.split(',').position(|name| name.trim() == "ue") else {
            return Ok(vec![Self::from_csv(text, None)?]);
        };
        let mut ues: Vec<u32> = Vec::new();
        for line in text.lines().skip(1) {
            let ue = line.split(',').nth(column).map(|ue| ue.trim().parse());
            // What is no number is told by from_csv, with its line.
            if let Some(Ok(ue)) = ue
                && !ues.contains(&ue)
            {
                ues.push(ue);
            }
        }
        ues.truncate(MOST_UES);
        if ues.is_empty() {
            return Err(ReplayError::TooShort { ue: None });
        }
        ues.iter()
            .map(|&ue| Self::from_csv(text, Some(ue)))
            .collect()
    }

    /// Length of the recording, after which it starts again.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// The SINR in dB and the MCS, if there is one, at `now`, which must not run backwards.
    pub fn at(&mut self, now: Duration) -> (f64, Option<u8>) {
        let round = (now.as_nanos() / self.period.as_nanos()) as u32;
        if round != self.round {
            self.round = round;
            self.index = 0;
        }
        let within = now.saturating_sub(self.period * round);
        while self
            .samples
            .get(self.index + 1)
            .is_some_and(|s| s.at <= within)
        {
            self.index += 1;
        }
        let Sample { sinr_db, mcs, .. } = self.samples[self.index];
        (sinr_db, mcs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replays_one_ue_and_starts_again() {
        let text = "time_ms,ue,sinr_db,harq_retx\n100,0,10,0\n100,1,50,0\n105,0,90,1\n110,0,20,0\n120,0,30,0\n";
        let mut replay = Replay::from_csv(text, Some(0)).unwrap();
        assert_eq!(replay.period(), Duration::from_millis(30));
        let at = |r: &mut Replay, ms| r.at(Duration::from_millis(ms)).0;
        let seen: Vec<f64> = [0, 9, 10, 25, 29, 30, 40, 95]
            .map(|ms| at(&mut replay, ms))
            .to_vec();
        assert_eq!(seen, [10.0, 10.0, 20.0, 30.0, 30.0, 10.0, 20.0, 10.0]);
    }

    #[test]
    fn the_ues_of_a_file_are_told_apart() {
        let text = include_str!("../../tests/reference/ns3_trace.csv");
        let mut replays = Replay::all_from_csv(text).unwrap();
        assert_eq!(replays.len(), 2);
        let first = replays.iter_mut().map(|r| r.at(Duration::ZERO));
        let expected = [(26.59, Some(28)), (17.25, Some(24))];
        assert_eq!(first.collect::<Vec<_>>(), expected);
        assert_eq!(
            Replay::all_from_csv("time_ms,sinr_db\n0,1\n5,2\n")
                .unwrap()
                .len(),
            1
        );
        assert!(Replay::all_from_csv("time_ms,ue,sinr_db\n").is_err());
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let error = |text| Replay::from_csv(text, None).unwrap_err();
        assert_eq!(error("time_ms,mcs\n"), ReplayError::NoColumn("sinr_db"));
        assert!(
            error("time_ms,sinr_db\n0,1\n5,x\n")
                .to_string()
                .contains("line 3: sinr_db = \"x\"")
        );
        assert!(
            error("time_ms,sinr_db\n9,1\n5,2\n")
                .to_string()
                .contains("line 3: time_ms")
        );
        assert!(
            error("time_ms,sinr_db,mcs\n0,1,99\n")
                .to_string()
                .contains("line 2: mcs = \"99\"")
        );
        assert_eq!(
            error("time_ms,sinr_db\n0,1\n"),
            ReplayError::TooShort { ue: None }
        );
        assert_eq!(error(""), ReplayError::NoColumn("time_ms"));
    }
}
