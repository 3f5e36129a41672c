//! `cargo bench` without options: builds and runs all suites, with the same arguments.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs, io};

/// Built by itself: it enables TLS and compression of reqwest, which the other suites measure without.
const ALONE: &str = "pypi-proxy-bench";

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    // `cargo test --benches` passes no `--bench`, and has tested the suites already.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(ExitCode::SUCCESS);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or_else(|| Path::new("."));
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut packages: Vec<String> = names.collect::<io::Result<_>>()?;
    packages.retain(|name| name.ends_with("-bench"));
    packages.sort();
    let (alone, together): (Vec<_>, Vec<_>) = packages.into_iter().partition(|name| name == ALONE);
    let mut has_failed = false;
    for packages in [together, alone] {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["bench", "--no-fail-fast"]).current_dir(folder);
        cargo.args(packages.iter().flat_map(|package| ["--package", package])).arg("--");
        // Cargo adds `--bench` again.
        cargo.args(arguments.iter().filter(|argument| *argument != "--bench"));
        has_failed |= !cargo.status()?.success();
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
