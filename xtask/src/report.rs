//! The report: data model, rendering, and `cargo xtask report`.

#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod html;
pub(crate) mod markdown;
mod model;
mod overview;
mod plot;
mod quantity;
mod svg;
pub(crate) mod units;
mod view;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

pub(crate) use self::model::{
    Absent, Cell, ClaimLine, Machine, Margin, Missing, Overview, Published, Ratio, Ratios, Recorded, Report,
    Role, Row, Run, SCHEMA, Standing, Summary, System, Table, TableLine, Throughput, Time,
};
pub(crate) use self::quantity::{Quantity, Unit};
pub(crate) use self::view::{Column, Line, Sheet};
use crate::args::Args;
use crate::compare::{self, Comparison};
use crate::join::{self, Sources};
use crate::workspace::Workspace;

/// Name of the data file. The other two file names are derived from it.
const JSON: &str = "report.json";

pub(crate) const HELP: &str = "\
usage: cargo xtask report [--out] [--allow-noisy] [--compare OLD.json] [--fail-on-regression]

Renders the latest report again from target/report/report.json, load.json, fleet.json and the files of benches/data.

  --out                 Also write BENCHMARKS.md and docs/overview.svg, to be committed
  --allow-noisy         Write them even if the run is not fit to publish
  --compare OLD.json    List the changes since an earlier report.json, taking noise into account
  --fail-on-regression  With --compare: fail if a row became slower or allocates more
";

/// Path of the committed overview, relative to `BENCHMARKS.md`.
const OVERVIEW: &str = "docs/overview.svg";

/// Runs `cargo xtask report`.
pub(crate) fn command(mut args: Args) -> Result<()> {
    let is_out = args.flag("--out");
    let allow_noisy = args.flag("--allow-noisy");
    let compare = args.value("--compare")?.map(PathBuf::from);
    let fails = args.flag("--fail-on-regression");
    args.finish()?;
    ensure!(compare.is_some() || !fails, "--fail-on-regression needs --compare OLD.json");
    let workspace = Workspace::find()?;
    let mut report = read(&workspace.report().join(JSON))?;
    if let Some(load) = crate::load::latest(&workspace)? {
        report.load = Some(load);
    }
    if let Some(fleet) = crate::fleet::latest(&workspace)? {
        report.fleet = Some(fleet);
    }
    join::complete(&mut report, &Sources::load(&workspace)?);
    if let Some(before) = compare {
        report.comparison = Some(compare::compare(&read(&before)?, &report));
    }
    let mut paths = write(&report, &workspace.report())?.to_vec();
    if is_out {
        ensure!(
            allow_noisy || report.run.unfit.is_empty(),
            "this report is not fit to publish ({}); measure again, or pass --allow-noisy",
            report.run.unfit.join("; ")
        );
        paths.extend(publish(&report, &workspace.root)?);
    }
    for path in paths {
        crate::say(&format!("{}\n", path.display()));
    }
    fail_on_regression(&report, fails)
}

/// Writes the files that are committed.
fn publish(report: &Report, root: &Path) -> Result<[PathBuf; 2]> {
    let overview = overview::draw_alone(report).context("no row has a peer: there is nothing to publish")?;
    let files = [("BENCHMARKS.md", markdown::benchmarks(report, OVERVIEW)), (OVERVIEW, overview)];
    for (name, content) in &files {
        let path = root.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(files.map(|(name, _)| root.join(name)))
}

/// Fails if there are regressions and `fails` is set.
pub(crate) fn fail_on_regression(report: &Report, fails: bool) -> Result<()> {
    let regressions = report.comparison.as_ref().map_or(0, Comparison::regressions);
    ensure!(!fails || regressions == 0, "{regressions} regressions");
    Ok(())
}

/// Adds data to the latest report, if there is one, and renders it again.
///
/// # Errors
///
/// Fails if the report cannot be read or written.
pub(crate) fn join(workspace: &Workspace, put: impl FnOnce(&mut Report)) -> Result<()> {
    let path = workspace.report().join(JSON);
    if path.exists() {
        let mut report = read(&path)?;
        put(&mut report);
        join::complete(&mut report, &Sources::load(workspace)?);
        for path in write(&report, &workspace.report())? {
            crate::say(&format!("{}\n", path.display()));
        }
    }
    Ok(())
}

/// Reads a `report.json`.
pub(crate) fn read(path: &Path) -> Result<Report> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read {}; run `cargo xtask bench` first", path.display()))?;
    let report: Report =
        serde_json::from_str(&text).with_context(|| format!("unexpected content of {}", path.display()))?;
    if report.schema != SCHEMA {
        bail!("{} has schema {}, expected {SCHEMA}", path.display(), report.schema);
    }
    Ok(report)
}

