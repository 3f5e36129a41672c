//! `conformance SYSTEM PATH...`: runs test vectors through a crate and prints `N passed, N failed`.

mod json;
#[path = "../../../crates/tightwire-parco/tests/support/vectors/mod.rs"]
mod parco;
#[path = "../../../crates/tightwire-perplexity/tests/support/replies.rs"]
mod perplexity;
mod psrp;
mod sse;
#[path = "../../../crates/tightwire-perplexity/tests/support/wire.rs"]
mod wire;

use std::any::Any;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail, ensure};

const USAGE: &str = "\
usage: conformance sse FILE...          files with the schema `sse-cases/1`
       conformance json DIR...          folders with files named y_*.json, n_*.json and i_*.json
       conformance parco FILE...        files with the format `parco-vectors/1`
       conformance perplexity FILE...   recorded exchanges, one per line
       conformance psrp FILE...         vectors of the PowerShell Remoting Protocol, of any kind";

/// Results of a file or folder.
#[derive(Debug, Default)]
struct Report {
    passed: usize,
    /// The ids of the failed cases, each with the reason.
    failures: Vec<(String, String)>,
    /// Other facts about the cases.
    notes: Vec<String>,
}

impl Report {
    /// Runs and counts a case. A panic counts as a failure, because the modules shared with the tests of the crates
    /// panic if a check fails.
    fn case(&mut self, id: &str, examine: impl FnOnce() -> anyhow::Result<()>) {
        let problem = match catch_unwind(AssertUnwindSafe(examine)) {
            Ok(Ok(())) => {
                self.passed += 1;
                return;
            }
            Ok(Err(error)) => format!("{error:#}"),
            Err(panic) => text(&*panic),
        };
        self.failures.push((id.to_owned(), problem));
    }
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panicked").to_owned()
}

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            // There is no other place to report a closed error stream.
            let _ = writeln!(std::io::stderr(), "conformance: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Returns the number of failed cases.
fn run() -> anyhow::Result<usize> {
    let mut arguments = std::env::args_os().skip(1);
    let system = arguments.next().unwrap_or_default();
    let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    ensure!(!files.is_empty(), USAGE);
    let mut out = std::io::stdout().lock();
    let (mut passed, mut failed) = (0, 0);
    for path in files {
        let report = match system.to_str() {
            Some("json") => json::run(&path)?,
            Some("parco") => parco(&path)?,
            Some("perplexity") => perplexity(&path)?,
            Some("psrp") => psrp::run(&read(&path)?).with_context(|| path.display().to_string())?,
            Some("sse") => sse::run(&path)?,
            _ => bail!("there is no {}\n{USAGE}", system.display()),
        };
        for (id, problem) in &report.failures {
            writeln!(out, "FAIL {id}: {problem}")?;
        }
        for note in report.notes {
            writeln!(out, "{note}")?;
        }
        passed += report.passed;
        failed += report.failures.len();
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(failed)
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))
}

/// Messages of `crates/tightwire-parco/tests/data/parco-vectors.json`, or any file in that format.
fn parco(path: &Path) -> anyhow::Result<Report> {
    let report = parco::run(&read(path)?).map_err(|problem| anyhow!("{}: {problem}", path.display()))?;
    // The documented deviations from the Go library.
    let mut notes: Vec<String> =
        report.rules.iter().map(|(rule, count)| format!("{count} by the rule: {rule}")).collect();
    notes.push(format!("{} with a static form or derived type as well", report.with_static_form));
    Ok(Report { passed: report.passed, failures: report.failures, notes })
}

/// Exchanges of `crates/tightwire-perplexity/tests/data/perplexity-wire.jsonl`, or any file in that format: successful
/// responses must preserve all fields, failures must become the right errors.
fn perplexity(path: &Path) -> anyhow::Result<Report> {
    let report = perplexity::run(&read(path)?).map_err(|problem| anyhow!("{}: {problem}", path.display()))?;
    let notes = vec![format!("{} exchanges without a document", report.without_document)];
    Ok(Report { passed: report.passed, failures: report.failures, notes })
}
