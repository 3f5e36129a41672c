//! The JSON format 1.0 of pyperf.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::Timing;

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
    name: Option<String>,
    /// Version of the measured package, set by our scripts.
    version: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Run {
    /// Seconds per operation. Absent in a run that only calibrated the loop count.
    #[serde(default)]
    values: Vec<f64>,
}

/// One benchmark of a file.
#[derive(Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) timing: Timing,
}

/// Parses all benchmarks. The median is that of all values of all runs.
pub(crate) fn parse(text: &str) -> Result<Vec<Measured>> {
    let file: File = serde_json::from_str(text)?;
    ensure!(file.version == "1.0", "pyperf file of version {}, expected 1.0", file.version);
    let File { benchmarks, metadata, .. } = file;
    benchmarks
        .into_iter()
        .map(|benchmark| {
            // With a single benchmark, pyperf moves shared metadata, including the name, to the top level.
            let name = benchmark
                .metadata
                .name
                .or_else(|| metadata.name.clone())
                .context("a benchmark without a name")?;
            let samples: Vec<f64> =
                benchmark.runs.iter().flat_map(|run| &run.values).map(|seconds| seconds * 1e9).collect();
            let timing = Timing::of_samples(&samples).with_context(|| format!("{name} has no values"))?;
            let version = benchmark.metadata.version.or_else(|| metadata.version.clone());
            Ok(Measured { name, version, timing })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by pyperf 2.10.0, without the description of the machine.
    const TWO: &str = include_str!("../../tests/data/pyperf.json");
    const SINGLE: &str = include_str!("../../tests/data/pyperf-single.json");

    #[test]
    fn reads_two_benchmarks() {
        let measured = parse(TWO).unwrap();
        let names: Vec<&str> = measured.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["decode_simple_event/json", "decode_simple_event/other"]);
        assert_eq!(measured[0].version.as_deref(), Some("1"));
        let median = measured[0].timing.median_ns.unwrap();
        assert!((median - 406.0).abs() < 20.0, "nanoseconds, not seconds: {median}");
    }

    #[test]
    fn the_name_of_a_single_benchmark_is_at_the_top() {
        let measured = parse(SINGLE).unwrap();
        assert_eq!(measured.len(), 1);
        assert_eq!(measured[0].name, "sse/decode_simple_event");
        let median = measured[0].timing.median_ns.unwrap();
        assert!((median - 366.439_5).abs() < 1e-3, "{median}");
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(parse(r#"{"version": "2.0", "benchmarks": []}"#).is_err());
        assert!(
            parse(r#"{"version": "1.0", "benchmarks": [{"runs": []}], "metadata": {"name": "x"}}"#).is_err()
        );
        assert!(parse("PASS").is_err());
    }
}
