//! What a cell is made of.

use crate::linkmodel::lena;
use crate::mac::behaviour::Behaviour;
use crate::mac::feedback::HarqFeedback;
use crate::mac::link::Link;
use crate::radio::mcs::McsTable;
use crate::radio::numerology::{BadPattern, Numerology, SYMBOLS_PER_SLOT, TddPattern};
use crate::rlc::RlcMode;
use policies::report::SNssai;
use serde::{Deserialize, Serialize};

/// Carrier, base station and UEs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CellConfig {
    /// PRBs of the carrier (106: 40 MHz at 30 kHz, TS 38.101-1 table 5.3.2-1).
    pub prbs: u16,
    /// Numerology µ, 0 to 3: slots of 1 ms / 2^µ.
    pub numerology: u8,
    /// Slots made per slot of time, at most 1: a software radio that falls behind the clock makes fewer.
    pub made_slots: f64,
    /// TDD pattern, letters D, S and U.
    pub tdd: String,
    /// Downlink symbols of a special slot (S).
    pub special_symbols: u8,
    /// Symbols at the start of each downlink slot that carry PDCCH instead of data.
    pub control_symbols: u8,
    /// Resource elements per PRB taken by DM-RS and other overhead.
    pub overhead_elements: u16,
    /// The same in a special slot that is shorter than a downlink slot.
    pub special_overhead_elements: u16,
    /// Slots in which broadcast leaves fewer PRBs for data, if any.
    pub broadcast: Option<Broadcast>,
    /// Spatial layers, 1 to 4.
    pub layers: u8,
    /// MCS table.
    pub mcs_table: McsTable,
    /// HARQ processes per UE, 1 to 32.
    pub harq_processes: usize,
    /// Slots from a transmission to the next one of the same HARQ process, unless there is `harq_feedback`.
    pub harq_round_trip_slots: u64,
    /// Feedback in the uplink slots of the TDD pattern; without it, any block's feedback comes in time.
    pub harq_feedback: Option<HarqFeedback>,
    /// PDCP's t-Reordering in ms: how long the UE waits for a missing packet before it delivers later ones. 0: packets
    /// are delivered as they come, out of order after retransmissions (outOfOrderDelivery of TS 38.331).
    pub t_reordering_ms: u64,
    /// Window of the proportional-fair average, downlink slots.
    pub fairness_window: f64,
    /// PRBs that the scheduler hands out at a time.
    pub prb_group: u16,
    /// What the standards leave to the base station.
    pub behaviour: Behaviour,
    /// The UEs.
    pub ues: Vec<UeConfig>,
}

/// One UE with one data radio bearer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UeConfig {
    /// The link.
    pub link: Link,
    /// Probability that a first transmission fails.
    pub first_error: f64,
    /// Probability that a retransmission fails: less, since the receiver combines it with what it has.
    pub retransmission_error: f64,
    /// RLC mode of the bearer, if it is not [`Behaviour::rlc`].
    pub rlc: Option<RlcMode>,
    /// Limit of the RLC queue in octets, PDCP headers included.
    pub queue_limit_bytes: u64,
    /// Traffic that the cell itself makes for this UE, beside what is enqueued.
    pub background: Background,
    /// Slice of the bearer.
    pub slice: SNssai,
}

/// SSB and system information (TS 38.213 clauses 4.1 and 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broadcast {
    /// Slots from one such slot to the next, from slot 0 on.
    pub period_slots: u64,
    /// PRBs that it leaves for data.
    pub prbs_left: u16,
}

/// Background traffic of a UE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Background {
    /// None.
    #[default]
    None,
    /// Always something to send.
    Greedy,
    /// Packets at a constant rate, bit/s (IP level).
    Constant(f64),
}

impl Default for CellConfig {
    fn default() -> Self {
        Self {
            prbs: 106,
            numerology: 1,
            made_slots: 1.0,
            tdd: "DDDSU".to_owned(),
            special_symbols: 10,
            control_symbols: 1,
            overhead_elements: 12,
            special_overhead_elements: 12,
            broadcast: None,
            layers: 1,
            mcs_table: McsTable::Qam64,
            harq_processes: 16,
            harq_round_trip_slots: 8,
            harq_feedback: None,
            t_reordering_ms: 100,
            fairness_window: 100.0,
            prb_group: 8,
            behaviour: Behaviour::default(),
            ues: Vec::new(),
        }
    }
}

