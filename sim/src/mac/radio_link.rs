//! The radio link of a UE that has a channel: which MCS it gets, and whether a block arrives.

use super::behaviour::Adaptation;
use super::link::LinkState;
use crate::cell::MacCounters;
use crate::channel::Channel;
use crate::linkmodel::bler::{ErrorModel, TRANSMISSIONS};
use crate::linkmodel::lena;
use crate::linkmodel::mutual_information::{Modulation, equivalent_sinr_db};
use crate::linkmodel::outer_loop::OuterLoop;
use crate::radio::mcs::McsTable;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Time between two CSI reports of a deployed gNB (measured: 80 ms).
const CSI_PERIOD: Duration = Duration::from_millis(80);

/// A transmission over the link.
#[derive(Clone, Debug)]
pub struct Transmission {
    /// HARQ process.
    pub process: usize,
    /// 0 is the first transmission.
    pub round: u8,
    /// MCS of the block.
    pub mcs: u8,
    /// Size of the block.
    pub octets: u32,
    /// PRBs it is sent on.
    pub prbs: Range<u16>,
    /// Power above that of a fully used carrier, dB.
    pub boost_db: f64,
}

/// The link.
#[derive(Clone, Debug)]
pub struct RadioLink {
    channel: Channel,
    model: Arc<ErrorModel>,
    /// Sum over the transmissions of each process of the mutual information received.
    information: Vec<f64>,
    adaptation: Adapter,
    carrier_prbs: u16,
    highest_mcs: u8,
    state: LinkState,
}

#[derive(Clone, Debug)]
enum Adapter {
    Lena {
        /// CQIs on their way: (slot from which they count, CQI).
        reports: VecDeque<(u64, u8)>,
        valid_until: u64,
        valid_slots: u64,
    },
    OuterLoop {
        table: McsTable,
        steering: OuterLoop,
        next_csi: Duration,
    },
}

impl RadioLink {
    /// A link over `channel`, on a carrier of `carrier_prbs`, with `processes` HARQ processes.
    pub fn new(
        channel: Channel,
        adaptation: Adaptation,
        table: McsTable,
        carrier_prbs: u16,
        processes: usize,
        slots_per_second: u64,
    ) -> Self {
        let highest_mcs = match adaptation {
            Adaptation::Lena => lena::CODE_RATES.len() as u8 - 1,
            Adaptation::OuterLoop(_) => table.highest(),
        };
        let (model, adaptation) = match adaptation {
            Adaptation::Lena => (
                ErrorModel::lena().clone(),
                Adapter::Lena {
                    reports: VecDeque::new(),
                    valid_until: 0,
                    valid_slots: (lena::CQI_VALID_SECONDS * slots_per_second as f64) as u64,
                },
            ),
            Adaptation::OuterLoop(config) => (
                ErrorModel::of_table(table),
                Adapter::OuterLoop {
                    table,
                    steering: OuterLoop::new(config),
                    next_csi: Duration::ZERO,
                },
            ),
        };
        let mcs = match &adaptation {
            Adapter::Lena { .. } => 0,
            Adapter::OuterLoop { steering, .. } => steering.mcs(),
        };
        Self {
            state: LinkState {
                mcs,
                cqi: 0,
                sinr_db: channel.wideband_db(),
            },
            channel,
            model: Arc::new(model),
            information: vec![0.0; processes],
            adaptation,
            carrier_prbs,
            highest_mcs,
        }
    }

    /// MCS, CQI and SINR.
    pub fn state(&self) -> LinkState {
        self.state
    }

    /// The channel.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// A slot begins.
    pub fn begin_slot(&mut self, slot: u64, now: Duration, mac: &MacCounters) {
        self.channel.advance(now);
        match &mut self.adaptation {
            Adapter::Lena {
                reports,
                valid_until,
                ..
            } => {
                while let Some(&(from, cqi)) = reports.front()
                    && from <= slot
                {
                    reports.pop_front();
                    self.state.cqi = cqi;
                    self.state.mcs = lena::mcs_of_cqi(cqi);
                }
                if *valid_until < slot {
                    self.state.mcs = 0;
                }
            }
            Adapter::OuterLoop {
                table,
                steering,
                next_csi,
            } => {
                steering.update(now, mac.harq[0], mac.harq[1]);
                self.state.mcs = steering.mcs().min(table.highest());
                if now >= *next_csi {
                    *next_csi = now + CSI_PERIOD;
                    self.state.sinr_db = self.channel.wideband_db();
                    self.state.cqi = wideband_cqi(&self.channel, *table, self.carrier_prbs);
                }
            }
        }
        if let Some(mcs) = self.channel.recorded_mcs() {
            self.state.mcs = mcs.min(self.highest_mcs);
        }
    }

    /// Probability that the block of this transmission cannot be decoded, given what its process has received before.
    pub fn error_rate(&mut self, slot: u64, sent: &Transmission) -> f64 {
        let total = self.carrier_prbs;
        let modulation = self.model.modulation(sent.mcs);
        let information = |modulation: Modulation| {
            let prbs = sent.prbs.clone();
            self.channel
                .information(modulation, prbs, total, sent.boost_db)
        };
        let this = information(modulation);
        if let Adapter::Lena {
            reports,
            valid_until,
            valid_slots,
        } = &mut self.adaptation
        {
            let prbs = sent.prbs.end - sent.prbs.start;
            let cqi = lena::cqi(prbs, |m| {
                if m == modulation {
                    this
                } else {
                    information(m)
                }
            });
            reports.push_back((slot + lena::CQI_LAG_SLOTS, cqi));
            *valid_until = slot + lena::CQI_LAG_SLOTS + *valid_slots;
            self.state.sinr_db = self.channel.mean_db(sent.prbs.clone(), total) + sent.boost_db;
        }
        let sum = &mut self.information[sent.process];
        *sum = if sent.round == 0 { this } else { *sum + this };
        let transmissions = usize::from(sent.round) + 1;
        let mean = *sum / transmissions as f64;
        self.model.error_rate(
            sent.mcs,
            sent.octets,
            transmissions.min(TRANSMISSIONS),
            mean,
        )
    }
}

/// CQI of the whole carrier: the highest whose spectral efficiency the mutual information allows at the threshold of
/// the error model (TS 38.214 clause 5.2.2.1: a block of this CQI fails in at most 10 %).
fn wideband_cqi(channel: &Channel, table: McsTable, prbs: u16) -> u8 {
    let information = channel.information(Modulation::Qam64, 0..prbs, prbs, 0.0);
    let sinr_db = equivalent_sinr_db(Modulation::Qam64, information);
    super::link::Link::SinrDb(sinr_db).adapt(table).cqi
}
