//! Slice policies from the files of a folder, which is looked at again and again.
//!
//! What is compared is the content: a mounted ConfigMap changes by swapping one symbolic link, which the files' names and
//! times of modification need not show. A file that cannot be used keeps what it said before; one that is gone takes its
//! policies along.

use super::{Outcome, Policies, entries};
use policies::slice::{Entry, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Most files that are read.
const MAX_FILES: usize = 1024;
/// Largest file, octets.
const MAX_FILE: u64 = 1 << 20;

/// Keeps `policies` as the folder says, looking at it every `period`, until `stop`.
pub async fn watch(policies: Policies, folder: PathBuf, period: Duration, stop: CancellationToken) {
    let mut loaded = Folder::new(policies, folder);
    let mut look = tokio::time::interval(period);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = look.tick() => {}
        }
        // Files may be on a disk that is slow.
        let looked = tokio::task::spawn_blocking(move || {
            loaded.look();
            loaded
        });
        match looked.await {
            Ok(folder) => loaded = folder,
            Err(_) => return,
        }
    }
}

/// A folder, and what was last taken from it.
pub struct Folder {
    policies: Policies,
    path: PathBuf,
    /// Contents of the files by name; `Err`: why it cannot be read.
    files: BTreeMap<String, Result<String, String>>,
    /// What each file said when it could be used last.
    said: BTreeMap<String, Vec<Entry>>,
}

impl Folder {
    /// Nothing is taken from it yet.
    pub fn new(policies: Policies, path: PathBuf) -> Self {
        Self {
            policies,
            path,
            files: BTreeMap::new(),
            said: BTreeMap::new(),
        }
    }

    /// Takes over what has changed.
    pub fn look(&mut self) {
        let files = match read(&self.path) {
            Ok(files) => files,
            Err(error) => {
                // It may be between two states: what it said stays in force.
                let text = format!("{}: cannot be read: {error}", self.path.display());
                self.problem("", Some(text));
                return;
            }
        };
        self.problem("", None);
        if files == self.files {
            return;
        }
        for gone in self.files.keys().filter(|file| !files.contains_key(*file)) {
            self.problem(gone, None);
        }
        let before = std::mem::take(&mut self.said);
        let mut owners: BTreeMap<String, String> = BTreeMap::new();
        for (file, content) in &files {
            let new = content
                .as_deref()
                .map_err(|error| format!("{file}: {error}"))
                .and_then(|text| new_entries(file, text, &owners));
            let entries = match new {
                Ok(entries) => {
                    self.problem(file, None);
                    entries
                }
                Err(problem) => {
                    self.problem(file, Some(problem));
                    let mut entries = before.get(file).cloned().unwrap_or_default();
                    entries.retain(|entry| !owners.contains_key(entry.policy.name()));
                    entries
                }
            };
            let names = entries.iter().map(|entry| entry.policy.name().to_owned());
            owners.extend(names.map(|name| (name, file.clone())));
            self.said.insert(file.clone(), entries);
        }
        self.files = files;
        self.take_over(before.into_values().flatten(), &owners);
    }

    /// Puts what the files say into force, and takes back what they say no more.
    fn take_over(&self, before: impl Iterator<Item = Entry>, owners: &BTreeMap<String, String>) {
        for gone in before.filter(|entry| !owners.contains_key(entry.policy.name())) {
            let (policy, file) = (gone.policy.name(), gone.origin.place.text);
            info!(file, policy, "slice policy is gone");
            self.policies.remove(Source::File, policy);
        }
        let entries = self.said.values().flatten().cloned().collect();
        match self.policies.put_all(entries, false) {
            Ok(outcomes) => {
                let news = outcomes.iter().filter(|(_, o)| *o != Outcome::Unchanged);
                for (policy, outcome) in news {
                    let file = owners.get(policy);
                    info!(file, policy, outcome = outcome.name(), "slice policy");
                }
            }
            Err(error) => {
                let text = format!("{}: {error}", self.path.display());
                self.problem("", Some(text));
            }
        }
    }

    /// Remembers what is wrong with a file, or that nothing is.
    fn problem(&self, file: &str, problem: Option<String>) {
        let mut problems = self.policies.problems_by_file();
        match problem {
            Some(text) if problems.get(file) != Some(&text) => {
                warn!(problem = text, "slice policies of a file are not used");
                problems.insert(file.to_owned(), text);
            }
            Some(_) => {}
            None => {
                problems.remove(file);
            }
        }
    }
}

/// The policies of one file, if none of them is in another.
fn new_entries(
    file: &str,
    text: &str,
    owners: &BTreeMap<String, String>,
) -> Result<Vec<Entry>, String> {
    let entries = entries(Source::File, text, file).map_err(|error| error.to_string())?;
    for entry in &entries {
        let (place, name) = (&entry.origin.place, entry.policy.name());
        if let Some(other) = owners.get(name) {
            return Err(format!("{place}: metadata.name: {name} is in {other} too"));
        }
    }
    Ok(entries)
}

/// The YAML and JSON files of a folder. Hidden ones (a ConfigMap's `..data` among them) are left out.
fn read(folder: &Path) -> std::io::Result<BTreeMap<String, Result<String, String>>> {
    let mut names = BTreeSet::new();
    for file in std::fs::read_dir(folder)? {
        let name = file?.file_name();
        let suffix = Path::new(&name).extension().and_then(|e| e.to_str());
        if let (Some(name), Some("yaml" | "yml" | "json")) = (name.to_str(), suffix)
            && !name.starts_with('.')
            && !name.ends_with(".schema.json")
        {
            names.insert(name.to_owned());
        }
    }
    if names.len() > MAX_FILES {
        let text = format!("{} files: at most {MAX_FILES} are read", names.len());
        return Err(std::io::Error::other(text));
    }
    let contents = names.into_iter().map(|name| {
        let content = read_file(&folder.join(&name)).map_err(|error| error.to_string());
        (name, content)
    });
    Ok(contents.collect())
}

fn read_file(path: &Path) -> std::io::Result<String> {
    let file = std::fs::File::open(path)?;
    let mut text = String::new();
    file.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE {
        let text = format!("larger than {MAX_FILE} octets");
        return Err(std::io::Error::other(text));
    }
    Ok(text)
}
