//! Policies from files, folders and standard input.

use crate::cli::UsageError;
use anyhow::Context as _;
use policies::slice::{SlicePolicy, parse};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A text with policies.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) name: String,
    pub(super) content: String,
}

/// Reads and checks all texts.
pub(super) fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<Text>> {
    let mut texts = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            let mut content = String::new();
            std::io::stdin().read_to_string(&mut content)?;
            let name = "standard input".to_owned();
            texts.push(Text { name, content });
        } else if path.is_dir() {
            for file in in_folder(path)? {
                texts.push(read_file(&file)?);
            }
        } else {
            texts.push(read_file(path)?);
        }
    }
    for text in &texts {
        parse(&text.content, &text.name).map_err(|error| UsageError(error.to_string()))?;
    }
    Ok(texts)
}

/// The policy of a document that the xApp gave.
pub(super) fn policy(document: &str) -> anyhow::Result<SlicePolicy> {
    let policies = parse(document, "the xApp's answer")?;
    let first = policies.into_iter().next();
    let (policy, _) = first.context("the xApp's answer has no policy")?;
    Ok(policy)
}

fn in_folder(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let schema = path.to_string_lossy().ends_with(".schema.json");
        let suffix = path.extension().and_then(|suffix| suffix.to_str());
        if matches!(suffix, Some("yaml" | "yml" | "json")) && !schema {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read_file(path: &Path) -> anyhow::Result<Text> {
    let name = path.display().to_string();
    let content = std::fs::read_to_string(path).with_context(|| name.clone())?;
    Ok(Text { name, content })
}
