//! `cargo xtask report`: renders and publishes reports.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use bench_report::model::{Comparison, ProxyRun, Report};
use bench_report::{JSON, Sources, read, read_json};

use crate::workspace::Workspace;
use crate::{compare, publish};

/// Write the latest report again
///
/// Renders the results of the suites, load.json and fleet.json in target/report, and the files of benches/data.
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
    allow_unfit: bool,
    /// List the changes since an earlier report.json
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    /// Fail if a row became slower or allocates more
    #[arg(long, requires = "compare")]
    fail_on_regression: bool,
}

pub(crate) fn command(options: &Options, workspace: &Workspace) -> Result<()> {
    let sources = Sources::load(&workspace.root)?;
    if options.committed {
        return publish::write(&read(&publish::run(workspace))?, &sources, false, workspace);
    }
    let mut report = read(&workspace.report().join(JSON))?;
    add_proxy_runs(&mut report, workspace)?;
    if let Some(before) = &options.compare {
        report.comparison = Some(compare::compare(&read(before)?, &report));
    }
    write(&report, &sources, workspace)?;
    if options.out {
        let unfit = bench_report::unfit(&report, &sources);
        ensure!(
            options.allow_unfit || unfit.is_empty(),
            "this report is not fit to publish ({}); measure again, or pass --allow-unfit",
            unfit.join("; ")
        );
        publish::write(&report, &sources, true, workspace)?;
    }
    fail_on_regression(&report, options.fail_on_regression)
}

/// Writes the files of the report and prints the folder.
pub(crate) fn write(report: &Report, sources: &Sources, workspace: &Workspace) -> Result<()> {
    bench_report::write(report, sources, &workspace.report())?;
    crate::say(&format!("{}\n", workspace.report().join("index.html").display()));
    Ok(())
}

/// Fails if there are regressions and `fails` is set.
pub(crate) fn fail_on_regression(report: &Report, fails: bool) -> Result<()> {
    let regressions = report.comparison.as_ref().map_or(0, Comparison::regressions);
    ensure!(!fails || regressions == 0, "{regressions} regressions");
    Ok(())
}

/// Adds the latest results of `cargo xtask load` and `cargo xtask fleet`.
pub(crate) fn add_proxy_runs(report: &mut Report, workspace: &Workspace) -> Result<()> {
    report.load = proxy_run(&workspace.report(), "load.json")?.or(report.load.take());
    report.fleet = proxy_run(&workspace.report(), "fleet.json")?.or(report.fleet.take());
    Ok(())
}

/// Reads the results of the program `pypi-proxy-load`, if there are any.
pub(crate) fn proxy_run(folder: &Path, name: &str) -> Result<Option<ProxyRun>> {
    let path = folder.join(name);
    path.exists().then(|| read_json(&path)).transpose()
}

/// Renders the latest report again, if there is one, with the latest results of the proxy.
pub(crate) fn update(workspace: &Workspace) -> Result<()> {
    let is_measured = workspace.report().join(JSON).exists();
    if is_measured { command(&Options::default(), workspace) } else { Ok(()) }
}

/// Writes the ratios of the saved runs over the commits.
pub(crate) fn show_history(workspace: &Workspace) -> Result<()> {
    let path = workspace.report().join("history.html");
    fs::create_dir_all(workspace.report())?;
    fs::write(&path, bench_report::history_page(&Sources::load(&workspace.root)?))?;
    crate::say(&format!("{}\n", path.display()));
    Ok(())
}
