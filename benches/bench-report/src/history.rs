//! The results of runs by commit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::facts::Facts;
use crate::model::Report;
use crate::quantity;
use crate::sources::Sources;
use crate::stats::median;
use crate::table::{Sheet, optional};

/// A saved run. Ratios are those of the fastest other implementation, so that runs of different machines can be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Saved {
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
            runs.push(crate::read_json(&entry?.path())?);
        }
        runs.sort_by(|a, b| a.date.cmp(&b.date));
        Ok(runs)
    }

    fn day(&self) -> &str {
        self.date.split('T').next().unwrap_or_default()
    }
}

/// Saves the ratios of a run as `benches/history/DATE-COMMIT.json`.
/// Fails if the run is not fit to publish, or the file cannot be written.
pub fn save(report: &Report, sources: &Sources, workspace_root: &Path) -> Result<PathBuf> {
    let facts = Facts::new(report, sources);
    let unfit = facts.unfit();
    ensure!(unfit.is_empty(), "the run is not saved: {}", unfit.join("; "));
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    let (mut groups, mut rows) = (BTreeMap::<String, Vec<f64>>::new(), BTreeMap::new());
    for one in &facts.standings {
        let (Some(group), Some(worst)) = (one.group, one.worst()) else { continue };
        groups.entry(sources.groups[group].name()).or_default().push(worst.ratio.value);
        rows.insert(one.name(), rounded(worst.ratio.value));
    }
    let medians = groups.into_iter().filter_map(|(group, ratios)| Some((group, rounded(median(&ratios)?))));
    let (date, cpu) = (report.run.date.clone(), report.run.machine.cpu.clone());
    let commit = report.run.commit.clone().context("the commit of the run is unknown")?;
    let saved = Saved { date, commit, cpu, groups: medians.collect(), rows };
    let path = workspace_root.join(format!("benches/history/{}-{}.json", saved.day(), saved.commit));
    fs::write(&path, serde_json::to_string_pretty(&saved)? + "\n")
        .with_context(|| path.display().to_string())?;
    Ok(path)
}

/// Returns the median ratio of every group over the saved runs, in Markdown.
pub fn text(sources: &Sources) -> String {
    let runs = &sources.history;
    let groups = runs.last().into_iter().flat_map(|last| last.groups.keys());
    let lines = groups.map(|group| {
        let values = runs
            .iter()
            .map(|run| optional(run.groups.get(group), |value| format!("{}x", quantity::ratio(*value))));
        std::iter::once(group.clone()).chain(values).collect()
    });
    let names: Vec<String> =
        runs.iter().map(|run| format!("#{} {} ({})", run.day(), run.commit, run.cpu)).collect();
    let sheet = Sheet::new("Runs by commit", &format!("Group | {}", names.join(" | ")), lines);
    format!(
        "\nMedian ratio to the fastest alternative by group; above 1, ours is faster. Groups, rows and peers changed between the \
         runs.\n{}",
        sheet.markdown()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::tests::report;
    use crate::sources::tests::sources;

    #[test]
    fn runs_are_saved_if_they_are_fit_to_publish() {
        let folder = tempfile::tempdir().unwrap();
        let history = folder.path().join("benches/history");
        fs::create_dir_all(&history).unwrap();
        let (mut report, mut sources) = (report(), sources());
        for (date, commit) in [("2026-01-03T00:00:00Z", "bbbb"), ("2026-01-02T00:00:00Z", "aaaa")] {
            (report.run.date, report.run.commit) = (date.to_owned(), Some(commit.to_owned()));
            save(&report, &sources, folder.path()).unwrap();
        }
        report.run.commit = Some("cccc with local changes".to_owned());
        assert!(save(&report, &sources, folder.path()).is_err());
        sources.history = Saved::read_all(&history).unwrap();
        assert_eq!(sources.history[0].rows["sse/decode_simple_event (owned)"], 2.0);
        let text = text(&sources);
        assert!(
            text.contains("2026-01-02 aaaa () | 2026-01-03 bbbb ()") && text.contains("2.00x |"),
            "{text}"
        );
    }
}
