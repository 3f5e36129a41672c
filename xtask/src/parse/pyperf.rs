//! The JSON format 1.0 of pyperf.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::Sample;
use crate::stats::median;

#[derive(Debug, Deserialize)]
struct File {
    version: String,
    benchmarks: Vec<Benchmark>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Debug, Deserialize)]
struct Benchmark {
    runs: Vec<Run>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    /// Version of the measured package, set by our scripts.
    version: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Run {
    /// Seconds per operation. Absent in a run that only calibrated the loop count.
    #[serde(default)]
    values: Vec<f64>,
}

/// Parses the first benchmark. The time is the median of all values of all runs.
pub(crate) fn sample(text: &str) -> Result<Option<Sample>> {
    let file: File = serde_json::from_str(text)?;
    ensure!(file.version == "1.0", "pyperf file of version {}, expected 1.0", file.version);
    let Some(benchmark) = file.benchmarks.into_iter().next() else { return Ok(None) };
    let times: Vec<f64> =
        benchmark.runs.iter().flat_map(|run| &run.values).map(|seconds| seconds * 1e9).collect();
    let time_ns = median(&times).context("a benchmark without values")?;
    // With a single benchmark, pyperf moves shared metadata to the top level.
    let version = benchmark.metadata.version.or(file.metadata.version);
    Ok(Some(Sample { time_ns, version, ..Sample::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by pyperf 2.10.0, without the description of the machine.
    const TWO: &str = include_str!("../../tests/data/pyperf.json");
    const SINGLE: &str = include_str!("../../tests/data/pyperf-single.json");

    #[test]
    fn reads_times_in_nanoseconds() {
        let median = |text| sample(text).unwrap().unwrap().time_ns;
        assert_eq!(sample(TWO).unwrap().unwrap().version.as_deref(), Some("1"));
        assert!((median(TWO) - 406.0).abs() < 20.0, "{}", median(TWO));
        assert!((median(SINGLE) - 366.439_5).abs() < 1e-3, "{}", median(SINGLE));
    }

    #[test]
    fn rejects_unknown_formats() {
        assert!(sample(r#"{"version": "2.0", "benchmarks": []}"#).is_err());
        assert!(sample(r#"{"version": "1.0", "benchmarks": [{"runs": []}]}"#).is_err());
        assert!(sample("PASS").is_err());
    }
}
