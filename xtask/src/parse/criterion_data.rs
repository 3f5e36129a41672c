//! Files of criterion: the identity in `benchmark.json`, the figures in `estimates.json` beside it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Timing;

/// Identity of a set of estimates. Directory names do not suffice: criterion cuts them at 64 bytes and replaces
/// `/`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Identity {
    #[serde(rename = "group_id")]
    pub(crate) group: String,
    #[serde(rename = "function_id")]
    pub(crate) function: Option<String>,
    #[serde(rename = "value_str")]
    pub(crate) value: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Estimates {
    mean: Estimate,
    median: Estimate,
}

#[derive(Debug, Deserialize)]
struct Estimate {
    point_estimate: f64,
}

/// One saved baseline of one benchmark.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) identity: Identity,
    /// Name given to `--save-baseline`.
    pub(crate) baseline: String,
    pub(crate) timing: Timing,
}

pub(crate) fn parse_identity(text: &str) -> Result<Identity> {
    Ok(serde_json::from_str(text)?)
}

/// Reads mean and median in nanoseconds per operation.
pub(crate) fn parse_estimates(text: &str) -> Result<Timing> {
    let estimates: Estimates = serde_json::from_str(text)?;
    Ok(Timing { median_ns: Some(estimates.median.point_estimate), mean_ns: estimates.mean.point_estimate })
}

/// Collects every baseline below `directory`; none if the directory does not exist.
pub(crate) fn collect(directory: &Path) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    if directory.is_dir() {
        walk(directory, &mut found)?;
    }
    Ok(found)
}

fn walk(directory: &Path, found: &mut Vec<Found>) -> Result<()> {
    let identity_file = directory.join("benchmark.json");
    if identity_file.is_file() {
        let read =
            |path: &Path| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
        let identity = parse_identity(&read(&identity_file)?)
            .with_context(|| format!("unexpected content of {}", identity_file.display()))?;
        let estimates_file = directory.join("estimates.json");
        let timing = parse_estimates(&read(&estimates_file)?)
            .with_context(|| format!("unexpected content of {}", estimates_file.display()))?;
        let baseline = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push(Found { identity, baseline, timing });
        return Ok(());
    }
    let entries = fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BENCHMARK: &str = include_str!("../../tests/data/criterion/round1/benchmark.json");
    const ESTIMATES: &str = include_str!("../../tests/data/criterion/round1/estimates.json");

    #[test]
    fn reads_real_files() {
        let identity = parse_identity(BENCHMARK).unwrap();
        assert_eq!(identity.group, "smoke");
        assert_eq!(identity.function.as_deref(), Some("count_lines"));
        assert_eq!(identity.value.as_deref(), Some("loop"));
        let timing = parse_estimates(ESTIMATES).unwrap();
        assert_eq!(timing.median_ns, Some(32_966.773_299_114_33));
        assert_eq!(timing.mean_ns, 33_006.022_351_076_46);
    }

    #[test]
    fn collects_baselines_below_a_directory() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        let found = collect(&data).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].baseline, "round1");
        assert_eq!(found[0].identity, parse_identity(BENCHMARK).unwrap());
        assert!(collect(&data.join("absent")).unwrap().is_empty());
    }

    #[test]
    fn refuses_other_json() {
        assert!(parse_estimates("{}").is_err());
        assert!(parse_identity(r#"{"function_id": "x"}"#).is_err());
    }
}
