//! Joins measured figures with published, recorded and imported ones.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::data::lines::LinesFile;
use crate::data::placement::{RowsFile, UnmeasuredFile};
use crate::data::recorded;
use crate::data::seed::{self, Seed};
use crate::model::{Outcome, Ratio, Report, Role, Row};
use crate::parse::benchfmt::BenchLine;
use crate::quantity::Quantity;
use crate::workspace::Workspace;

/// The inputs of a report besides the measurements.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) seed: Seed,
    pub(crate) recorded: Vec<Row>,
    pub(crate) lines: LinesFile,
    pub(crate) unmeasured: UnmeasuredFile,
    pub(crate) rows: RowsFile,
}

impl Sources {
    /// Reads the committed files.
    pub(crate) fn load(workspace: &Workspace) -> Result<Self> {
        let data = workspace.data();
        Ok(Self {
            seed: Seed::load(&data)?,
            recorded: recorded::load(&data)?,
            lines: LinesFile::load(&data)?,
            unmeasured: UnmeasuredFile::load(&data)?,
            rows: RowsFile::load(&data)?,
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
    /// The Go project, live, imported or as a stand-in; otherwise the best Go peer.
    Go,
    /// The best peer in Rust, or else in another language besides Go.
    Peer,
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

    /// Returns all implementations of a row with figures, and those without.
    pub(crate) fn of_key(&self, key: &str) -> impl Iterator<Item = &'f Row> {
        self.rows.iter().copied().filter(move |row| row.key == key)
    }

    /// Returns the keys of all measured rows in their order.
    pub(crate) fn keys(&self) -> Vec<&'f str> {
        let mut keys: Vec<&str> = Vec::new();
        for row in self.rows.iter().filter(|row| row.role < Role::RecordedOriginal) {
            // The implementations of a row follow each other.
            if keys.last() != Some(&row.key.as_str()) {
                keys.push(&row.key);
            }
        }
        keys
    }

    /// Returns whether ours was measured in a row.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.of_key(key).any(|row| row.role == Role::Ours && !row.figures.is_empty())
    }

