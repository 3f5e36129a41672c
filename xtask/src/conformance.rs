//! `cargo xtask conformance SYSTEM PATH...`: runs files of test vectors through a crate.
//!
//! The cases run in the program `conformance`. This command builds it for one system and passes the files on.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::args::Args;
use crate::cargo;
use crate::workspace::Workspace;

pub(crate) const HELP: &str = "\
usage: cargo xtask conformance SYSTEM [--peers] PATH...

Runs test vectors through a crate and prints the ids of failed cases, then `N passed, N failed`. Exits with 0 if none
failed.

  SYSTEM   json, parco, perplexity, psrp or sse
  PATH     file of vectors; for json, a folder of cases
  --peers  run the cases through other libraries as well, without effect on the exit code (json and sse)
";

const SYSTEMS: [&str; 5] = ["json", "parco", "perplexity", "psrp", "sse"];
const SYSTEMS_WITH_PEERS: [&str; 2] = ["json", "sse"];

pub(crate) fn command(mut args: Args) -> Result<()> {
    let peers = args.flag("--peers");
    let words = args.positionals()?;
    args.finish()?;
    let [system, files @ ..] = &words[..] else { bail!("{HELP}") };
    ensure!(SYSTEMS.contains(&system.as_str()) && !files.is_empty(), "{HELP}");
    ensure!(!peers || SYSTEMS_WITH_PEERS.contains(&system.as_str()), "{system} has no peers");
    let workspace = Workspace::find()?;
    let feature = if peers { format!("{system}-peers") } else { system.clone() };
    let mut cargo = cargo::command(&workspace, &["build", "--quiet", "--package", "conformance"]);
    cargo.args(["--features", &feature]);
    ensure!(cargo.status()?.success(), "the program does not build");
    run(&workspace.program("debug", "conformance"), system, files)
}

/// Runs files through a program that is already built.
///
/// # Errors
///
/// Fails if a case fails.
pub(crate) fn run(program: &Path, system: &str, files: &[impl AsRef<OsStr>]) -> Result<()> {
    let status =
        Command::new(program).arg(system).args(files).status().context("cannot start the program")?;
    if status.success() { Ok(()) } else { bail!("not every case passed") }
}
