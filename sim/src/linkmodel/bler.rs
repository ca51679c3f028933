//! Block error rate of a transport block and its retransmissions against mutual information.
//!
//! A code block fails with probability Q((I − b)/c), I being the mutual information per coded bit averaged over the PRBs
//! and over the transmissions received so far; b and c depend on MCS, transmission and code block size. `lte_mi.csv`
//! holds b (`mean`) and c (`deviation`), fitted to the transport block error rates measured of 5G-LENA's default error
//! model (ns-3's LTE-MI after IEEE 802.16m-08/004r5), for three block sizes per MCS and 1 to 4 transmissions.
//! The combining gain (incremental redundancy lowers the code rate, and with it b) is part of the table.

use super::mutual_information::{Modulation, mutual_information};
use crate::radio::mcs::McsTable;
use std::sync::LazyLock;

/// Bits of the largest code block of the LTE-MI model (TS 36.212 clause 5.1.2) and of its CRC.
const LARGEST_CODE_BLOCK: u32 = 6144;
const CRC_BITS: u32 = 24;
/// Beyond so many deviations the normal distribution has no tail (10⁻²³).
const HIGHEST_Z: f64 = 10.0;
/// Transmissions of a block at most.
pub const TRANSMISSIONS: usize = 4;

/// Threshold and width of one curve at one code block size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    log_bits: f64,
    mean: f64,
    deviation: f64,
}

impl Point {
    /// The error rate is 0 to the precision of [`upper_tail`].
    fn fails_never(&self, information: f64) -> bool {
        information > self.mean + HIGHEST_Z * self.deviation
    }
}

/// Block error curves of the MCSs of one table.
#[derive(Clone, Debug)]
pub struct ErrorModel {
    /// By MCS and transmission (0 is the first): points of growing block size.
    curves: Vec<[Vec<Point>; TRANSMISSIONS]>,
    modulations: Vec<Modulation>,
}

static LENA: LazyLock<ErrorModel> = LazyLock::new(|| {
    let mut curves = vec![[const { Vec::new() }; TRANSMISSIONS]; super::lena::CODE_RATES.len()];
    for line in include_str!("lte_mi.csv").lines().skip(1) {
        let fields: Vec<f64> = line.split(',').filter_map(|f| f.parse().ok()).collect();
        if let [mcs, transmission, bits, mean, deviation] = fields[..] {
            curves[mcs as usize][transmission as usize - 1].push(Point {
                log_bits: bits.ln(),
                mean,
                deviation,
            });
        }
    }
    let modulation = |mcs| Modulation::of_order(super::lena::modulation_order(mcs));
    let modulations = (0..curves.len() as u8).map(modulation).collect();
    ErrorModel {
        curves,
        modulations,
    }
});

impl ErrorModel {
    /// The error model of 5G-LENA's default configuration.
    pub fn lena() -> &'static Self {
        &LENA
    }

    /// A model for the MCSs of TS 38.214: the first-transmission thresholds of the LTE-MI curves, read as a function of
    /// modulation and code rate, with the rate divided by the number of transmissions. LDPC differs from the turbo
    /// codes behind those curves by a few tenths of a decibel.
    pub fn of_table(table: McsTable) -> Self {
        let rows = table.rows();
        let modulations: Vec<_> = rows
            .iter()
            .map(|mcs| Modulation::of_order(mcs.modulation_order))
            .collect();
        let curves = rows
            .iter()
            .zip(&modulations)
            .map(|(mcs, &modulation)| {
                std::array::from_fn(|retransmissions| {
                    let rate = mcs.code_rate() / (retransmissions + 1) as f64;
                    vec![threshold_at_rate(modulation, rate)]
                })
            })
            .collect();
        Self {
            curves,
            modulations,
        }
    }

    /// The modulation of an MCS.
    pub fn modulation(&self, mcs: u8) -> Modulation {
        self.modulations[self.row(mcs)]
    }

    fn row(&self, mcs: u8) -> usize {
        usize::from(mcs).min(self.curves.len() - 1)
    }

    /// Probability that a block of `octets` is not decoded after `transmissions` (1 to 4) whose mutual information was
    /// `information` on average.
    pub fn error_rate(&self, mcs: u8, octets: u32, transmissions: usize, information: f64) -> f64 {
        let curve = &self.curves[self.row(mcs)][transmissions.clamp(1, TRANSMISSIONS) - 1];
        // Most blocks are received far better than they need to be.
        if curve.iter().all(|point| point.fails_never(information)) {
            return 0.0;
        }
        let (blocks, bits) = code_blocks(octets);
        let (mean, deviation) = interpolate(curve, bits.ln());
        let block_error = upper_tail((information - mean) / deviation);
        1.0 - (1.0 - block_error).powi(blocks as i32)
    }

    /// The same at a flat SINR in dB, equal in all transmissions.
    pub fn error_rate_at(&self, mcs: u8, octets: u32, transmissions: usize, sinr_db: f64) -> f64 {
        let information = mutual_information(self.modulation(mcs), sinr_db);
        self.error_rate(mcs, octets, transmissions, information)
    }
}

