//! `cargo xtask conformance SYSTEM PATH...`: runs files of test vectors through a crate.
//!
//! The cases run in the program `conformance`. This command builds it for one system and passes the files on.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::cargo;
use crate::workspace::Workspace;

const SYSTEMS: [&str; 5] = ["json", "parco", "perplexity", "psrp", "sse"];
const SYSTEMS_WITH_PEERS: [&str; 2] = ["json", "sse"];

/// Run test vectors through a crate
///
/// Prints the ids of failed cases, then `N passed, N failed`. Exits with 0 if none failed.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[arg(value_parser = SYSTEMS)]
    system: String,
    /// Files of vectors; for json, folders of cases
    #[arg(value_name = "PATH", required = true)]
    files: Vec<PathBuf>,
    /// Run the cases through other libraries as well, without effect on the exit code (json and sse)
    #[arg(long)]
    peers: bool,
}

pub(crate) fn command(Options { system, files, peers }: &Options, workspace: &Workspace) -> Result<()> {
    ensure!(!peers || SYSTEMS_WITH_PEERS.contains(&system.as_str()), "{system} has no peers");
    let feature = if *peers { format!("{system}-peers") } else { system.clone() };
    let mut cargo = cargo::command(workspace, &["build", "--quiet", "--package", "conformance"]);
    cargo.args(["--features", &feature]);
    ensure!(cargo.status()?.success(), "the program does not build");
    run(&workspace.program("debug", "conformance"), system, files)
}

/// Runs files through a program that is already built.
pub(crate) fn run(program: &Path, system: &str, files: &[PathBuf]) -> Result<()> {
    let status =
        Command::new(program).arg(system).args(files).status().context("cannot start the program")?;
    if status.success() { Ok(()) } else { bail!("not every case passed") }
}
