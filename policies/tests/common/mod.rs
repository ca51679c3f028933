//! Reports with nothing but PRB use in them.

use policies::{UeId, UeReport};
use std::time::Duration;

/// A report of `length` ending at `end`.
pub fn report(end: Duration, length: Duration, prbs: Option<f64>) -> UeReport {
    UeReport {
        ue: UeId::CRnti(1),
        start: end.saturating_sub(length),
        length,
        ran_time_us: None,
        prbs,
        retx_prbs: None,
        cell_prbs: 84.8,
        used_prbs: None,
        mcs: None,
        tb_sent: None,
        tb_retx: None,
        tb_failed: None,
        sinr_db: None,
        cqi: None,
        delivered_bytes: None,
        arrived_bytes: None,
        queue_bytes: None,
        head_of_line: None,
        rlc_delay: None,
        slice: None,
    }
}
