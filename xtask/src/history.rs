//! `cargo xtask bench --save` and `--history`: the results of runs by commit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::chart;
use crate::html;
use crate::join::{Facts, Sources};
use crate::model::Report;
use crate::workspace::Workspace;

/// A saved run. Ratios are those of the fastest other implementation, so that runs of different machines can be
/// compared.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Saved {
    date: String,
    commit: String,
    cpu: String,
    /// Median ratio by group of rows.
    groups: BTreeMap<String, f64>,
    /// Ratio by row and class.
    rows: BTreeMap<String, f64>,
}

impl Saved {
    fn of(report: &Report, sources: &Sources) -> Result<Self> {
        let facts = Facts::new(report, sources);
        let rounded = |value: f64| (value * 1e3).round() / 1e3;
        let groups = sources.groups.groups.iter().filter_map(|group| {
            let summary = facts.summary(group, &|_| true)?;
            Some((format!("{}: {}", group.package, group.title), rounded(summary.median)))
        });
        let rows = facts.standings().into_iter();
        let rows = rows.filter_map(|row| Some((row.name(), rounded(row.ratio.as_ref()?.value))));
        Ok(Self {
            date: report.run.date.clone(),
            commit: report.run.commit.clone().context("the commit of the run is unknown")?,
            cpu: report.run.machine.cpu.clone(),
            groups: groups.collect(),
            rows: rows.collect(),
        })
    }
}

fn directory(workspace: &Workspace) -> PathBuf {
    workspace.root.join("benches/history")
}

/// Saves a run as `benches/history/DATE-COMMIT.json`. Fails if the run is not fit to publish, or if its commit is
/// unknown or has local changes.
pub(crate) fn save(report: &Report, sources: &Sources, workspace: &Workspace) -> Result<()> {
    let saved = Saved::of(report, sources)?;
    let unfit = report.run.unfit();
    ensure!(unfit.is_empty(), "the run is not saved: {}", unfit.join("; "));
    ensure!(!saved.commit.contains(' '), "the run is not saved: it is that of {}", saved.commit);
    let day = saved.date.split('T').next().unwrap_or_default();
    let path = directory(workspace).join(format!("{day}-{}.json", saved.commit));
    fs::create_dir_all(directory(workspace))?;
    fs::write(&path, serde_json::to_string_pretty(&saved)? + "\n")?;
    crate::say(&format!("{}\n", path.display()));
    Ok(())
}

/// Draws the median ratio of every group over the saved runs, in `target/report/history.html`.
pub(crate) fn show(workspace: &Workspace) -> Result<()> {
    let runs = read(&directory(workspace))?;
    let (first, last) =
        runs.first().zip(runs.last()).context("no run is saved; use `cargo xtask bench --save`")?;
    let label = |run: &Saved| format!("{} {}", run.date.split('T').next().unwrap_or_default(), run.commit);
    let mut text = "# Median ratio to the fastest alternative, by group\n\nAbove 1, ours is faster. One point per saved \
                    run, the oldest one on the left.\n"
        .to_owned();
    let mut charts = BTreeMap::new();
    for (index, title) in last.groups.keys().enumerate() {
        let values: Vec<Option<f64>> = runs.iter().map(|run| run.groups.get(title).copied()).collect();
        if let Some(svg) = chart::line(title, &values, (&label(first), &label(last))) {
            text += &format!("\n## {title}\n\n![{title}](g{index}.svg)\n");
            charts.insert(format!("g{index}"), svg);
        }
    }
    let path = workspace.report().join("history.html");
    fs::create_dir_all(workspace.report())?;
    fs::write(&path, html::render("Benchmark history", &text, &charts))?;
    crate::say(&format!("{}\n", path.display()));
    Ok(())
}

/// Reads the saved runs, the oldest one first.
fn read(directory: &Path) -> Result<Vec<Saved>> {
    let mut runs: Vec<Saved> = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = fs::read_to_string(&path)?;
            runs.push(serde_json::from_str(&text).with_context(|| path.display().to_string())?);
        }
    }
    runs.sort_by(|a, b| a.date.cmp(&b.date));
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::tests::{report, sources};

    #[test]
    fn saved_runs_are_drawn() {
        let root = std::env::temp_dir().join(format!("xtask-history-{}", std::process::id()));
        let workspace = Workspace { target: root.join("target"), root, ..Workspace::find().unwrap() };
        assert!(show(&workspace).is_err(), "there is no run");
        let mut report = report();
        for (date, commit) in [("2026-01-02T00:00:00Z", "aaaa"), ("2026-01-03T00:00:00Z", "bbbb")] {
            (report.run.date, report.run.commit) = (date.to_owned(), Some(commit.to_owned()));
            save(&report, &sources(), &workspace).unwrap();
        }
        report.run.commit = Some("cccc with local changes".to_owned());
        assert!(save(&report, &sources(), &workspace).is_err());
        let runs = read(&directory(&workspace)).unwrap();
        show(&workspace).unwrap();
        let page = fs::read_to_string(workspace.report().join("history.html")).unwrap();
        fs::remove_dir_all(&workspace.root).unwrap();
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[0].rows["sse/decode_simple_event (owned)"], 2.0);
        assert_eq!(page.matches("<circle").count(), 4, "two groups, two runs");
        assert!(page.contains("2026-01-03 bbbb"));
    }
}
