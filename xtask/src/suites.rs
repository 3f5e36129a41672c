//! The Rust suites: building them and asking what they hold.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::cargo;
use crate::parse::record::{self, Listed};
use crate::workspace::Workspace;

/// One benchmark binary of the `benches` package.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) system: String,
    pub(crate) executable: PathBuf,
    /// Rows and implementations in the suite's order.
    pub(crate) listed: Vec<Listed>,
}

/// Suites that need a feature of the package which would change what the others are built with.
const FEATURED: [(&str, &str); 2] = [("pypi_proxy_requests", "proxy"), ("pypi_proxy_store", "proxy")];

/// Builds the suites named, all where none is, and lists their contents.
pub(crate) fn build(workspace: &Workspace, systems: &[String]) -> Result<Vec<Suite>> {
    let is_featured = |system: &&String| FEATURED.iter().any(|(name, _)| name == system);
    let (featured, plain): (Vec<&String>, Vec<&String>) = systems.iter().partition(is_featured);
    let mut executables = Vec::new();
    if systems.is_empty() || !plain.is_empty() {
        executables.extend(compile(workspace, &plain, None)?);
    }
    for (name, feature) in FEATURED {
        let name = name.to_owned();
        if systems.is_empty() || featured.contains(&&name) {
            executables.extend(compile(workspace, &[&name], Some(feature))?);
        }
    }
    listed(executables)
}

/// The suites that may have the rows of some keys.
pub(crate) fn of_keys(keys: &[String]) -> Vec<String> {
    let systems: BTreeSet<&str> = keys.iter().filter_map(|key| key.split('/').next()).collect();
    let is_part = |name: &&str| systems.iter().any(|system| name.starts_with(system));
    let featured = FEATURED.iter().map(|(name, _)| *name).filter(is_part);
    let all: BTreeSet<&str> = systems.iter().copied().chain(featured).collect();
    all.into_iter().map(str::to_owned).collect()
}

/// All suites as the gate builds them for its tests, so that asking for their rows compiles nothing anew.
pub(crate) fn tested(workspace: &Workspace) -> Result<Vec<Suite>> {
    let arguments =
        ["test", "--no-run", "--message-format=json", "--workspace", "--all-features", "--benches"];
    listed(executables_of(cargo::command(workspace, &arguments))?)
}

/// Name and path of the suites named, or of all that need no feature.
fn compile(
    workspace: &Workspace,
    systems: &[&String],
    feature: Option<&str>,
) -> Result<Vec<(String, PathBuf)>> {
    let mut command =
        cargo::command(workspace, &["bench", "--no-run", "--message-format=json", "--package", "benches"]);
    for system in systems {
        command.args(["--bench", system]);
    }
    if let Some(feature) = feature {
        command.args(["--features", feature]);
    }
    executables_of(command)
}

/// Builds, and finds the suites in what cargo says.
fn executables_of(mut command: Command) -> Result<Vec<(String, PathBuf)>> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo to build the suites")?;
    let messages = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        for message in rendered(&messages) {
            crate::say(&message);
        }
        bail!("the suites do not build");
    }
    Ok(executables(&messages))
}

fn listed(executables: Vec<(String, PathBuf)>) -> Result<Vec<Suite>> {
    ensure!(!executables.is_empty(), "the package benches has no suite yet");
    executables
        .into_iter()
        .map(|(system, executable)| {
            let listed =
                list(&executable).with_context(|| format!("cannot list the rows of the suite {system}"))?;
            Ok(Suite { system, executable, listed })
        })
        .collect()
}

fn list(executable: &Path) -> Result<Vec<Listed>> {
    let output = Command::new(executable).args(["--bench", "--list", "--format", "json"]).output()?;
    ensure!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    record::parse_list(&String::from_utf8_lossy(&output.stdout))
}

/// Name and path of every benchmark binary in cargo's messages.
fn executables(messages: &str) -> Vec<(String, PathBuf)> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["kind"][0] == "bench")
        .filter_map(|message| {
            let name = message["target"]["name"].as_str()?.to_owned();
            Some((name, PathBuf::from(message["executable"].as_str()?)))
        })
        .collect()
}

/// Errors of the compiler, which the JSON format hides from the terminal.
fn rendered(messages: &str) -> Vec<String> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-message" && message["message"]["level"] == "error")
        .filter_map(|message| message["message"]["rendered"].as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two messages of cargo 1.95, without the fields that are not read.
    const MESSAGES: &str = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"benches"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"sse"},"executable":"/t/release/deps/sse-1"}
{"reason":"compiler-message","message":{"level":"error","rendered":"error: no\n"}}
{"reason":"build-finished","success":true}
"#;

    #[test]
    fn keys_name_their_suites() {
        let of = |keys: &[&str]| of_keys(&keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["sse/a", "sse/b", "client/c"]), ["client", "sse"]);
        assert_eq!(
            of(&["pypi_proxy/allocs_per_request"]),
            ["pypi_proxy", "pypi_proxy_requests", "pypi_proxy_store"]
        );
    }

    #[test]
    fn finds_suites_and_errors_in_cargo_messages() {
        assert_eq!(executables(MESSAGES), [("sse".to_owned(), PathBuf::from("/t/release/deps/sse-1"))]);
        assert_eq!(rendered(MESSAGES), ["error: no\n"]);
    }
}
