//! The files of a report: `report.json` and what is written from it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::facts::Facts;
use crate::model::{Report, Run, SCHEMA};
use crate::pages::Page;
use crate::sources::Sources;
use crate::{chart, html, pages, summary};

/// Name of the data file.
pub const JSON: &str = "report.json";
/// Name of the compressed file with all pairs of slices.
pub const PAIRS: &str = "pairs.csv.gz";
/// Maximum size of a published file in bytes.
pub const MAX_SIZE: usize = 2_000_000;

/// Merges the reports of the suites in `suites/*.json` and writes `report.json`, `report.md`, `index.html` and
/// `pairs.csv.gz` into the folder. Only reports of the latest commit are merged; others are named in the notes.
///
/// # Errors
///
/// If there is no report of a suite, or a file cannot be read or written.
pub fn collect(directory: &Path, sources: &Sources) -> Result<Report> {
    let folder = directory.join("suites");
    let mut names: Vec<PathBuf> = fs::read_dir(&folder)
        .with_context(|| format!("cannot list {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    names.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    // Rows of the portable build come before those of the native one.
    names.sort_by_key(|path| path.file_stem().map(OsStr::to_owned));
    let suites: Vec<(PathBuf, Report)> =
        names.into_iter().map(|path| Ok((path.clone(), read(&path)?))).collect::<Result<_>>()?;
    let latest = suites.iter().max_by(|a, b| a.1.run.date.cmp(&b.1.run.date));
    let commit = latest.context("no suite has written a report")?.1.run.commit.clone();
    let (mut report, mut pairs) = (Report { schema: SCHEMA, ..Report::default() }, Vec::new());
    for (path, suite) in suites {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if suite.run.commit == commit {
            merge(&mut report, suite);
            pairs.push(path.with_extension("pairs.csv"));
        } else {
            let commit = suite.run.commit.as_deref().unwrap_or("unknown");
            report.run.notes.push(format!("the results of {name} are left out: they are of commit {commit}"));
        }
    }
    let (compressed, kept) = compress(&pairs, MAX_SIZE)?;
    if let Some(kept) = kept {
        report.run.notes.push(format!("{PAIRS} has every {kept}th pair of each duel, because of its size"));
    }
    fs::write(directory.join(PAIRS), compressed).with_context(|| format!("cannot write {PAIRS}"))?;
    write(&report, sources, directory)?;
    Ok(report)
}

/// Adds the results of a suite. Where both have a row, it remains; where both have a circumstance, the worse one counts.
fn merge(report: &mut Report, suite: Report) {
    let known: BTreeSet<(String, String)> =
        report.rows.iter().map(|row| (row.key.clone(), row.implementation.clone())).collect();
    let rows = suite.rows.into_iter();
    report.rows.extend(rows.filter(|row| !known.contains(&(row.key.clone(), row.implementation.clone()))));
    report.duels.extend(suite.duels);
    let (run, other) = (&mut report.run, suite.run);
    if run.date.is_empty() {
        *run = Run { notes: [std::mem::take(&mut run.notes), other.notes].concat(), ..other };
        return;
    }
    run.date = run.date.clone().min(other.date);
    run.busy_before = run.busy_before.into_iter().chain(other.busy_before).reduce(f64::max);
    run.busy_after = run.busy_after.into_iter().chain(other.busy_after).reduce(f64::max);
    run.elapsed_s += other.elapsed_s;
    extend(&mut run.versions, other.versions);
    extend(&mut run.missing_peers, other.missing_peers);
    extend(&mut run.notes, other.notes);
}

/// Adds items that are not in the list.
fn extend<T: PartialEq>(list: &mut Vec<T>, items: Vec<T>) {
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// Compresses files of pairs, whose first lines are equal. If the result is too large, it has every n-th pair, and n is
/// returned as well.
fn compress(paths: &[PathBuf], limit: usize) -> Result<(Vec<u8>, Option<usize>)> {
    let mut texts = Vec::new();
    for path in paths.iter().filter(|path| path.exists()) {
        texts.push(fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?);
    }
    let mut step = 1;
    loop {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let header = texts.first().and_then(|text| text.lines().next()).unwrap_or_default();
        writeln!(encoder, "{header}")?;
        for line in texts.iter().flat_map(|text| text.lines().skip(1).step_by(step)) {
            writeln!(encoder, "{line}")?;
        }
        let compressed = encoder.finish()?;
        if compressed.len() < limit {
            return Ok((compressed, (step > 1).then_some(step)));
        }
        step = (step + 1).max(step * compressed.len() / limit);
    }
}

/// Returns the text of a compressed file of pairs.
///
/// # Errors
///
/// If it is not compressed text.
pub fn uncompressed(pairs: &[u8]) -> Result<String> {
    let mut text = String::new();
    GzDecoder::new(pairs).read_to_string(&mut text)?;
    Ok(text)
}

/// Reads a `report.json`.
///
/// # Errors
///
/// If the file is missing, or has unexpected content or another schema.
pub fn read(path: &Path) -> Result<Report> {
    let report: Report = read_json(path).context("run `cargo bench` first")?;
    ensure!(report.schema == SCHEMA, "{} has schema {}, expected {SCHEMA}", path.display(), report.schema);
    Ok(report)
}

/// Reads a file in JSON.
///
/// # Errors
///
/// If the file is missing or has unexpected content.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("unexpected content of {}", path.display()))
}

/// Returns the content of `report.json`, with one row or duel per line.
///
/// # Errors
///
/// If a figure is not finite.
pub fn json(report: &Report) -> Result<String> {
    fn lines<T: Serialize>(items: &[T]) -> Result<String> {
        let lines = items.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        Ok(if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join(",\n")) })
    }
    let without = Report { rows: Vec::new(), duels: Vec::new(), ..report.clone() };
    let text = serde_json::to_string(&without)?;
    let text = text.replacen("\"rows\":[]", &format!("\"rows\":[{}]", lines(&report.rows)?), 1);
    Ok(text.replacen("\"duels\":[]", &format!("\"duels\":[{}]", lines(&report.duels)?), 1) + "\n")
}

