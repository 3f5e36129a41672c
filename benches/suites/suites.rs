//! `cargo bench` without options: runs `cargo bench -p SUITE` for each suite, with the same arguments.
//!
//! One build of all suites would combine the features that they enable in their peers, and so measure other programs than
//! `cargo bench -p SUITE` and `cargo xtask bench`.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs, io};

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    // `cargo test --benches` passes no `--bench`, and has tested the suites already.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(ExitCode::SUCCESS);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder");
    let mut packages: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    packages.retain(|name| name.to_string_lossy().ends_with("-bench"));
    packages.sort();
    let mut has_failed = false;
    for package in packages {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["bench", "--no-fail-fast", "--package"]).arg(package).arg("--");
        // Cargo adds `--bench` again.
        cargo.args(arguments.iter().filter(|argument| *argument != "--bench")).current_dir(folder);
        has_failed |= !cargo.status()?.success();
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
