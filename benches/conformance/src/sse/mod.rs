//! Decoder cases of `crates/tightwire-sse/tests/data/sse-cases.json`.

#[path = "../../../../crates/tightwire-sse/tests/support/cases.rs"]
mod cases;
#[path = "../../../../crates/tightwire-sse/tests/support/chunked.rs"]
mod chunked;
mod ours;
#[cfg(feature = "sse-peers")]
mod peers;
mod subject;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use anyhow::Context as _;

/// Runs all cases of a file with every entry point and adaptor of tightwire-sse, and with the feature `sse-peers` with other
/// decoders, each in every chunking. Prints failed cases, and the number of passed cases per subject.
///
/// Returns the numbers of cases that passed with all subjects, and of those that failed with one. Peers do not count.
///
/// # Errors
///
/// If the file cannot be read or the output cannot be written.
///
/// # Panics
///
/// If the file does not have the schema `sse-cases/1`.
pub(crate) fn run(path: &Path, out: &mut impl Write) -> anyhow::Result<(usize, usize)> {
    std::fs::metadata(path).with_context(|| format!("read {}", path.display()))?;
    let cases = cases::load_file(path);
    let mut failed = BTreeSet::new();
    for subject in ours::SUBJECTS {
        let report = subject::run(subject, &cases);
        for (id, problem) in &report.failures {
            writeln!(out, "FAIL {id} ({}): {problem}", subject.name)?;
        }
        writeln!(out, "{}: {} of {}", subject.name, report.everything, cases.len())?;
        failed.extend(report.failures.into_iter().map(|(id, _)| id));
    }
    #[cfg(feature = "sse-peers")]
    run_peers(&cases, out)?;
    Ok((cases.len() - failed.len(), failed.len()))
}

/// Runs the peers, without the generated cases, for which some need quadratic time.
#[cfg(feature = "sse-peers")]
fn run_peers(cases: &[cases::Case], out: &mut impl Write) -> std::io::Result<()> {
    let explicit: Vec<_> = cases.iter().filter(|case| !case.id.starts_with("gen-")).cloned().collect();
    // Some peers panic on some inputs, which counts as a failure. Hides the messages.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for subject in peers::SUBJECTS {
        let report = subject::run(subject, &explicit);
        let ids: Vec<_> = report.failures.into_iter().map(|(id, _)| id).collect();
        writeln!(
            out,
            "peer {}: type and data correct in {} of {}, everything it exposes in {}; failed {}",
            subject.name,
            report.events,
            explicit.len(),
            report.everything,
            if ids.is_empty() { "none".to_owned() } else { ids.join(" ") }
        )?;
    }
    std::panic::set_hook(hook);
    Ok(())
}
