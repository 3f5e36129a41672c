//! Joins measured figures with published, recorded and imported ones.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::data::groups::{Group, GroupsFile};
use crate::data::lines::LinesFile;
use crate::data::placement::{RowsFile, UnmeasuredFile};
use crate::data::seed::{self, Seed};
use crate::data::{load, recorded};
use crate::model::{Outcome, Ratio, Report, Role, Row};
use crate::parse::benchfmt::BenchLine;
use crate::quantity::Quantity;
use crate::stats::{maximum, median, minimum};
use crate::workspace::Workspace;

/// The inputs of a report besides the measurements.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) seed: Seed,
    pub(crate) recorded: Vec<Row>,
    pub(crate) lines: LinesFile,
    pub(crate) unmeasured: UnmeasuredFile,
    pub(crate) rows: RowsFile,
    pub(crate) groups: GroupsFile,
}

impl Sources {
    /// Reads the committed files.
    pub(crate) fn load(workspace: &Workspace) -> Result<Self> {
        let data = workspace.data();
        Ok(Self {
            seed: load(&data, "seed-rows.toml")?,
            recorded: recorded::rows(load(&data, "recorded.toml")?)?,
            lines: load(&data, "lines.toml")?,
            unmeasured: load(&data, "unmeasured.toml")?,
            rows: load(&data, "rows.toml")?,
            groups: load(&data, "groups.toml")?,
        })
    }

    /// Returns the quantity and the rows of a published line. Without a row, it cannot be measured.
    pub(crate) fn rows_of(&self, line: &seed::Row) -> (Quantity, Vec<String>) {
        match self.lines.find(&line.name()) {
            Some((quantity, keys)) => (quantity, keys.to_vec()),
            None => (Quantity::Time, line.bench.iter().cloned().collect()),
        }
    }

    /// Returns patterns for the rows of a published table.
    pub(crate) fn keys_of(&self, table: &str) -> Vec<String> {
        let lines = self.seed.rows.iter().filter(|row| row.table == table);
        let mut keys: Vec<String> = lines.flat_map(|line| self.rows_of(line).1).collect();
        let parts: Vec<String> = keys.iter().flat_map(|key| self.rows.parts(key)).cloned().collect();
        keys.extend(parts);
        keys
    }
}

/// The party whose figure a column of a published table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Party {
    /// The Go project, recorded earlier.
    Recorded,
    /// The best library of a language; in Go, the Go project if it was measured.
    Language(&'static str),
    /// The limit of the machine.
    Limit,
    Ours,
}

/// All results that figures are computed from.
#[derive(Debug)]
pub(crate) struct Facts<'f> {
    rows: Vec<&'f Row>,
    sources: &'f Sources,
}

impl<'f> Facts<'f> {
    pub(crate) fn new(report: &'f Report, sources: &'f Sources) -> Self {
        let of_proxy = [&report.load, &report.fleet].into_iter().flatten().flat_map(|run| &run.rows);
        Self { rows: report.rows.iter().chain(of_proxy).chain(&sources.recorded).collect(), sources }
    }

