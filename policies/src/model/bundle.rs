//! A bundle in memory, and the checks that it must get through before any flow is guided by it.

use super::{Card, Folder, Goldens, Inference, Network, Refusal, best};
use sha2::{Digest, Sha256};

/// Gains that differ by less are the same.
const SAME_GAIN: f64 = 1e-9;
/// Observations, beside the goldens, to which the answers must be finite.
const PROBES: usize = 256;

/// A bundle whose files fit each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    card: Card,
    actor: Vec<u8>,
    goldens: Goldens,
}

impl Bundle {
    /// Takes the files apart: the card, the hash of the network, and the goldens.
    ///
    /// # Errors
    /// When one of them is malformed, or they are not of one bundle.
    pub fn new(folder: Folder) -> Result<Self, Refusal> {
        let card = Card::parse(&folder.card)?;
        let found = sha256(&folder.actor);
        if !found.eq_ignore_ascii_case(&card.onnx_sha256) {
            return Err(Refusal::Hash {
                found,
                wanted: card.onnx_sha256,
            });
        }
        let goldens = Goldens::parse(&folder.goldens, card.inputs())?;
        Ok(Self {
            actor: folder.actor,
            card,
            goldens,
        })
    }

    /// Puts a bundle together, as training does: the hash is filled in, the goldens are chosen out of `candidates`
    /// (observations, one after the other).
    ///
    /// # Errors
    /// When the card contradicts itself or the network, or no goldens can be chosen.
    pub fn make(mut card: Card, network: &Network, candidates: &[f32]) -> Result<Folder, Refusal> {
        let shape = |what, found, wanted| {
            if found == wanted {
                Ok(())
            } else {
                Err(Refusal::Shape {
                    what,
                    found,
                    wanted,
                })
            }
        };
        shape("the input", network.inputs(), card.inputs())?;
        shape("the output", network.outputs(), card.gains.len())?;
        let actor = network.to_onnx();
        card.onnx_sha256 = sha256(&actor);
        let goldens = Goldens::choose(network, &card.gains, candidates)?;
        Ok(Folder {
            card: card.to_toml()?,
            actor,
            goldens: goldens.to_csv(),
        })
    }

    /// Its card.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// Its network, as ONNX.
    pub fn actor(&self) -> &[u8] {
        &self.actor
    }

    /// Its goldens.
    pub fn goldens(&self) -> &Goldens {
        &self.goldens
    }

    /// Runs the network that an engine has made of [`Bundle::actor`]: its shape, its goldens, and that it neither answers NaN
    /// nor always chooses the same gain.
    ///
    /// # Errors
    /// At the first check that it fails.
    pub fn check(&self, network: &mut dyn Inference) -> Result<(), Refusal> {
        self.check_shape(network)?;
        self.check_goldens(network)?;
        self.check_probes(network)
    }

    fn check_shape(&self, network: &dyn Inference) -> Result<(), Refusal> {
        let shapes = [
            ("the input", network.inputs(), self.card.inputs()),
            ("the output", network.outputs(), self.card.gains.len()),
        ];
        match shapes
            .into_iter()
            .find(|(_, found, wanted)| found != wanted)
        {
            Some((what, found, wanted)) => Err(Refusal::Shape {
                what,
                found,
                wanted,
            }),
            None => Ok(()),
        }
    }

    fn check_goldens(&self, network: &mut dyn Inference) -> Result<(), Refusal> {
        let outputs = network.outputs();
        let scores = network.infer(&self.goldens.batch())?;
        let mut gains = Vec::with_capacity(self.goldens.iter().len());
        for (row, scores) in (1..).zip(scores.chunks_exact(outputs)) {
            let chosen = best(scores).and_then(|index| self.card.gains.get(index));
            gains.push(*chosen.ok_or_else(|| not_finite(scores, format!("golden {row}")))?);
        }
        // Before the comparison: of a network that is stuck this says more than which golden it misses.
        if let Some(gain) = gains.first()
            && gains.iter().all(|other| (other - gain).abs() < SAME_GAIN)
        {
            return Err(Refusal::Constant { gain: *gain });
        }
        for (row, (golden, found)) in (1..).zip(self.goldens.iter().zip(gains)) {
            if (golden.gain - found).abs() >= SAME_GAIN {
                return Err(Refusal::Golden {
                    row,
                    found,
                    wanted: golden.gain,
                });
            }
        }
        Ok(())
    }

    /// Observations from all over the input space, corners included: overflows show here.
    fn check_probes(&self, network: &mut dyn Inference) -> Result<(), Refusal> {
        let outputs = network.outputs();
        let inputs = self.card.inputs();
        let mut probes = vec![0.0; inputs];
        probes.resize(2 * inputs, 1.0);
        // A multiplicative congruential sequence: what it must be is spread, not random.
        let mut state = 1_u32;
        probes.resize_with(PROBES * inputs, || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        });
        let scores = network.infer(&probes)?;
        for (probe, scores) in scores.chunks_exact(outputs).enumerate() {
            if best(scores).is_none() {
                return Err(not_finite(scores, format!("probe {probe}")));
            }
        }
        Ok(())
    }
}

fn not_finite(scores: &[f32], observation: String) -> Refusal {
    let value = scores.iter().copied().find(|x| !x.is_finite());
    Refusal::NotFinite {
        value: value.unwrap_or(f32::NAN),
        observation,
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256(octets: &[u8]) -> String {
    hex::encode(Sha256::digest(octets))
}
