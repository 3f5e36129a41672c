//! `cargo bench` without options: builds and runs all suites, with the same arguments.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs, io};

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
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["bench", "--no-fail-fast"]).current_dir(folder);
    cargo.args(packages.iter().flat_map(|package| ["--package", package])).arg("--");
    // Cargo adds `--bench` again.
    cargo.args(arguments.iter().filter(|argument| *argument != "--bench"));
    Ok(if cargo.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
