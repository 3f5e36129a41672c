//! Committed files with figures of the published run: BENCHMARKS.md, docs/benchmarks, and parts of README files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::facts::Facts;
use crate::files::{JSON, MAX_SIZE, PAIRS, json, uncompressed};
use crate::model::{Report, Role};
use crate::quantity::{self as units, Quantity};
use crate::sources::Sources;
use crate::table::Sheet;
use crate::{chart, pages};

/// Folder of the pages, the drawings and the data.
const FOLDER: &str = "docs/benchmarks";
/// Start of the marker before a generated part of another file. The name of the part follows.
const BEGIN: &str = "<!-- benchmarks: ";
const END: &str = "<!-- end of benchmarks -->";

/// Returns the path of the published run, from which all other files are written.
pub fn run(root: &Path) -> PathBuf {
    root.join(FOLDER).join(JSON)
}

/// Writes all files, and removes others from their folder. `guides` are the files that may have generated parts. The pairs
/// are copied from the folder `results`, if it is given.
/// Fails if a file cannot be read or written, or a guide has an unknown part.
pub fn write(
    report: &Report,
    sources: &Sources,
    root: &Path,
    guides: &[String],
    results: Option<&Path>,
) -> Result<()> {
    fs::create_dir_all(root.join(FOLDER))?;
    let files = files(report, sources, root, guides)?;
    for (path, text) in &files {
        fs::write(root.join(path), text).with_context(|| format!("cannot write {path}"))?;
    }
    for path in stale(&files, root)? {
        fs::remove_file(root.join(&path)).with_context(|| format!("cannot remove {path}"))?;
    }
    if let Some(results) = results {
        fs::copy(results.join(PAIRS), root.join(FOLDER).join(PAIRS))
            .with_context(|| format!("cannot copy {PAIRS}"))?;
    }
    Ok(())
}

/// Returns what is wrong with the committed files: differences from the run, data that are missing or too large, and
/// claims about speed that are written by hand.
/// Fails if a file cannot be read.
pub fn problems(report: &Report, sources: &Sources, root: &Path, guides: &[String]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let files = files(report, sources, root, guides)?;
    for (path, text) in &files {
        if fs::read_to_string(root.join(path)).ok().as_deref() != Some(text) {
            problems
                .push(format!("{path}: differs from {FOLDER}/{JSON}; run `cargo xtask report --committed`"));
        }
    }
    problems.extend(stale(&files, root)?.iter().map(|path| format!("{path}: is not written by a run")));
    for path in guides {
        let text = fs::read_to_string(root.join(path))?;
        let claims = claims_by_hand(&text);
        problems.extend(
            claims.map(|line| format!("{path}:{line}: a claim about speed outside of a written part")),
        );
    }
    let pairs = fs::read(root.join(FOLDER).join(PAIRS)).unwrap_or_default();
    for (name, size) in
        [(JSON, files[run(Path::new("")).to_str().unwrap_or_default()].len()), (PAIRS, pairs.len())]
    {
        if !(1..MAX_SIZE).contains(&size) {
            problems.push(format!("{FOLDER}/{name}: has {size} bytes; allowed are 1 to {MAX_SIZE}"));
        }
    }
    let pairs = uncompressed(&pairs).unwrap_or_default();
    let unknown = report.duels.iter().find(|duel| {
        !pairs.contains(&format!("{},{},\"{}\",\"{}\",", duel.key, duel.build, duel.ours, duel.peer))
    });
    problems.extend(
        unknown.map(|duel| format!("{FOLDER}/{PAIRS}: has no pair of {} against {}", duel.key, duel.peer)),
    );
    Ok(problems)
}

/// Returns the contents of all files by path.
fn files(
    report: &Report,
    sources: &Sources,
    root: &Path,
    guides: &[String],
) -> Result<BTreeMap<String, String>> {
    let facts = Facts::new(report, sources);
    let mut files = BTreeMap::from([(format!("{FOLDER}/{JSON}"), json(report)?)]);
    let systems = sources.systems.iter().map(|system| (&*system.id, &*system.name));
    let others = [
        ("coverage", "coverage"),
        ("how-we-could-be-wrong", "how we could be wrong"),
        ("history", "history by commit"),
    ];
    let links: Vec<String> =
        systems.chain(others).map(|(id, name)| format!("[{name}]({FOLDER}/{id}.md)")).collect();
    let introduction = format!(
        "# Benchmarks\n\nMeasured on {} with {} cores of {}. Written by `cargo xtask report --out` from [{JSON}]({FOLDER}/{JSON}); do not \
         edit. Pairs of times: [{PAIRS}]({FOLDER}/{PAIRS}). Every row, with the published figures: {}.\n",
        report.run.date.split('T').next().unwrap_or_default(),
        report.run.machine.cores,
        report.run.machine.cpu,
        links.join(", ")
    );
    let first = pages::first(&facts, &format!("{FOLDER}/"));
    files.insert("BENCHMARKS.md".to_owned(), introduction + &first.text);
    let mut charts = first.charts;
    for page in pages::others(&facts) {
        let text = format!("<!-- Written by `cargo xtask report --out`; do not edit. -->\n{}", page.text);
        files.insert(format!("{FOLDER}/{}.md", page.id), text);
        charts.extend(page.charts);
    }
    files.extend(charts.into_iter().map(|(id, svg)| (format!("{FOLDER}/{id}.svg"), chart::alone(&svg))));
    for path in guides {
        let text = fs::read_to_string(root.join(path))?;
        if text.contains(BEGIN) {
            files.insert(path.clone(), filled(&text, &facts).with_context(|| format!("cannot fill {path}"))?);
        }
    }
    Ok(files)
}

