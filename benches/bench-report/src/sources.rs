//! The committed files of `benches/data` and `benches/history`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::history::Saved;
use crate::model::{Role, Row};
use crate::quantity::Quantity;
use crate::seed::{Line, Seed, Table};

/// The inputs of a report besides the measurements.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Published figures.
    pub seed: Seed,
    /// Figures of the Go projects that were recorded earlier, as rows whose remark is the source.
    pub recorded: Vec<Row>,
    /// Rows by published line (`table/line`), by quantity, for lines that are not simply the time of one benchmark.
    pub lines: BTreeMap<Quantity, BTreeMap<String, Vec<String>>>,
    /// Names of implementations by published line, for lines that are about another library than the Go project.
    pub libraries: BTreeMap<String, String>,
    /// Published entries that no run measures.
    pub unmeasured: Vec<Unmeasured>,
    /// Notes about rows of the harness.
    pub rows: RowsFile,
    /// Groups of similar rows.
    pub groups: Vec<Group>,
    /// Saved runs, the oldest one first.
    pub history: Vec<Saved>,
}

/// A group of similar rows, over which the report shows medians.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What the rows have in common.
    pub title: String,
    /// The crate that is measured.
    pub package: String,
    /// Keys; `*` at the end matches any rest.
    rows: Vec<String>,
    /// What a reader must know to use the figures.
    pub condition: String,
}

/// Published entries that no run measures, with a common reason.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unmeasured {
    /// Why they are not measured.
    pub reason: String,
    /// Keys of benchmarks.
    #[serde(default)]
    pub benches: Vec<String>,
    /// Published lines, as `table/line`.
    #[serde(default)]
    pub lines: Vec<String>,
}

/// Notes about rows of the harness.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowsFile {
    /// Published benchmarks that are several rows in the harness.
    #[serde(default)]
    part: Vec<Part>,
    /// Rows that no report has.
    pub added: Vec<Remark>,
    /// Reasons for rows in which ours is not faster.
    #[serde(default)]
    remark: Vec<Remark>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    bench: String,
    rows: Vec<String>,
}

/// A text about rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// Keys; `*` at the end matches any rest.
    pub rows: Vec<String>,
    /// The text.
    pub text: String,
    /// Classes of the results; empty for all.
    #[serde(default)]
    classes: Vec<String>,
    /// True if ratios of the rows are meaningless.
    #[serde(default)]
    incomparable: bool,
}

/// Figures that were recorded together.
#[derive(Deserialize)]
struct Origin {
    remark: String,
    figures: Vec<Recorded>,
}

#[derive(Deserialize)]
struct Recorded {
    key: String,
    implementation: String,
    /// True for the Go project of the published figure; false for another program, shown for scale.
    #[serde(default)]
    original: bool,
    #[serde(flatten)]
    figures: BTreeMap<Quantity, f64>,
}

impl Sources {
    /// Reads the files of a workspace.
    ///
    /// # Errors
    ///
    /// If a file is missing or has unexpected content.
    pub fn load(workspace_root: &Path) -> Result<Self> {
        let data = workspace_root.join("benches/data");
        let list = |name: &str, field: &str| -> Result<toml::Value> {
            let mut file: toml::Table = load(&data, name)?;
            file.remove(field).with_context(|| format!("{name} has no {field}"))
        };
        let mut lines: toml::Table = load(&data, "lines.toml")?;
        let libraries = lines.remove("library").context("lines.toml has no library")?;
        let origins: Vec<Origin> = list("recorded.toml", "origin")?.try_into()?;
        Ok(Self {
            seed: load(&data, "seed-rows.toml")?,
            recorded: origins.into_iter().flat_map(Origin::rows).collect(),
            lines: lines.try_into()?,
            libraries: libraries.try_into()?,
            unmeasured: list("unmeasured.toml", "unmeasured")?.try_into()?,
            rows: load(&data, "rows.toml")?,
            groups: list("groups.toml", "group")?.try_into()?,
            history: Saved::read_all(&workspace_root.join("benches/history"))?,
        })
    }

    /// Returns the quantities and the rows of a published line. Without a row, it cannot be measured.
    pub fn rows_of(&self, table: &Table, line: &Line) -> (Vec<Quantity>, Vec<String>) {
        let name = table.name_of(line);
        let entries = self.lines.iter().filter_map(|(quantity, lines)| Some((*quantity, lines.get(&name)?)));
        let (quantities, keys): (Vec<_>, Vec<_>) = entries.unzip();
        match keys.first() {
            Some(keys) => (quantities, (*keys).clone()),
            None => (vec![Quantity::Time], line.bench.iter().cloned().collect()),
        }
    }

    /// Returns patterns for the rows of a published table; `None` if there is no such table.
    pub fn keys_of(&self, table: &str) -> Option<Vec<String>> {
        let table = self.seed.tables().find(|one| one.id == table)?;
        let keys = table.lines.iter().flat_map(|line| self.rows_of(table, line).1);
        Some(keys.flat_map(|key| self.rows.parts(&key)).collect())
    }

    /// Returns the first group that matches a row.
    pub fn group_of(&self, key: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.rows.iter().any(|row| matches(row, key)))
    }

    /// Returns the reason why a published line (`table/line`) or benchmark has no figure.
    pub fn unmeasured(&self, name: &str) -> Option<&str> {
        let has = |entry: &&Unmeasured| entry.lines.iter().chain(&entry.benches).any(|one| one == name);
        self.unmeasured.iter().find(has).map(|entry| entry.reason.as_str())
    }
}

