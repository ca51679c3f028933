//! Models of learned policies in a running xApp: loading, hot swap, and what operators see of it.
//!
//! A bundle is read and checked on a thread that may block. Only one that gets through is put in the place of the one
//! before; the cells look which one is there at the start of each tick, and never wait.

mod engine;
pub mod folder;
mod library;
mod service;

pub use engine::{Backend, Engines, onnxruntime};
pub use service::ModelApi;

use crate::operate::metrics::Metrics;
use arc_swap::ArcSwapOption;
use policies::Batch;
use policies::model::{Bundle, Card, Folder, Inference, Refusal};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::SystemTime;

/// A checked bundle, ready to be asked from any thread.
pub struct Model {
    card: Arc<Card>,
    engine: &'static str,
    folder: PathBuf,
    loaded: SystemTime,
    /// One for each thread that can have a tick at the same time.
    instances: Vec<Mutex<Box<dyn Inference>>>,
}

impl Model {
    /// Takes a bundle apart and checks it. Blocks.
    ///
    /// # Errors
    /// At the first check that it fails.
    pub fn new(files: Folder, folder: &Path, engines: &Engines) -> Result<Self, Refusal> {
        let bundle = Bundle::new(files)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut instances = Vec::with_capacity(threads);
        for _ in 0..threads {
            instances.push(engines.open(&bundle)?);
        }
        if let Some(first) = instances.first_mut() {
            bundle.check(first.as_mut())?;
        }
        Ok(Self {
            card: Arc::new(bundle.card().clone()),
            engine: instances.first().map_or("", |first| first.engine()),
            folder: folder.to_owned(),
            loaded: SystemTime::now(),
            instances: instances.into_iter().map(Mutex::new).collect(),
        })
    }

    /// What goes in and out of it.
    pub fn card(&self) -> &Arc<Card> {
        &self.card
    }

    /// What runs it.
    pub fn engine(&self) -> &'static str {
        self.engine
    }

    /// Answers the observations of a tick.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn answer(&self, batch: &mut Batch) -> Result<(), Refusal> {
        batch.infer(self.instance().as_mut())
    }

    /// One that no other thread uses now. There are as many as threads, so there is one.
    fn instance(&self) -> MutexGuard<'_, Box<dyn Inference>> {
        for instance in &self.instances {
            match instance.try_lock() {
                Ok(free) => return free,
                Err(TryLockError::Poisoned(free)) => return free.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        let first = &self.instances[0];
        first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("name", &self.card.name)
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

/// The model that is in use, for all who ask for it or change it.
#[derive(Clone, Debug)]
pub struct Models(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    current: ArcSwapOption<Model>,
    engines: Engines,
    /// Held while a bundle is loaded: one at a time.
    last: Mutex<Last>,
    metrics: Option<Arc<Metrics>>,
}

/// What came of the last look at the folder.
#[derive(Debug, Default)]
struct Last {
    /// What was there.
    seen: Option<Result<Folder, Refusal>>,
    refusal: Option<Refusal>,
}

/// Outcome of a look at a folder.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// There is what was there before.
    Unchanged,
    /// There is another bundle, and it is in use.
    Loaded,
    /// There is another bundle, or none, and what was in use stays so.
    Refused(Refusal),
}

impl Models {
    /// No model yet. `metrics` counts what is loaded and refused.
    pub fn new(engines: Engines, metrics: Option<Arc<Metrics>>) -> Self {
        Self(Arc::new(Shared {
            current: ArcSwapOption::empty(),
            engines,
            last: Mutex::default(),
            metrics,
        }))
    }

    /// The model in use. Never waits.
    pub fn current(&self) -> Option<Arc<Model>> {
        self.0.current.load_full()
    }

    /// Looks what is in the folder, and puts it in use if it is another bundle and gets through its checks. Blocks.
    pub fn look(&self, folder: &Path) -> Outcome {
        let files = Folder::read(folder);
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.seen.as_ref() == Some(&files) {
            return Outcome::Unchanged;
        }
        last.seen = Some(files.clone());
        let outcome = files.and_then(|files| Model::new(files, folder, &self.0.engines));
        if let Some(metrics) = &self.0.metrics {
            metrics.model_load(outcome.is_ok());
        }
        match outcome {
            Ok(model) => {
                last.refusal = None;
                self.0.current.store(Some(Arc::new(model)));
                Outcome::Loaded
            }
            Err(refusal) => {
                last.refusal = Some(refusal.clone());
                Outcome::Refused(refusal)
            }
        }
    }

    /// Why what is in the folder is not in use.
    pub fn refusal(&self) -> Option<Refusal> {
        let last = self.0.last.lock();
        last.unwrap_or_else(PoisonError::into_inner).refusal.clone()
    }
}
