//! Committed pages with figures of the published run: BENCHMARKS.md, docs/benchmarks, and parts of README files.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::join::{Facts, Sources};
use crate::model::{Report, Role, Sheet};
use crate::process::Skipped;
use crate::quantity::{self as units, Quantity};
use crate::view::{self, summary};
use crate::workspace::Workspace;
use crate::{chart, markdown, report, tidy};

/// Folder of the pages and drawings.
const FOLDER: &str = "docs/benchmarks";
/// The published run, from which all other files are written.
pub(crate) const RUN: &str = "docs/benchmarks/report.json";
/// Start of the marker before a generated part of another file. The name of the part follows.
const BEGIN: &str = "<!-- benchmarks: ";
const END: &str = "<!-- end of benchmarks -->";

/// Writes all files for a run.
pub(crate) fn write(report: &Report, sources: &Sources, root: &Path) -> Result<()> {
    fs::create_dir_all(root.join(FOLDER))?;
    for (path, text) in files(report, sources, root)? {
        fs::write(root.join(&path), text).with_context(|| format!("cannot write {path}"))?;
        crate::say(&format!("{path}\n"));
    }
    Ok(())
}

/// Compares all files with the committed run. Skipped if there is none. Fails with the files that differ, and with
/// ratios that are written by hand.
pub(crate) fn check(workspace: &Workspace) -> Result<Skipped> {
    let root = &workspace.root;
    if !root.join(RUN).exists() {
        return Ok(Some(format!("there is no {RUN}; `cargo xtask report --out` writes it")));
    }
    let report = report::read(&root.join(RUN))?;
    let mut problems = Vec::new();
    for (path, text) in files(&report, &Sources::load(workspace)?, root)? {
        if fs::read_to_string(root.join(&path)).ok().as_deref() != Some(&*text) {
            problems.push(format!("{path}: differs from {RUN}; run `cargo xtask report --committed`"));
        }
    }
    for path in tidy::guides(root)? {
        let text = fs::read_to_string(root.join(&path))?;
        problems.extend(
            ratios_by_hand(&text).map(|line| format!("{path}:{line}: a ratio outside of a written part")),
        );
    }
    if problems.is_empty() { Ok(None) } else { bail!("{}", problems.join("\n")) }
}

/// Returns the paths and contents of all files.
fn files(report: &Report, sources: &Sources, root: &Path) -> Result<Vec<(String, String)>> {
    let machine = &report.run.machine;
    let introduction = format!(
        "# Benchmarks\n\nMeasured on {} with {} cores of {}. Written by `cargo xtask report --out` from \
         [report.json]({RUN}); do not edit. Every row, with the published figures: {}.",
        report.run.date.split('T').next().unwrap_or_default(),
        machine.cores,
        machine.cpu,
        pages(sources)
    );
    let mut files = vec![
        (RUN.to_owned(), report::json(report)?),
        ("BENCHMARKS.md".to_owned(), format!("{introduction}\n{}", summary::text(report, sources))),
    ];
    for page in view::systems(report, sources).chain([view::coverage(sources)]) {
        let text = format!("<!-- Written by `cargo xtask report --out`; do not edit. -->\n{}", page.text);
        files.push((format!("{FOLDER}/{}.md", page.id), text));
        let drawings = page.charts.into_iter();
        files.extend(drawings.map(|chart| (format!("{FOLDER}/{}.svg", chart.id), chart::alone(&chart.svg))));
    }
    for path in tidy::guides(root)? {
        let text = fs::read_to_string(root.join(&path))?;
        if text.contains(BEGIN) {
            let text = filled(&text, |part| self::part(part, report, sources))
                .with_context(|| format!("cannot fill {path}"))?;
            files.push((path, text));
        }
    }
    Ok(files)
}

