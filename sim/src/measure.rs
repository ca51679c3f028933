//! Reports from the cell's cumulative counts: what a controller would have received over E2.

use crate::cell::{Cell, MacCounters};
use crate::mac::behaviour::SchedulerKind;
use crate::rlc::RlcCounters;
use policies::report::{UeId, UeReport};
use std::time::Duration;

/// C-RNTI of the first UE; the others follow.
const FIRST_RNTI: u16 = 0x4601;

/// C-RNTI of a UE of the cell.
pub fn rnti(ue: usize) -> u16 {
    FIRST_RNTI + ue as u16
}

/// Measures one UE: remembers the counts at the end of the last window.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    slot: u64,
    mac: MacCounters,
    rlc: RlcCounters,
}

impl Meter {
    /// The report of the window since the last call (or since slot 0); `None` if the UE does not exist or no slot has passed.
    ///
    /// `cell_prbs` is what the cell can give in downlink, PRBs per slot over all slots.
    pub fn report(&mut self, cell: &Cell, ue: usize, cell_prbs: f64) -> Option<UeReport> {
        let view = cell.ue(ue)?;
        let slots = cell.slot() - self.slot;
        if slots == 0 {
            return None;
        }
        let (mac, rlc) = (view.mac, view.rlc);
        let per_slot = |prbs: u64| prbs as f64 / slots as f64;
        let (prbs, retx_prbs) = match cell.config().behaviour.scheduler {
            // Blocks take a few symbols of the whole carrier.
            SchedulerKind::RoundRobinSymbols => {
                let full = f64::from(cell.longest_slot_symbols().max(1));
                (
                    per_slot(mac.prb_symbols - self.mac.prb_symbols) / full,
                    per_slot(mac.retx_prb_symbols - self.mac.retx_prb_symbols) / full,
                )
            }
            _ => (
                per_slot(mac.prbs - self.mac.prbs),
                per_slot(mac.retx_prbs - self.mac.retx_prbs),
            ),
        };
        let report = UeReport {
            ue: UeId::CRnti(rnti(ue)),
            start: cell.duration(self.slot),
            length: cell.duration(slots),
            ran_time_us: None,
            prbs: Some(prbs + retx_prbs),
            retx_prbs: Some(retx_prbs),
            cell_prbs,
            used_prbs: None,
            mcs: Some(f64::from(view.link.mcs)),
            tb_sent: Some(mac.harq[0] - self.mac.harq[0]),
            tb_retx: Some(mac.retransmissions() - self.mac.retransmissions()),
            tb_failed: Some(mac.harq[4] - self.mac.harq[4]),
            sinr_db: Some(view.link.sinr_db),
            cqi: (view.link.cqi > 0).then_some(view.link.cqi),
            delivered_bytes: Some(rlc.sent_sdu_octets - self.rlc.sent_sdu_octets),
            arrived_bytes: Some(rlc.arrived_octets - self.rlc.arrived_octets),
            queue_bytes: Some(view.queue_octets),
            head_of_line: Some(view.head_of_line),
            rlc_delay: None,
            slice: Some(view.config.slice),
        };
        *self = Self {
            slot: cell.slot(),
            mac: *mac,
            rlc: *rlc,
        };
        Some(report)
    }
}

/// PRBs per slot that a cell can give in downlink, averaged over all slots.
pub fn downlink_prbs(cell: &Cell) -> f64 {
    f64::from(cell.config().prbs) * cell.downlink_share()
}

/// One window's length as a whole number of slots, at least one.
pub fn slots(cell: &Cell, length: Duration) -> u64 {
    let slot = cell.duration(1).as_nanos();
    (length.as_nanos() / slot).max(1) as u64
}
