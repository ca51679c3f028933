//! Bundles: what a good one gives, and that each kind of bad one is refused for its own reason.

#[allow(dead_code, reason = "shared by several tests")]
#[path = "common/bundle.rs"]
mod bundle;

use bundle::{card, dense, folder, network, spread};
use policies::model::{
    Activation, Bundle, Card, Folder, Inference, Layer, Native, Network, Refusal, best, onnx,
};
use proptest::prelude::*;
use prost::Message;

fn checked(folder: Folder) -> Result<Bundle, Refusal> {
    let bundle = Bundle::new(folder)?;
    let network = Network::from_onnx(bundle.actor())?;
    bundle.check(&mut Native::new(&network))?;
    Ok(bundle)
}

/// The bundle with another network, and a card that is made for it.
fn with_actor(actor: Vec<u8>) -> Folder {
    let mut folder = folder();
    let mut card = Card::parse(&folder.card).unwrap();
    card.onnx_sha256 = policies::model::sha256(&actor);
    folder.card = card.to_toml().unwrap();
    folder.actor = actor;
    folder
}

#[test]
fn a_bundle_survives_its_files() {
    let made = folder();
    let path = tempfile::tempdir().unwrap();
    made.write(path.path()).unwrap();
    let read = Folder::read(path.path()).unwrap();
    assert_eq!(read, made);
    let bundle = checked(read).unwrap();
    assert_eq!(Network::from_onnx(bundle.actor()).unwrap(), network());
    let gains: std::collections::BTreeSet<_> =
        bundle.goldens().iter().map(|g| g.gain.to_bits()).collect();
    assert!(gains.len() > 5, "goldens of {} gains only", gains.len());
}

#[test]
fn the_same_network_gives_the_same_octets() {
    assert_eq!(folder(), folder());
}

/// Beside the definition, computed in double precision.
#[test]
fn the_executor_computes_what_the_layers_say() {
    let network = Network::new(vec![
        Layer::Affine {
            scale: vec![2.0; 5],
            shift: vec![-1.0; 5],
        },
        dense(5, 19, 4),
        Layer::Activation {
            activation: Activation::LeakyRelu(0.1),
            width: 19,
        },
        dense(19, 3, 5),
        Layer::Activation {
            activation: Activation::Softmax,
            width: 3,
        },
    ])
    .unwrap();
    let batch: Vec<f32> = spread(9).take(5 * 71).collect();
    let mut native = Native::new(&network);
    let scores = native.infer(&batch).unwrap().to_vec();
    for (observation, scores) in batch.chunks(5).zip(scores.chunks(3)) {
        let expected = by_definition(&network, observation);
        for (score, expected) in scores.iter().zip(expected) {
            assert!((f64::from(*score) - expected).abs() < 1e-5);
        }
    }
    // A batch is no more than its observations one by one.
    let alone: Vec<f32> = batch
        .chunks(5)
        .flat_map(|o| native.infer(o).unwrap().to_vec())
        .collect();
    assert_eq!(alone, scores);
}

fn by_definition(network: &Network, observation: &[f32]) -> Vec<f64> {
    let mut x: Vec<f64> = observation.iter().copied().map(f64::from).collect();
    for layer in network.layers() {
        x = match layer {
            Layer::Dense {
                inputs,
                weights,
                bias,
                ..
            } => weights
                .chunks(*inputs)
                .zip(bias)
                .map(|(row, bias)| {
                    let sum: f64 = row.iter().zip(&x).map(|(w, x)| f64::from(*w) * x).sum();
                    sum + f64::from(*bias)
                })
                .collect(),
            Layer::Affine { scale, shift } => x
                .iter()
                .zip(scale.iter().zip(shift))
                .map(|(x, (scale, shift))| x * f64::from(*scale) + f64::from(*shift))
                .collect(),
            Layer::Activation {
                activation: Activation::LeakyRelu(slope),
                ..
            } => x
                .iter()
                .map(|x| if *x < 0.0 { x * f64::from(*slope) } else { *x })
                .collect(),
            Layer::Activation { .. } => {
                let sum: f64 = x.iter().map(|x| x.exp()).sum();
                x.iter().map(|x| x.exp() / sum).collect()
            }
        };
    }
    x
}

