//! `cargo xtask conformance CRATE PATH...`: runs files of test vectors through a crate.
//!
//! The cases run in the `conformance` program of the `benches` package, where the peers are at hand as well. This
//! command builds it with optimisation and hands its arguments on.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::args::Args;
use crate::cargo;
use crate::workspace::Workspace;

pub(crate) const HELP: &str = "\
usage: cargo xtask conformance CRATE [--peers] PATH...

Prints the ids of the cases that fail and ends with `N passed, N failed`; the exit code is 0 if none failed.
With --peers the same cases run through the peers as well; their counts do not change the exit code.
";

pub(crate) fn command(mut args: Args) -> Result<()> {
    let peers = args.flag("--peers");
    let words = args.positionals()?;
    args.finish()?;
    if words.len() < 2 {
        bail!("{HELP}");
    }
    let workspace = Workspace::find()?;
    let mut cargo = cargo::command(&workspace, &["build", "--quiet", "--profile", "bench"]);
    cargo.args(["--package", "benches", "--all-features", "--bin", "conformance"]);
    ensure!(cargo.status()?.success(), "the program does not build");
    run(&workspace.program("release", "conformance"), &words[0], peers, &words[1..])
}

/// Runs files through a program that is built.
///
/// # Errors
///
/// Fails where a case does.
pub(crate) fn run(program: &Path, system: &str, peers: bool, files: &[impl AsRef<OsStr>]) -> Result<()> {
    let mut command = Command::new(program);
    command.arg(system).args(peers.then_some("--peers")).args(files);
    let status = command.status().context("cannot start the program")?;
    if status.success() { Ok(()) } else { bail!("not every case passed") }
}