    /// Returns the row that represents a party for a key.
    pub(crate) fn row(&self, key: &str, party: Party, quantity: Quantity) -> Option<&'f Row> {
        let best = |wanted: &dyn Fn(&Row) -> bool| best(self.of_key(key).filter(|row| wanted(row)), quantity);
        let of_role = |role| best(&|row| row.role == role);
        let peer = |wanted: &dyn Fn(&str) -> bool| {
            best(&|row| row.role == Role::Peer && wanted(row.language.as_str()))
        };
        match party {
            // Ours that does the same work as the Go project, the fastest of them; otherwise one with a peer of its
            // class.
            Party::Ours => {
                let class = self.row(key, Party::Go, quantity).and_then(|row| row.class.as_ref());
                let ours = |wanted: &dyn Fn(&Row) -> bool| best(&|row| row.role == Role::Ours && wanted(row));
                ours(&|row| class.is_some() && row.class.as_ref() == class)
                    .or_else(|| {
                        ours(&|row| self.opponent(row, quantity).is_some_and(|ratio| ratio.like_for_like))
                    })
                    .or_else(|| ours(&|row| self.opponent(row, quantity).is_some()))
                    .or_else(|| ours(&|_| true))
            }
            Party::Peer => {
                let class = self.row(key, Party::Ours, quantity).and_then(|ours| ours.class.as_ref());
                best(&|row| row.role == Role::Peer && row.language == "rust" && row.class.as_ref() == class)
                    .or_else(|| peer(&|language| language == "rust"))
                    .or_else(|| peer(&|language| language != "go"))
            }
            Party::Go => of_role(Role::Original)
                .or_else(|| of_role(Role::OriginalStandin))
                .or_else(|| peer(&|language| language == "go")),
            Party::Limit => of_role(Role::Limit),
            Party::Recorded => of_role(Role::RecordedOriginal),
        }
    }

    /// Returns the ratio against the best implementation with one of these roles, if possible one of our class.
    fn against(&self, ours: &Row, quantity: Quantity, is_wanted: impl Fn(&Row) -> bool) -> Option<Ratio> {
        if !quantity.is_compared() || self.sources.rows.incomparable(&ours.key).is_some() {
            return None;
        }
        let others = || self.of_key(&ours.key).filter(|row| is_wanted(row));
        let alike = |row: &&Row| ours.class.is_some() && row.class == ours.class;
        let other = best(others().filter(alike), quantity).or_else(|| best(others(), quantity))?;
        ours.ratio(other, quantity)
    }

    /// Returns the ratio against the best peer.
    pub(crate) fn best_peer(&self, ours: &Row, quantity: Quantity) -> Option<Ratio> {
        self.against(ours, quantity, |row| row.role == Role::Peer)
    }

    /// Returns the ratio against the Go project, live or imported, or else against its stand-in.
    pub(crate) fn original(&self, ours: &Row, quantity: Quantity) -> Option<Ratio> {
        self.against(ours, quantity, |row| row.role == Role::Original)
            .or_else(|| self.against(ours, quantity, |row| row.role == Role::OriginalStandin))
    }

    /// Returns the share of the machine's limit that ours reaches.
    pub(crate) fn limit(&self, ours: &Row, quantity: Quantity) -> Option<Ratio> {
        self.against(ours, quantity, |row| row.role == Role::Limit)
    }

    /// Returns the ratio against the strongest of the best peer and the Go project.
    pub(crate) fn opponent(&self, ours: &Row, quantity: Quantity) -> Option<Ratio> {
        let both = [self.best_peer(ours, quantity), self.original(ours, quantity)];
        both.into_iter().flatten().min_by(|a, b| a.median.total_cmp(&b.median))
    }

    /// Returns the verdict of a row: against the best peer for ours, otherwise the reason of a missing figure.
    pub(crate) fn verdict(&self, row: &Row) -> String {
        let incomparable = self.sources.rows.incomparable(&row.key).filter(|_| row.role == Role::Ours);
        match (&row.remark, incomparable) {
            (Some(remark), _) => remark.clone(),
            (None, Some(reason)) => format!("not compared: {reason}"),
            (None, None) if row.is_once => "one call per round: it exceeds the time guard".to_owned(),
            (None, None) if row.role == Role::Ours => self
                .best_peer(row, Quantity::Time)
                .map_or_else(|| "no peer".to_owned(), |ratio| ratio.verdict()),
            (None, None) => String::new(),
        }
    }

    /// Returns the result of ours in every published benchmark, and then in every other row.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        let published = self.sources.seed.benches.iter().filter(|bench| bench.published);
        let mut standings: Vec<Standing> =
            published.map(|bench| self.standing(bench.key.clone(), true)).collect();
        for key in self.keys() {
            if !standings.iter().any(|standing| standing.key == key) {
                standings.push(self.standing(key.to_owned(), false));
            }
        }
        standings
    }

    fn standing(&self, key: String, is_published: bool) -> Standing {
        // Rows of servers have a rate or a latency instead of a time.
        let quantities = [Quantity::Time, Quantity::RequestsPerS, Quantity::BytesPerS];
        let ratio = quantities
            .into_iter()
            .find_map(|quantity| self.opponent(self.row(&key, Party::Ours, quantity)?, quantity));
        let remark = self.sources.rows.remark(&key).map(str::to_owned);
        Standing { is_published, is_measured: self.has(&key), ratio, remark, key }
    }
}

/// Result of ours in one row.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) key: String,
    /// True if a report contains the benchmark; false if only the harness does.
    pub(crate) is_published: bool,
    pub(crate) is_measured: bool,
    /// Against the strongest of the best peer and the Go project.
    pub(crate) ratio: Option<Ratio>,
    /// Explanation of the result.
    pub(crate) remark: Option<String>,
}

impl Standing {
    pub(crate) fn label(&self) -> &'static str {
        match (&self.ratio, self.is_measured) {
            (Some(ratio), _) => ratio.outcome().label(),
            (None, true) => "no peer",
            (None, false) => "not in this run",
        }
    }

    pub(crate) fn is_faster(&self) -> bool {
        self.ratio.as_ref().is_none_or(|ratio| ratio.outcome() == Outcome::Faster)
    }
}

