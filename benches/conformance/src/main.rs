//! `conformance SYSTEM PATH...`: runs test vectors through a crate and prints `N passed, N failed`.
//!
//! Each system is a feature, so that nothing else is built. The features `json-peers` and `sse-peers` add the peers.

#[cfg(feature = "json")]
mod json;
#[cfg(feature = "parco")]
mod parco;
#[cfg(feature = "perplexity")]
mod perplexity;
#[cfg(feature = "psrp")]
mod psrp;
#[cfg(feature = "sse")]
mod sse;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: conformance sse FILE...          files with the schema `sse-cases/1`
       conformance json DIR...          folders with files named y_*.json, n_*.json and i_*.json
       conformance parco FILE...        files with the format `parco-vectors/1`
       conformance perplexity FILE...   recorded exchanges, one per line
       conformance psrp FILE...         vectors of the PowerShell Remoting Protocol, of any kind";

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
    anyhow::ensure!(!files.is_empty(), USAGE);

    let mut out = std::io::stdout().lock();
    let (mut passed, mut failed) = (0, 0);
    for file in files {
        let counts: (usize, usize) = match system.to_str() {
            #[cfg(feature = "json")]
            Some("json") => json::run(&file, &mut out)?,
            #[cfg(feature = "parco")]
            Some("parco") => parco::run(&file, &mut out)?,
            #[cfg(feature = "perplexity")]
            Some("perplexity") => perplexity::run(&file, &mut out)?,
            #[cfg(feature = "psrp")]
            Some("psrp") => psrp::run(&file, &mut out)?,
            #[cfg(feature = "sse")]
            Some("sse") => sse::run(&file, &mut out)?,
            _ => anyhow::bail!("{} is not built in\n{USAGE}", system.display()),
        };
        passed += counts.0;
        failed += counts.1;
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(failed)
}
