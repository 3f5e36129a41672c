//! Committed files with figures of the published run: BENCHMARKS.md, docs/benchmarks, and parts of README files.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::facts::Facts;
use crate::files::{JSON, MAX_SIZE, PAIRS, json, uncompressed};
use crate::model::{Report, Role};
use crate::quantity::{self as units, Quantity};
use crate::sources::Sources;
use crate::table::{NONE, Sheet};
use crate::{chart, pages, summary};

/// Folder of the pages, the drawings and the data.
pub const FOLDER: &str = "docs/benchmarks";
/// Start of the marker before a generated part of another file. The name of the part follows.
const BEGIN: &str = "<!-- benchmarks: ";
const END: &str = "<!-- end of benchmarks -->";

/// Returns the paths and contents of all files. `guides` are the files that may have generated parts.
///
/// # Errors
///
/// If a guide cannot be read or has an unknown part.
pub fn files(
    report: &Report,
    sources: &Sources,
    root: &Path,
    guides: &[String],
) -> Result<Vec<(String, String)>> {
    let facts = Facts::new(report, sources);
    let pages = pages::all(&facts);
    let machine = &report.run.machine;
    let systems = sources.seed.systems.iter().map(|system| (&*system.id, &*system.name));
    let others = [
        ("coverage", "coverage"),
        ("how-we-could-be-wrong", "how we could be wrong"),
        ("history", "history by commit"),
    ];
    let links: Vec<String> =
        systems.chain(others).map(|(id, name)| format!("[{name}]({FOLDER}/{id}.md)")).collect();
    let introduction = format!(
        "# Benchmarks\n\nMeasured on {} with {} cores of {}. Written by `cargo xtask report --out` from [{JSON}]({FOLDER}/{JSON}); do not \
         edit. All pairs of times: [{PAIRS}]({FOLDER}/{PAIRS}). Every row, with the published figures: {}.",
        report.run.date.split('T').next().unwrap_or_default(),
        machine.cores,
        machine.cpu,
        links.join(", ")
    );
    let first = format!("{introduction}\n{}", summary::text(&facts, Some(FOLDER)));
    let mut files = vec![(format!("{FOLDER}/{JSON}"), json(report)?), ("BENCHMARKS.md".to_owned(), first)];
    let mut charts = Vec::from_iter(summary::chart(&facts));
    for page in pages {
        let text = format!("<!-- Written by `cargo xtask report --out`; do not edit. -->\n{}", page.text);
        files.push((format!("{FOLDER}/{}.md", page.id), text));
        charts.extend(page.charts);
    }
    files.extend(
        charts.into_iter().map(|chart| (format!("{FOLDER}/{}.svg", chart.id), chart::alone(&chart.svg))),
    );
    for path in guides {
        let text = fs::read_to_string(root.join(path))?;
        if text.contains(BEGIN) {
            let text =
                filled(&text, |name| part(name, &facts)).with_context(|| format!("cannot fill {path}"))?;
            files.push((path.clone(), text));
        }
    }
    Ok(files)
}

/// Returns what is wrong with the committed files: differences from the run, pairs or data that are missing or too large,
/// and claims about speed that are written by hand.
///
/// # Errors
///
/// If a file cannot be read.
pub fn problems(report: &Report, sources: &Sources, root: &Path, guides: &[String]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for (path, text) in files(report, sources, root, guides)? {
        if fs::read_to_string(root.join(&path)).ok().as_deref() != Some(&*text) {
            problems
                .push(format!("{path}: differs from {FOLDER}/{JSON}; run `cargo xtask report --committed`"));
        }
    }
    problems.extend(
        stale(report, sources, root, guides)?.iter().map(|path| format!("{path}: is not written by a run")),
    );
    for path in guides {
        let text = fs::read_to_string(root.join(path))?;
        let found = claims_by_hand(&text);
        problems.extend(
            found.map(|line| format!("{path}:{line}: a claim about speed outside of a written part")),
        );
    }
    for name in [JSON, PAIRS] {
        let size = fs::metadata(root.join(FOLDER).join(name)).map_or(0, |metadata| metadata.len());
        if size == 0 || size >= MAX_SIZE as u64 {
            problems.push(format!("{FOLDER}/{name}: has {size} bytes; allowed are 1 to {MAX_SIZE}"));
        }
    }
    if problems.is_empty() {
        let pairs = uncompressed(&fs::read(root.join(FOLDER).join(PAIRS))?)?;
        let unknown = report.duels.iter().find(|duel| {
            let start = format!("{},{},\"{}\",\"{}\",", duel.key, duel.build, duel.ours, duel.peer);
            !pairs.contains(&start)
        });
        problems.extend(
            unknown
                .map(|duel| format!("{FOLDER}/{PAIRS}: has no pair of {} against {}", duel.key, duel.peer)),
        );
    }
    Ok(problems)
}

