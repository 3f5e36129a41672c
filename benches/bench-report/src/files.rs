//! The files of a report: `report.json`, and what is written from it.

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

use crate::facts::{Facts, grouped};
use crate::model::{Report, Run, SCHEMA};
use crate::pages::Page;
use crate::quantity::Quantity;
use crate::sources::Sources;
use crate::stats::{median, rounded};
use crate::{chart, html, pages};

/// Name of the data file.
pub const JSON: &str = "report.json";
/// Name of the compressed file with the pairs of slices.
pub const PAIRS: &str = "pairs.csv.gz";
/// Maximum size of a published file in bytes.
pub(crate) const MAX_SIZE: usize = 2_000_000;

/// Merges the reports of the suites in `suites/*.json` and writes `report.json`, `report.md`, `index.html` and
/// `pairs.csv.gz` into the folder. Only reports of the latest commit are merged; others are named in the notes.
/// Fails if there is no report of a suite, or a file cannot be read or written.
pub fn collect(directory: &Path, sources: &Sources) -> Result<Report> {
    let folder = directory.join("suites");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    // Rows of the portable build come before those of the native one.
    paths.sort_by_key(|path| path.file_stem().map(OsStr::to_owned));
    let suites: Vec<Report> = paths.iter().map(|path| read(path)).collect::<Result<_>>()?;
    let latest = suites.iter().max_by(|a, b| a.run.date.cmp(&b.run.date));
    let commit = latest.context("no suite has written a report")?.run.commit.clone();
    let (mut report, mut pairs) = (Report { schema: SCHEMA, ..Report::default() }, Vec::new());
    for (path, suite) in paths.iter().zip(suites) {
        if suite.run.commit == commit {
            merge(&mut report, suite);
            pairs.push(path.with_extension("pairs.csv"));
        } else {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let commit = suite.run.commit.as_deref().unwrap_or("unknown");
            report.run.notes.push(format!("the results of {name} are left out: they are of commit {commit}"));
        }
    }
    use_times_of_duels(&mut report);
    let (compressed, step) = compress(&pairs, MAX_SIZE)?;
    if step > 1 {
        report.run.notes.push(format!("{PAIRS} has one of {step} pairs, evenly chosen, because of its size"));
    }
    fs::write(directory.join(PAIRS), compressed).with_context(|| format!("cannot write {PAIRS}"))?;
    write(&report, sources, directory)?;
    Ok(report)
}

/// Adds the results of a suite. Where both have a row, it remains; of circumstances, the worse one counts.
fn merge(report: &mut Report, suite: Report) {
    let name = |row: &crate::model::Row| (row.key.clone(), row.implementation.clone());
    let known: BTreeSet<_> = report.rows.iter().map(name).collect();
    report.rows.extend(suite.rows.into_iter().filter(|row| !known.contains(&name(row))));
    report.duels.extend(suite.duels);
    let (run, other) = (&mut report.run, suite.run);
    if run.date.is_empty() {
        *run = Run { notes: [std::mem::take(&mut run.notes), other.notes].concat(), ..other };
        return;
    }
    run.date = run.date.clone().min(other.date);
    run.busy_after = run.busy_after.into_iter().chain(other.busy_after).reduce(f64::max);
    run.elapsed_s += other.elapsed_s;
    extend(&mut run.versions, other.versions);
    extend(&mut run.missing_peers, other.missing_peers);
    extend(&mut run.notes, other.notes);
}

/// Replaces the times of the screening by those of the duels of the portable build, to which the ratios belong.
pub(crate) fn use_times_of_duels(report: &mut Report) {
    let duels = report.duels.iter().filter(|duel| duel.build.is_empty() && duel.ours_ns > 0.0);
    let times = grouped(duels.flat_map(|duel| {
        [((&*duel.key, &*duel.ours), duel.ours_ns), ((&*duel.key, &*duel.peer), duel.peer_ns)]
    }));
    for row in &mut report.rows {
        let times = times.get(&(&*row.key, &*row.implementation)).and_then(|times| median(times));
        row.figures.extend(times.map(|time| (Quantity::Time, vec![rounded(time)])));
    }
}

fn extend<T: PartialEq>(list: &mut Vec<T>, items: Vec<T>) {
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// Compresses files of pairs, whose first lines are equal. If the result would be too large, it has only every n-th pair.
/// Returns n as well.
fn compress(paths: &[PathBuf], limit: usize) -> Result<(Vec<u8>, usize)> {
    let existing = paths.iter().filter(|path| path.exists());
    let texts: Vec<String> = existing
        .map(|path| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display())))
        .collect::<Result<_>>()?;
    let mut step = 1;
    loop {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let header = texts.first().and_then(|text| text.lines().next());
        for line in header.into_iter().chain(texts.iter().flat_map(|text| text.lines().skip(1).step_by(step)))
        {
            writeln!(encoder, "{line}")?;
        }
        let compressed = encoder.finish()?;
        if compressed.len() < limit {
            return Ok((compressed, step));
        }
        step = (step + 1).max(step * compressed.len() / limit);
    }
}

