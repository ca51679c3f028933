//! How a base station behaves where the standards leave it free: the choices that make up a profile.

use crate::channel::PowerAllocation;
use crate::linkmodel::outer_loop::OuterLoopConfig;
use crate::rlc::{AmConfig, RlcMode};
use serde::{Deserialize, Serialize};

/// The choices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Behaviour {
    /// Transport block sizes.
    pub block_sizes: BlockSizes,
    /// Link adaptation of UEs that have a channel.
    pub adaptation: Adaptation,
    /// Who gets which resources.
    pub scheduler: SchedulerKind,
    /// Averages of the proportional-fair scheduler move only in slots in which the UE has data.
    pub average_while_active: bool,
    /// New data may share a slot with retransmissions.
    pub mixed_slots: bool,
    /// Probability that a retransmission over a channel fails although its SINR suffices.
    pub lost_retransmissions: f64,
    /// Power over the PRBs.
    pub power: PowerAllocation,
    /// What uplink data costs.
    pub uplink: Uplink,
    /// RLC mode of the data radio bearers.
    pub rlc: RlcMode,
}

/// Transport block sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSizes {
    /// TS 38.214 clause 5.1.3.2.
    #[default]
    Nr,
    /// 5G-LENA's formula ([`crate::linkmodel::lena::transport_block_octets`]).
    Lena,
}

/// Link adaptation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adaptation {
    /// The CQI of every block received, mapped to even MCSs after a fixed lag ([`crate::linkmodel::lena`]).
    Lena,
    /// MCS steered by the block error rate ([`crate::linkmodel::outer_loop`]).
    OuterLoop(OuterLoopConfig),
}

impl Default for Adaptation {
    fn default() -> Self {
        Self::OuterLoop(OuterLoopConfig::default())
    }
}

/// Scheduler of new data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchedulerKind {
    /// Proportional fair, PRB group by PRB group.
    #[default]
    ProportionalFair,
    /// Round robin, PRB group by PRB group.
    RoundRobin,
    /// Round robin in time: one symbol of the whole carrier after the other.
    RoundRobinSymbols,
}

/// What uplink data costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uplink {
    /// The cell carries no uplink data; whoever drives it delays the acknowledgements.
    #[default]
    None,
    /// Sent in the uplink slots of the TDD pattern, once granted.
    UplinkSlots {
        /// Slots from the request to the first slot granted.
        grant_slots: u64,
    },
    /// Sent in any slot, which then carries no downlink (5G-LENA with an OFDMA scheduler).
    WholeSlots {
        /// Slots from the arrival at an idle UE to the slot granted.
        first_slots: u64,
        /// Slots from one grant to the next while data is left.
        loop_slots: u64,
    },
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            block_sizes: BlockSizes::default(),
            adaptation: Adaptation::default(),
            scheduler: SchedulerKind::default(),
            average_while_active: false,
            mixed_slots: true,
            lost_retransmissions: 0.0,
            power: PowerAllocation::default(),
            uplink: Uplink::default(),
            rlc: RlcMode::default(),
        }
    }
}

impl Behaviour {
    /// A deployed gNB, with OpenAirInterface's link adaptation.
    pub fn gnb() -> Self {
        Self {
            // 68 of 4142 in run A of the recordings, at SINRs from 7 to 18 dB alike.
            lost_retransmissions: 0.016,
            uplink: Uplink::UplinkSlots { grant_slots: 8 },
            rlc: RlcMode::Acknowledged(AmConfig::default()),
            ..Self::default()
        }
    }

    /// 5G-LENA v3.1 with an OFDMA scheduler, as measured.
    pub fn lena() -> Self {
        Self {
            block_sizes: BlockSizes::Lena,
            adaptation: Adaptation::Lena,
            scheduler: SchedulerKind::ProportionalFair,
            average_while_active: true,
            mixed_slots: false,
            lost_retransmissions: 0.0,
            power: PowerAllocation::UsedPrbs,
            uplink: Uplink::WholeSlots {
                first_slots: 7,
                loop_slots: 6,
            },
            rlc: RlcMode::Unacknowledged,
        }
    }
}
