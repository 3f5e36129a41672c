//! Runs cargo.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::tidy;
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
    let mut command = command(workspace, &["build", "--bin", name, "--example", "psrp_server"]);
    ensure!(command.status().context("cannot start cargo")?.success(), "{name} does not build");
    Ok(workspace.program("debug", name))
}

/// Builds a program with the measured profile, and returns its path.
pub(crate) fn released_program(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let mut command = command(workspace, &["build", "--release", "--package", name, "--bin", name]);
    ensure!(command.status().context("cannot start cargo")?.success(), "{name} does not build");
    Ok(workspace.program("release", name))
}

/// Returns the command that tests the suites: unit tests, and every operation once.
pub(crate) fn test_suites(workspace: &Workspace) -> Result<Command> {
    let mut command = command(workspace, &["test", "--lib", "--bins", "--benches"]);
    for package in tidy::packages(workspace)?.iter().filter(|package| package.is_suite()) {
        command.args(["--package", &package.name]);
    }
    Ok(command)
}

/// Returns the target triple of the machine.
pub(crate) fn host_triple() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("rustc cannot be run")?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not tell its host")?.to_owned())
}

/// The messages of a cargo command with `--message-format=json`.
pub(crate) struct Messages {
    pub(crate) is_success: bool,
    messages: Vec<Value>,
}

impl Messages {
    /// Runs a command that has the argument `--message-format=json`.
    pub(crate) fn of(mut command: Command) -> Result<Self> {
        let output =
            command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
        Ok(Self::parse(output.status.success(), &String::from_utf8_lossy(&output.stdout)))
    }

    pub(crate) fn parse(is_success: bool, text: &str) -> Self {
        let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Self { is_success, messages }
    }

    /// Returns the name and path of each benchmark binary.
    pub(crate) fn benches(&self) -> Vec<(String, PathBuf)> {
        let artifacts = self.messages.iter().filter(|message| {
            message["reason"] == "compiler-artifact" && message["target"]["kind"][0] == "bench"
        });
        artifacts
            .filter_map(|message| {
                let name = message["target"]["name"].as_str()?.to_owned();
                Some((name, PathBuf::from(message["executable"].as_str()?)))
            })
            .collect()
    }

    /// Returns the compiler's errors and warnings, which cargo does not print in JSON mode.
    pub(crate) fn diagnostics(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().filter_map(|message| message["message"]["rendered"].as_str())
    }
}
