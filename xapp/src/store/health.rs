//! How a store stands to the place where it is written: for probes, operators and metrics.

use std::fmt;

/// Whether what is in memory is also where it is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is to be nowhere else: it ends with the process.
    Memory,
    /// The place was not reached yet since the start.
    Opening,
    /// Items are written.
    Written,
    /// They cannot be written now; control goes on from memory.
    Lost {
        /// Where, and what happened.
        reason: String,
    },
}

impl Standing {
    /// Nothing is wrong.
    pub fn is_good(&self) -> bool {
        matches!(self, Self::Memory | Self::Written)
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory: state ends with the process"),
            Self::Opening => f.write_str("not reached yet"),
            Self::Written => f.write_str("written"),
            Self::Lost { reason } => {
                write!(
                    f,
                    "cannot be written, control goes on from memory: {reason}"
                )
            }
        }
    }
}

/// What a store counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Writes to the backend that succeeded.
    pub writes: u64,
    /// Outages: times that the backend failed after it had worked.
    pub outages: u64,
    /// Items and last decisions that are not written yet.
    pub waiting: usize,
    /// Decisions that wait for the log.
    pub log_waiting: usize,
    /// Decisions that gave way before they were in the log.
    pub log_dropped: u64,
}
