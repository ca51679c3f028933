//! Video flows of a scenario.

use super::build::ms;
use super::{FlowSpec, Scenario, ScenarioError, SenderKind};
use crate::senders::video::VideoConfig;
use crate::simulation::{BaseStation, Delays, Law, SenderConfig, VideoGuidance};
use policies::choir::sender::SenderParameters;
use policies::choir::{Choir, ChoirFlow, PerTti};
use policies::controller::RateBounds;
use std::time::Duration;

/// Video bitrates without a setting, Mbit/s: at the start, lowest and highest.
const VIDEO_MBPS: (f64, f64, f64) = (2.0, 0.5, 300.0);
/// Time between acknowledgements with guidance without a setting: a period of the TDD pattern DDDSU, ms.
const FEEDBACK_MS: f64 = 2.5;

impl Scenario {
    /// The sender of a video flow in a cell with TTIs of this length.
    pub(super) fn video(
        &self,
        spec: &FlowSpec,
        index: usize,
        tti: Duration,
    ) -> Result<SenderConfig, ScenarioError> {
        let value = |given: Option<f64>, default: f64, key: &str| {
            let value = given.unwrap_or(default);
            if value.is_finite() && value > 0.0 {
                return Ok(value);
            }
            Err(ScenarioError::Value {
                key: format!("flows[{index}].{key}"),
                reason: format!("{value} is not above 0"),
            })
        };
        let frames_per_second = value(spec.frames_per_second, 60.0, "frames_per_second")?;
        let start = spec.mbps.or(spec.initial_mbps);
        let start_bps = value(start, VIDEO_MBPS.0, "initial_mbps")? * 1e6;
        let min_bps = value(spec.min_mbps, VIDEO_MBPS.1, "min_mbps")? * 1e6;
        let max_bps = value(spec.max_mbps, VIDEO_MBPS.2, "max_mbps")? * 1e6;
        let rate = SenderParameters {
            smoothing: spec.smoothing.unwrap_or(1),
            pacing: value(spec.pacing, 1.25, "pacing")?,
            min_bps,
            max_bps: max_bps.max(min_bps),
            ..SenderParameters::default()
        };
        let delays = Delays::from(self.delays);
        let law = spec.choir.unwrap_or_default();
        let frame_interval = Duration::from_secs_f64(1.0 / frames_per_second);
        let guidance = match spec.sender {
            SenderKind::Choir => {
                let e2_delay = ms(self.control.e2_delay_ms);
                let flow = ChoirFlow {
                    report_period: Duration::from_millis(self.control.report_interval_ms),
                    e2_delay,
                    wired: delays.wired,
                    frame_interval: Some(frame_interval),
                };
                VideoGuidance::Reports {
                    controller: Box::new(Choir::new(law, flow, start_bps)),
                    bounds: RateBounds { min_bps, max_bps },
                    delay: e2_delay + delays.wired,
                }
            }
            SenderKind::ChoirTti | SenderKind::Scone => {
                let which = match spec.sender {
                    SenderKind::Scone => Law::Scone,
                    _ => Law::Choir,
                };
                let choir = PerTti::new(law, tti, delays.wired);
                let every = ms(value(spec.feedback_ms, FEEDBACK_MS, "feedback_ms")?);
                let station = BaseStation::new(which, choir, every, delays.wired);
                VideoGuidance::BaseStation(Box::new(station))
            }
            _ => VideoGuidance::Nobody,
        };
        Ok(SenderConfig::Video {
            config: VideoConfig {
                frames_per_second,
                response_frames: spec.response_frames.unwrap_or(1),
                payload: spec.payload(),
                start_bps,
                rate,
            },
            guidance,
        })
    }
}