    /// Returns all implementations of a row, with and without figures.
    pub(crate) fn of_key(&self, key: &str) -> impl Iterator<Item = &'f Row> {
        self.rows.iter().copied().filter(move |row| row.key == key)
    }

    /// Returns the keys of all measured rows in their order.
    pub(crate) fn keys(&self) -> Vec<&'f str> {
        let measured = self.rows.iter().filter(|row| row.role < Role::RecordedOriginal);
        distinct(measured.map(|row| row.key.as_str()))
    }

    /// Returns the row that represents a party for a key.
    pub(crate) fn row(&self, key: &str, party: Party, quantity: Quantity) -> Option<&'f Row> {
        let best = |wanted: &dyn Fn(&Row) -> bool| best(self.of_key(key).filter(|row| wanted(row)), quantity);
        let is_go = |row: &Row| row.role.is_other() && row.language == "go";
        match party {
            // Ours that does the same work as the Go project; otherwise one with an alternative of its class.
            Party::Ours => {
                let go = self.row(key, Party::Language("go"), quantity);
                let class = go.and_then(|row| row.class.as_ref());
                let ours = |wanted: &dyn Fn(&Row) -> bool| best(&|row| row.role == Role::Ours && wanted(row));
                ours(&|row| class.is_some() && row.class.as_ref() == class)
                    .or_else(|| ours(&|row| self.opponent(row, quantity).is_some()))
                    .or_else(|| ours(&|_| true))
            }
            Party::Language("go") => {
                best(&|row| is_go(row) && row.role != Role::Peer).or_else(|| best(&is_go))
            }
            Party::Language(language) => {
                let class = self.row(key, Party::Ours, quantity).and_then(|ours| ours.class.as_ref());
                let is_it = |row: &Row| row.role.is_other() && row.language == language;
                best(&|row| is_it(row) && row.class.as_ref() == class).or_else(|| best(&is_it))
            }
            Party::Limit => best(&|row| row.role == Role::Limit),
            Party::Recorded => best(&|row| row.role == Role::RecordedOriginal),
        }
    }

    /// Returns the best implementation for which `is_wanted` is true and whose class is ours.
    pub(crate) fn strongest(
        &self,
        ours: &Row,
        quantity: Quantity,
        is_wanted: &dyn Fn(&Row) -> bool,
    ) -> Option<&'f Row> {
        let is_alike = |row: &Row| ours.class.is_some() && row.class == ours.class && is_wanted(row);
        best(self.of_key(&ours.key).filter(|row| is_alike(row)), quantity)
    }

    fn alike(&self, ours: &Row, quantity: Quantity, is_wanted: &dyn Fn(&Row) -> bool) -> Option<Ratio> {
        if !quantity.is_compared() || self.sources.rows.incomparable(&ours.key).is_some() {
            return None;
        }
        ours.ratio(self.strongest(ours, quantity, is_wanted)?, quantity)
    }

    /// Returns the ratio against the strongest other implementation of our class.
    pub(crate) fn opponent(&self, ours: &Row, quantity: Quantity) -> Option<Ratio> {
        self.alike(ours, quantity, &|row| row.role.is_other())
    }

    /// Returns our results: first those of the published benchmarks, then those of all other rows.
    pub(crate) fn standings(&self) -> Vec<Standing<'f>> {
        let published = self.sources.seed.benches.iter().filter(|bench| bench.published);
        let mut keys: Vec<&str> = published.map(|bench| bench.key.as_str()).collect();
        let count = keys.len();
        for key in self.keys() {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys.iter().enumerate().flat_map(|(index, key)| self.of_classes(key, index < count)).collect()
    }

    /// Returns our result in each class in which we were measured.
    fn of_classes(&self, key: &str, is_published: bool) -> Vec<Standing<'f>> {
        let quantity = Quantity::COMPARED.into_iter().find(|quantity| {
            let of_role = |role: fn(Role) -> bool| {
                self.of_key(key).any(|row| role(row.role) && row.value(*quantity).is_some())
            };
            of_role(|role| role == Role::Ours) && of_role(Role::is_other)
        });
        let quantity = quantity.unwrap_or(Quantity::Time);
        let standing = |ours: Option<&'f Row>| Standing {
            key: key.to_owned(),
            is_published,
            ours,
            quantity,
            ratio: ours.and_then(|ours| self.opponent(ours, quantity)),
            remark: self
                .sources
                .rows
                .remark(key, ours.and_then(|row| row.class.as_deref()))
                .map(str::to_owned),
        };
        let ours = self.of_key(key).filter(|row| row.role == Role::Ours && !row.figures.is_empty());
        let mut fastest: Vec<&Row> = Vec::new();
        for row in ours {
            match fastest.iter_mut().find(|other| other.class == row.class) {
                Some(other) if row.value(quantity) < other.value(quantity) => *other = row,
                Some(_) => {}
                None => fastest.push(row),
            }
        }
        match fastest.is_empty() {
            true => vec![standing(None)],
            false => fastest.into_iter().map(|row| standing(Some(row))).collect(),
        }
    }

    /// Summarizes the ratios of the rows of a group, each against the best implementation for which `is_wanted` is
    /// true.
    pub(crate) fn summary(&self, group: &Group, is_wanted: &dyn Fn(&Row) -> bool) -> Option<Summary> {
        let keys = self.keys().into_iter().filter(|key| self.is_in(group, key));
        let standings = keys.flat_map(|key| self.of_classes(key, false));
        let ratios: Vec<Ratio> = standings
            .filter_map(|standing| {
                self.alike(standing.ours?, standing.quantity, &|row| row.role.is_other() && is_wanted(row))
            })
            .collect();
        let values: Vec<f64> = ratios.iter().map(|ratio| ratio.value).collect();
        let count = |outcome| ratios.iter().filter(|ratio| ratio.outcome() == outcome).count();
        let mut names: Vec<(usize, String)> = Vec::new();
        for ratio in &ratios {
            let library = library(&ratio.against);
            match names.iter_mut().find(|(_, name)| name == library) {
                Some((count, _)) => *count += 1,
                None => names.push((1, library.to_owned())),
            }
        }
        names.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        Some(Summary {
            median: median(&values)?,
            low: minimum(&values)?,
            high: maximum(&values)?,
            outcomes: Outcome::ALL.map(count),
            names: names.into_iter().map(|(_, name)| name).collect(),
        })
    }

    pub(crate) fn is_in(&self, group: &Group, key: &str) -> bool {
        self.sources.groups.of(key).is_some_and(|found| std::ptr::eq(found, group))
    }
}

