//! ONNX Runtime, loaded from its shared library while the process runs. A host without it only lacks this engine.

#[cfg(feature = "onnxruntime")]
pub(super) use present::{available, open};

#[cfg(feature = "onnxruntime")]
mod present {
    use ort::environment::Environment;
    use ort::session::{Session, builder::GraphOptimizationLevel};
    use ort::value::{Outlet, TensorRef, ValueType};
    use policies::model::{Inference, Refusal};
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;

    const NAME: &str = "onnxruntime";
    /// Looked for by the dynamic linker where no path is given.
    const SYSTEM_LIBRARY: &str = "libonnxruntime.so";

    /// The library, loaded; there can be only one in a process.
    static ENVIRONMENT: OnceLock<Result<Environment, String>> = OnceLock::new();

    fn refusal(reason: impl ToString) -> Refusal {
        Refusal::Engine {
            engine: NAME,
            reason: reason.to_string(),
        }
    }

    fn environment(library: &Path) -> Result<&'static Environment, Refusal> {
        let loaded = ENVIRONMENT.get_or_init(|| {
            let library = if library.as_os_str().is_empty() {
                std::env::var_os("ORT_DYLIB_PATH").map_or(SYSTEM_LIBRARY.into(), PathBuf::from)
            } else {
                library.to_owned()
            };
            // Left to itself, ort panics when the library is missing.
            let builder = ort::init_from(&library).map_err(|error| error.to_string())?;
            let built = builder.with_name("cantor").with_telemetry(false).build();
            built.map_err(|error| error.to_string())
        });
        loaded.as_ref().map_err(refusal)
    }

    /// Whether the library can be loaded.
    pub fn available(library: &Path) -> Result<(), Refusal> {
        environment(library).map(|_| ())
    }

    /// A session of ONNX Runtime: one thread, which does not spin.
    pub struct OnnxRuntime {
        session: Session,
        inputs: usize,
        outputs: usize,
        scores: Vec<f32>,
    }

    /// A session for a network.
    pub fn open(library: &Path, onnx: &[u8]) -> Result<OnnxRuntime, Refusal> {
        let session = session(environment(library)?, onnx).map_err(refusal)?;
        let (inputs, outputs) = (width(session.inputs())?, width(session.outputs())?);
        Ok(OnnxRuntime {
            session,
            inputs,
            outputs,
            scores: Vec::new(),
        })
    }

    fn session(environment: &Environment, onnx: &[u8]) -> ort::Result<Session> {
        let mut builder = Session::builder(environment)?
            .with_optimization_level(GraphOptimizationLevel::Level2)?
            .with_intra_threads(1)?
            .with_inter_threads(1)?
            .with_intra_op_spinning(false)?
            .with_inter_op_spinning(false)?;
        builder.commit_from_memory(onnx)
    }

    /// Width of the one input or output: batch × width.
    fn width(outlets: &[Outlet]) -> Result<usize, Refusal> {
        match outlets {
            [outlet] => match outlet.dtype() {
                ValueType::Tensor { shape, .. } if shape.len() == 2 => {
                    usize::try_from(shape[1]).ok()
                }
                _ => None,
            },
            _ => None,
        }
        .filter(|width| *width > 0)
        .ok_or_else(|| Refusal::Onnx {
            reason: "it has not one input and one output of batch × a fixed width".into(),
        })
    }

    impl Inference for OnnxRuntime {
        fn engine(&self) -> &'static str {
            NAME
        }

        fn inputs(&self) -> usize {
            self.inputs
        }

        fn outputs(&self) -> usize {
            self.outputs
        }

        fn infer(&mut self, batch: &[f32]) -> Result<&[f32], Refusal> {
            let rows = batch.len() / self.inputs;
            if rows * self.inputs != batch.len() {
                return Err(refusal("the batch holds no whole observations"));
            }
            self.scores.clear();
            if rows > 0 {
                let tensor = TensorRef::from_array_view(([rows, self.inputs], batch));
                let tensor = tensor.map_err(refusal)?;
                let outputs = self.session.run(ort::inputs![tensor]).map_err(refusal)?;
                let (_, scores) = outputs[0].try_extract_tensor::<f32>().map_err(refusal)?;
                if scores.len() != rows * self.outputs {
                    return Err(refusal(format!(
                        "{} scores for {rows} observations",
                        scores.len()
                    )));
                }
                self.scores.extend_from_slice(scores);
            }
            Ok(&self.scores)
        }
    }
}

#[cfg(not(feature = "onnxruntime"))]
pub(super) use absent::{available, open};

#[cfg(not(feature = "onnxruntime"))]
mod absent {
    use policies::model::{Native, Refusal};
    use std::path::Path;

    /// Never: this binary was built without it.
    pub fn available(_library: &Path) -> Result<(), Refusal> {
        Err(Refusal::Engine {
            engine: "onnxruntime",
            reason: "this binary was built without the feature onnxruntime".into(),
        })
    }

    /// Never; the type is that of the engine that is always there.
    pub fn open(library: &Path, _onnx: &[u8]) -> Result<Native, Refusal> {
        Err(available(library).err().unwrap_or(Refusal::Engine {
            engine: "onnxruntime",
            reason: "not available".into(),
        }))
    }
}
