//! From a scenario to a simulation.

use super::{
    ChannelSpec, ControlSpec, DelaySpec, FlowSpec, Scenario, ScenarioError, SenderKind, Time,
};
use crate::cell::{Cell, CellConfig, UeConfig};
use crate::channel::replay::Replay;
use crate::channel::{Channel, Model};
use crate::link::{Link, Opportunities, Service};
use crate::random::{Xoshiro256PlusPlus, stream};
use crate::senders::CongestionControl;
use crate::senders::bbr1::Bbr1;
use crate::senders::bbr3::Bbr3;
use crate::senders::cubic::Cubic;
use crate::senders::reminis::{Reminis, ReminisConfig};
use crate::simulation::{
    Arms, Control, Delays, FlowConfig, InCell, MakeController, SenderConfig, Simulation,
    SliceConfig,
};
use crate::tcp::sender::TcpConfig;
use policies::controller::RateBounds;
use policies::experiment::Trial;
use policies::gain::{GainParameters, GainPolicy};
use policies::guard::GuardRails;
use policies::model::{Bundle, Card, Folder, Native, Network};
use policies::slice::SlicePolicy;
use rand::Rng;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Payload of a UDP packet unless said: 5G-LENA's best-effort example.
const UDP_PAYLOAD: u32 = 1252;
/// Rate of a guided flow at its start, Mbit/s.
const INITIAL_MBPS: f64 = 1.0;
/// Bounds of a guided flow's rate, Mbit/s.
const RATE_MBPS: (f64, f64) = (0.1, 60.0);

impl Scenario {
    /// The simulation for one seed; files are named from `folder`.
    pub fn build(&self, seed: u64, folder: &Path) -> Result<Simulation, ScenarioError> {
        let config = self.cell_config()?;
        let bandwidth_hz = config.bandwidth_hz();
        let mut cell = Cell::new(config, seed)?;
        let channels = self.ues.iter().flat_map(|ue| {
            std::iter::repeat_n(ue.channel.as_ref().unwrap_or(&self.channel), ue.count)
        });
        for (ue, spec) in channels.enumerate() {
            cell.set_channel(ue, spec.channel(bandwidth_hz, seed, ue, folder)?);
        }
        let links = self.links(seed, folder)?;
        let model = self.model(folder)?;
        let card = model.as_ref().map(|(card, _)| card);
        let flows = self.flows.iter().enumerate();
        let flows = flows
            .map(|(index, spec)| self.flow(spec, index, seed, &cell, card))
            .collect::<Result<_, _>>()?;
        let mut simulation = Simulation::new(cell, self.delays.into(), self.control.into(), flows);
        if let Some((_, network)) = model {
            simulation.set_model(Box::new(network));
        }
        for (ue, link) in links {
            simulation.set_link(ue, link);
        }
        simulation.set_slices(self.slice_configs()?);
        Ok(simulation)
    }

    /// The model that learned policies run, checked.
    fn model(&self, folder: &Path) -> Result<Option<(Arc<Card>, Native)>, ScenarioError> {
        let Some(model) = &self.model else {
            return Ok(None);
        };
        let folder = folder.join(model);
        let load = || {
            let bundle = Bundle::new(Folder::read(&folder)?)?;
            let mut network = Native::new(&Network::from_onnx(bundle.actor())?);
            bundle.check(&mut network)?;
            Ok((Arc::new(bundle.card().clone()), network))
        };
        match load() {
            Ok(model) => Ok(Some(model)),
            Err(error) => Err(ScenarioError::Model { folder, error }),
        }
    }

    /// The slices with their flows.
    pub fn slice_configs(&self) -> Result<Vec<SliceConfig>, ScenarioError> {
        let mut slices = Vec::new();
        for (index, slice) in self.slices.iter().enumerate() {
            let policy = SlicePolicy::new(&slice.name, slice.policy.clone());
            policy.check().map_err(|error| ScenarioError::Value {
                key: format!("slices[{index}].{}", error.path),
                reason: error.reason,
            })?;
            let flows = self.flows.iter().enumerate();
            let flows = flows.filter(|(_, flow)| flow.slice.as_ref() == Some(&slice.name));
            slices.push(SliceConfig {
                name: slice.name.clone(),
                spec: slice.policy.clone(),
                flows: flows.map(|(index, _)| index).collect(),
            });
        }
        for (index, flow) in self.flows.iter().enumerate() {
            if let Some(name) = &flow.slice
                && !self.slices.iter().any(|slice| slice.name == *name)
            {
                return Err(ScenarioError::Value {
                    key: format!("flows[{index}].slice"),
                    reason: format!("no slice is named {name:?}"),
                });
            }
        }
        Ok(slices)
    }

