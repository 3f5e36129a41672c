//! The line protocol for peers other than Go and pyperf: one JSON object per line on standard output.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// One line. Bytes, allocations, payload, version and check value are optional. A check value is compared with that
/// of the row.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Line {
    pub(crate) key: String,
    pub(crate) implementation: String,
    pub(crate) time_ns: f64,
    #[serde(default)]
    pub(crate) version: Option<String>,
    #[serde(default)]
    pub(crate) bytes_op: Option<f64>,
    #[serde(default)]
    pub(crate) allocs_op: Option<f64>,
    #[serde(default)]
    pub(crate) payload_bytes: Option<u64>,
    #[serde(default)]
    pub(crate) check: Option<u64>,
}

/// Parses the lines that start with `{` and ignores the others.
pub(crate) fn parse(text: &str) -> Result<Vec<Line>> {
    text.lines()
        .map(str::trim)
        .filter(|line| line.starts_with('{'))
        .map(|text| {
            let line: Line =
                serde_json::from_str(text).with_context(|| format!("not a result line: {text}"))?;
            ensure!(line.time_ns.is_finite() && line.time_ns > 0.0, "a time of {} ns: {text}", line.time_ns);
            Ok(line)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by a Node.js 20 script.
    const SAMPLE: &str = include_str!("../../tests/data/lines.txt");

    #[test]
    fn reads_a_real_run() {
        let lines = parse(SAMPLE).unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].key, "sse/decode_simple_event");
        assert_eq!(lines[0].implementation, "json");
        assert_eq!(lines[0].check, Some(25));
        assert_eq!((lines[0].bytes_op, lines[0].allocs_op), (None, None));
        assert!(lines[0].time_ns > 1.0);
        assert_eq!(lines[1].payload_bytes, None);
    }

    #[test]
    fn a_broken_line_is_an_error_that_shows_it() {
        let error = format!("{:#}", parse("{\"key\": \"a\"").unwrap_err());
        assert!(error.contains("{\"key\": \"a\""), "{error}");
        let zero = r#"{"key":"a/b","implementation":"c","time_ns":0}"#;
        assert!(parse(zero).unwrap_err().to_string().contains("a time of 0 ns"));
    }
}
