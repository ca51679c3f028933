//! KPM measurements of one UE (TS 28.552 clause 5.1), in the units of each dialect.

use super::KpmDialect;
use crate::cell::{Cell, MacCounters};
use crate::measure::downlink_prbs;
use crate::rlc::{PDCP_HEADER, RlcCounters};
use std::time::Duration;

/// What the node can measure, all of it downlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measurement {
    /// Volume of the PDCP SDUs that arrived.
    PdcpSduVolume,
    /// Mean time of RLC SDUs from arrival until they were handed to MAC.
    RlcSduDelay,
    /// Throughput of the UE.
    UeThroughput,
    /// PRBs used.
    PrbTotal,
}

impl Measurement {
    pub(super) const ALL: [Self; 4] = [
        Self::PdcpSduVolume,
        Self::RlcSduDelay,
        Self::UeThroughput,
        Self::PrbTotal,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::PdcpSduVolume => "DRB.PdcpSduVolumeDL",
            Self::RlcSduDelay => "DRB.RlcSduDelayDl",
            Self::UeThroughput => "DRB.UEThpDl",
            Self::PrbTotal => "RRU.PrbTotDl",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// A measured value, in the type that the measurement has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Integer(u32),
    Real(f64),
}

/// Counts at the end of a period.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    mac: MacCounters,
    rlc: RlcCounters,
}

/// What one UE, or all together, did in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Activity {
    arrived_octets: f64,
    sent_pdu_octets: f64,
    sent_sdus: f64,
    sojourn_slots: f64,
    first_prbs: f64,
    retx_prbs: f64,
}

impl Activity {
    /// The difference between UE `ue`'s counts and `last`, which then become the last ones.
    pub(super) fn since(last: &mut Counts, cell: &Cell, ue: usize) -> Self {
        let Some(view) = cell.ue(ue) else {
            return Self::default();
        };
        let difference = |now: u64, last: u64| (now - last) as f64;
        let arrived =
            |rlc: &RlcCounters| rlc.arrived_octets - u64::from(PDCP_HEADER) * rlc.arrived_sdus;
        let activity = Self {
            arrived_octets: difference(arrived(view.rlc), arrived(&last.rlc)),
            sent_pdu_octets: difference(view.rlc.sent_pdu_octets, last.rlc.sent_pdu_octets),
            sent_sdus: difference(view.rlc.sent_sdus, last.rlc.sent_sdus),
            sojourn_slots: difference(view.rlc.sojourn_slots, last.rlc.sojourn_slots),
            first_prbs: difference(view.mac.prbs, last.mac.prbs),
            retx_prbs: difference(view.mac.retx_prbs, last.mac.retx_prbs),
        };
        *last = Counts {
            mac: *view.mac,
            rlc: *view.rlc,
        };
        activity
    }

    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            arrived_octets: self.arrived_octets + other.arrived_octets,
            sent_pdu_octets: self.sent_pdu_octets + other.sent_pdu_octets,
            sent_sdus: self.sent_sdus + other.sent_sdus,
            sojourn_slots: self.sojourn_slots + other.sojourn_slots,
            first_prbs: self.first_prbs + other.first_prbs,
            retx_prbs: self.retx_prbs + other.retx_prbs,
        }
    }

    /// One measurement of a period of `slots` slots.
    pub(super) fn value(
        &self,
        measurement: Measurement,
        dialect: KpmDialect,
        cell: &Cell,
        slots: u64,
    ) -> Value {
        let slots = slots.max(1);
        let kilobits = |octets: f64| octets * 8.0 / 1000.0;
        match measurement {
            Measurement::PdcpSduVolume => {
                let volume = kilobits(self.arrived_octets);
                match dialect {
                    KpmDialect::Oai2024 => Value::Integer(volume as u32),
                    KpmDialect::Oai2026 => Value::Integer((volume / 1000.0) as u32),
                    KpmDialect::Standard => Value::Integer((volume / 1000.0).round() as u32),
                }
            }
            Measurement::RlcSduDelay => {
                let slot = cell.duration(1);
                let mean = self.sojourn_slots / self.sent_sdus.max(1.0);
                Value::Real(slot.as_micros() as f64 * mean / delay_unit(dialect).as_micros() as f64)
            }
            Measurement::UeThroughput => {
                Value::Real(kilobits(self.sent_pdu_octets) / cell.duration(slots).as_secs_f64())
            }
            Measurement::PrbTotal => {
                let percent = |prbs: f64| prbs * 100.0 / (downlink_prbs(cell) * slots as f64);
                match dialect {
                    KpmDialect::Standard => {
                        Value::Integer(percent(self.first_prbs + self.retx_prbs).round() as u32)
                    }
                    KpmDialect::Oai2024 => Value::Integer(self.first_prbs as u32),
                    KpmDialect::Oai2026 => Value::Integer(percent(self.first_prbs) as u32),
                }
            }
        }
    }
}

fn delay_unit(dialect: KpmDialect) -> Duration {
    match dialect {
        KpmDialect::Standard => Duration::from_micros(100),
        KpmDialect::Oai2024 | KpmDialect::Oai2026 => Duration::from_micros(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Background, CellConfig, UeConfig};

    /// A UE that gets 40 Mbit/s for 100 ms, in each dialect.
    fn measured(measurement: Measurement) -> [f64; 3] {
        let ue = UeConfig {
            background: Background::Constant(40e6),
            first_error: 0.0,
            ..UeConfig::default()
        };
        let config = CellConfig {
            ues: vec![ue],
            ..CellConfig::default()
        };
        let mut cell = Cell::new(config, 1).unwrap();
        for _ in 0..200 {
            cell.run_slot();
        }
        let activity = Activity::since(&mut Counts::default(), &cell, 0);
        [
            KpmDialect::Standard,
            KpmDialect::Oai2024,
            KpmDialect::Oai2026,
        ]
        .map(
            |dialect| match activity.value(measurement, dialect, &cell, 200) {
                Value::Integer(n) => f64::from(n),
                Value::Real(x) => x,
            },
        )
    }

    #[test]
    fn volume_is_in_mbit_or_in_kbit() {
        let [standard, kbit, mbit] = measured(Measurement::PdcpSduVolume);
        assert!((3980.0..=4000.0).contains(&kbit), "{kbit}");
        assert_eq!(
            (standard, mbit),
            (4.0, 3.0),
            "OAI cuts, the standard's integer is the nearest"
        );
    }

    #[test]
    fn prbs_are_a_share_or_a_number() {
        let [standard, number, percent] = measured(Measurement::PrbTotal);
        let share = number / (84.8 * 200.0) * 100.0;
        assert!((standard - share).abs() <= 0.5 && (0.0..1.0).contains(&(share - percent)));
        // 40 of the 123 Mbit/s that the cell carries at MCS 28.
        assert!((31.0..35.0).contains(&share), "{share}");
    }

    #[test]
    fn delay_is_in_tenths_of_milliseconds_or_in_microseconds() {
        let [standard, oai, _] = measured(Measurement::RlcSduDelay);
        assert_eq!(oai, standard * 100.0);
        assert!(oai > 0.0 && oai < 1000.0, "an uplink slot at most: {oai}");
    }

    #[test]
    fn throughput_is_in_kbit_per_second() {
        for throughput in measured(Measurement::UeThroughput) {
            assert!((39_000.0..41_000.0).contains(&throughput), "{throughput}");
        }
    }
}