    /// The links of the UEs that are not reached through the cell.
    fn links(&self, seed: u64, folder: &Path) -> Result<Vec<(usize, Link<InCell>)>, ScenarioError> {
        let mut links = Vec::new();
        let ues = self
            .ues
            .iter()
            .flat_map(|ue| std::iter::repeat_n(ue, ue.count));
        for (index, ue) in ues.enumerate() {
            let trace = match (&ue.mahimahi, &ue.fluctuating) {
                (Some(file), _) => opportunities(file, folder)?,
                (None, Some(fluctuation)) => {
                    let mut random = stream(seed, "capacity", index as u64);
                    fluctuation.opportunities(self.duration_s, &mut random)
                }
                (None, None) => continue,
            };
            let link = Link::new(Service::Trace(trace), ue.queue_limit_bytes);
            links.push((index, link));
        }
        let mut flows = self.flows.iter();
        let blind = flows
            .position(|flow| flow.sender.guided() && links.iter().any(|&(ue, _)| ue == flow.ue));
        match blind {
            None => Ok(links),
            Some(flow) => Err(ScenarioError::Value {
                key: format!("flows[{flow}].sender"),
                reason: "a guided flow needs the cell's reports; its UE is not in the cell"
                    .to_owned(),
            }),
        }
    }

    /// The cell's configuration: the profile's, overridden by what the scenario says.
    pub fn cell_config(&self) -> Result<CellConfig, ScenarioError> {
        let config = CellConfig::from_table(self.cell.clone(), CellConfig::gnb());
        let mut config = config.map_err(|error| ScenarioError::Value {
            key: "cell".to_owned(),
            reason: error.to_string(),
        })?;
        config.ues = self
            .ues
            .iter()
            .flat_map(|ue| {
                let config = UeConfig {
                    queue_limit_bytes: ue.queue_limit_bytes,
                    ..UeConfig::default()
                };
                std::iter::repeat_n(config, ue.count)
            })
            .collect();
        Ok(config)
    }

    fn flow(
        &self,
        spec: &FlowSpec,
        index: usize,
        seed: u64,
        cell: &Cell,
        model: Option<&Arc<Card>>,
    ) -> Result<FlowConfig, ScenarioError> {
        let wrong = |key: &str, reason: String| ScenarioError::Value {
            key: format!("flows[{index}].{key}"),
            reason,
        };
        let ues = cell.ue_count();
        if spec.ue >= ues {
            return Err(wrong(
                "ue",
                format!("must be below {ues}, the number of UEs"),
            ));
        }
        if let Some(key) = spec.foreign_parameter() {
            return Err(wrong(
                key,
                format!("the sender {:?} has no such parameter", spec.sender.name()),
            ));
        }
        let mut random = stream(seed, "timing", index as u64);
        let start = draw(spec.start_s.unwrap_or(Time::At(0.0)), &mut random);
        let stop = draw(
            spec.stop_s.unwrap_or(Time::At(self.duration_s)),
            &mut random,
        );
        let stop = stop.max(start + spec.at_least_s.unwrap_or(0.0));
        let seconds = |value: f64, key: &str| {
            Duration::try_from_secs_f64(value).map_err(|e| wrong(key, e.to_string()))
        };
        let name = spec.name.clone();
        let name = name.unwrap_or_else(|| format!("{} {index}", spec.sender.name()));
        Ok(FlowConfig {
            name,
            ue: spec.ue,
            start: seconds(start, "start_s")?,
            stop: seconds(stop, "stop_s")?,
            sender: self.sender(spec, index, seed, cell.duration(1), model)?,
        })
    }

