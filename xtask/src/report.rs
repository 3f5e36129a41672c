//! `cargo xtask report`: reads, renders and writes reports.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;

use crate::join::Sources;
use crate::model::{Comparison, ProxyRun, Report, SCHEMA};
use crate::workspace::Workspace;
use crate::{compare, html, publish, view};

/// Name of the data file.
const JSON: &str = "report.json";

/// Write the latest report again
///
/// Renders target/report/report.json, load.json, fleet.json and the files of benches/data.
#[derive(Default, clap::Args)]
pub(crate) struct Options {
    /// Also write BENCHMARKS.md, docs/benchmarks and the figures in README files, to be committed
    #[arg(long, conflicts_with = "committed")]
    out: bool,
    /// Only write these files again, from docs/benchmarks/report.json
    #[arg(long)]
    committed: bool,
    /// Write them even if the run is not fit to publish
    #[arg(long)]
    allow_noisy: bool,
    /// List the changes since an earlier report.json, taking noise into account
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    /// Fail if a row became slower or allocates more
    #[arg(long, requires = "compare")]
    fail_on_regression: bool,
}

pub(crate) fn command(options: &Options, workspace: &Workspace) -> Result<()> {
    let sources = Sources::load(workspace)?;
    if options.committed {
        return publish::write(&read(&workspace.root.join(publish::RUN))?, &sources, &workspace.root);
    }
    let mut report = read(&workspace.report().join(JSON))?;
    add_proxy_runs(&mut report, workspace)?;
    if let Some(before) = &options.compare {
        report.comparison = Some(compare::compare(&read(before)?, &report));
    }
    write(&report, &sources, &workspace.report())?;
    if options.out {
        let unfit = report.run.unfit();
        ensure!(
            options.allow_noisy || unfit.is_empty(),
            "this report is not fit to publish ({}); measure again, or pass --allow-noisy",
            unfit.join("; ")
        );
        publish::write(&report, &sources, &workspace.root)?;
    }
    fail_on_regression(&report, options.fail_on_regression)
}

/// Fails if there are regressions and `fails` is set.
pub(crate) fn fail_on_regression(report: &Report, fails: bool) -> Result<()> {
    let regressions = report.comparison.as_ref().map_or(0, Comparison::regressions);
    ensure!(!fails || regressions == 0, "{regressions} regressions");
    Ok(())
}

/// Adds the latest results of `cargo xtask load` and `cargo xtask fleet`.
pub(crate) fn add_proxy_runs(report: &mut Report, workspace: &Workspace) -> Result<()> {
    report.load = proxy_run(workspace, "load.json")?.or(report.load.take());
    report.fleet = proxy_run(workspace, "fleet.json")?.or(report.fleet.take());
    Ok(())
}

/// Reads the results of the program `pypi-proxy-load`, if there are any.
pub(crate) fn proxy_run(workspace: &Workspace, name: &str) -> Result<Option<ProxyRun>> {
    let path = workspace.report().join(name);
    path.exists().then(|| read_json(&path)).transpose()
}

/// Renders the latest report again, if there is one, with the latest results of the proxy.
pub(crate) fn update(workspace: &Workspace) -> Result<()> {
    let is_measured = workspace.report().join(JSON).exists();
    if is_measured { command(&Options::default(), workspace) } else { Ok(()) }
}

/// Reads a `report.json`.
pub(crate) fn read(path: &Path) -> Result<Report> {
    let report: Report = read_json(path).context("run `cargo xtask bench` first")?;
    ensure!(report.schema == SCHEMA, "{} has schema {}, expected {SCHEMA}", path.display(), report.schema);
    Ok(report)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("unexpected content of {}", path.display()))
}

/// Returns the content of `report.json`, with one row per line.
pub(crate) fn json(report: &Report) -> Result<String> {
    let without_rows = serde_json::to_string(&Report { rows: Vec::new(), ..report.clone() })?;
    let rows: Vec<String> = report.rows.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    Ok(without_rows.replacen("\"rows\":[]", &format!("\"rows\":[\n{}\n]", rows.join(",\n")), 1) + "\n")
}

/// Writes `report.json`, `report.md` and `index.html` and prints their paths.
pub(crate) fn write(report: &Report, sources: &Sources, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    let files =
        [(JSON, json(report)?), ("report.md", text(report, sources)), ("index.html", page(report, sources))];
    for (name, content) in files {
        let path = directory.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        crate::say(&format!("{}\n", path.display()));
    }
    Ok(())
}

/// Returns the first page in Markdown, which is also printed at the end of `cargo xtask bench`.
pub(crate) fn text(report: &Report, sources: &Sources) -> String {
    format!("# Benchmark report\n{}", view::summary::text(report, sources))
}

/// Returns the whole report as a page in HTML.
pub(crate) fn page(report: &Report, sources: &Sources) -> String {
    let mut text = text(report, sources);
    let mut charts = BTreeMap::new();
    for page in view::systems(report, sources).chain([view::coverage(sources)]) {
        text += &page.text;
        charts.extend(page.charts.into_iter().map(|chart| (chart.id, chart.svg)));
    }
    text += &view::all_implementations(report, sources);
    html::render("Benchmark report", &text, &charts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::row;
    use crate::model::{Role, Row};
    use crate::quantity::Quantity;
    use crate::view::tests::{report, sources};

    #[test]
    fn written_files_can_be_read() {
        let directory = std::env::temp_dir().join(format!("xtask-report-{}", std::process::id()));
        write(&report(), &sources(), &directory).unwrap();
        let again = read(&directory.join(JSON)).unwrap();
        let texts = ["report.md", "index.html"].map(|name| fs::read_to_string(directory.join(name)).unwrap());
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(again, report());
        assert!(texts.iter().all(|text| text.contains("client_do_simple")));
        let error = format!("{:#}", read(&directory.join(JSON)).unwrap_err());
        assert!(error.contains("cargo xtask bench"), "{error}");
    }

    #[test]
    fn regressions_fail_if_requested() {
        let report = |allocs| {
            let mut row = Row { deterministic: Some(true), ..row("a", Role::Ours, None, &[1.0]) };
            row.figures.insert(Quantity::Allocs, vec![allocs]);
            Report { rows: vec![row], ..Report::default() }
        };
        let mut slower = report(2.0);
        slower.comparison = Some(compare::compare(&report(1.0), &slower));
        assert!(fail_on_regression(&slower, true).is_err());
        assert!(fail_on_regression(&slower, false).is_ok() && fail_on_regression(&report(1.0), true).is_ok());
    }
}