/// Returns the best row. Counts such as allocations are compared by time.
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
            (Quantity::MeanTime, values("ns/op")),
            (Quantity::Bytes, values("B/op")),
            (Quantity::Allocs, values("allocs/op")),
        ];
        let bench = sources.seed.benches.iter().find(|bench| bench.key == *key);
        let system = bench.and_then(|bench| sources.seed.systems.iter().find(|one| one.id == bench.system));
        let cpu = lines.iter().find_map(|line| line.cpu.as_deref()).unwrap_or("unknown machine");
        let row = Row {
            implementation: system.map_or_else(|| "original".to_owned(), |system| system.name.clone()),
            role: Role::Original,
            language: "go".to_owned(),
            version: None,
            class: None,
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

    fn sources() -> Sources {
        Sources::load(&Workspace::find().unwrap()).unwrap()
    }

    fn report(rows: Vec<Row>) -> Report {
        Report { rows, ..Report::default() }
    }

    fn best_peer(rows: Vec<Row>) -> Option<Ratio> {
        let (report, sources) = (report(rows), sources());
        Facts::new(&report, &sources).best_peer(&report.rows[0], Quantity::Time)
    }

    #[test]
    fn the_best_peer_is_one_of_the_same_class() {
        let rows = vec![
            row("owned", Role::Ours, Some("owned"), &[10.0, 12.0]),
            row("slow", Role::Peer, Some("owned"), &[90.0, 90.0]),
            row("alike", Role::Peer, Some("owned"), &[30.0, 24.0]),
            row("borrows", Role::Peer, Some("borrowed"), &[11.0, 11.0]),
            row("bandwidth", Role::Limit, Some("owned"), &[1.0, 1.0]),
            row("failed", Role::Peer, Some("owned"), &[]),
        ];
        let ratio = best_peer(rows.clone()).unwrap();
        assert_eq!((ratio.against.as_str(), ratio.like_for_like, ratio.rounds), ("alike", true, 2));
        assert_eq!((ratio.median, ratio.min, ratio.max), (2.5, 2.0, 3.0));
        let (report, sources) = (report(rows), sources());
        let limit = Facts::new(&report, &sources).limit(&report.rows[0], Quantity::Time).unwrap();
        assert_eq!((limit.against.as_str(), limit.max), ("bandwidth", 0.1));
    }

    #[test]
    fn without_a_peer_of_the_class_the_best_of_any_stands_in() {
        let ratio = best_peer(vec![
            row("borrowed", Role::Ours, Some("borrowed"), &[10.0, 10.0]),
            row("owns", Role::Peer, Some("owned"), &[40.0, 40.0]),
            row("shares", Role::Peer, None, &[30.0, 30.0]),
        ]);
        assert_eq!(ratio.unwrap().verdict(), "faster than shares (another class)");
        let failed = vec![row("a", Role::Ours, None, &[10.0]), row("failed", Role::Peer, None, &[])];
        assert_eq!(best_peer(failed), None, "a failed peer is no competitor");
    }

    #[test]
    fn a_live_original_comes_before_its_stand_in() {
        let (report, sources) = (
            report(vec![
                row("a", Role::Ours, Some("owned"), &[10.0]),
                go_row("original-standin", Role::OriginalStandin, &[80.0]),
                go_row("the-original", Role::Original, &[160.0]),
            ]),
            sources(),
        );
        let facts = Facts::new(&report, &sources);
        assert_eq!(facts.original(&report.rows[0], Quantity::Time).unwrap().against, "the-original");
        assert_eq!(facts.verdict(&report.rows[0]), "no peer", "the original is not a peer");
        let recorded = facts.row(KEY, Party::Recorded, Quantity::Time).unwrap();
        assert_eq!(recorded.value(Quantity::Time), Some(1562.0));
    }

    #[test]
    fn ours_is_a_variant_that_does_what_the_original_does() {
        let (report, sources) = (
            report(vec![
                row("a", Role::Ours, Some("owned"), &[20.0]),
                row("b", Role::Ours, Some("borrowed"), &[10.0]),
                row("p", Role::Peer, Some("owned"), &[40.0]),
                go_row("original-standin", Role::OriginalStandin, &[900.0]),
            ]),
            sources(),
        );
        let facts = Facts::new(&report, &sources);
        let named = |party| {
            facts.row(KEY, party, Quantity::Allocs).is_none()
                && facts.row(KEY, party, Quantity::Time).is_some()
        };
        assert!(named(Party::Ours) && named(Party::Peer) && named(Party::Go));
        assert_eq!(facts.row(KEY, Party::Ours, Quantity::Time).unwrap().implementation, "a");
    }

    #[test]
    fn every_published_benchmark_has_a_standing() {
        let (report, sources) = (
            report(vec![
                row("a", Role::Ours, Some("owned"), &[10.0, 10.0]),
                row("p", Role::Peer, Some("owned"), &[20.0, 21.0]),
            ]),
            sources(),
        );
        let standings = Facts::new(&report, &sources).standings();
        assert_eq!(standings.iter().filter(|standing| standing.is_published).count(), 84);
        let measured: Vec<_> = standings.iter().filter(|standing| standing.is_measured).collect();
        assert_eq!((measured.len(), measured[0].key.as_str(), measured[0].label()), (1, KEY, "faster"));
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
            (Some(600.0), Some(7.0))
        );
        assert_eq!(rows[1].remark.as_deref(), Some("imported, Some CPU"));
        let ratio = rows[0].ratio(&rows[1], Quantity::Time).unwrap();
        assert_eq!((ratio.min, ratio.max), (20.0, 31.0));
    }
}
