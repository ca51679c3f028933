//! Link adaptation and block sizes as measured of 5G-LENA v3.1 with its default error model (LTE-MI, up to 64QAM).
//!
//! The UE computes a 4-bit CQI from every block it receives: the highest MCS whose block of one symbol on the PRBs just
//! received would fail in at most 10 %. The base station maps it back to MCS 2·(CQI − 1), so that only even MCSs occur,
//! and uses it [`CQI_LAG_SLOTS`] after the block it was measured on.

use super::bler::ErrorModel;
use super::mutual_information::Modulation;
use std::sync::LazyLock;

/// Slots from the block on which a CQI was measured to the first slot scheduled with it: 3 ms at 30 kHz.
pub const CQI_LAG_SLOTS: u64 = 6;
/// Slots from a transmission to the first slot in which it can be repeated: 2.5 ms at 30 kHz.
pub const RETRANSMISSION_LAG_SLOTS: u64 = 5;
/// The CQI lapses after this many seconds without a block; then MCS 0 is used.
pub const CQI_VALID_SECONDS: f64 = 1.0;

/// Code rates of MCS 0 to 28 (two decimals; they give the measured block sizes exactly).
pub const CODE_RATES: [f64; 29] = [
    0.08, 0.10, 0.11, 0.15, 0.19, 0.24, 0.30, 0.37, 0.44, 0.51, 0.30, 0.33, 0.37, 0.42, 0.48, 0.54,
    0.60, 0.43, 0.45, 0.50, 0.55, 0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.89, 0.92,
];

/// Subcarriers of a PRB that carry data in every symbol: one is a reference.
const DATA_SUBCARRIERS: f64 = 11.0;
/// Octets of a CRC.
const CRC: u32 = 3;
/// Bits of a code block.
const CODE_BLOCK_BITS: u32 = 6144;
/// Error rate that link adaptation accepts.
const TARGET_ERROR: f64 = 0.1;

/// Modulation order Qm of an MCS.
pub fn modulation_order(mcs: u8) -> u8 {
    match mcs {
        0..=9 => 2,
        10..=16 => 4,
        _ => 6,
    }
}

/// Octets of a transport block on `resource_blocks` PRBs × symbols.
pub fn transport_block_octets(mcs: u8, resource_blocks: u32) -> u32 {
    let mcs = mcs.min(CODE_RATES.len() as u8 - 1);
    let bits = DATA_SUBCARRIERS
        * f64::from(resource_blocks)
        * f64::from(modulation_order(mcs))
        * CODE_RATES[usize::from(mcs)];
    // The code rates are decimals: what should be a whole number must not fall below it.
    let octets = (bits / 8.0 + 1e-9).floor() as u32;
    if octets < CRC {
        return octets;
    }
    let code_blocks = (octets * 8 / CODE_BLOCK_BITS).max(1);
    octets - CRC * code_blocks
}

/// Mutual information at which a block of one symbol fails in [`TARGET_ERROR`], by PRBs and MCS.
static THRESHOLDS: LazyLock<Vec<[f64; CODE_RATES.len()]>> = LazyLock::new(|| {
    let model = ErrorModel::lena();
    let threshold = |prbs: u32, mcs: u8| {
        let octets = transport_block_octets(mcs, prbs);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..30 {
            let middle = f64::midpoint(low, high);
            if model.error_rate(mcs, octets, 1, middle) > TARGET_ERROR {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    };
    let row = |prbs| std::array::from_fn(|mcs| threshold(prbs, mcs as u8));
    (0..=275).map(row).collect()
});

/// CQI, 0 to 15, of a UE that received a block on `prbs` PRBs, `information` being the mean mutual information per bit
/// that these PRBs have with each modulation.
pub fn cqi(prbs: u16, information: impl Fn(Modulation) -> f64) -> u8 {
    let model = ErrorModel::lena();
    let thresholds = &THRESHOLDS[usize::from(prbs).min(THRESHOLDS.len() - 1)];
    let mut known: [Option<f64>; 3] = [None; 3];
    let highest = (0..CODE_RATES.len() as u8).rev().find(|&mcs| {
        let modulation = model.modulation(mcs);
        let information =
            *known[modulation as usize].get_or_insert_with(|| information(modulation));
        information >= thresholds[usize::from(mcs)]
    });
    // Of the MCSs, CQI 1 stands for 1, CQI c for 2(c − 1) and the odd one above.
    highest.map_or(0, |mcs| match mcs {
        0 => 0,
        1 => 1,
        mcs => mcs / 2 + 1,
    })
}

/// The MCS that the base station uses for a CQI.
pub fn mcs_of_cqi(cqi: u8) -> u8 {
    2 * cqi.clamp(1, 15) - 2
}
