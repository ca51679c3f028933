//! Frame-based video: from guidance to an encoder bitrate and a pacing rate.
//!
//! ```
//! use edge::{guidance::{Pacing, Phase}, video::{SenderParameters, VideoRate, bitrate_bps}};
//! use std::time::Duration;
//! let mut rate = VideoRate::new(SenderParameters::default(), 2e6);
//! let pacing = Pacing {
//!     rate_bps: 30e6,
//!     phase: Phase::Guided,
//!     sequence: 7,
//!     target_bitrate_bps: Some(28e6),
//!     pacing_rate_bps: Some(35e6),
//!     reason: None,
//! };
//! // Whenever the flow's pacing changes:
//! rate.guided(bitrate_bps(&pacing));
//! // Whenever the receiver reports octets:
//! rate.acknowledged(Duration::from_millis(1), 50_000);
//! // For every frame: its bitrate, and the rate at which its packets go.
//! assert_eq!(rate.next_frame(), 28e6);
//! assert_eq!(rate.pacing_bps(Duration::from_millis(2)), 1.25 * 28e6);
//! ```

use crate::guidance::Pacing;
pub use policies::choir::sender::{SenderParameters, VideoRate};

/// The bitrate that a flow's guidance allows its encoder, bit/s: the target bitrate where the xApp gives one, else the rate, which
/// outlives the guidance (held, fallback) and has a floor.
pub fn bitrate_bps(pacing: &Pacing) -> f64 {
    pacing.target_bitrate_bps.unwrap_or(pacing.rate_bps)
}
