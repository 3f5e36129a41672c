//! The exchanges of `crates/tightwire-perplexity/tests/data/perplexity-wire.jsonl`, and of any file in that format.

#[path = "../../../../crates/tightwire-perplexity/tests/support/replies.rs"]
mod replies;
#[path = "../../../../crates/tightwire-perplexity/tests/support/wire.rs"]
mod wire;

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;

/// Runs every answer of a file through the `perplexity` crate: successes lose no member, refusals become the right
/// errors. Failing exchanges are listed.
///
/// Members that the crate has no field for are kept only with the feature `extra` of this package.
///
/// Gives the numbers of answers that passed and of those that failed.
///
/// # Errors
///
/// When the file cannot be read or is not of the format, or the output cannot be written.
pub(crate) fn run(path: &Path, out: &mut impl Write) -> anyhow::Result<(usize, usize)> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let report = replies::run(&text).map_err(|problem| anyhow::anyhow!("{}: {problem}", path.display()))?;
    for (id, problem) in &report.failures {
        writeln!(out, "FAIL {id}: {problem}")?;
    }
    writeln!(out, "{} exchanges without a document", report.without_document)?;
    Ok((report.passed, report.failures.len()))
}