impl Default for UeConfig {
    fn default() -> Self {
        Self {
            link: Link::Mcs(28),
            first_error: 0.1,
            retransmission_error: 0.01,
            rlc: None,
            queue_limit_bytes: 1_000_000,
            background: Background::None,
            slice: SNssai { sst: 1, sd: None },
        }
    }
}

/// Why a cell cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CellError {
    /// A value out of its range.
    #[error("{key} = {value}: must be {allowed}")]
    OutOfRange {
        /// Which setting.
        key: String,
        /// The value given.
        value: String,
        /// What would do.
        allowed: &'static str,
    },
    /// The TDD pattern.
    #[error(transparent)]
    Tdd(#[from] BadPattern),
}

fn within<T: PartialOrd + ToString>(
    key: impl ToString,
    value: T,
    range: std::ops::RangeInclusive<T>,
    allowed: &'static str,
) -> Result<(), CellError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(CellError::OutOfRange {
        key: key.to_string(),
        value: value.to_string(),
        allowed,
    })
}

impl CellConfig {
    /// 5G-LENA v3.1 as the papers' simulations used it: 40 MHz at 30 kHz with 4 % overhead (106 PRBs), every slot
    /// flexible with 12 data symbols, OFDMA.
    pub fn lena() -> Self {
        Self {
            tdd: "D".to_owned(),
            control_symbols: 2,
            harq_round_trip_slots: lena::RETRANSMISSION_LAG_SLOTS,
            fairness_window: 99.0,
            prb_group: 1,
            behaviour: Behaviour::lena(),
            ..Self::default()
        }
    }

    /// A deployed gNB as recorded of OpenAirInterface at 40 MHz (`docs/calibration.md`): 7 downlink, 1 mixed and 2 uplink
    /// slots in 5 ms, feedback of two blocks in each of the last three (a lone UE then gets 0.6 of all slots), SSB and SIB1
    /// in every 40th slot, MCS by block errors, RLC AM.
    pub fn gnb() -> Self {
        Self {
            tdd: "DDDDDDDSUU".to_owned(),
            special_symbols: 6,
            special_overhead_elements: 6,
            broadcast: Some(Broadcast {
                period_slots: 40,
                prbs_left: 27,
            }),
            harq_feedback: Some(HarqFeedback {
                min_slots: 6,
                max_slots: 13,
                per_slot: 2,
                processing_slots: 7,
            }),
            fairness_window: 2000.0,
            prb_group: 106,
            behaviour: Behaviour::gnb(),
            ..Self::default()
        }
    }

