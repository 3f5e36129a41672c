//! Builds the Rust suites and lists their rows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::cargo::Messages;
use crate::model::Row;
use crate::workspace::Workspace;
use crate::{cargo, tidy};

/// One benchmark binary.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) executable: PathBuf,
    /// Rows and implementations in the suite's order.
    pub(crate) rows: Vec<Row>,
}

/// Returns the packages of the named suites, or of all if `systems` is empty. Fails for an unknown name.
pub(crate) fn select(workspace: &Workspace, systems: &[String]) -> Result<Vec<String>> {
    let mut known: Vec<String> = tidy::packages(workspace)?.iter().flat_map(tidy::Package::benches).collect();
    for system in systems {
        ensure!(known.contains(system), "there is no suite {system}; there are {}", known.join(", "));
    }
    known.retain(|name| systems.is_empty() || systems.contains(name));
    Ok(known)
}

/// Builds suites and lists their rows.
///
/// Each package is built by its own cargo command, because a common build would combine the features that the
/// packages enable in a peer and so change the measurement.
pub(crate) fn build(workspace: &Workspace, systems: &[String]) -> Result<Vec<Suite>> {
    let mut executables = Vec::new();
    for package in tidy::packages(workspace)? {
        let mut benches = package.benches();
        benches.retain(|bench| systems.contains(bench));
        if !benches.is_empty() {
            let arguments = ["bench", "--no-run", "--message-format=json", "--package", &package.name];
            let mut command = cargo::command(workspace, &arguments);
            command.args(benches.iter().flat_map(|bench| ["--bench", bench]));
            executables.extend(executables_of(command)?);
        }
    }
    listed(executables)
}

/// Returns the suites that may have rows with these keys. The name of a suite is a system, or a system and a part,
/// such as `pypi_proxy_requests`.
pub(crate) fn of_keys(workspace: &Workspace, keys: &[String]) -> Result<Vec<String>> {
    let systems: BTreeSet<&str> = keys.iter().filter_map(|key| key.split('/').next()).collect();
    let packages = tidy::packages(workspace)?;
    let benches = packages.iter().flat_map(tidy::Package::benches);
    Ok(benches.filter(|bench| systems.iter().any(|system| bench.starts_with(system))).collect())
}

/// Returns all suites as built for the tests of the gate, so that listing their rows compiles nothing.
pub(crate) fn tested(workspace: &Workspace) -> Result<Vec<Suite>> {
    let mut command = cargo::test_suites(workspace)?;
    command.args(["--no-run", "--message-format=json"]);
    listed(executables_of(command)?)
}

/// Runs a build and finds the suites in its messages.
fn executables_of(command: Command) -> Result<Vec<(String, PathBuf)>> {
    let messages = Messages::of(command)?;
    if !messages.is_success {
        messages.diagnostics().for_each(crate::say);
        bail!("the suites do not build");
    }
    Ok(messages.benches())
}

fn listed(executables: Vec<(String, PathBuf)>) -> Result<Vec<Suite>> {
    ensure!(!executables.is_empty(), "there is no suite");
    executables
        .into_iter()
        .map(|(system, executable)| {
            let rows =
                list(&executable).with_context(|| format!("cannot list the rows of the suite {system}"))?;
            Ok(Suite { executable, rows })
        })
        .collect()
}

fn list(executable: &Path) -> Result<Vec<Row>> {
    let output = Command::new(executable).args(["--bench", "--list", "--format", "json"]).output()?;
    ensure!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).with_context(|| format!("not a list line: {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_name_their_suites() {
        let of = |keys: &[&str]| {
            let keys: Vec<_> = keys.iter().map(|key| (*key).to_owned()).collect();
            of_keys(&Workspace::find().unwrap(), &keys).unwrap()
        };
        assert_eq!(of(&["sse/a", "sse/b", "client/c"]), ["client", "sse"]);
        assert_eq!(
            of(&["pypi_proxy/allocs_per_request"]),
            ["pypi_proxy", "pypi_proxy_requests", "pypi_proxy_store"]
        );
    }
}
