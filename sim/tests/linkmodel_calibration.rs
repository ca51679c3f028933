//! The link model of profile `lena` against the tables measured of 5G-LENA (`reference/lena_*.csv`).

use sim::linkmodel::bler::{ErrorModel, TRANSMISSIONS};
use sim::linkmodel::lena;
use sim::linkmodel::mutual_information::mutual_information;

fn rows(text: &str) -> impl Iterator<Item = Vec<f64>> {
    text.lines().skip(1).map(|line| {
        line.split(',')
            .map(|field| field.parse().unwrap())
            .collect()
    })
}

#[test]
fn transport_block_sizes_are_exact() {
    for row in rows(include_str!("reference/lena_tbs.csv")) {
        let octets = lena::transport_block_octets(row[0] as u8, row[1] as u32);
        assert_eq!(
            octets, row[2] as u32,
            "MCS {}, {} RB × symbols",
            row[0], row[1]
        );
    }
}

/// SINR at which the model's block error rate falls to `target`.
fn model_threshold_db(mcs: u8, octets: u32, transmissions: usize, target: f64) -> f64 {
    let model = ErrorModel::lena();
    let (mut low, mut high) = (-20.0, 40.0);
    while high - low > 1e-3 {
        let middle = f64::midpoint(low, high);
        if model.error_rate_at(mcs, octets, transmissions, middle) > target {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Error rates of one MCS, block size and number of transmissions, as (SINR in dB, rate).
struct Curve {
    mcs: u8,
    octets: u32,
    transmissions: usize,
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Where the measured curve falls to `target`, if its steps show it.
    fn threshold_db(&self, target: f64) -> Option<f64> {
        self.points.windows(2).find_map(|pair| {
            let [(low_db, before), (high_db, after)] = [pair[0], pair[1]];
            (before > target && after <= target && high_db - low_db < 0.3)
                .then(|| low_db + (high_db - low_db) * (before - target) / (before - after))
        })
    }
}

fn curves() -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for row in rows(include_str!("reference/lena_bler.csv")) {
        for transmissions in 1..=TRANSMISSIONS {
            let (mcs, octets) = (row[0] as u8, row[2] as u32);
            let point = (row[3], row[3 + transmissions]);
            let same =
                |c: &&mut Curve| (c.mcs, c.octets, c.transmissions) == (mcs, octets, transmissions);
            match curves.iter_mut().find(same) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve {
                    mcs,
                    octets,
                    transmissions,
                    points: vec![point],
                }),
            }
        }
    }
    curves
}

#[test]
fn block_errors_fall_at_the_measured_sinr() {
    let mut checked = [0; TRANSMISSIONS];
    for curve in curves() {
        let Curve {
            mcs,
            octets,
            transmissions,
            ..
        } = curve;
        // The reference quantises mutual information, which makes steps of a quarter decibel in the steep curves of
        // retransmissions; far below 0 dB its curves have no threshold on the scale that was swept.
        let tolerance_db = if transmissions == 1 { 0.15 } else { 0.4 };
        for target in [0.5, 0.1] {
            let Some(reference) = curve.threshold_db(target).filter(|&db| db > -5.0) else {
                continue;
            };
            let model = model_threshold_db(mcs, octets, transmissions, target);
            assert!(
                (model - reference).abs() < tolerance_db,
                "MCS {mcs}, {octets} octets, transmission {transmissions}, {target}: {model:.2} dB, ns-3 {reference:.2}"
            );
            checked[transmissions - 1] += 1;
        }
    }
    assert!(checked.iter().all(|&n| n >= 15), "{checked:?}");
}

#[test]
fn cqi_changes_at_the_measured_sinr() {
    for row in rows(include_str!("reference/lena_cqi.csv")).filter(|row| row[2] >= 1.0) {
        let (prbs, reference_db, cqi) = (row[0] as u16, row[1], row[2] as u8);
        assert_eq!(f64::from(lena::mcs_of_cqi(cqi)), row[3]);
        let cqi_at = |db: f64| lena::cqi(prbs, |modulation| mutual_information(modulation, db));
        // Below 0 dB the blocks of one symbol are smaller than any whose error rate was measured, and CQI 1 exists in a
        // quarter of a decibel only.
        let tolerance_db = if reference_db > 0.0 { 0.3 } else { 1.0 };
        if cqi > 1 {
            let above = cqi_at(reference_db + tolerance_db);
            assert!(above >= cqi, "{prbs} PRBs, {reference_db} dB: {above}");
        }
        let below = cqi_at(reference_db - 0.25 - tolerance_db);
        assert!(below < cqi, "{prbs} PRBs, {reference_db} dB: {below}");
    }
}