    fn sender(
        &self,
        spec: &FlowSpec,
        index: usize,
        seed: u64,
        tti: Duration,
        model: Option<&Arc<Card>>,
    ) -> Result<SenderConfig, ScenarioError> {
        let tcp = TcpConfig {
            segment: spec.payload.unwrap_or(TcpConfig::default().segment).max(1),
            ..TcpConfig::default()
        };
        let random = |purpose| stream(seed, purpose, index as u64);
        let control: Box<dyn CongestionControl> = match spec.sender {
            SenderKind::Rapid => return self.guided(spec, GainPolicy::Rapid, index, model),
            SenderKind::RapidPeak => return self.guided(spec, GainPolicy::RapidPeak, index, model),
            SenderKind::Prism => return self.guided(spec, GainPolicy::Prism, index, model),
            SenderKind::Choir | SenderKind::ChoirTti | SenderKind::Scone | SenderKind::Video => {
                return self.video(spec, index, tti);
            }
            SenderKind::Cbr => {
                let mbps = spec.mbps.ok_or_else(|| ScenarioError::Value {
                    key: format!("flows[{index}].mbps"),
                    reason: "missing: a constant-rate flow needs its rate".to_owned(),
                })?;
                return Ok(SenderConfig::Constant {
                    bps: mbps * 1e6,
                    payload: spec.payload(),
                });
            }
            SenderKind::Cubic if spec.hystart == Some(false) => {
                Box::new(Cubic::without_hystart(tcp.segment))
            }
            SenderKind::Cubic => Box::new(Cubic::new(tcp.segment)),
            SenderKind::Bbr1 => Box::new(Bbr1::new(tcp.segment, random("bbr"))),
            SenderKind::Bbr3 => Box::new(Bbr3::new(tcp.segment, random("bbr"))),
            SenderKind::Reminis => {
                let config = ReminisConfig {
                    tolerance_ms: spec.tolerance_ms,
                    ..ReminisConfig::default()
                };
                Box::new(Reminis::new(tcp.segment, config, random("reminis")))
            }
        };
        Ok(SenderConfig::Tcp {
            control,
            config: tcp,
        })
    }

    fn gain_parameters(&self, spec: &FlowSpec) -> GainParameters {
        GainParameters {
            k: spec.k.unwrap_or(0.5),
            gamma_bps_per_prb: spec.gamma_mbps.unwrap_or(1.0) * 1e6,
            initial_bps: spec.initial_mbps.unwrap_or(INITIAL_MBPS) * 1e6,
            report_interval: Duration::from_millis(self.control.report_interval_ms),
            guard: spec.guard.unwrap_or(true).then(GuardRails::default),
            ..GainParameters::default()
        }
    }

    /// The simulation of one seed, its guided flows in an experiment. An arm without gain policies leaves the flow's own.
    ///
    /// # Errors
    /// As [`Self::build`], and where an arm has no gain policy that can run here.
    pub fn build_experiment(
        &self,
        seed: u64,
        folder: &Path,
        trial: Trial,
        cell: &str,
    ) -> Result<Simulation, ScenarioError> {
        let mut simulation = self.build(seed, folder)?;
        let card = self.model(folder)?.map(|(card, _)| card);
        let arms = trial.experiment().spec.arms.len();
        let mut makers = Vec::new();
        for (flow, spec) in self.flows.iter().enumerate() {
            let parameters = self.gain_parameters(spec);
            let mut policies = Vec::new();
            for arm in 0..arms {
                let settings = trial.experiment().settings(arm);
                let wanted = settings.map_or(&[][..], |arm| &arm.gain_policies);
                let own = spec.sender.gain_policy();
                let runs =
                    |policy: &&GainPolicy| policy.controller(&parameters, card.as_ref()).is_ok();
                match (wanted.iter().find(runs), wanted.first()) {
                    (Some(policy), _) => policies.push(Some(*policy)),
                    (None, None) => policies.push(own),
                    (None, Some(policy)) => {
                        let error = policy.controller(&parameters, card.as_ref()).err();
                        let error = error.unwrap_or(policies::Error::NoModel { policy: *policy });
                        return Err(ScenarioError::Controller { flow, error });
                    }
                }
            }
            let card = card.clone();
            let make: MakeController = Box::new(move |arm| {
                let policy = policies.get(arm).copied().flatten()?;
                policy.controller(&parameters, card.as_ref()).ok()
            });
            makers.push(spec.sender.guided().then_some(make));
        }
        simulation.set_experiment(Arms::new(trial, cell, makers));
        Ok(simulation)
    }

    fn guided(
        &self,
        spec: &FlowSpec,
        policy: GainPolicy,
        index: usize,
        model: Option<&Arc<Card>>,
    ) -> Result<SenderConfig, ScenarioError> {
        let controller = policy.controller(&self.gain_parameters(spec), model);
        Ok(SenderConfig::Guided {
            controller: controller
                .map_err(|error| ScenarioError::Controller { flow: index, error })?,
            bounds: RateBounds {
                min_bps: spec.min_mbps.unwrap_or(RATE_MBPS.0) * 1e6,
                max_bps: spec.max_mbps.unwrap_or(RATE_MBPS.1) * 1e6,
            },
            anti_windup: spec.anti_windup,
            payload: spec.payload(),
        })
    }
}

impl FlowSpec {
    /// Payload of a UDP packet, octets.
    pub(super) fn payload(&self) -> u32 {
        self.payload.unwrap_or(UDP_PAYLOAD).max(1)
    }

