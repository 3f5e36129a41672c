//! The committed figures and mappings below `benches/data`.

pub(crate) mod derived;
pub(crate) mod peers;
pub(crate) mod recorded;
pub(crate) mod seed;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

fn load<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("unexpected content of {}", path.display()))
}
