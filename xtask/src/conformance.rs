//! `cargo xtask conformance SYSTEM PATH...`: runs files of test vectors through a crate, with the program `conformance`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::cargo;
use crate::workspace::Workspace;

/// Run test vectors through a crate
///
/// Prints the ids of failed cases, then `N passed, N failed`. Exits with 0 if none failed.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[arg(value_parser = ["json", "parco", "perplexity", "psrp", "sse"])]
    system: String,
    /// Files of vectors; for json, folders of cases
    #[arg(value_name = "PATH", required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn command(Options { system, files }: &Options, workspace: &Workspace) -> Result<()> {
    run(&cargo::tested_program(workspace, "conformance")?, system, files)
}

pub(crate) fn run(program: &Path, system: &str, files: &[PathBuf]) -> Result<()> {
    let status = Command::new(program).arg(system).args(files).status()?;
    if status.success() { Ok(()) } else { bail!("not every case passed") }
}
