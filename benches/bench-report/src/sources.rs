//! The committed files of `benches/data` and `benches/history`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::history::Saved;
use crate::model::{Role, Row, matches};
use crate::quantity::Quantity;

/// The inputs of a report besides the measurements.
#[derive(Clone, Debug)]
pub struct Sources {
    pub(crate) systems: Vec<System>,
    /// Figures of the Go projects that were recorded earlier, as rows whose remark is the source.
    pub(crate) recorded: Vec<Row>,
    /// Rows by published line (`table/line`), by quantity, for lines that are not simply the time of one benchmark.
    lines: BTreeMap<Quantity, BTreeMap<String, Vec<String>>>,
    /// Names of implementations by published line, for lines that are about another library than the Go project.
    pub(crate) libraries: BTreeMap<String, String>,
    pub(crate) notes: Notes,
    pub(crate) groups: Vec<Group>,
    /// Saved runs, the oldest one first.
    pub(crate) history: Vec<Saved>,
}

/// The report of one Go project.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct System {
    pub(crate) id: String,
    pub(crate) name: String,
    /// What the Go project is.
    pub(crate) role: String,
    /// Machine, versions and method of the published figures.
    pub(crate) platform: String,
    pub(crate) benches: Vec<Bench>,
    #[serde(rename = "table")]
    pub(crate) tables: Vec<Table>,
}

/// One benchmark; suites and peers use the same key.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Bench {
    pub(crate) key: String,
    /// Name of the function in the Go project.
    upstream: String,
    /// End of the path of its Go package.
    package: Option<String>,
    #[serde(default = "yes")]
    pub(crate) published: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Table {
    pub(crate) id: String,
    pub(crate) heading: String,
    conditions: Option<String>,
    pub(crate) lines: Vec<Line>,
}

/// One published line.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Line {
    id: String,
    pub(crate) label: String,
    /// Key of the benchmark whose result the line prints.
    bench: Option<String>,
    /// All figures of the line.
    pub(crate) figures: String,
}

/// A group of similar rows, over which the report shows medians.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    pub(crate) title: String,
    /// The crate that is measured.
    pub(crate) package: String,
    /// Keys; `*` at the end matches any rest.
    rows: Vec<String>,
    /// What a reader must know to use the figures.
    pub(crate) condition: String,
}

/// Notes about rows of the harness and published entries.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Notes {
    /// Published benchmarks that are several rows in the harness.
    #[serde(default)]
    part: Vec<Part>,
    /// Rows that no report has.
    #[serde(default)]
    pub(crate) added: Vec<Note>,
    /// Published benchmarks and lines that no run measures.
    #[serde(default)]
    pub(crate) unmeasured: Vec<Note>,
    /// Reasons for rows in which ours is not faster.
    #[serde(default)]
    remark: Vec<Note>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    bench: String,
    rows: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    /// Keys; `*` at the end matches any rest.
    pub(crate) rows: Vec<String>,
    pub(crate) text: String,
    /// Classes of the results; empty for all.
    #[serde(default)]
    classes: Vec<String>,
    /// Whether ratios of the rows are meaningless.
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
    #[serde(flatten)]
    figures: BTreeMap<Quantity, f64>,
}