/// Returns files in the folder of the pages that a run does not write.
///
/// # Errors
///
/// If the folder or a guide cannot be read.
pub fn stale(report: &Report, sources: &Sources, root: &Path, guides: &[String]) -> Result<Vec<String>> {
    let written = files(report, sources, root, guides)?;
    let mut stale = Vec::new();
    for entry in fs::read_dir(root.join(FOLDER))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let path = format!("{FOLDER}/{name}");
        if name != PAIRS && written.iter().all(|(other, _)| *other != path) {
            stale.push(path);
        }
    }
    Ok(stale)
}

/// Replaces the marked parts of a text.
fn filled(text: &str, content: impl Fn(&str) -> Option<String>) -> Result<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->\n").context("a mark without end")?;
        let (_, after) = after.split_once(END).with_context(|| format!("{name} has no end"))?;
        let content = content(name).with_context(|| format!("there is no part {name}"))?;
        filled += &format!("{before}{BEGIN}{name} -->\n{content}\n{END}");
        rest = after;
    }
    Ok(filled + rest)
}

/// Returns a part: `summary` and `slower` for the first page, `load` for the costs of the proxy, or the name of a
/// package for its groups.
fn part(name: &str, facts: &Facts<'_>) -> Option<String> {
    let sheet = match name {
        "slower" => summary::slower(&facts.standings()),
        "load" => costs(facts.report),
        "summary" => summary::against("", facts, &|_| true),
        _ if facts.sources.groups.iter().all(|group| group.package != name) => return None,
        package => summary::groups("", facts, &|_| true, &|group| group.package == package),
    };
    Some(match sheet.lines.is_empty() {
        true => "No rows in this run.".to_owned(),
        false => sheet.without_empty_columns().grid().trim_end().to_owned(),
    })
}

/// Lists what the proxy needs per response.
fn costs(report: &Report) -> Sheet {
    let rows = report.load.iter().flat_map(|run| &run.rows).filter(|row| row.role == Role::Ours);
    let lines = rows.filter_map(|row| {
        let rate = row.value(Quantity::RequestsPerS)?;
        Some(vec![
            format!("`{}`", row.name()),
            row.payload_bytes.map_or_else(|| NONE.to_owned(), |bytes| units::bytes(bytes as f64)),
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
        let (root, guides) = (folder.path(), ["README.md".to_owned()]);
        let text = format!("a\n{BEGIN}tightwire-sse -->\nold\n{END}\n{BEGIN}slower -->\n{END}\nb\n");
        fs::write(root.join("README.md"), text).unwrap();
        fs::create_dir_all(root.join(FOLDER)).unwrap();
        for (path, text) in files(&report(), &sources(), root, &guides).unwrap() {
            fs::write(root.join(path), text).unwrap();
        }
        let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
        let readme = read("README.md");
        assert!(
            readme.contains(" 2.00x |") && readme.contains("reqwest") && !readme.contains("old"),
            "{readme}"
        );
        assert!(read("BENCHMARKS.md").contains("Measured on 2026-01-02"));
        assert!(read("docs/benchmarks/perplexity.md").contains("](perplexity.svg)"));
        assert!(read("docs/benchmarks/ratios.svg").contains("<style>"));
        let problems = || problems(&report(), &sources(), root, &guides).unwrap();
        assert_eq!(problems(), ["docs/benchmarks/pairs.csv.gz: has 0 bytes; allowed are 1 to 2000000"]);
        fs::write(root.join("README.md"), readme.replace("0.950x", "1.95x") + "ours is faster than theirs\n")
            .unwrap();
        let found = problems();
        assert!(found[0].starts_with("README.md: differs") && found[1].contains("README.md:"), "{found:?}");
    }

    #[test]
    fn an_unknown_part_is_an_error() {
        let (report, sources) = (report(), sources());
        let facts = Facts::new(&report, &sources);
        assert!(filled(&format!("{BEGIN}nothing -->\n{END}\n"), |name| part(name, &facts)).is_err());
    }

    #[test]
    fn claims_belong_in_written_parts() {
        let text = format!("it is 1.8x\n{BEGIN}load -->\n2.0x\n{END}\nhex 0xff and max\nten times as fast\n");
        assert_eq!(claims_by_hand(&text).collect::<Vec<_>>(), [1, 6]);
    }
}
