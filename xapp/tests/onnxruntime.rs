//! The real ONNX Runtime beside the pure-Rust executor.
//!
//! The library is the one that `ORT_DYLIB_PATH` names; `tests/run` installs it. `CANTOR_SKIP_ONNXRUNTIME=1` leaves these
//! tests out.
#![cfg(feature = "onnxruntime")]

#[allow(dead_code, reason = "shared by several tests")]
#[path = "../../policies/tests/common/bundle.rs"]
mod bundle;

use policies::model::{Bundle, Inference, best};
use xapp::models::{Backend, Engines};

fn skipped() -> bool {
    let skip = std::env::var_os("CANTOR_SKIP_ONNXRUNTIME").is_some_and(|value| value == "1");
    if skip {
        eprintln!("skipped: CANTOR_SKIP_ONNXRUNTIME=1");
    }
    skip
}

fn open(bundle: &Bundle, backend: Backend) -> Box<dyn Inference> {
    let engines = Engines {
        backend,
        ..Engines::default()
    };
    engines.open(bundle).unwrap_or_else(|error| {
        panic!(
            "{error}\nset ORT_DYLIB_PATH to libonnxruntime.so of the PyPI wheel onnxruntime (tests/run does), or CANTOR_SKIP_ONNXRUNTIME=1"
        )
    })
}

/// Same gains on the goldens, same scores but for rounding, whatever the batch.
#[test]
fn both_engines_give_the_same_gains() {
    if skipped() {
        return;
    }
    let bundle = Bundle::new(bundle::folder()).unwrap();
    let mut native = open(&bundle, Backend::Native);
    let mut onnxruntime = open(&bundle, Backend::OnnxRuntime);
    assert_eq!(onnxruntime.engine(), "onnxruntime");
    for network in [&mut native, &mut onnxruntime] {
        bundle.check(network.as_mut()).unwrap();
    }
    let goldens = bundle.goldens().batch();
    let gains = |scores: &[f32]| scores.chunks(11).map(best).collect::<Vec<_>>();
    let ours = gains(native.infer(&goldens).unwrap());
    assert_eq!(gains(onnxruntime.infer(&goldens).unwrap()), ours);
    for observations in [1, 2, 63, 1024] {
        let batch: Vec<f32> = bundle::spread(observations as u32)
            .take(64 * observations)
            .collect();
        let ours = native.infer(&batch).unwrap();
        let theirs = onnxruntime.infer(&batch).unwrap();
        assert_eq!(theirs.len(), 11 * observations);
        for (a, b) in ours.iter().zip(theirs) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }
    assert!(onnxruntime.infer(&[]).unwrap().is_empty());
    assert!(onnxruntime.infer(&[0.5; 65]).is_err());
}

/// What the pure-Rust executor refuses, ONNX Runtime's checks refuse too.
#[test]
fn spoilt_bundles_are_refused_by_both() {
    if skipped() {
        return;
    }
    for (kind, files, _) in bundle::spoilt() {
        let refused = |backend| {
            let engines = Engines {
                backend,
                ..Engines::default()
            };
            let Ok(bundle) = Bundle::new(files.clone()) else {
                return true;
            };
            match engines.open(&bundle) {
                Ok(mut network) => bundle.check(network.as_mut()).is_err(),
                Err(_) => true,
            }
        };
        assert!(refused(Backend::Native), "{kind}: native");
        assert!(refused(Backend::OnnxRuntime), "{kind}: onnxruntime");
    }
}
