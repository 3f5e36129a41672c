//! `conformance SYSTEM [--peers] PATH...`: runs conformance cases and ends with `N passed, N failed`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: conformance sse [--peers] FILE...   files with the schema `sse-cases/1`
       conformance json [--peers] DIR...   folders with files named y_*.json, n_*.json and i_*.json
       conformance parco FILE...           files with the format `parco-vectors/1`
       conformance perplexity FILE...      recorded exchanges, one per line
       conformance psrp FILE...            vectors of the PowerShell Remoting Protocol, of any kind";

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            // Nothing is left to do when the error stream is closed as well.
            let _ = writeln!(std::io::stderr(), "conformance: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Gives the number of failed cases.
fn run() -> anyhow::Result<usize> {
    let mut arguments = std::env::args_os().skip(1);
    let system = arguments.next().unwrap_or_default();
    let (options, files): (Vec<_>, Vec<_>) =
        arguments.partition(|argument| argument.to_string_lossy().starts_with("--"));
    let system = system.to_str().unwrap_or_default();
    anyhow::ensure!(
        ["sse", "json", "parco", "perplexity", "psrp"].contains(&system) && !files.is_empty(),
        USAGE
    );
    anyhow::ensure!(options.iter().all(|option| option == "--peers"), USAGE);

    let mut out = std::io::stdout().lock();
    let (mut passed, mut failed) = (0, 0);
    for file in files.into_iter().map(PathBuf::from) {
        let with_peers = !options.is_empty();
        let counts = match system {
            "parco" => benches::conformance::parco::run(&file, &mut out)?,
            "perplexity" => benches::conformance::perplexity::run(&file, &mut out)?,
            "psrp" => benches::conformance::psrp::run(&file, &mut out)?,
            "json" => benches::conformance::json::run(&file, with_peers, &mut out)?,
            _ => benches::conformance::sse::run(&file, with_peers, &mut out)?,
        };
        passed += counts.0;
        failed += counts.1;
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(failed)
}
