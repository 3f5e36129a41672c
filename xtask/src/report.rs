//! The report: its data, its drawings, and `cargo xtask report`.

#[cfg(test)]
mod fixture;
pub(crate) mod html;
pub(crate) mod markdown;
mod model;
mod plot;
pub(crate) mod units;
mod view;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

pub(crate) use self::model::{
    Figure, Machine, Missing, Published, Ratio, Ratios, Recorded, Report, Role, Row, Run, SCHEMA, Summary,
    Table, TableLine, Throughput, Time,
};
pub(crate) use self::view::{Column, Line, Sheet};
use crate::args::Args;
use crate::workspace::Workspace;

/// Name of the data file, from which the other two follow.
const JSON: &str = "report.json";

/// `cargo xtask report`: draws the latest report again, or copies it to a directory for publishing.
pub(crate) fn command(mut args: Args) -> Result<()> {
    let out = args.value("--out")?.map(PathBuf::from);
    let allow_noisy = args.flag("--allow-noisy");
    args.finish()?;
    let workspace = Workspace::find()?;
    let mut report = read(&workspace.report().join(JSON))?;
    if let Some(load) = crate::load::latest(&workspace)? {
        report.load = Some(load);
    }
    if let Some(fleet) = crate::fleet::latest(&workspace)? {
        report.fleet = Some(fleet);
    }
    let directory = match out {
        Some(out) => {
            ensure!(
                allow_noisy || report.run.unfit.is_empty(),
                "this report is not fit to publish ({}); measure again, or pass --allow-noisy",
                report.run.unfit.join("; ")
            );
            out
        }
        None => workspace.report(),
    };
    for path in write(&report, &directory)? {
        crate::say(&format!("{}\n", path.display()));
    }
    Ok(())
}

/// Puts something into the latest report, if there is one, and draws it again.
///
/// # Errors
///
/// Fails if the report cannot be read or written.
pub(crate) fn join(workspace: &Workspace, put: impl FnOnce(&mut Report)) -> Result<()> {
    let path = workspace.report().join(JSON);
    if path.exists() {
        let mut report = read(&path)?;
        put(&mut report);
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
    let files =
        [(JSON, json), ("report.md", markdown::render(report)), ("index.html", html::render(report)?)];
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
    fn what_is_written_is_read_again() {
        let directory = std::env::temp_dir().join(format!("xtask-report-{}", std::process::id()));
        let [json, markdown, html] = write(&report(), &directory).unwrap();
        let again = read(&json).unwrap();
        let written = [&markdown, &html].map(|path| fs::read_to_string(path).unwrap());
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(again, report());
        assert!(written.iter().all(|text| text.contains("83 published benchmarks are not measured yet")));
        let error = format!("{:#}", read(&json).unwrap_err());
        assert!(error.contains("cargo xtask bench"), "{error}");
    }

    #[test]
    fn markdown_tables_keep_their_columns() {
        let text = markdown::render(&report());
        assert!(text.contains("| push \\| owned  |"), "{text}");
        assert!(
            text.contains("40.0 ns, 2.00x |"),
            "the published table shows the ratio beside ours:\n{text}"
        );
        assert!(text.contains("a<b 80.0 ns |"), "{text}");
        assert!(text.contains("2.00 (1.90..2.10)"), "{text}");
        assert!(text.contains("go-sse (go): `go version` cannot be run here"), "{text}");
        for table in text.split("\n\n").filter(|block| block.starts_with('|')) {
            let bars = |line: &str| line.replace("\\|", "").matches('|').count();
            let widths: Vec<(usize, usize)> =
                table.lines().map(|line| (bars(line), line.chars().count())).collect();
            assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
        }
    }

    #[test]
    fn the_page_stands_alone() {
        let page = html::render(&report()).unwrap();
        for reference in ["http:", "https:", " src=", " href=", "<script", "@import", "url("] {
            let allowed = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!allowed.contains(reference), "{reference} points elsewhere");
        }
        assert_eq!(page.matches("<svg ").count(), 2, "one plot of ratios and one of times");
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
        assert!(page.contains("faster than a&lt;b"), "text is escaped");
    }
}