/// Threshold of a code of this rate: b/R interpolated between the MCSs of the modulation.
fn threshold_at_rate(modulation: Modulation, rate: f64) -> Point {
    // Code blocks of a few thousand bits, as a well-filled slot has.
    let typical = f64::from(LARGEST_CODE_BLOCK).ln();
    let known: Vec<(f64, f64, f64)> = (0..LENA.curves.len())
        .filter(|&mcs| LENA.modulations[mcs] == modulation)
        .map(|mcs| {
            let (mean, deviation) = interpolate(&LENA.curves[mcs][0], typical);
            let rate = super::lena::CODE_RATES[mcs];
            (rate, mean / rate, deviation)
        })
        .collect();
    let above = known
        .partition_point(|&(r, ..)| r < rate)
        .clamp(1, known.len() - 1);
    let (low, high) = (known[above - 1], known[above]);
    let part = ((rate - low.0) / (high.0 - low.0)).clamp(0.0, 1.0);
    let between = |a: f64, b: f64| a + part * (b - a);
    Point {
        log_bits: typical,
        mean: rate * between(low.1, high.1),
        deviation: between(low.2, high.2),
    }
}

/// Number of code blocks of a transport block, and bits of each.
fn code_blocks(octets: u32) -> (u32, f64) {
    let bits = octets * 8;
    let blocks = if bits + CRC_BITS <= LARGEST_CODE_BLOCK {
        1
    } else {
        (bits + CRC_BITS).div_ceil(LARGEST_CODE_BLOCK - CRC_BITS)
    };
    (blocks, f64::from(bits.max(8)) / f64::from(blocks))
}

fn interpolate(points: &[Point], log_bits: f64) -> (f64, f64) {
    let above = points.partition_point(|p| p.log_bits < log_bits);
    let (Some(low), Some(high)) = (
        points.get(above.saturating_sub(1)),
        points.get(above).or(points.last()),
    ) else {
        return (0.0, 1.0);
    };
    let width = high.log_bits - low.log_bits;
    let part = if width > 0.0 {
        (log_bits - low.log_bits) / width
    } else {
        0.0
    };
    let between = |a: f64, b: f64| a + part * (b - a);
    (
        between(low.mean, high.mean),
        between(low.deviation, high.deviation),
    )
}

/// Upper tail of the normal distribution, Q(z); Abramowitz and Stegun 26.2.17, absolute error below 7.5·10⁻⁸.
fn upper_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - upper_tail(-z);
    }
    if z > HIGHEST_Z {
        return 0.0;
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt() * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_tail_is_the_normal_one() {
        for (z, q) in [
            (0.0, 0.5),
            (1.0, 0.158_655),
            (-1.0, 0.841_345),
            (3.0, 0.001_349_9),
        ] {
            assert!((upper_tail(z) - q).abs() < 1e-6);
        }
    }

    #[test]
    fn error_falls_with_sinr_and_with_every_retransmission() {
        for model in [ErrorModel::lena(), &ErrorModel::of_table(McsTable::Qam64)] {
            for mcs in 0..=28 {
                for db in -10..30 {
                    let rate = |n, db: i32| model.error_rate_at(mcs, 500, n, f64::from(db));
                    assert!(rate(1, db + 1) <= rate(1, db) + 1e-9);
                    for n in 1..TRANSMISSIONS {
                        // Fitted curves of the same code rate differ by rounding.
                        assert!(rate(n + 1, db) <= rate(n, db) + 0.02, "{mcs} {db} {n}");
                    }
                }
            }
        }
    }

    #[test]
    fn of_table_needs_about_the_sinr_of_the_reference() {
        let model = ErrorModel::of_table(McsTable::Qam64);
        let threshold = |mcs| {
            (-100..400)
                .map(|i| f64::from(i) / 10.0)
                .find(|&db| model.error_rate_at(mcs, 4000, 1, db) <= 0.1)
                .unwrap()
        };
        // 5G-LENA's 10 % thresholds of full slots: the code rates of these MCSs are nearly the same.
        for (mcs, db) in [
            (18, 10.4),
            (20, 12.3),
            (22, 14.3),
            (24, 16.1),
            (26, 18.0),
            (28, 19.9),
        ] {
            assert!(
                (threshold(mcs) - db).abs() < 0.7,
                "MCS {mcs}: {}",
                threshold(mcs)
            );
        }
    }
}