/// Returns the names in the order of their first occurrence.
pub(crate) fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut known: Vec<&str> = Vec::new();
    for name in names {
        // Equal names usually follow each other.
        if !known.iter().rev().any(|other| *other == name) {
            known.push(name);
        }
    }
    known
}

/// Returns the library of an implementation, whose name begins with it.
pub(crate) fn library(implementation: &str) -> &str {
    implementation.split([' ', ',']).next().unwrap_or(implementation)
}

/// Our result in one row and class.
#[derive(Clone, Debug)]
pub(crate) struct Standing<'f> {
    pub(crate) key: String,
    /// True if a report contains the benchmark; false if only the harness does.
    pub(crate) is_published: bool,
    /// Absent if the row was not measured.
    pub(crate) ours: Option<&'f Row>,
    pub(crate) quantity: Quantity,
    /// Ratio against the strongest other implementation of the same class.
    pub(crate) ratio: Option<Ratio>,
    /// Explanation of the result.
    pub(crate) remark: Option<String>,
}

impl Standing<'_> {
    pub(crate) fn label(&self) -> &'static str {
        match (&self.ratio, self.ours) {
            (Some(ratio), _) => ratio.outcome().label(),
            (None, Some(_)) => "no alternative",
            (None, None) => "not in this run",
        }
    }

    pub(crate) fn is(&self, outcome: Outcome) -> bool {
        self.ratio.as_ref().is_some_and(|ratio| ratio.outcome() == outcome)
    }

    /// Returns the key with the class if the row has several.
    pub(crate) fn name(&self) -> String {
        match self.ours.and_then(|ours| ours.class.as_deref()) {
            Some(class) => format!("{} ({class})", self.key),
            None => self.key.clone(),
        }
    }
}

/// The ratios of a group of rows.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Number of rows by [`Outcome::ALL`].
    pub(crate) outcomes: [usize; 4],
    /// The libraries that were compared with, the most frequent one first.
    pub(crate) names: Vec<String>,
}

