//! The results of runs by commit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::chart::{self, Panel};
use crate::facts::{Facts, Standing};
use crate::model::Report;
use crate::pages::{Chart, Page};
use crate::quantity;
use crate::sources::Sources;
use crate::table::{NONE, Sheet};

/// A saved run. Ratios are those of the fastest other implementation, so that runs of different machines can be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    date: String,
    commit: String,
    cpu: String,
    /// Median ratio by group of rows.
    groups: BTreeMap<String, f64>,
    /// Ratio by row and class.
    rows: BTreeMap<String, f64>,
}

impl Saved {
    /// Reads the saved runs of a folder, the oldest one first.
    pub(crate) fn read_all(folder: &Path) -> Result<Vec<Self>> {
        let mut runs: Vec<Self> = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let text = fs::read_to_string(&path)?;
                runs.push(serde_json::from_str(&text).with_context(|| path.display().to_string())?);
            }
        }
        runs.sort_by(|a, b| a.date.cmp(&b.date));
        Ok(runs)
    }

    fn day(&self) -> &str {
        self.date.split('T').next().unwrap_or_default()
    }
}

/// Saves the ratios of a run as `benches/history/DATE-COMMIT.json`.
///
/// # Errors
///
/// If the run is not fit to publish, or the file cannot be written.
pub fn save(report: &Report, sources: &Sources, workspace_root: &Path) -> Result<PathBuf> {
    let facts = Facts::new(report, sources);
    let unfit = facts.unfit();
    ensure!(unfit.is_empty(), "the run is not saved: {}", unfit.join("; "));
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    let groups = sources.groups.iter();
    let rows = facts.standings().into_iter();
    let saved = Saved {
        date: report.run.date.clone(),
        commit: report.run.commit.clone().context("the commit of the run is unknown")?,
        cpu: report.run.machine.cpu.clone(),
        groups: groups
            .filter_map(|group| Some((group.name(), rounded(facts.summary(group, &|_| true)?.median))))
            .collect(),
        rows: rows
            .filter_map(|row: Standing<'_>| Some((row.name(), rounded(row.worst()?.ratio.value))))
            .collect(),
    };
    let folder = workspace_root.join("benches/history");
    let path = folder.join(format!("{}-{}.json", saved.day(), saved.commit));
    fs::create_dir_all(&folder)?;
    fs::write(&path, serde_json::to_string_pretty(&saved)? + "\n")?;
    Ok(path)
}

/// Returns the page with the median ratio of every group over the saved runs.
pub(crate) fn page(sources: &Sources) -> Page {
    let runs = &sources.history;
    let mut text = "\n## History\n\nMedian ratio to the fastest alternative by group; above 1, ours is faster. Groups, rows and peers \
                    changed between the runs.\n"
        .to_owned();
    let mut charts = Vec::new();
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
        text += "\nNo run is saved.\n";
        return Page { id: "history".to_owned(), text, charts };
    };
    let place = |index: usize| index as f64 / (runs.len() - 1).max(1) as f64;
    let of_group = |title: &String| {
        let values = runs.iter().map(|run| run.groups.get(title).copied());
        values.enumerate().filter_map(|(index, value)| Some((place(index), value?))).collect::<Vec<_>>()
    };
    let panels: Vec<Panel> = last
        .groups
        .keys()
        .map(|title| Panel {
            title: title.split_once(": ").map_or(&**title, |(_, title)| title).to_owned(),
            note: title.split_once(": ").map_or("", |(package, _)| package).to_owned(),
            ends: (first.day().to_owned(), last.day().to_owned()),
            series: vec![("ours", of_group(title))],
            format: |value| format!("{}x", quantity::ratio(value)),
        })
        .collect();
    let title = "Median ratio of each group over the saved runs";
    if let Some(svg) = chart::lines(title, &panels) {
        text += &format!("\n![{title}](history.svg)\n");
        charts.push(Chart { id: "history".to_owned(), svg });
    }
    let names: Vec<String> = runs.iter().map(|run| format!("#{} {}", run.day(), run.commit)).collect();
    let lines = last.groups.keys().map(|title| {
        let value = |value: Option<&f64>| {
            value.map_or_else(|| NONE.to_owned(), |value| format!("{}x", quantity::ratio(*value)))
        };
        let values = runs.iter().map(|run| value(run.groups.get(title)));
        std::iter::once(title.clone()).chain(values).collect()
    });
    text += &Sheet::new("Runs", &format!("Group | {}", names.join(" | ")), lines).markdown();
    let machines = runs.iter().map(|run| format!("{}: {}", run.commit, run.cpu));
    text += &crate::table::list(machines);
    Page { id: "history".to_owned(), text, charts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::tests::report;
    use crate::sources::tests::sources;

    #[test]
    fn saved_runs_are_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let (mut report, mut sources) = (report(), sources());
        for (date, commit) in [("2026-01-03T00:00:00Z", "bbbb"), ("2026-01-02T00:00:00Z", "aaaa")] {
            (report.run.date, report.run.commit) = (date.to_owned(), Some(commit.to_owned()));
            save(&report, &sources, folder.path()).unwrap();
        }
        report.run.commit = Some("cccc with local changes".to_owned());
        assert!(save(&report, &sources, folder.path()).is_err());
        sources.history = Saved::read_all(&folder.path().join("benches/history")).unwrap();
        assert_eq!(sources.history.len(), 2);
        assert_eq!(sources.history[0].rows["sse/decode_simple_event (owned)"], 2.0);
        let page = page(&sources);
        assert!(page.text.contains("2026-01-02 aaaa | 2026-01-03 bbbb"), "{}", page.text);
        assert_eq!(page.charts[0].svg.matches("<polyline").count(), sources.history[1].groups.len());
        sources.history.clear();
        assert!(super::page(&sources).text.contains("No run is saved"));
    }
}
