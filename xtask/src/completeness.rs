//! Checks that every published row has a row in the harness or a reason, and vice versa.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use bench_report::Sources;
use bench_report::model::Row;

use crate::cargo::Messages;
use crate::workspace::Workspace;
use crate::{cargo, proxy};

/// Lists the rows of the suites and compares them with the committed files.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let rows = rows(workspace)?;
    let keys = rows.iter().flat_map(|row| row.aliases.iter().chain([&row.key])).cloned();
    let keys: BTreeSet<String> = keys.chain(proxy::keys(workspace)?).collect();
    let gaps = Sources::load(&workspace.root)?.gaps(&keys);
    crate::say(&format!("{} rows of the harness, {} gaps\n", keys.len(), gaps.len()));
    ensure!(gaps.is_empty(), "{}", gaps.join("\n"));
    Ok(())
}

/// Returns the rows of all suites as built for the tests of the gate, so that listing them compiles nothing.
fn rows(workspace: &Workspace) -> Result<Vec<Row>> {
    let mut command = cargo::test_suites(workspace)?;
    command.args(["--no-run", "--message-format=json"]);
    let messages = Messages::of(command)?;
    if !messages.is_success {
        messages.diagnostics().for_each(crate::say);
        bail!("the suites do not build");
    }
    let mut rows = Vec::new();
    for (system, executable) in messages.benches() {
        let output = Command::new(executable).args(["--bench", "--list", "--format", "json"]).output()?;
        ensure!(output.status.success(), "{system}: {}", String::from_utf8_lossy(&output.stderr).trim());
        for line in String::from_utf8(output.stdout)?.lines().filter(|line| line.starts_with('{')) {
            rows.push(serde_json::from_str(line).with_context(|| format!("{system}: not a row: {line}"))?);
        }
    }
    ensure!(!rows.is_empty(), "there is no suite");
    Ok(rows)
}
