//! Writes and checks the committed pages with figures of the published run.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use bench_report::model::Report;
use bench_report::{JSON, PAIRS, Sources, publish};

use crate::process::Skipped;
use crate::tidy;
use crate::workspace::Workspace;

/// The published run, from which all other files are written.
pub(crate) fn run(workspace: &Workspace) -> PathBuf {
    workspace.root.join(publish::FOLDER).join(JSON)
}

/// Writes all files for a run. The pairs are those of the latest run if `is_new`.
pub(crate) fn write(report: &Report, sources: &Sources, is_new: bool, workspace: &Workspace) -> Result<()> {
    let root = &workspace.root;
    fs::create_dir_all(root.join(publish::FOLDER))?;
    for (path, text) in publish::files(report, sources, root, &tidy::guides(root)?)? {
        fs::write(root.join(&path), text).with_context(|| format!("cannot write {path}"))?;
        crate::say(&format!("{path}\n"));
    }
    for path in publish::stale(report, sources, root, &tidy::guides(root)?)? {
        fs::remove_file(root.join(&path)).with_context(|| format!("cannot remove {path}"))?;
    }
    if is_new {
        let from = workspace.report().join(PAIRS);
        let to = root.join(publish::FOLDER).join(PAIRS);
        fs::copy(&from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok(())
}

/// Compares all files with the committed run. Skipped if there is none. Fails with the files that differ, and with
/// claims about speed that are written by hand.
pub(crate) fn check(workspace: &Workspace) -> Result<Skipped> {
    let (root, path) = (&workspace.root, run(workspace));
    if !path.exists() {
        return Ok(Some(format!("there is no {}; `cargo xtask report --out` writes it", path.display())));
    }
    let report = bench_report::read(&path)?;
    let problems = publish::problems(&report, &Sources::load(root)?, root, &tidy::guides(root)?)?;
    if problems.is_empty() { Ok(None) } else { bail!("{}", problems.join("\n")) }
}