impl Sources {
    /// Reads the files of a workspace.
    /// Fails if a file is missing or has unexpected content.
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
            systems: list("seed-rows.toml", "system")?.try_into()?,
            recorded: origins.into_iter().flat_map(Origin::rows).collect(),
            lines: lines.try_into()?,
            libraries: libraries.try_into()?,
            notes: load(&data, "rows.toml")?,
            groups: list("groups.toml", "group")?.try_into()?,
            history: Saved::read_all(&workspace_root.join("benches/history"))?,
        })
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.systems.iter().flat_map(|system| &system.tables)
    }

    /// Returns all published lines with their tables.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&Table, &Line)> {
        self.tables().flat_map(|table| table.lines.iter().map(move |line| (table, line)))
    }

    pub(crate) fn benches(&self) -> impl Iterator<Item = &Bench> {
        self.systems.iter().flat_map(|system| &system.benches)
    }

    /// Returns the quantities and the rows of a published line. Without a row, it cannot be measured.
    pub(crate) fn rows_of(&self, table: &Table, line: &Line) -> (Vec<Quantity>, Vec<String>) {
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
        let table = self.tables().find(|one| one.id == table)?;
        let keys = table.lines.iter().flat_map(|line| self.rows_of(table, line).1);
        Some(keys.flat_map(|key| self.notes.parts(&key)).collect())
    }

    /// Returns the key of a benchmark with one of these names in Go, and the name of the Go project.
    ///
    /// Two projects use the same function names; the Go package distinguishes them. Returns `None` for unknown and
    /// ambiguous names.
    pub fn key_of(&self, names: [&str; 2], package: Option<&str>) -> Option<(&str, &str)> {
        let benches = |name: &str| {
            let all = self
                .systems
                .iter()
                .flat_map(|system| system.benches.iter().map(move |bench| (bench, &*system.name)));
            all.filter(|(bench, _)| bench.upstream == name).collect::<Vec<_>>()
        };
        let mut found = names.map(benches).into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        if found.len() > 1 {
            let is_of_package = |end: &String| package.is_some_and(|package| package.ends_with(end.as_str()));
            found.retain(|(bench, _)| bench.package.as_ref().is_some_and(is_of_package));
        }
        match found.as_slice() {
            [(bench, project)] => Some((&bench.key, project)),
            _ => None,
        }
    }

    /// Returns the index of the first group that matches a row.
    pub(crate) fn group_of(&self, key: &str) -> Option<usize> {
        self.groups.iter().position(|group| group.rows.iter().any(|row| matches(row, key)))
    }

    /// Returns a message for each published entry without a row or a reason, and for each row without either. `keys` are
    /// the rows of the harness.
    pub fn gaps(&self, keys: &BTreeSet<String>) -> Vec<String> {
        let mut gaps = Vec::new();
        let notes = &self.notes;
        let exists = |pattern: &String| keys.iter().any(|key| matches(pattern, key));
        let has = |key: &String| keys.contains(key) || notes.parts(key).iter().all(exists);
        for bench in self.benches() {
            let is_published =
                bench.published || self.lines().any(|(_, line)| line.bench.as_ref() == Some(&bench.key));
            match (has(&bench.key), find(&notes.unmeasured, &bench.key, None)) {
                (true, Some(_)) => gaps.push(format!("{}: measured, and said to be unmeasured", bench.key)),
                (false, None) => gaps.push(format!("{}: no row in the harness", bench.key)),
                (false, Some(_)) if is_published => {
                    gaps.push(format!("{}: published, and not measured", bench.key))
                }
                _ => {}
            }
        }
        for (table, line) in self.lines() {
            let (name, (_, rows)) = (table.name_of(line), self.rows_of(table, line));
            match find(&notes.unmeasured, &name, None) {
                Some(_) if line.bench.is_none() && !rows.is_empty() => {
                    gaps.push(format!("{name}: has rows, and is said to be unmeasured"));
                }
                None if rows.is_empty() => gaps.push(format!("{name}: neither rows nor a reason")),
                _ => {}
            }
            let known = |key: &&String| !has(key) && line.bench.as_ref() != Some(key);
            gaps.extend(
                rows.iter().filter(known).map(|key| format!("{name}: {key} is no row of the harness")),
            );
        }
        for key in keys {
            if self.group_of(key).is_none() {
                gaps.push(format!("{key}: in no group of groups.toml"));
            }
            let is_bench = self.benches().any(|bench| bench.key == *key);
            let is_part = notes.part.iter().flat_map(|part| &part.rows).any(|row| matches(row, key));
            match (is_bench || is_part, find(&notes.added, key, None)) {
                (true, Some(_)) if is_bench => gaps.push(format!("{key}: in a report, and said to be ours")),
                (false, None) => {
                    gaps.push(format!("{key}: in no report, and rows.toml has no reason for it"))
                }
                _ => {}
            }
        }
        let is_published = |name: &String| {
            self.benches().any(|bench| bench.key == *name)
                || self.lines().any(|(table, line)| table.name_of(line) == *name)
        };
        let added = notes.added.iter().flat_map(|note| &note.rows).filter(|row| !exists(row));
        let unmeasured =
            notes.unmeasured.iter().flat_map(|note| &note.rows).filter(|name| !is_published(name));
        gaps.extend(added.chain(unmeasured).map(|name| format!("rows.toml: {name} is unknown")));
        gaps
    }
}

impl Origin {
    fn rows(self) -> impl Iterator<Item = Row> {
        let remark = self.remark;
        self.figures.into_iter().map(move |recorded| Row {
            remark: Some(remark.clone()),
            key: recorded.key,
            implementation: recorded.implementation,
            role: Role::RecordedOriginal,
            figures: recorded.figures.into_iter().map(|(quantity, value)| (quantity, vec![value])).collect(),
            ..Row::default()
        })
    }
}

impl Table {
    /// Returns the name of a line: `table/line`.
    pub(crate) fn name_of(&self, line: &Line) -> String {
        format!("{}/{}", self.id, line.id)
    }

    pub(crate) fn title(&self) -> String {
        let conditions = self.conditions.as_ref().map(|conditions| format!(" ({conditions})"));
        format!("{}{}", self.heading, conditions.unwrap_or_default())
    }
}

impl Group {
    pub(crate) fn name(&self) -> String {
        format!("{}: {}", self.package, self.title)
    }
}