/// Writes `report.json`, `report.md` and `index.html` and returns their paths.
pub(crate) fn write(report: &Report, directory: &Path) -> Result<[PathBuf; 3]> {
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let json = serde_json::to_string_pretty(report)? + "\n";
    let files = [(JSON, json), ("report.md", markdown::render(report)), ("index.html", html::render(report))];
    for (name, content) in &files {
        let path = directory.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(files.map(|(name, _)| directory.join(name)))
}

#[cfg(test)]
mod tests {
    use super::fixture::report;
    use super::*;

    #[test]
    fn written_files_can_be_read() {
        let directory = std::env::temp_dir().join(format!("xtask-report-{}", std::process::id()));
        let [json, markdown, html] = write(&report(), &directory).unwrap();
        let again = read(&json).unwrap();
        let written = [&markdown, &html].map(|path| fs::read_to_string(path).unwrap());
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(again, report());
        assert!(written.iter().all(|text| text.contains("decoding takes less than 10 µs")));
        let error = format!("{:#}", read(&json).unwrap_err());
        assert!(error.contains("cargo xtask bench"), "{error}");
    }

    #[test]
    fn markdown_tables_have_aligned_columns() {
        let text = markdown::render(&report());
        assert!(text.contains("| push \\| owned  |"), "{text}");
        assert!(text.contains("2.00x (1.90 to 2.10)"), "{text}");
        assert!(text.contains("published 3, faster 1, slower 1, not in this run 1"), "{text}");
        assert!(text.contains("go-sse (go): `go version` cannot be run here"), "{text}");
        for table in text.split("\n\n").filter(|block| block.starts_with('|')) {
            let bars = |line: &str| line.replace("\\|", "").matches('|').count();
            let widths: Vec<(usize, usize)> =
                table.lines().map(|line| (bars(line), line.chars().count())).collect();
            assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
        }
    }

    #[test]
    fn committed_files_contain_tables_and_drawing() {
        let root = std::env::temp_dir().join(format!("xtask-publish-{}", std::process::id()));
        fs::create_dir_all(root.join("docs")).unwrap();
        let [text, drawing] =
            publish(&report(), &root).unwrap().map(|path| fs::read_to_string(path).unwrap());
        fs::remove_dir_all(&root).unwrap();
        assert!(text.contains("measured on 2026-01-02 on a machine with 2 cores (Some CPU)"), "{text}");
        assert!(text.contains("](docs/overview.svg)") && text.contains("Simple Event"));
        assert!(!text.contains("sse: all implementations"), "{text}");
        assert!(drawing.starts_with("<svg ") && drawing.contains("<style>"));
    }

    #[test]
    fn page_has_no_external_references() {
        let page = html::render(&report());
        for reference in ["http:", "https:", " src=", "<script", "@import", "url("] {
            let allowed = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!allowed.contains(reference), "{reference} points elsewhere");
        }
        assert_eq!(page.matches("<svg ").count(), 2, "the overview, and the plot of one table");
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
        assert!(page.contains("faster than a&lt;b"), "text is escaped");
    }

    #[test]
    fn links_have_unique_targets() {
        let mut report = report();
        report.systems.push(System {
            id: "psrp".into(),
            name: "go-psrpcore".into(),
            ..report.systems[0].clone()
        });
        let page = html::render(&report);
        let values = |attribute: &str| -> Vec<String> {
            let begin = format!(" {attribute}=\"");
            page.split(&begin).skip(1).filter_map(|part| Some(part.split_once('"')?.0.to_owned())).collect()
        };
        let mut ids = values("id");
        for link in values("href") {
            let target = link.strip_prefix('#').expect("links stay on the page");
            assert!(ids.iter().any(|id| id == target), "{link} leads nowhere");
        }
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all);
        assert_eq!(page.matches("<section ").count(), page.matches("</section>").count());
    }

    #[test]
    fn regressions_fail_if_requested() {
        let mut slower = report();
        slower.rows[0].allocs_op = Some(9.0);
        slower.comparison = Some(compare::compare(&report(), &slower));
        assert!(fail_on_regression(&slower, true).is_err());
        assert!(fail_on_regression(&slower, false).is_ok() && fail_on_regression(&report(), true).is_ok());
    }
}