/// Returns the files in the folder of the pages that a run does not write.
fn stale(files: &BTreeMap<String, String>, root: &Path) -> Result<Vec<String>> {
    let mut stale = Vec::new();
    for entry in fs::read_dir(root.join(FOLDER))? {
        stale.push(format!("{FOLDER}/{}", entry?.file_name().to_string_lossy()));
    }
    stale.retain(|path| !files.contains_key(path) && !path.ends_with(PAIRS));
    Ok(stale)
}

/// Replaces the marked parts of a text.
fn filled(text: &str, facts: &Facts<'_>) -> Result<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->\n").context("a mark without end")?;
        let (_, after) = after.split_once(END).with_context(|| format!("{name} has no end"))?;
        let sheet =
            part(name, facts).with_context(|| format!("there is no part {name}"))?.without_empty_columns();
        let content = if sheet.lines.is_empty() { "No rows in this run.\n".to_owned() } else { sheet.grid() };
        filled += &format!("{before}{BEGIN}{name} -->\n{content}{END}");
        rest = after;
    }
    Ok(filled + rest)
}

/// Returns a part: `summary` and `slower` for the first page, `load` for the costs of the proxy, or the name of a
/// package for its groups.
fn part(name: &str, facts: &Facts<'_>) -> Option<Sheet> {
    match name {
        "slower" => Some(pages::slower(facts)),
        "load" => Some(costs(facts.report)),
        "summary" => Some(pages::against("", None, facts, &|_| true)),
        _ if facts.sources.groups.iter().all(|group| group.package != name) => None,
        package => Some(pages::against("", Some(package), facts, &|_| true)),
    }
}

/// Lists what the proxy needs per response.
fn costs(report: &Report) -> Sheet {
    let rows = report.load.iter().flat_map(|run| &run.rows).filter(|row| row.role == Role::Ours);
    let lines = rows.filter_map(|row| {
        let rate = row.value(Quantity::RequestsPerS)?;
        Some(vec![
            format!("`{}`", row.name()),
            row.shown(Quantity::Payload),
            units::time(row.value(Quantity::CpuPerRequest)?),
            units::count(rate),
        ])
    });
    Sheet::new("", "Row | #Body | #Processor time | #Responses per second", lines)
}

/// Returns the numbers of the lines outside of the written parts that contain a ratio such as `1.8x`, or say that something
/// is faster than something else.
fn claims_by_hand(text: &str) -> impl Iterator<Item = usize> {
    let mut is_written = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        is_written = if line.starts_with(BEGIN) { true } else { is_written && line != END };
        let words = line.split(|letter: char| letter.is_whitespace() || "()|,;".contains(letter));
        let is_ratio =
            |word: &str| word.strip_suffix('x').is_some_and(|number| number.parse::<f64>().is_ok());
        let claims = ["times as fast", "faster than", "as fast as", "outperform"];
        let found = words.into_iter().any(is_ratio) || claims.iter().any(|claim| line.contains(claim));
        (found && !is_written).then_some(index + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::tests::report;
    use crate::sources::tests::sources;

    #[test]
    fn pages_and_parts_are_written_and_checked() {
        let folder = tempfile::tempdir().unwrap();
        let (root, guides, sources) = (folder.path(), ["README.md".to_owned()], sources());
        let text = format!("a\n{BEGIN}tightwire-sse -->\nold\n{END}\n{BEGIN}slower -->\n{END}\nb\n");
        fs::write(root.join("README.md"), text).unwrap();
        fs::create_dir_all(root.join(FOLDER)).unwrap();
        fs::write(root.join(FOLDER).join("old.svg"), "").unwrap();
        write(&report(), &sources, root, &guides, None).unwrap();
        let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
        let readme = read("README.md");
        assert!(
            readme.contains(" 2.00x (2.00 to 2.00) |")
                && readme.contains("reqwest")
                && !readme.contains("old"),
            "{readme}"
        );
        assert!(read("BENCHMARKS.md").contains("Measured on 2026-01-02"));
        assert!(read("docs/benchmarks/perplexity.md").contains("](perplexity.svg)"));
        assert!(read("docs/benchmarks/ratios.svg").contains("<style>"));
        let problems = || problems(&report(), &sources, root, &guides).unwrap();
        let no_pairs = "docs/benchmarks/pairs.csv.gz: has 0 bytes; allowed are 1 to 2000000";
        assert_eq!(problems()[0], no_pairs);
        fs::write(root.join("README.md"), readme.replace("0.950x", "1.95x") + "ours is faster than theirs\n")
            .unwrap();
        fs::write(root.join(FOLDER).join("old.svg"), "").unwrap();
        let found = problems();
        assert!(found[0].starts_with("README.md: differs") && found[1].contains("old.svg"), "{found:?}");
        assert!(found[2].ends_with("a claim about speed outside of a written part"), "{found:?}");
        fs::write(root.join("README.md"), format!("{BEGIN}nothing -->\n{END}\n")).unwrap();
        assert!(write(&report(), &sources, root, &guides, None).is_err(), "an unknown part");
    }

    #[test]
    fn claims_belong_in_written_parts() {
        let text = format!("it is 1.8x\n{BEGIN}load -->\n2.0x\n{END}\nhex 0xff and max\nten times as fast\n");
        assert_eq!(claims_by_hand(&text).collect::<Vec<_>>(), [1, 6]);
    }
}
