//! Whether the delay objectives of a simulation's slices were met, window by window.

use crate::results::{FlowResults, ReportRow};
use crate::simulation::SliceConfig;
use serde::Serialize;
use std::time::Duration;

/// An objective is judged over windows of this length.
pub const WINDOW: Duration = Duration::from_secs(10);
/// Windows at the start that are not judged: flows begin at 1 Mbit/s.
const SETTLING: u32 = 1;

/// How a slice did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SliceOutcome {
    /// Its name.
    pub slice: String,
    /// Its objective, for people.
    pub objective: String,
    /// Windows judged.
    pub windows: u32,
    /// Windows in which the objective held for the packets of all its flows together.
    pub met: u32,
    /// Payload that its flows received together, Mbit/s.
    pub goodput_mbps: f64,
}

/// How each slice with an objective did until `end`.
pub fn outcomes(slices: &[SliceConfig], flows: &[FlowResults], end: Duration) -> Vec<SliceOutcome> {
    let slices = slices.iter();
    slices
        .filter_map(|slice| {
            let latency = slice.spec.latency.as_ref()?;
            let mut outcome = SliceOutcome {
                slice: slice.name.clone(),
                objective: latency.to_string(),
                windows: 0,
                met: 0,
                goodput_mbps: 0.0,
            };
            let mut received = 0;
            let mut from = WINDOW * SETTLING;
            while from + WINDOW <= end {
                let window = Window::of(slice, flows, from, from + WINDOW);
                received += window.received;
                if window.packets > 0 {
                    outcome.windows += 1;
                    let met = match latency.statistic.quantile() {
                        Some(quantile) => window.late <= (1.0 - quantile) * window.packets as f64,
                        None => window.delay_s / window.packets as f64 <= latency.ms / 1e3,
                    };
                    outcome.met += u32::from(met);
                }
                from += WINDOW;
            }
            let seconds = from.saturating_sub(WINDOW * SETTLING).as_secs_f64();
            outcome.goodput_mbps = received as f64 * 8e-6 / seconds.max(1e-9);
            Some(outcome)
        })
        .collect()
}

/// The packets of a slice in a window.
#[derive(Default)]
struct Window {
    packets: u64,
    late: f64,
    delay_s: f64,
    received: u64,
}

impl Window {
    fn of(slice: &SliceConfig, flows: &[FlowResults], from: Duration, to: Duration) -> Self {
        let flows = slice.flows.iter().filter_map(|flow| flows.get(*flow));
        let rows = flows.flat_map(|flow| flow.rows());
        let mut window = Self::default();
        for row in rows.filter(|row: &&ReportRow| row.at > from && row.at <= to) {
            window.packets += row.packets;
            window.late += row.late as f64;
            window.delay_s += row.delay_mean_s * row.packets as f64;
            window.received += row.received_bytes;
        }
        window
    }
}