/// Writes `report.json`, `report.md`, its drawings, and `index.html`.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(report: &Report, sources: &Sources, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    let facts = Facts::new(report, sources);
    let mut files = vec![
        (JSON.to_owned(), json(report)?),
        ("report.md".to_owned(), first_page(&facts)),
        ("index.html".to_owned(), page(report, sources)),
    ];
    files.extend(summary::chart(&facts).map(|chart| (format!("{}.svg", chart.id), chart::alone(&chart.svg))));
    for (name, content) in files {
        fs::write(directory.join(&name), content).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

fn first_page(facts: &Facts<'_>) -> String {
    format!("# Benchmark report\n{}", summary::text(facts, None))
}

/// Returns the first page in Markdown.
pub fn text(report: &Report, sources: &Sources) -> String {
    first_page(&Facts::new(report, sources))
}

/// Returns the whole report as a page in HTML.
pub(crate) fn page(report: &Report, sources: &Sources) -> String {
    let facts = Facts::new(report, sources);
    let mut text = first_page(&facts);
    let mut drawings = Vec::from_iter(summary::chart(&facts));
    for Page { text: more, charts, .. } in pages::all(&facts) {
        text += &more;
        drawings.extend(charts);
    }
    text += &pages::implementations(&facts);
    let charts: BTreeMap<String, String> = drawings.into_iter().map(|chart| (chart.id, chart.svg)).collect();
    html::render("Benchmark report", &text, &charts)
}

/// Returns the history of saved runs as a page in HTML.
pub fn history_page(sources: &Sources) -> String {
    let Page { text, charts, .. } = crate::history::page(sources);
    let charts = charts.into_iter().map(|chart| (chart.id, chart.svg)).collect();
    html::render("Benchmark history", &text, &charts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::tests::report;
    use crate::sources::tests::sources;

    #[test]
    fn suites_of_the_latest_commit_are_merged() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("suites")).unwrap();
        let part = |keep: &str| {
            let mut part = report();
            part.rows.retain(|row| row.key.starts_with(keep));
            part.duels.retain(|duel| duel.key.starts_with(keep));
            part
        };
        let (sse, mut client) = (part("sse"), part("client"));
        client.run.date = "2026-01-02T03:00:00Z".to_owned();
        client.run.busy_after = Some(0.2);
        let mut native = part("client");
        native.duels.iter_mut().for_each(|duel| duel.build = "native".to_owned());
        native.rows[0].payload_bytes = None;
        let mut old = part("sse");
        (old.run.date, old.run.commit) = ("2026-01-01T00:00:00Z".to_owned(), Some("0ld".to_owned()));
        for (name, suite) in [("sse", &sse), ("client", &client), ("client-native", &native), ("json", &old)]
        {
            fs::write(folder.path().join(format!("suites/{name}.json")), json(suite).unwrap()).unwrap();
            fs::write(folder.path().join(format!("suites/{name}.pairs.csv")), format!("key,ms\n{name},1\n"))
                .unwrap();
        }
        let merged = collect(folder.path(), &sources()).unwrap();
        assert_eq!((merged.rows.len(), merged.duels.len()), (5, 5), "rows once, duels of both builds");
        assert_eq!(merged.rows[0].payload_bytes, Some(25), "that of the portable build");
        assert_eq!((merged.run.date.as_str(), merged.run.busy_after), ("2026-01-02T03:00:00Z", Some(0.2)));
        assert_eq!(merged.run.missing_peers.len(), 1);
        assert_eq!(merged.run.notes, ["the results of json are left out: they are of commit 0ld"]);
        assert_eq!(read(&folder.path().join(JSON)).unwrap(), merged);
        let pairs = uncompressed(&fs::read(folder.path().join(PAIRS)).unwrap()).unwrap();
        assert_eq!(pairs, "key,ms\nclient,1\nclient-native,1\nsse,1\n");
        for name in ["report.md", "index.html", "ratios.svg"] {
            assert!(
                fs::read_to_string(folder.path().join(name)).unwrap().contains("client_do_simple"),
                "{name}"
            );
        }
    }

    #[test]
    fn pairs_are_thinned_out_evenly() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pairs.csv");
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state
        };
        let lines = (0..3_000).map(|_| format!("{:x}{:x}\n", random(), random()));
        fs::write(&path, std::iter::once("header\n".to_owned()).chain(lines).collect::<String>()).unwrap();
        let (compressed, step) = compress(&[path, folder.path().join("none")], 40_000).unwrap();
        let count = uncompressed(&compressed).unwrap().lines().count();
        assert!(compressed.len() < 40_000 && step == Some(2) && count == 1_501, "{step:?}, {count}");
    }

    #[test]
    fn a_missing_report_says_how_to_get_one() {
        let error = format!("{:#}", read(Path::new("/nowhere/report.json")).unwrap_err());
        assert!(error.contains("cargo bench"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        assert!(collect(folder.path(), &sources()).is_err());
    }
}