impl Origin {
    fn rows(self) -> impl Iterator<Item = Row> {
        let remark = self.remark;
        self.figures.into_iter().map(move |recorded| Row {
            remark: Some(remark.clone()),
            key: recorded.key,
            implementation: recorded.implementation,
            role: if recorded.original { Role::RecordedOriginal } else { Role::Recorded },
            figures: recorded.figures.into_iter().map(|(quantity, value)| (quantity, vec![value])).collect(),
            ..Row::default()
        })
    }
}

impl Group {
    /// Returns the name of the group with its crate.
    pub fn name(&self) -> String {
        format!("{}: {}", self.package, self.title)
    }
}

impl RowsFile {
    /// Returns the row patterns of a published benchmark: itself, or those of its parts.
    pub fn parts(&self, bench: &str) -> Vec<String> {
        let part = self.part.iter().find(|part| part.bench == bench);
        part.map_or_else(|| vec![bench.to_owned()], |part| part.rows.clone())
    }

    /// Returns whether a row belongs to a published benchmark that is several rows in the harness.
    pub fn is_part(&self, key: &str) -> bool {
        self.part.iter().flat_map(|part| &part.rows).any(|row| matches(row, key))
    }

    /// Returns the reason for a row that no report has.
    pub fn added(&self, key: &str) -> Option<&str> {
        find(&self.added, key, None)
    }

    /// Returns the note about the result of a class, or that about the whole row.
    pub fn remark(&self, key: &str, class: Option<&str>) -> Option<&str> {
        find(&self.remark, key, class)
    }

    /// Returns whether ratios of a row are meaningless.
    pub fn is_incomparable(&self, key: &str) -> bool {
        find(self.remark.iter().filter(|remark| remark.incomparable), key, None).is_some()
    }
}

fn find<'r>(
    remarks: impl IntoIterator<Item = &'r Remark>,
    key: &str,
    class: Option<&str>,
) -> Option<&'r str> {
    let found = remarks.into_iter().find(|remark| {
        remark.rows.iter().any(|row| matches(row, key))
            && (remark.classes.is_empty() || remark.classes.iter().any(|one| Some(one.as_str()) == class))
    });
    found.map(|remark| remark.text.as_str())
}

/// Reads a TOML file of a folder.
///
/// # Errors
///
/// If the file is missing or has unexpected content.
pub fn load<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T> {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("unexpected content of {}", path.display()))
}

/// Returns whether a name matches a pattern; `*` at the end matches any rest.
pub fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Reads the committed files.
    pub(crate) fn sources() -> Sources {
        Sources::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
    }

    #[test]
    fn every_mapped_line_is_published_and_has_the_same_rows_for_all_quantities() {
        let sources = sources();
        let mut rows: BTreeMap<&String, &Vec<String>> = BTreeMap::new();
        for (line, keys) in sources.lines.values().flatten() {
            assert!(sources.seed.lines().any(|(name, _)| name == *line), "{line} is not published");
            assert!(!keys.is_empty() && *rows.entry(line).or_insert(keys) == keys, "rows of {line}");
        }
        let table = sources.seed.tables().find(|table| table.id == "perplexity.headline").unwrap();
        let line = table.lines.iter().find(|line| line.id == "sse_per_event_overhead").unwrap();
        let expected = (vec![Quantity::TimePerElement], vec!["sse/decode_buffered_stream".to_owned()]);
        assert_eq!(sources.rows_of(table, line), expected);
    }

    #[test]
    fn the_first_group_has_the_row() {
        let sources = sources();
        let title = |key| sources.group_of(key).map(|group| group.title.as_str());
        assert_eq!(title("json/citm_1m_encode"), Some("JSON written, 10 kB to 4 MB"));
        assert_eq!(title("json/citm_1m_decode"), Some("JSON read, 10 kB to 4 MB"));
        assert_eq!(title("pypi_proxy/page_refresh"), Some("handlers and pages of the proxy"));
        assert_eq!(title("nothing/here"), None);
    }

    #[test]
    fn recorded_figures_have_their_origin() {
        let rows = sources().recorded;
        assert_eq!(rows.len(), 100);
        assert!(rows.iter().all(|row| row.remark.is_some() && !row.figures.is_empty()));
        let simple: Vec<_> = rows.iter().filter(|row| row.key == "sse/decode_simple_event").collect();
        assert_eq!((simple[0].role, simple[1].role), (Role::RecordedOriginal, Role::Recorded));
        assert_eq!(simple[0].value(Quantity::Time), Some(1562.0));
    }

    #[test]
    fn remarks_may_be_about_one_class_and_exclude_ratios() {
        let text = "[[added]]\nrows = [\"sse/large_*\", \"sse/x\"]\ntext = \"t\"\n\
                    [[remark]]\nrows = [\"a/x\"]\ntext = \"r\"\nincomparable = true\n\
                    [[remark]]\nrows = [\"a/*\"]\nclasses = [\"tree\"]\ntext = \"s\"\n";
        let file: RowsFile = toml::from_str(text).unwrap();
        assert_eq!(
            ["sse/large_8k", "sse/x", "sse/xy"].map(|key| file.added(key)),
            [Some("t"), Some("t"), None]
        );
        assert_eq!(
            [Some("tree"), Some("typed"), None].map(|class| file.remark("a/y", class)),
            [Some("s"), None, None]
        );
        assert_eq!((file.is_incomparable("a/x"), file.is_incomparable("a/y")), (true, false));
    }
}