    /// Checks every value; the numerology and TDD pattern in their parsed form.
    pub fn check(&self) -> Result<(Numerology, TddPattern), CellError> {
        let numerology = Numerology::new(self.numerology).ok_or_else(|| CellError::OutOfRange {
            key: "numerology".to_owned(),
            value: self.numerology.to_string(),
            allowed: "0 to 3",
        })?;
        within("prbs", self.prbs, 1..=275, "1 to 275")?;
        within("made_slots", self.made_slots, 0.1..=1.0, "0.1 to 1")?;
        within(
            "special_symbols",
            self.special_symbols,
            0..=SYMBOLS_PER_SLOT,
            "0 to 14",
        )?;
        within("control_symbols", self.control_symbols, 0..=3, "0 to 3")?;
        within(
            "overhead_elements",
            self.overhead_elements,
            0..=60,
            "0 to 60",
        )?;
        within(
            "special_overhead_elements",
            self.special_overhead_elements,
            0..=60,
            "0 to 60",
        )?;
        if let Some(broadcast) = self.broadcast {
            within(
                "broadcast.period_slots",
                broadcast.period_slots,
                1..=10_240,
                "1 to 10240",
            )?;
        }
        if let Some(feedback) = self.harq_feedback {
            let key = "harq_feedback";
            within(
                format!("{key}.max_slots"),
                feedback.max_slots,
                feedback.min_slots..=64,
                "min_slots to 64",
            )?;
            within(
                format!("{key}.processing_slots"),
                feedback.processing_slots,
                0..=64,
                "0 to 64",
            )?;
        }
        within(
            "behaviour.lost_retransmissions",
            self.behaviour.lost_retransmissions,
            0.0..=1.0,
            "0 to 1",
        )?;
        within("layers", self.layers, 1..=4, "1 to 4")?;
        within("harq_processes", self.harq_processes, 1..=32, "1 to 32")?;
        within(
            "harq_round_trip_slots",
            self.harq_round_trip_slots,
            1..=64,
            "1 to 64",
        )?;
        within(
            "fairness_window",
            self.fairness_window,
            1.0..=1e6,
            "1 to 1000000",
        )?;
        within("prb_group", self.prb_group, 1..=275, "1 to 275")?;
        within("number of ues", self.ues.len(), 0..=4096, "at most 4096")?;
        for (index, ue) in self.ues.iter().enumerate() {
            ue.check(index, self.mcs_table)?;
        }
        Ok((numerology, self.tdd.parse()?))
    }

    /// Bandwidth of the carrier's PRBs, Hz.
    pub fn bandwidth_hz(&self) -> f64 {
        let subcarrier_hz = 15e3 * f64::from(1_u16 << self.numerology.min(3));
        f64::from(self.prbs) * 12.0 * subcarrier_hz
    }

    /// PRBs that a slot has for data.
    pub(super) fn data_prbs(&self, slot: u64) -> u16 {
        match self.broadcast {
            Some(b) if slot.is_multiple_of(b.period_slots) => b.prbs_left.min(self.prbs),
            _ => self.prbs,
        }
    }

    /// PDSCH symbols of a slot.
    pub(super) fn data_symbols(&self, tdd: &TddPattern, slot: u64) -> u8 {
        tdd.downlink_symbols(slot, self.special_symbols)
            .saturating_sub(self.control_symbols)
    }
}

impl UeConfig {
    fn check(&self, index: usize, table: McsTable) -> Result<(), CellError> {
        let key = |name: &str| format!("ues[{index}].{name}");
        const PROBABILITY: &str = "0 to 1";
        within(key("first_error"), self.first_error, 0.0..=1.0, PROBABILITY)?;
        let again = self.retransmission_error;
        within(key("retransmission_error"), again, 0.0..=1.0, PROBABILITY)?;
        match self.link {
            Link::Mcs(mcs) => within(
                key("link.mcs"),
                mcs,
                0..=table.highest(),
                "a row of the MCS table",
            )?,
            Link::SinrDb(db) => within(key("link.sinr_db"), db, -50.0..=100.0, "-50 to 100 dB")?,
        }
        if let Background::Constant(rate) = self.background {
            within(
                key("background.constant"),
                rate,
                0.0..=1e10,
                "0 to 10 Gbit/s",
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_setting() {
        let mut config = CellConfig::default();
        config.ues.push(UeConfig {
            first_error: f64::NAN,
            ..UeConfig::default()
        });
        let message = config.check().unwrap_err().to_string();
        assert_eq!(message, "ues[0].first_error = NaN: must be 0 to 1");
    }

    #[test]
    fn reads_from_toml() {
        let text = "tdd = 'DDDDDDDSUU'\n[[ues]]\nlink = { mcs = 12 }\nbackground = 'greedy'\n\
                    [[ues]]\nlink = { sinr_db = 14.5 }\nbackground = { constant = 2e6 }\nslice = { sst = 1, sd = 5 }";
        let config: CellConfig = toml::from_str(text).unwrap();
        assert_eq!(config.ues[0].background, Background::Greedy);
        assert_eq!(config.ues[1].link, Link::SinrDb(14.5));
        assert!(
            toml::from_str::<CellConfig>("prb = 5").is_err(),
            "typing errors are not ignored"
        );
    }
}
