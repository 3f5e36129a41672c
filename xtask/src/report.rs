//! The report: its data, its drawings, and `cargo xtask report`.

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
    let report = read(&workspace.report().join(JSON))?;
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