impl Notes {
    /// Returns the row patterns of a published benchmark: itself, or those of its parts.
    pub(crate) fn parts(&self, bench: &str) -> Vec<String> {
        let part = self.part.iter().find(|part| part.bench == bench);
        part.map_or_else(|| vec![bench.to_owned()], |part| part.rows.clone())
    }

    /// Returns the reason why a published line or benchmark has no figure.
    pub(crate) fn unmeasured(&self, name: &str) -> Option<&str> {
        find(&self.unmeasured, name, None)
    }

    /// Returns the note about the result of a class, or that about the whole row.
    pub(crate) fn remark(&self, key: &str, class: Option<&str>) -> Option<&str> {
        find(&self.remark, key, class)
    }

    /// Returns whether ratios of a row are meaningless.
    pub(crate) fn is_incomparable(&self, key: &str) -> bool {
        find(self.remark.iter().filter(|note| note.incomparable), key, None).is_some()
    }
}

fn find<'n>(notes: impl IntoIterator<Item = &'n Note>, key: &str, class: Option<&str>) -> Option<&'n str> {
    let found = notes.into_iter().find(|note| {
        let is_of_class =
            note.classes.is_empty() || note.classes.iter().any(|one| Some(one.as_str()) == class);
        is_of_class && note.rows.iter().any(|row| matches(row, key))
    });
    found.map(|note| note.text.as_str())
}

/// Reads a TOML file of a folder.
/// Fails if the file is missing or has unexpected content.
pub fn load<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T> {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("unexpected content of {}", path.display()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn sources() -> Sources {
        Sources::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
    }

    #[test]
    fn every_published_figure_is_in_the_files() {
        let sources = sources();
        let counts = (
            sources.systems.len(),
            sources.benches().count(),
            sources.tables().count(),
            sources.lines().count(),
        );
        assert_eq!((counts, sources.recorded.len()), ((5, 163, 47, 257), 81));
        assert!(sources.lines().all(|(_, line)| !line.figures.is_empty()));
        let mut rows: BTreeMap<&String, &Vec<String>> = BTreeMap::new();
        for (name, keys) in sources.lines.values().flatten() {
            assert!(
                sources.lines().any(|(table, line)| table.name_of(line) == *name),
                "{name} is not published"
            );
            assert!(!keys.is_empty() && *rows.entry(name).or_insert(keys) == keys, "rows of {name}");
        }
        let (table, line) = sources.lines().find(|(_, line)| line.id == "sse_per_event_overhead").unwrap();
        let expected = (vec![Quantity::TimePerElement], vec!["sse/decode_buffered_stream".to_owned()]);
        assert_eq!(sources.rows_of(table, line), expected);
    }

    #[test]
    fn every_entry_has_its_place_and_gaps_are_named() {
        let mut sources = sources();
        let measured = sources.benches().filter(|bench| sources.notes.unmeasured(&bench.key).is_none());
        let added = sources.notes.added.iter().flat_map(|note| note.rows.clone());
        let keys = measured.flat_map(|bench| sources.notes.parts(&bench.key)).chain(added);
        let mut keys: BTreeSet<String> = keys.map(|pattern| pattern.replace('*', "x")).collect();
        assert_eq!(sources.gaps(&keys), [""; 0]);
        keys.remove("sse/decode_allocations");
        keys.insert("sse/new".to_owned());
        let gaps = [
            "sse/decode_allocations: no row in the harness",
            "sse/new: in no group of groups.toml",
            "sse/new: in no report, and rows.toml has no reason for it",
        ];
        assert_eq!(sources.gaps(&keys), gaps);
        keys.remove("sse/new");
        sources.notes.unmeasured[0].rows.push("sse/decode_allocations".to_owned());
        assert_eq!(sources.gaps(&keys), ["sse/decode_allocations: published, and not measured"]);
    }

    #[test]
    fn names_in_go_find_their_keys() {
        let sources = sources();
        let key = |name: &str, package| sources.key_of([name, name], package);
        let found = Some(("sse/decode_simple_event", "perplexity-go"));
        assert_eq!(key("BenchmarkDecoder_Decode_SimpleEvent", None), found);
        assert_eq!(key("BenchmarkMessageEncode", None), None, "two projects have this name");
    }

    #[test]
    fn notes_may_be_about_one_class_and_exclude_ratios() {
        let text = "[[remark]]\nrows = [\"a/x\"]\ntext = \"r\"\nincomparable = true\n\
                    [[remark]]\nrows = [\"a/*\"]\nclasses = [\"tree\"]\ntext = \"s\"\n";
        let notes: Notes = toml::from_str(text).unwrap();
        let remarks = [Some("tree"), Some("typed"), None].map(|class| notes.remark("a/y", class));
        assert_eq!(remarks, [Some("s"), None, None]);
        assert_eq!((notes.is_incomparable("a/x"), notes.is_incomparable("a/y")), (true, false));
    }
}