/// The forms in which other exporters write the same layers.
#[test]
fn foreign_forms_of_a_network_are_read() {
    let network = Network::new(vec![dense(3, 2, 6)]).unwrap();
    let Layer::Dense { weights, bias, .. } = &network.layers()[0] else {
        panic!("no dense layer");
    };
    let mut model = onnx::ModelProto::decode(network.to_onnx().as_slice()).unwrap();
    let graph = model.graph.as_mut().unwrap();
    // MatMul takes the matrix the other way round; the bias comes from a Constant, in front of the sum.
    let transposed: Vec<f32> = (0..3)
        .flat_map(|i| (0..2).map(move |o| (o, i)))
        .map(|(o, i)| weights[o * 3 + i])
        .collect();
    graph.initializer = vec![onnx::TensorProto {
        dims: vec![3, 2],
        data_type: onnx::FLOAT,
        float_data: transposed,
        name: "w".into(),
        ..Default::default()
    }];
    let constant = onnx::AttributeProto {
        name: "value".into(),
        t: Some(onnx::TensorProto {
            dims: vec![1, 2],
            data_type: onnx::FLOAT,
            float_data: bias.clone(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let node = |operator: &str, input: &[&str], output: &str| onnx::NodeProto {
        op_type: operator.into(),
        input: input.iter().map(|name| (*name).into()).collect(),
        output: vec![output.into()],
        ..Default::default()
    };
    graph.node = vec![
        onnx::NodeProto {
            attribute: vec![constant],
            ..node("Constant", &[], "b")
        },
        node("Flatten", &["observation"], "flat"),
        node("MatMul", &["flat", "w"], "product"),
        node("Add", &["b", "product"], "scores"),
    ];
    let foreign = Network::from_onnx(&model.encode_to_vec()).unwrap();
    let batch: Vec<f32> = spread(3).take(3 * 20).collect();
    let ours = Native::new(&network).infer(&batch).unwrap().to_vec();
    let theirs = Native::new(&foreign).infer(&batch).unwrap().to_vec();
    for (a, b) in ours.iter().zip(&theirs) {
        assert!((a - b).abs() < 1e-5);
    }
}

#[test]
fn corrupt_and_truncated_networks_are_refused() {
    let mut folder = folder();
    folder.actor[1000] ^= 1;
    assert!(matches!(Bundle::new(folder), Err(Refusal::Hash { .. })));
    let actor = network().to_onnx();
    let half = with_actor(actor[..actor.len() / 2].to_vec());
    assert!(matches!(checked(half), Err(Refusal::Onnx { .. })));
}

#[test]
fn networks_of_another_shape_are_refused() {
    let narrow = Network::new(vec![dense(56, 11, 1)]).unwrap();
    assert_eq!(
        checked(with_actor(narrow.to_onnx())).unwrap_err(),
        Refusal::Shape {
            what: "the input",
            found: 56,
            wanted: 64
        }
    );
    let few = Network::new(vec![dense(64, 10, 1)]).unwrap();
    assert!(matches!(
        checked(with_actor(few.to_onnx())),
        Err(Refusal::Shape { found: 10, .. })
    ));
}

/// NaN among the weights, and NaN that only computing brings: ∞ − ∞.
#[test]
fn networks_that_answer_nan_are_refused() {
    let mut model = onnx::ModelProto::decode(network().to_onnx().as_slice()).unwrap();
    let tensor = &mut model.graph.as_mut().unwrap().initializer[0];
    tensor.raw_data[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    let refusal = checked(with_actor(model.encode_to_vec())).unwrap_err();
    assert!(refusal.to_string().contains("NaN"), "{refusal}");

    let huge = |inputs, outputs, sign: f32| Layer::Dense {
        inputs,
        outputs,
        weights: (0..inputs * outputs)
            .map(|i| if i % 2 == 0 { 3e38 } else { sign * 3e38 })
            .collect(),
        bias: vec![0.0; outputs],
    };
    let overflow = Network::new(vec![huge(64, 2, 1.0), huge(2, 11, -1.0)]).unwrap();
    let refusal = checked(with_actor(overflow.to_onnx())).unwrap_err();
    assert!(matches!(refusal, Refusal::NotFinite { .. }), "{refusal}");
}

#[test]
fn networks_that_always_choose_one_gain_are_refused() {
    let constant = Network::new(vec![Layer::Dense {
        inputs: 64,
        outputs: 11,
        weights: vec![0.0; 64 * 11],
        bias: (0..11_u8).map(f32::from).collect(),
    }])
    .unwrap();
    assert_eq!(
        checked(with_actor(constant.to_onnx())).unwrap_err(),
        Refusal::Constant { gain: 1.0 }
    );
}

#[test]
fn networks_that_miss_a_golden_are_refused() {
    let other = Network::new(vec![dense(64, 11, 99)]).unwrap();
    assert!(matches!(
        checked(with_actor(other.to_onnx())),
        Err(Refusal::Golden { .. })
    ));
}

#[test]
fn files_longer_than_a_bundle_needs_are_not_read() {
    let path = tempfile::tempdir().unwrap();
    folder().write(path.path()).unwrap();
    let file = std::fs::File::create(path.path().join("actor.onnx")).unwrap();
    file.set_len(1 << 40).unwrap();
    let refusal = Folder::read(path.path()).unwrap_err();
    assert!(refusal.to_string().contains("longer than"), "{refusal}");
}

/// Dimensions that promise more than the file holds cost nothing.
#[test]
fn dimensions_are_checked_before_memory_is_taken() {
    for dims in [vec![i64::MAX, i64::MAX], vec![0, i64::MAX], vec![-1, 64]] {
        let mut model = onnx::ModelProto::decode(network().to_onnx().as_slice()).unwrap();
        let tensor = &mut model.graph.as_mut().unwrap().initializer[0];
        tensor.dims.clone_from(&dims);
        if dims[0] == 0 {
            tensor.raw_data.clear();
        }
        assert!(Network::from_onnx(&model.encode_to_vec()).is_err());
    }
}

#[test]
fn a_card_says_what_is_wrong_with_it() {
    let mut falling = card();
    falling.cqi_to_sinr = Some(policies::model::CqiTable {
        name: "falling".into(),
        sinr_db: std::array::from_fn(|i| -(i as f64)),
    });
    let refusal = falling.to_toml().unwrap_err();
    assert!(refusal.to_string().contains("cqi_to_sinr"), "{refusal}");
    let mut one = card();
    one.gains = vec![0.5];
    assert!(one.to_toml().unwrap_err().to_string().contains("gains"));
    let text = card().to_toml().unwrap().replace("scale = ", "skale = ");
    assert!(
        Card::parse(&text)
            .unwrap_err()
            .to_string()
            .contains("skale")
    );
}

#[test]
fn the_best_score_is_the_first_of_equals_and_none_beside_nan() {
    assert_eq!(best(&[0.0, 2.0, 2.0]), Some(1));
    assert_eq!(best(&[0.0, f32::NAN]), None);
    assert_eq!(best(&[]), None);
}

proptest! {
    /// Whatever is done to the octets, reading ends with a network or a reason.
    #[test]
    fn mutated_networks_never_panic(at in 0_usize..70_000, octets in proptest::collection::vec(any::<u8>(), 1..24)) {
        let mut actor = network().to_onnx();
        let at = at % actor.len();
        let end = actor.len().min(at + octets.len());
        actor.splice(at..end, octets);
        if let Ok(network) = Network::from_onnx(&actor) {
            let inputs = network.inputs();
            prop_assert!(Native::new(&network).infer(&vec![0.5; inputs]).is_ok());
        }
    }
}
