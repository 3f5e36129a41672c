//! Exchanges of `crates/tightwire-perplexity/tests/data/perplexity-wire.jsonl`, or any file in that format.

#[path = "../../../../crates/tightwire-perplexity/tests/support/replies.rs"]
mod replies;
#[path = "../../../../crates/tightwire-perplexity/tests/support/wire.rs"]
mod wire;

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;

/// Runs every response of a file through `tightwire-perplexity`: successful ones must preserve all fields, failures
/// must become the right errors. Lists failing exchanges.
///
/// Unknown fields are preserved only with the feature `extra` of this package.
///
/// Returns the numbers of passed and failed responses.
pub(crate) fn run(path: &Path, out: &mut impl Write) -> anyhow::Result<(usize, usize)> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let report = replies::run(&text).map_err(|problem| anyhow::anyhow!("{}: {problem}", path.display()))?;
    for (id, problem) in &report.failures {
        writeln!(out, "FAIL {id}: {problem}")?;
    }
    writeln!(out, "{} exchanges without a document", report.without_document)?;
    Ok((report.passed, report.failures.len()))
}