fn pages(sources: &Sources) -> String {
    let page = |id: &str, name: &str| format!("[{name}]({FOLDER}/{id}.md)");
    let systems = sources.seed.systems.iter().map(|system| page(&system.id, &system.name));
    systems.chain([page("coverage", "coverage")]).collect::<Vec<_>>().join(", ")
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
/// package for its rows.
fn part(name: &str, report: &Report, sources: &Sources) -> Option<String> {
    let facts = Facts::new(report, sources);
    let is_wanted = |group: &crate::data::groups::Group| match name {
        "summary" => group.is_main,
        package => group.package == package,
    };
    let groups: Vec<_> = sources.groups.groups.iter().filter(|group| is_wanted(group)).collect();
    let sheet = match name {
        "slower" => summary::slower(&facts.standings(), |_, ratio| format!("{}x", units::ratio(ratio.value))),
        "load" => costs(report),
        _ if groups.is_empty() => return None,
        _ => {
            let lines = groups.into_iter().filter_map(|group| {
                let summary = facts.summary(group, &|_| true)?;
                Some(vec![
                    format!("`{}`", group.package),
                    group.title.clone(),
                    summary::median_of(&summary),
                    summary::names_of(&summary),
                    group.condition.clone(),
                ])
            });
            let columns = "Crate | Rows | #Median ratio (range) | Fastest alternatives | Condition";
            Sheet::new("", columns, lines)
        }
    };
    let text = match sheet.lines.is_empty() {
        true => "No rows in this run.".to_owned(),
        false => markdown::grid(&sheet).trim_end().to_owned(),
    };
    Some(text)
}

/// Lists what the proxy needs per response.
fn costs(report: &Report) -> Sheet {
    let rows = report.load.iter().flat_map(|run| &run.rows).filter(|row| row.role == Role::Ours);
    let lines = rows.filter_map(|row| {
        let rate = row.value(Quantity::RequestsPerS)?;
        Some(vec![
            format!("`{}`", row.name()),
            row.payload_bytes.map_or_else(|| view::NONE.to_owned(), |bytes| units::bytes(bytes as f64)),
            units::time(row.value(Quantity::CpuPerRequest)?),
            units::count(rate),
        ])
    });
    Sheet::new("", "Row | #Body | #Processor time | #Responses per second", lines)
}

/// Returns the numbers of the lines outside of the written parts that contain a ratio such as `1.8x`.
fn ratios_by_hand(text: &str) -> impl Iterator<Item = usize> {
    let mut is_written = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        is_written = if line.starts_with(BEGIN) { true } else { is_written && line != END };
        let words = line.split(|letter: char| letter.is_whitespace() || "()|,;".contains(letter));
        let is_ratio =
            |word: &str| word.strip_suffix('x').is_some_and(|number| number.parse::<f64>().is_ok());
        let found = words.into_iter().any(is_ratio) || line.contains("times as fast");
        (found && !is_written).then_some(index + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::tests::{report, sources};

    #[test]
    fn pages_and_parts_are_written_and_checked() {
        let root = std::env::temp_dir().join(format!("xtask-publish-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let text = format!("a\n{BEGIN}tightwire-sse -->\nold\n{END}\n{BEGIN}slower -->\n{END}\nb\n");
        fs::write(root.join("README.md"), text).unwrap();
        write(&report(), &sources(), &root).unwrap();
        let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
        let readme = read("README.md");
        assert!(
            readme.contains(" 2.00x |") && readme.contains("reqwest") && !readme.contains("old"),
            "{readme}"
        );
        assert!(read("BENCHMARKS.md").contains("Measured on 2026-01-02"));
        assert!(read("docs/benchmarks/perplexity.md").contains("](sse.svg)"));
        assert!(read("docs/benchmarks/sse.svg").contains("<style>"));
        assert_eq!(report::read(&root.join(RUN)).unwrap(), report());
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn an_unknown_part_is_an_error() {
        let text = format!("{BEGIN}nothing -->\n{END}\n");
        assert!(filled(&text, |name| part(name, &report(), &sources())).is_err());
    }

    #[test]
    fn ratios_belong_in_written_parts() {
        let text = format!("it is 1.8x\n{BEGIN}load -->\n2.0x\n{END}\nhex 0xff and max\nten times as fast\n");
        assert_eq!(ratios_by_hand(&text).collect::<Vec<_>>(), [1, 6]);
    }
}
