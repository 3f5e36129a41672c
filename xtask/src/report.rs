//! `cargo xtask report`: renders and publishes reports.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use bench_report::model::{ProxyRun, Report, Row};
use bench_report::{JSON, Sources, publish, read, read_json};

use crate::process::{Skipped, output};
use crate::workspace::Workspace;
use crate::{cargo, proxy, tidy};

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
}

pub(crate) fn command(options: &Options, workspace: &Workspace) -> Result<()> {
    let (root, sources) = (&workspace.root, Sources::load(&workspace.root)?);
    if options.committed {
        return publish::write(&read(&publish::run(root))?, &sources, root, &tidy::guides(root)?, None);
    }
    let mut report = read(&workspace.report().join(JSON))?;
    add_proxy_runs(&mut report, workspace)?;
    write(&report, &sources, workspace)?;
    if options.out {
        let unfit = bench_report::unfit(&report, &sources);
        ensure!(
            options.allow_unfit || unfit.is_empty(),
            "this report is not fit to publish ({}); measure again, or pass --allow-unfit",
            unfit.join("; ")
        );
        publish::write(&report, &sources, root, &tidy::guides(root)?, Some(&workspace.report()))?;
    }
    Ok(())
}

/// Compares the committed pages with the published run. Skipped if there is none.
pub(crate) fn check(workspace: &Workspace) -> Result<Skipped> {
    let (root, run) = (&workspace.root, publish::run(&workspace.root));
    if !run.exists() {
        return Ok(Some(format!("there is no {}; `cargo xtask report --out` writes it", run.display())));
    }
    let problems = publish::problems(&read(&run)?, &Sources::load(root)?, root, &tidy::guides(root)?)?;
    if problems.is_empty() { Ok(None) } else { bail!("{}", problems.join("\n")) }
}

/// Writes the files of the report and prints the path of the page.
pub(crate) fn write(report: &Report, sources: &Sources, workspace: &Workspace) -> Result<()> {
    bench_report::write(report, sources, &workspace.report())?;
    crate::say(&format!("{}\n", workspace.report().join("index.html").display()));
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

/// Checks that every published row has a row in the harness or a reason, and vice versa: lists the rows of the suites,
/// and compares them with the committed files.
pub(crate) fn check_rows(workspace: &Workspace) -> Result<()> {
    let output = output(&mut cargo::bench(workspace, &["--list", "--format", "json"]))?;
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
