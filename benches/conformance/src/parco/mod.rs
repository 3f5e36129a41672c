//! The messages of `crates/tightwire-parco/tests/data/parco-vectors.json`, and of any file in that format.

#[path = "../../../../crates/tightwire-parco/tests/support/vectors/mod.rs"]
mod vectors;

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;

/// Runs every case of a file through the `parco` crate. Failing cases are listed, and how many passed by a rule that
/// differs from the original.
///
/// Gives the numbers of cases that passed and of those that failed.
///
/// # Errors
///
/// When the file cannot be read or is not of the format, or the output cannot be written.
pub(crate) fn run(path: &Path, out: &mut impl Write) -> anyhow::Result<(usize, usize)> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let report = vectors::run(&text).map_err(|problem| anyhow::anyhow!("{}: {problem}", path.display()))?;
    for (id, problem) in &report.failures {
        writeln!(out, "FAIL {id}: {problem}")?;
    }
    for (rule, count) in &report.rules {
        writeln!(out, "{count} by the rule: {rule}")?;
    }
    writeln!(out, "{} with a static form or derived type as well", report.with_static_form)?;
    Ok((report.passed, report.failures.len()))
}
