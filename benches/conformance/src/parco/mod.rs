//! Messages of `crates/tightwire-parco/tests/data/parco-vectors.json`, or any file in that format.

#[path = "../../../../crates/tightwire-parco/tests/support/vectors/mod.rs"]
mod vectors;

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;

/// Runs every case of a file through `tightwire-parco`. Lists failing cases, and the number of cases that follow a
/// documented deviation from the Go library.
///
/// Returns the numbers of passed and failed cases.
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