pub(crate) fn uncompressed(pairs: &[u8]) -> Result<String> {
    let mut text = String::new();
    GzDecoder::new(pairs).read_to_string(&mut text)?;
    Ok(text)
}

/// Reads a `report.json`.
/// Fails if the file is missing, or has unexpected content or another schema.
pub fn read(path: &Path) -> Result<Report> {
    let report: Report = read_json(path).context("run `cargo bench` first")?;
    ensure!(report.schema == SCHEMA, "{} has schema {}, expected {SCHEMA}", path.display(), report.schema);
    Ok(report)
}

/// Reads a file in JSON.
/// Fails if the file is missing or has unexpected content.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("unexpected content of {}", path.display()))
}

/// Returns the content of `report.json`, with one row or duel per line.
pub(crate) fn json(report: &Report) -> Result<String> {
    fn lines<T: Serialize>(name: &str, items: &[T]) -> Result<String> {
        let lines = items.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        Ok(format!("\"{name}\":[\n{}\n]", lines.join(",\n")))
    }
    let text = serde_json::to_string(&Report { rows: Vec::new(), duels: Vec::new(), ..report.clone() })?;
    let text = text.replacen("\"rows\":[]", &lines("rows", &report.rows)?, 1);
    Ok(text.replacen("\"duels\":[]", &lines("duels", &report.duels)?, 1) + "\n")
}

/// Writes `report.json`, `report.md` with its drawing, and `index.html`.
/// Fails if a file cannot be written.
pub fn write(report: &Report, sources: &Sources, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    let facts = Facts::new(report, sources);
    let mut files = vec![
        (JSON.to_owned(), json(report)?),
        ("report.md".to_owned(), text(report, sources)),
        ("index.html".to_owned(), page(&facts)),
    ];
    let charts = pages::first(&facts, "").charts.into_iter();
    files.extend(charts.map(|(id, svg)| (format!("{id}.svg"), chart::alone(&svg))));
    for (name, content) in files {
        fs::write(directory.join(&name), content).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

/// Returns the first page in Markdown.
pub fn text(report: &Report, sources: &Sources) -> String {
    format!("# Benchmark report\n{}", pages::first(&Facts::new(report, sources), "").text)
}

/// Returns the whole report as a page in HTML.
pub(crate) fn page(facts: &Facts<'_>) -> String {
    let (mut text, mut drawings) = ("# Benchmark report\n".to_owned(), BTreeMap::new());
    for Page { text: more, charts, .. } in
        std::iter::once(pages::first(facts, "")).chain(pages::others(facts))
    {
        text += &more;
        drawings.extend(charts);
    }
    html::render("Benchmark report", &(text + &pages::implementations(facts)), &drawings)
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
        let (sse, mut client, mut native, mut old) =
            (part("sse"), part("client"), part("client"), part("sse"));
        (client.run.date, client.run.busy_after) = ("2026-01-02T03:00:00Z".to_owned(), Some(0.2));
        (client.duels[0].ours_ns, client.duels[0].peer_ns) = (123.0, 117.0);
        native.duels.iter_mut().for_each(|duel| duel.build = "native".to_owned());
        native.rows[0].payload_bytes = None;
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
        assert_eq!(
            [0, 1].map(|row: usize| merged.rows[row].value(Quantity::Time)),
            [Some(123.0), Some(117.0)]
        );
        assert_eq!((merged.run.date.as_str(), merged.run.busy_after), ("2026-01-02T03:00:00Z", Some(0.2)));
        assert_eq!(merged.run.missing_peers.len(), 2);
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
        let error = format!("{:#}", read(Path::new("/nowhere/report.json")).unwrap_err());
        assert!(error.contains("cargo bench"), "{error}");
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
        let lines: String = (0..3_000).map(|_| format!("{:x}{:x}\n", random(), random())).collect();
        fs::write(&path, format!("header\n{lines}")).unwrap();
        let (compressed, step) = compress(&[path, folder.path().join("none")], 40_000).unwrap();
        let count = uncompressed(&compressed).unwrap().lines().count();
        assert!(compressed.len() < 40_000 && step == 2 && count == 1_501, "{step}, {count}");
    }
}
