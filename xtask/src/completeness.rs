//! Checks that every published row has a row in the harness or a reason, and vice versa.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use bench_report::Sources;
use bench_report::model::Row;

use crate::workspace::Workspace;
use crate::{cargo, process, proxy};

/// Lists the rows of the suites, and compares them with the committed files.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let output = process::output(&mut cargo::bench(workspace, &["--list", "--format", "json"]))?;
    let mut keys = BTreeSet::from_iter(proxy::keys(workspace)?);
    for line in output.lines().filter(|line| line.starts_with('{')) {
        let row: Row = serde_json::from_str(line).with_context(|| format!("not a row: {line}"))?;
        keys.extend(row.aliases);
        keys.insert(row.key);
    }
    let gaps = Sources::load(&workspace.root)?.gaps(&keys);
    crate::say(&format!("{} rows of the harness, {} gaps\n", keys.len(), gaps.len()));
    ensure!(gaps.is_empty(), "{}", gaps.join("\n"));
    Ok(())
}
