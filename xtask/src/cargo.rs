//! Calls of cargo.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// What all steps of the gate that run something are built with, so that each crate is compiled once for all of them:
/// cargo builds a dependency again for every other set of features that the selected packages ask of it.
pub(crate) const WHOLE: [&str; 2] = ["--workspace", "--all-features"];

/// `cargo ARGUMENTS` in the root of the workspace, with the cargo that runs this program.
pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&workspace.root);
    command
}

/// Builds a program with what the tests have built, and tells where it is.
///
/// # Errors
///
/// Fails where it does not build.
pub(crate) fn tested_program(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let mut command = command(workspace, &["build"]);
    // The features of dependencies that only tests ask for are turned on where an example is built.
    command.args(WHOLE).args(["--bin", name, "--example", "psrp_server"]);
    ensure!(command.status().context("cannot start cargo")?.success(), "{name} does not build");
    Ok(workspace.program("debug", name))
}
