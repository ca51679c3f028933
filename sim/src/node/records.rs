//! The cell's counts as FlexRIC's MAC and RLC records, filled as OAI fills them.

use crate::cell::{Cell, UeView};
use crate::measure::rnti;
use e2sm::flexric::{MacUe, RlcBearer};

/// HARQ rounds that `dl_harq` counts.
const HARQ_ROUNDS: u32 = 4;
/// RLC modes AM and UM in [`RlcBearer::mode`].
const ACKNOWLEDGED_MODE: u8 = 0;
const UNACKNOWLEDGED_MODE: u8 = 1;
/// Identity of the only data radio bearer.
const BEARER: u8 = 1;

/// One MAC record per UE.
pub(super) fn mac(cell: &Cell) -> Vec<MacUe> {
    // The frame and slot of the slot that was run last.
    let slot = cell.slot().saturating_sub(1);
    let (frame, slot) = cell.numerology().frame_and_slot(slot);
    let record = |(index, ue): (usize, UeView<'_>)| MacUe {
        rnti: u32::from(rnti(index)),
        frame,
        slot,
        dl_aggr_tbs: ue.mac.tbs_octets,
        dl_curr_tbs: u64::from(ue.mac.current_tbs_octets),
        dl_sched_rb: u64::from(ue.mac.current_prbs),
        dl_bler: ue.mac.bler as f32,
        dl_harq: ue.mac.harq.map(wrapped),
        dl_num_harq: HARQ_ROUNDS,
        ul_num_harq: HARQ_ROUNDS,
        dl_aggr_prb: wrapped(ue.mac.prbs),
        dl_aggr_retx_prb: wrapped(ue.mac.retx_prbs),
        dl_aggr_sdus: wrapped(ue.rlc.sent_pdus),
        wb_cqi: ue.link.cqi,
        dl_mcs1: ue.link.mcs,
        ..MacUe::default()
    };
    cell.ues().enumerate().map(record).collect()
}

/// One RLC record per UE. As in OAI, `rxsdu` are the downlink SDUs that arrive from PDCP: all are counted, but only the
/// octets of those that found room.
pub(super) fn rlc(cell: &Cell) -> Vec<RlcBearer> {
    let record = |(index, ue): (usize, UeView<'_>)| RlcBearer {
        rnti: u32::from(rnti(index)),
        mode: match ue.acknowledged {
            true => ACKNOWLEDGED_MODE,
            false => UNACKNOWLEDGED_MODE,
        },
        rbid: BEARER,
        txpdu_pkts: wrapped(ue.rlc.sent_pdus),
        txpdu_bytes: wrapped(ue.rlc.sent_pdu_octets),
        txpdu_retx_pkts: wrapped(ue.rlc.retx_pdus),
        txpdu_retx_bytes: wrapped(ue.rlc.retx_pdu_octets),
        txpdu_segmented: wrapped(ue.rlc.segments),
        txbuf_occ_bytes: u32::try_from(ue.queue_octets).unwrap_or(u32::MAX),
        txsdu_bytes: ue.rlc.sent_sdu_octets,
        txsdu_wt_us: u32::try_from(ue.head_of_line.as_micros()).unwrap_or(u32::MAX),
        rxsdu_pkts: wrapped(ue.rlc.arrived_sdus),
        rxsdu_bytes: ue.rlc.arrived_octets - ue.rlc.refused_octets,
        ..RlcBearer::default()
    };
    cell.ues().enumerate().map(record).collect()
}

/// 32-bit counters wrap.
fn wrapped(count: u64) -> u32 {
    count as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Background, CellConfig, UeConfig};

    #[test]
    fn records_carry_the_counts() {
        let greedy = UeConfig {
            background: Background::Greedy,
            ..UeConfig::default()
        };
        let config = CellConfig {
            ues: vec![UeConfig::default(), greedy],
            ..CellConfig::default()
        };
        let mut cell = Cell::new(config, 1).unwrap();
        for _ in 0..20 * 1024 + 4 {
            cell.run_slot();
        }
        let records = mac(&cell);
        let (idle, busy) = (&records[0], &records[1]);
        assert_eq!(
            (idle.frame, idle.slot),
            (0, 3),
            "the frame number has wrapped"
        );
        assert_eq!((idle.rnti, idle.dl_aggr_tbs), (0x4601, 0));
        assert_eq!(busy.dl_harq[0], cell.ue(1).unwrap().mac.harq[0] as u32);
        assert!(busy.dl_aggr_prb > 106 * 16_000 / 2 && busy.dl_aggr_retx_prb > 0);
        assert_eq!((busy.wb_cqi, busy.dl_mcs1), (15, 28));
        let bearer = &rlc(&cell)[1];
        assert!(bearer.txbuf_occ_bytes > 0 && bearer.txsdu_wt_us > 0);
        assert!(
            bearer.rxsdu_bytes >= bearer.txsdu_bytes + u64::from(bearer.txbuf_occ_bytes) - 3000
        );
    }
}
