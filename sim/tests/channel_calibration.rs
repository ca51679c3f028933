//! The modelled channel against ns-3's indoor office (`reference/c_summary.csv`): five UEs walking in 200 m × 200 m,
//! single antennas, 4 dBm, probed every 10 ms at constant power density.

use sim::channel::mobility::{GaussMarkov, Mobility};
use sim::channel::pathloss::Budget;
use sim::channel::{Channel, Model};
use std::time::Duration;

/// Wideband SINR of the 15 UEs of the reference runs, all samples together: 5, 25, 50, 75, 95 %.
const REFERENCE_QUANTILES_DB: [f64; 5] = [15.0, 18.7, 21.9, 25.8, 32.2];

struct Ue {
    sinr_db: Vec<f64>,
    /// Deviation of the fast fading in windows of 1 s, mean.
    deviation_db: f64,
    /// Autocorrelation of the fast fading at a lag of 10, 20, 30 … ms.
    correlation: Vec<f64>,
}

fn probe(seed: u64, ue: u64) -> Ue {
    let model = Model {
        mobility: Mobility::GaussMarkov(GaussMarkov::default()),
        budget: Budget::default(),
        fading: true,
        redraw: None,
        bandwidth_hz: 106.0 * 12.0 * 30e3,
    };
    let mut channel = Channel::modelled(model, seed, ue);
    let sinr_db: Vec<f64> = (0..15_000)
        .map(|i| {
            channel.advance(Duration::from_millis(10) * i);
            channel.wideband_db()
        })
        .collect();
    let windows: Vec<Vec<f64>> = sinr_db.chunks_exact(100).map(detrended).collect();
    let mean_over_windows = |of: &dyn Fn(&[f64]) -> f64| {
        windows.iter().map(|w| of(w)).sum::<f64>() / windows.len() as f64
    };
    let variance = |w: &[f64]| w.iter().map(|x| x * x).sum::<f64>() / w.len() as f64;
    Ue {
        deviation_db: mean_over_windows(&|w| variance(w).sqrt()),
        correlation: (1..=10)
            .map(|lag| {
                mean_over_windows(&|w: &[f64]| {
                    let products = w.iter().zip(&w[lag..]).map(|(a, b)| a * b);
                    products.sum::<f64>() / (w.len() - lag) as f64 / variance(w).max(1e-12)
                })
            })
            .collect(),
        sinr_db,
    }
}

/// The window less its regression line: path loss and shadowing change little within a second.
fn detrended(window: &[f64]) -> Vec<f64> {
    let n = window.len() as f64;
    let (mean_x, mean_y) = ((n - 1.0) / 2.0, window.iter().sum::<f64>() / n);
    let (mut sxy, mut sxx) = (0.0, 0.0);
    for (i, y) in window.iter().enumerate() {
        let x = i as f64 - mean_x;
        sxy += x * (y - mean_y);
        sxx += x * x;
    }
    let line = |i: usize| mean_y + sxy / sxx * (i as f64 - mean_x);
    window
        .iter()
        .enumerate()
        .map(|(i, y)| y - line(i))
        .collect()
}

fn quantile(sorted: &[f64], q: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * q).round() as usize]
}

/// Lag in ms at which the autocorrelation falls below one half.
fn coherence_ms(correlation: &[f64]) -> f64 {
    let mut before = 1.0;
    for (i, &value) in correlation.iter().enumerate() {
        if value < 0.5 {
            return 10.0 * (i as f64 + (before - 0.5) / (before - value));
        }
        before = value;
    }
    10.0 * correlation.len() as f64
}

struct Row {
    deviation_db: f64,
    correlation: Vec<f64>,
}

fn reference() -> Vec<Row> {
    let text = include_str!("reference/c_summary.csv");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|c| *c == name).unwrap();
    let lags = ["acf_10ms", "acf_20ms", "acf_30ms", "acf_50ms", "acf_100ms"].map(column);
    lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|fields| fields[0].starts_with("c1probe"))
        .map(|fields| {
            let number = |at: usize| fields[at].parse::<f64>().unwrap();
            // 40 ms is not in the table.
            let [a, b, c, e, _] = lags.map(number);
            Row {
                deviation_db: number(column("fast_std_db_1s")),
                correlation: vec![a, b, c, (c + e) / 2.0, e],
            }
        })
        .collect()
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn within_factor(value: f64, reference: f64, factor: f64, what: &str) {
    let ratio = value / reference;
    assert!(
        (1.0 / factor..factor).contains(&ratio),
        "{what}: {value:.3}, ns-3 {reference:.3}"
    );
}

#[test]
fn sinr_and_fast_fading_are_those_of_the_reference() {
    let ues: Vec<Ue> = (0..20)
        .flat_map(|seed| (0..5).map(move |ue| probe(seed, ue)))
        .collect();

    let all = sorted(ues.iter().flat_map(|u| u.sinr_db.iter().copied()).collect());
    for (q, reference) in [0.05, 0.25, 0.5, 0.75, 0.95]
        .into_iter()
        .zip(REFERENCE_QUANTILES_DB)
    {
        let value = quantile(&all, q);
        assert!(
            (value - reference).abs() < 1.5,
            "{q} quantile: {value:.2} dB, ns-3 {reference} dB"
        );
    }

    let reference = reference();
    let deviations = sorted(ues.iter().map(|u| u.deviation_db).collect());
    let reference_deviations = sorted(reference.iter().map(|r| r.deviation_db).collect());
    let coherences = sorted(ues.iter().map(|u| coherence_ms(&u.correlation)).collect());
    let reference_coherences = sorted(
        reference
            .iter()
            .map(|r| coherence_ms(&r.correlation))
            .collect(),
    );
    for q in [0.1, 0.5, 0.9] {
        let what = format!("fading deviation, {q} quantile over UEs");
        within_factor(
            quantile(&deviations, q),
            quantile(&reference_deviations, q),
            1.5,
            &what,
        );
        let what = format!("coherence time, {q} quantile over UEs");
        within_factor(
            quantile(&coherences, q),
            quantile(&reference_coherences, q),
            1.5,
            &what,
        );
    }
}