    /// A parameter that is given although the sender does not have it.
    fn foreign_parameter(&self) -> Option<&'static str> {
        let guided = self.sender.guided();
        let video = self.sender.video();
        let rapid = guided && !video;
        let adapts = (guided || video) && self.sender != SenderKind::Video;
        let station = matches!(self.sender, SenderKind::ChoirTti | SenderKind::Scone);
        let constant = matches!(self.sender, SenderKind::Cbr | SenderKind::Video);
        let given = [
            ("mbps", self.mbps.is_some(), constant),
            ("k", self.k.is_some(), rapid),
            ("gamma_mbps", self.gamma_mbps.is_some(), rapid),
            ("initial_mbps", self.initial_mbps.is_some(), adapts),
            ("min_mbps", self.min_mbps.is_some(), adapts),
            ("max_mbps", self.max_mbps.is_some(), adapts),
            ("anti_windup", self.anti_windup.is_some(), rapid),
            ("frames_per_second", self.frames_per_second.is_some(), video),
            ("response_frames", self.response_frames.is_some(), video),
            ("smoothing", self.smoothing.is_some(), video),
            ("pacing", self.pacing.is_some(), video),
            ("feedback_ms", self.feedback_ms.is_some(), station),
            ("choir", self.choir.is_some(), video && adapts),
            (
                "guard",
                self.guard.is_some(),
                self.sender == SenderKind::Prism,
            ),
            (
                "tolerance_ms",
                self.tolerance_ms.is_some(),
                self.sender == SenderKind::Reminis,
            ),
            (
                "hystart",
                self.hystart.is_some(),
                self.sender == SenderKind::Cubic,
            ),
        ];
        given
            .into_iter()
            .find(|&(_, given, fits)| given && !fits)
            .map(|(key, ..)| key)
    }
}

fn draw(time: Time, random: &mut Xoshiro256PlusPlus) -> f64 {
    match time {
        Time::At(seconds) => seconds,
        Time::Between([from, to]) => from + (to - from) * random.random::<f64>(),
    }
}

impl ChannelSpec {
    /// The channel of UE number `ue` over `bandwidth_hz`; files are named from `folder`.
    pub fn channel(
        &self,
        bandwidth_hz: f64,
        seed: u64,
        ue: usize,
        folder: &Path,
    ) -> Result<Channel, ScenarioError> {
        Ok(match self {
            Self::Fixed { sinr_db } => Channel::fixed(*sinr_db),
            Self::IndoorOffice {
                mobility,
                budget,
                fading,
                redraw_s,
            } => {
                let redraw = redraw_s.map(Duration::try_from_secs_f64).transpose();
                let model = Model {
                    mobility: *mobility,
                    budget: *budget,
                    fading: *fading,
                    redraw: redraw.map_err(|error| ScenarioError::Value {
                        key: "channel.redraw_s".to_owned(),
                        reason: error.to_string(),
                    })?,
                    bandwidth_hz,
                };
                Channel::modelled(model, seed, ue as u64)
            }
            Self::Trace { file, ue } => {
                let file = folder.join(file);
                let text = std::fs::read_to_string(&file).map_err(|error| ScenarioError::Read {
                    file: file.clone(),
                    error,
                })?;
                let replay = Replay::from_csv(&text, *ue);
                Channel::replayed(replay.map_err(|error| ScenarioError::Trace { file, error })?)
            }
        })
    }
}

pub(super) fn ms(value: f64) -> Duration {
    Duration::try_from_secs_f64(value / 1e3).unwrap_or_default()
}

impl From<DelaySpec> for Delays {
    fn from(spec: DelaySpec) -> Self {
        Self {
            wired: ms(spec.wired_ms),
            scheduling_slots: spec.scheduling_slots,
            decoding: ms(spec.decoding_ms),
            uplink: ms(spec.uplink_ms),
        }
    }
}

impl From<ControlSpec> for Control {
    fn from(spec: ControlSpec) -> Self {
        Self {
            report_interval: Duration::from_millis(spec.report_interval_ms.max(1)),
            control_interval: Duration::from_millis(spec.control_interval_ms.max(1)),
            target_factor: spec.target_factor,
            denominator: spec.denominator,
            feedback: spec.feedback,
        }
    }
}

fn opportunities(file: &Path, folder: &Path) -> Result<Opportunities, ScenarioError> {
    let file = folder.join(file);
    match std::fs::read_to_string(&file) {
        Ok(text) => {
            Opportunities::parse(&text).map_err(|error| ScenarioError::LinkTrace { file, error })
        }
        Err(error) => Err(ScenarioError::Read { file, error }),
    }
}
