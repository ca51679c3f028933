//! The three files of a bundle on disk. The one place of this crate that does I/O.

use super::Refusal;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Names of the files, and how long each may be, octets.
const CARD: (&str, u64) = ("card.toml", 64 << 10);
const ACTOR: (&str, u64) = ("actor.onnx", 8 << 20);
const GOLDENS: (&str, u64) = ("goldens.csv", 2 << 20);

/// What is in the folder of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// `card.toml`.
    pub card: String,
    /// `actor.onnx`.
    pub actor: Vec<u8>,
    /// `goldens.csv`.
    pub goldens: String,
}

impl Folder {
    /// Reads the files. Blocks: not for a thread that has ticks to keep.
    ///
    /// # Errors
    /// When one is missing, is longer than a bundle needs, or (card and goldens) is no text.
    pub fn read(folder: &Path) -> Result<Self, Refusal> {
        Ok(Self {
            card: text(folder, CARD)?,
            actor: octets(folder, ACTOR)?,
            goldens: text(folder, GOLDENS)?,
        })
    }

    /// Writes the files, the card last: who waits for a new card finds the rest complete.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Refusal> {
        let files: [(&str, &[u8]); 3] = [
            (ACTOR.0, &self.actor),
            (GOLDENS.0, self.goldens.as_bytes()),
            (CARD.0, self.card.as_bytes()),
        ];
        std::fs::create_dir_all(folder).map_err(|error| refusal(folder, &error))?;
        for (name, octets) in files {
            let file = folder.join(name);
            std::fs::write(&file, octets).map_err(|error| refusal(&file, &error))?;
        }
        Ok(())
    }
}

fn octets(folder: &Path, (name, limit): (&str, u64)) -> Result<Vec<u8>, Refusal> {
    let path = folder.join(name);
    let refuse = |error: &dyn ToString| refusal(&path, error);
    let metadata = std::fs::metadata(&path).map_err(|e| refuse(&e))?;
    // A pipe would block, and a device may never end.
    if !metadata.is_file() {
        return Err(refuse(&"no regular file"));
    }
    let file = File::open(&path).map_err(|e| refuse(&e))?;
    let mut octets = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut octets)
        .map_err(|e| refuse(&e))?;
    if octets.len() as u64 > limit {
        return Err(refuse(&format!("longer than {limit} octets")));
    }
    Ok(octets)
}

fn text(folder: &Path, file: (&str, u64)) -> Result<String, Refusal> {
    let octets = octets(folder, file)?;
    String::from_utf8(octets).map_err(|error| refusal(&folder.join(file.0), &error))
}

fn refusal(file: &Path, reason: &(impl ToString + ?Sized)) -> Refusal {
    Refusal::File {
        file: file.to_owned(),
        reason: reason.to_string(),
    }
}
