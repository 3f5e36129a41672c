//! Runs cargo.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::{finish, succeed};
use crate::workspace::Workspace;

/// Returns the command `cargo ARGUMENTS` in the root of the workspace, with the cargo that runs this program.
pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&workspace.root);
    if !workspace.is_incremental {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Builds a program with the features of the test build, and returns its path.
pub(crate) fn tested_program(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    // Building an example selects the features of development dependencies, as building tests does.
    finish(command(workspace, &["build", "--bin", name, "--example", "psrp_server"]))?;
    Ok(workspace.program("debug", name))
}

/// Builds a program with the measured profile, and returns its path.
pub(crate) fn released_program(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    finish(command(workspace, &["build", "--release", "--package", name, "--bin", name]))?;
    Ok(workspace.program("release", name))
}

/// Returns the command that gives all suites these arguments, such as `--test`, which runs every operation once.
pub(crate) fn bench(workspace: &Workspace, arguments: &[&str]) -> Command {
    unmeasured(command(workspace, &[&["bench", "--"], arguments].concat()))
}

/// Makes a command build the suites without optimization, in a fraction of the time: for runs that measure nothing.
pub(crate) fn unmeasured(mut command: Command) -> Command {
    command.env("CARGO_PROFILE_BENCH_OPT_LEVEL", "0");
    command
}

pub(crate) fn host_triple() -> Result<String> {
    let text = succeed(Command::new("rustc").arg("-vV"))?.stdout;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not tell its host")?.to_owned())
}
