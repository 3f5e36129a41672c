//! Reads the committed figures and mappings in `benches/data`.

pub(crate) mod groups;
pub(crate) mod lines;
pub(crate) mod peers;
pub(crate) mod placement;
pub(crate) mod recorded;
pub(crate) mod seed;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

/// Reads a file of the folder.
pub(crate) fn load<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T> {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("unexpected content of {}", path.display()))
}

/// Returns whether a name matches a pattern; `*` at the end matches any rest.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    }
}

/// Reads a committed file, which tests check as well.
#[cfg(test)]
pub(crate) fn committed<T: DeserializeOwned>(name: &str) -> T {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/data"), name).unwrap()
}