/// Returns the best row: the one with the highest rate or, for all other quantities, the shortest time. Rows without
/// a time are compared by the quantity itself.
fn best<'r>(rows: impl Iterator<Item = &'r Row>, quantity: Quantity) -> Option<&'r Row> {
    let by_time = |row: &Row| row.value(Quantity::Time);
    let value = |row: &Row| {
        let value = row.value(quantity)?;
        Some(if quantity.is_rate() { -value } else { by_time(row).unwrap_or(value) })
    };
    rows.filter_map(|row| Some((value(row)?, row)))
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, row)| row)
}

/// Adds the rows of a Go project's own output, given with `--import`, and sorts the implementations of each row.
pub(crate) fn add_imported(
    rows: &mut Vec<Row>,
    imported: &BTreeMap<String, Vec<BenchLine>>,
    sources: &Sources,
) {
    for (key, lines) in imported {
        let Some(first) = rows.iter().position(|row| row.key == *key) else { continue };
        let values = |unit: &str| lines.iter().filter_map(|line| line.value(unit)).collect::<Vec<_>>();
        let figures = [
            (Quantity::Time, values("ns/op")),
            (Quantity::Bytes, values("B/op")),
            (Quantity::Allocs, values("allocs/op")),
        ];
        let bench = sources.seed.benches.iter().find(|bench| bench.key == *key);
        let system = bench.and_then(|bench| sources.seed.systems.iter().find(|one| one.id == bench.system));
        let cpu = lines.iter().find_map(|line| line.cpu.as_deref()).unwrap_or("unknown machine");
        // Like the first row, the Go project is of the class of ours that is compared with Go.
        let class = rows.iter().find(|row| row.key == *key && row.language == "go");
        let row = Row {
            class: class.unwrap_or(&rows[first]).class.clone(),
            implementation: system.map_or_else(|| "original".to_owned(), |system| system.name.clone()),
            role: Role::Original,
            language: "go".to_owned(),
            version: None,
            figures: figures.into_iter().filter(|(_, values)| !values.is_empty()).collect(),
            is_once: false,
            deterministic: None,
            remark: Some(format!("imported, {cpu}")),
            ..rows[first].clone()
        };
        rows.insert(first, row);
    }
    for group in rows.chunk_by_mut(|a, b| a.key == b.key) {
        group.sort_by(|a, b| {
            let time = |row: &Row| row.value(Quantity::Time).unwrap_or(f64::INFINITY);
            let by_time = || match a.role {
                // The suite's order of our own variants means something, such as from reader to borrowed.
                Role::Ours => std::cmp::Ordering::Equal,
                _ => time(a).total_cmp(&time(b)),
            };
            a.role.cmp(&b.role).then_with(by_time)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::{KEY, go_row, row};
    use crate::parse::benchfmt;
    use crate::view::tests::sources;

    fn report(rows: Vec<Row>) -> Report {
        Report { rows, ..Report::default() }
    }

    fn opponent(rows: Vec<Row>) -> Option<Ratio> {
        let (report, sources) = (report(rows), sources());
        Facts::new(&report, &sources).opponent(&report.rows[0], Quantity::Time)
    }

    #[test]
    fn the_opponent_is_the_best_of_the_same_class() {
        let ratio = opponent(vec![
            row("owned", Role::Ours, Some("owned"), &[10.0, 12.0]),
            row("slow", Role::Peer, Some("owned"), &[90.0, 90.0]),
            row("alike", Role::Peer, Some("owned"), &[30.0, 24.0]),
            row("borrows", Role::Peer, Some("borrowed"), &[11.0, 11.0]),
            row("bandwidth", Role::Limit, Some("owned"), &[1.0, 1.0]),
            row("failed", Role::Peer, Some("owned"), &[]),
        ]);
        let ratio = ratio.unwrap();
        assert_eq!((ratio.against.as_str(), ratio.value, ratio.processes), ("alike", 27.0 / 11.0, 2));
        let other_class = vec![
            row("borrowed", Role::Ours, Some("borrowed"), &[10.0, 10.0]),
            row("owns", Role::Peer, Some("owned"), &[40.0, 40.0]),
            row("of no class", Role::Peer, None, &[30.0, 30.0]),
        ];
        assert_eq!(opponent(other_class), None);
    }

    #[test]
    fn ours_is_a_variant_that_does_what_the_go_project_does() {
        let (report, sources) = (
            report(vec![
                row("a", Role::Ours, Some("owned"), &[20.0]),
                row("b", Role::Ours, Some("borrowed"), &[10.0]),
                row("p", Role::Peer, Some("owned"), &[40.0]),
                go_row("fast", Role::Peer, &[70.0]),
                go_row("original-standin", Role::OriginalStandin, &[900.0]),
            ]),
            sources(),
        );
        let facts = Facts::new(&report, &sources);
        let named = |party| facts.row(KEY, party, Quantity::Time).unwrap().implementation.as_str();
        assert_eq!(named(Party::Ours), "a");
        assert_eq!((named(Party::Language("go")), named(Party::Language("rust"))), ("original-standin", "p"));
        assert!(facts.row(KEY, Party::Ours, Quantity::Allocs).is_none());
        let recorded = facts.row(KEY, Party::Recorded, Quantity::Time).unwrap();
        assert_eq!(recorded.value(Quantity::Time), Some(1562.0));
    }

    #[test]
    fn every_class_of_ours_has_a_standing() {
        let many = |time: f64| vec![time; 10];
        let (report, sources) = (
            report(vec![
                row("a", Role::Ours, Some("owned"), &many(10.0)),
                row("b", Role::Ours, Some("borrowed"), &many(8.0)),
                row("p, twice", Role::Peer, Some("owned"), &many(20.0)),
                row("q", Role::Peer, Some("borrowed"), &many(6.0)),
            ]),
            sources(),
        );
        let facts = Facts::new(&report, &sources);
        let standings = facts.standings();
        assert_eq!(standings.iter().filter(|standing| standing.is_published).count(), 85);
        let measured: Vec<_> = standings.iter().filter(|standing| standing.ours.is_some()).collect();
        let labels: Vec<_> = measured.iter().map(|standing| (standing.name(), standing.label())).collect();
        assert_eq!(labels, [(format!("{KEY} (owned)"), "faster"), (format!("{KEY} (borrowed)"), "slower")]);
        let group = sources.groups.of(KEY).unwrap();
        let summary = facts.summary(group, &|row| row.language == "rust").unwrap();
        assert_eq!((summary.low, summary.high, summary.outcomes), (0.75, 2.0, [1, 0, 1, 0]));
        assert_eq!(summary.names, ["p", "q"]);
    }

    #[test]
    fn imported_figures_become_a_row() {
        let text = "cpu: Some CPU\nBenchmarkDecoder_Decode_SimpleEvent-32 1798516 600.0 ns/op 4336 B/op 7 allocs/op\n\
                    BenchmarkDecoder_Decode_SimpleEvent-32 1798516 620.0 ns/op 4336 B/op 7 allocs/op\n";
        let imported = BTreeMap::from([(KEY.to_owned(), benchfmt::parse(text))]);
        let mut rows =
            vec![row("peer", Role::Peer, None, &[30.0]), row("a", Role::Ours, None, &[20.0, 10.0])];
        add_imported(&mut rows, &imported, &sources());
        let order: Vec<&str> = rows.iter().map(|row| row.implementation.as_str()).collect();
        assert_eq!(order, ["a", "perplexity-go", "peer"]);
        assert_eq!(
            (rows[1].value(Quantity::Time), rows[1].value(Quantity::Allocs)),
            (Some(610.0), Some(7.0))
        );
        assert_eq!(rows[1].remark.as_deref(), Some("imported, Some CPU"));
        let ratio = rows[0].ratio(&rows[1], Quantity::Time).unwrap();
        assert_eq!((ratio.value, ratio.processes), (610.0 / 15.0, 2));
    }
}
