//! A small bundle that decides something: no trained model, but one that has all that a bundle must have.

use policies::GainPolicy;
use policies::model::{
    Activation, Bundle, Card, CqiTable, Feature, Folder, Input, Layer, Network, Training,
};

/// PRISM's gains.
pub const GAINS: [f64; 11] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// PRISM's card.
pub fn card() -> Card {
    let input = |name| {
        let (offset, scale, range) = match name {
            Feature::RateBps => (0.0, 100e6, [0.0, 100e6]),
            Feature::Mcs => (0.0, 28.0, [0.0, 28.0]),
            Feature::SinrDb => (10.0, 50.0, [0.0, 40.0]),
            _ => (0.0, 1.0, [0.0, 1.0]),
        };
        Input {
            name,
            offset,
            scale,
            range,
        }
    };
    Card {
        format: policies::model::FORMAT,
        name: "stand-in".into(),
        policy: GainPolicy::Prism,
        about: String::new(),
        licence: "Apache-2.0".into(),
        onnx_sha256: String::new(),
        history: 8,
        report_interval_ms: 50,
        control_interval_ms: 200,
        gains: GAINS.to_vec(),
        gamma_bps_per_prb: 1e6,
        increase_divided_by_flows: true,
        features: Feature::ALL.map(input).to_vec(),
        cqi_to_sinr: Some(CqiTable {
            name: "two dB a step".into(),
            sinr_db: std::array::from_fn(|i| 2.0 * i as f64 - 6.0),
        }),
        training: Training::default(),
        validation: Vec::new(),
    }
}

/// Numbers spread over 0 … 1, the same every time.
pub fn spread(seed: u32) -> impl Iterator<Item = f32> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    })
}

/// A dense layer of weights around 0.
pub fn dense(inputs: usize, outputs: usize, seed: u32) -> Layer {
    let mut numbers = spread(seed).map(|x| (x - 0.5) * 4.0 / (inputs as f32).sqrt());
    Layer::Dense {
        inputs,
        outputs,
        weights: numbers.by_ref().take(inputs * outputs).collect(),
        bias: numbers.take(outputs).collect(),
    }
}

/// PRISM's actor: 64 – 128 – 64 – 11, untrained.
pub fn network() -> Network {
    let activation = |width| Layer::Activation {
        activation: Activation::Tanh,
        width,
    };
    Network::new(vec![
        dense(64, 128, 1),
        activation(128),
        dense(128, 64, 2),
        activation(64),
        dense(64, 11, 3),
    ])
    .unwrap()
}

/// The three files.
pub fn folder() -> Folder {
    let candidates: Vec<f32> = spread(7).take(64 * 512).collect();
    Bundle::make(card(), &network(), &candidates).unwrap()
}

/// Files of the bundle, spoilt in each way that must be noticed, with a word of the reason.
pub fn spoilt() -> Vec<(&'static str, Folder, &'static str)> {
    let with = |actor: Vec<u8>| {
        let mut spoilt = folder();
        let mut card = Card::parse(&spoilt.card).unwrap();
        card.onnx_sha256 = policies::model::sha256(&actor);
        spoilt.card = card.to_toml().unwrap();
        spoilt.actor = actor;
        spoilt
    };
    let mut corrupt = folder();
    corrupt.actor[1000] ^= 1;
    let good = network().to_onnx();
    let shape = Network::new(vec![dense(56, 11, 1)]).unwrap();
    let huge = |inputs, outputs, sign: f32| Layer::Dense {
        inputs,
        outputs,
        weights: (0..inputs * outputs)
            .map(|i| if i % 2 == 0 { 3e38 } else { sign * 3e38 })
            .collect(),
        bias: vec![0.0; outputs],
    };
    let nan = Network::new(vec![huge(64, 2, 1.0), huge(2, 11, -1.0)]).unwrap();
    let constant = Network::new(vec![Layer::Dense {
        inputs: 64,
        outputs: 11,
        weights: vec![0.0; 64 * 11],
        bias: (0..11_u8).map(f32::from).collect(),
    }])
    .unwrap();
    vec![
        ("corrupt", corrupt, "SHA-256"),
        (
            "truncated",
            with(good[..good.len() / 2].to_vec()),
            "actor.onnx",
        ),
        ("wrong shape", with(shape.to_onnx()), "the input is 56"),
        ("NaN", with(nan.to_onnx()), "answers"),
        ("constant", with(constant.to_onnx()), "whatever it observes"),
    ]
}
