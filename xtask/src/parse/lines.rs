//! The line protocol of the suites and of peers other than Go and pyperf: one JSON object per line on standard output.

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::Sample;
use crate::stats::median;

/// One line. Everything but the identity and the time is optional. A check value is compared with that of the row.
#[derive(Clone, Debug, Deserialize)]
struct Line {
    key: String,
    implementation: String,
    time_ns: Option<f64>,
    /// Reason why there is no time.
    failure: Option<String>,
    #[serde(flatten)]
    sample: Sample,
}

/// Parses the lines that start with `{` and returns the result of an implementation of a row. Several lines of the
/// implementation are samples. Returns `None` if it has no line. Fails if a line is invalid or reports a failure.
pub(crate) fn sample(text: &str, key: &str, implementation: &str) -> Result<Option<Sample>> {
    let (mut times, mut last) = (Vec::new(), None);
    for text in text.lines().map(str::trim).filter(|line| line.starts_with('{')) {
        let line: Line = serde_json::from_str(text).with_context(|| format!("not a result line: {text}"))?;
        if line.key != key || line.implementation != implementation {
            continue;
        }
        if let Some(failure) = line.failure {
            bail!("{failure}");
        }
        let time = line.time_ns.with_context(|| format!("no time: {text}"))?;
        ensure!(time.is_finite() && time > 0.0, "a time of {time} ns: {text}");
        times.push(time);
        last = Some(line);
    }
    Ok(last.zip(median(&times)).map(|(line, time_ns)| Sample { time_ns, ..line.sample }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by a Node.js 20 script.
    const NODE: &str = include_str!("../../tests/data/lines.txt");

    #[test]
    fn a_sample_is_found_by_key_and_name() {
        let found = sample(NODE, "sse/decode_simple_event", "json").unwrap().unwrap();
        assert_eq!((found.check, found.bytes_op, found.allocs_op), (Some(25), None, None));
        assert!(found.time_ns > 1.0);
        assert_eq!(sample(NODE, "sse/decode_simple_event", "nobody").unwrap(), None);
    }

    #[test]
    fn mistakes_are_errors_that_show_the_line() {
        let error = |text: &str| format!("{:#}", sample(text, "a/b", "c").unwrap_err());
        assert!(error("{\"key\": \"a\"").contains("{\"key\": \"a\""));
        let line = |rest: &str| format!(r#"{{"key":"a/b","implementation":"c",{rest}}}"#);
        assert!(error(&line("\"time_ns\":0")).contains("a time of 0 ns"));
        assert_eq!(error(&line("\"failure\":\"panicked: no 1\"")), "panicked: no 1");
    }
}
