//! Joins rows, duels, and published and recorded figures, and computes every ratio of the report.

use std::collections::BTreeMap;

use crate::model::{Duel, Missing, Outcome, Ratio, Report, Role, Row};
use crate::quantity::{self as units, Quantity};
use crate::sources::{Group, Sources, matches};
use crate::stats::{maximum, median, minimum};

/// A part of decided rows below which a run is not published.
const MAX_UNDECIDED: f64 = 0.03;
/// A part of duels of equal code with a difference above which a run is not published.
const MAX_UNEQUAL: f64 = 0.1;
/// Build of both sides for the processor of the machine.
pub(crate) const NATIVE: &str = "native";

/// Whose figure a column of a published table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Party<'p> {
    /// The Go project, recorded earlier.
    Recorded,
    /// The best library of a language; in Go, the Go project if it was measured.
    Language(&'p str),
    /// An implementation of this name.
    Named(&'p str),
    /// The limit of the machine.
    Limit,
    Ours,
}

/// All results that figures are computed from.
#[derive(Debug)]
pub(crate) struct Facts<'f> {
    pub(crate) report: &'f Report,
    pub(crate) sources: &'f Sources,
    /// Measured rows by key.
    rows: BTreeMap<&'f str, Vec<&'f Row>>,
    recorded: BTreeMap<&'f str, Vec<&'f Row>>,
    /// Keys of measured rows in the order of the report.
    keys: Vec<&'f str>,
    /// Keys of the rows that measure the code of other keys.
    aliases: BTreeMap<&'f str, &'f str>,
    /// Duels with other implementations, by key and implementation of ours.
    duels: BTreeMap<(&'f str, &'f str), Vec<&'f Duel>>,
}

/// Ours compared with another implementation.
#[derive(Clone, Debug)]
pub(crate) struct Match<'f> {
    /// Build of both sides; empty for the portable one.
    pub(crate) build: &'f str,
    pub(crate) other: &'f Row,
    pub(crate) ratio: Ratio,
}

/// Our result in one row and class.
#[derive(Clone, Debug)]
pub(crate) struct Standing<'f> {
    pub(crate) key: &'f str,
    /// True if a report contains the benchmark; false if only the harness does.
    pub(crate) is_published: bool,
    /// Absent if the row was not measured.
    pub(crate) ours: Option<&'f Row>,
    pub(crate) quantity: Quantity,
    /// For each build, the smallest ratio against the implementations of the same class.
    pub(crate) matches: Vec<Match<'f>>,
    /// Explanation of the result.
    pub(crate) remark: Option<&'f str>,
}

/// The ratios of a group of rows.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Number of rows by [`Outcome::ALL`].
    pub(crate) outcomes: [usize; 4],
    /// Number of rows whose ratio is rough.
    pub(crate) rough: usize,
    /// The implementations that were compared with, the most frequent one first.
    pub(crate) names: Vec<String>,
}

impl<'f> Facts<'f> {
    pub(crate) fn new(report: &'f Report, sources: &'f Sources) -> Self {
        let mut facts = Self {
            report,
            sources,
            rows: BTreeMap::new(),
            recorded: BTreeMap::new(),
            keys: Vec::new(),
            aliases: BTreeMap::new(),
            duels: BTreeMap::new(),
        };
        let of_proxy = [&report.load, &report.fleet].into_iter().flatten().flat_map(|run| &run.rows);
        for row in report.rows.iter().chain(of_proxy) {
            let rows = facts.rows.entry(&row.key).or_default();
            if rows.is_empty() {
                facts.keys.push(&row.key);
            }
            rows.push(row);
            facts.aliases.extend(row.aliases.iter().map(|alias| (alias.as_str(), row.key.as_str())));
        }
        for row in &sources.recorded {
            facts.recorded.entry(&row.key).or_default().push(row);
        }
        for duel in report.duels.iter().filter(|duel| !duel.is_of_equals()) {
            facts.duels.entry((&duel.key, &duel.ours)).or_default().push(duel);
        }
        facts
    }

    /// Returns the keys of all measured rows in their order.
    pub(crate) fn keys(&self) -> &[&'f str] {
        &self.keys
    }

    /// Returns the key under which a row is measured.
    pub(crate) fn measured_as<'k>(&self, key: &'k str) -> &'k str
    where
        'f: 'k,
    {
        if self.rows.contains_key(key) { key } else { self.aliases.get(key).copied().unwrap_or(key) }
    }

    /// Returns all implementations of a row, with and without figures.
    pub(crate) fn of_key(&self, key: &str) -> impl Iterator<Item = &'f Row> + use<'f> {
        let of = |rows: &BTreeMap<&str, Vec<&'f Row>>, key| rows.get(key).cloned().unwrap_or_default();
        of(&self.rows, self.measured_as(key)).into_iter().chain(of(&self.recorded, key))
    }

    /// Returns the row that represents a party for a key.
    pub(crate) fn row(&self, key: &str, party: Party<'_>, quantity: Quantity) -> Option<&'f Row> {
        let best = |wanted: &dyn Fn(&Row) -> bool| best(self.of_key(key).filter(|row| wanted(row)), quantity);
        let is_go = |row: &Row| row.role.is_other() && row.language == "go";
        match party {
            // Ours that does the same work as the Go project; otherwise one with an alternative of its class.
            Party::Ours => {
                let go = self.row(key, Party::Language("go"), quantity);
                let class = go.and_then(|row| row.class.as_ref());
                let ours = |wanted: &dyn Fn(&Row) -> bool| best(&|row| row.role == Role::Ours && wanted(row));
                ours(&|row| class.is_some() && row.class.as_ref() == class)
                    .or_else(|| ours(&|row| !self.matches(row, quantity, &|_| true).is_empty()))
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
            Party::Named(name) => best(&|row| row.implementation == name),
            Party::Limit => best(&|row| row.role == Role::Limit),
            Party::Recorded => best(&|row| row.role == Role::RecordedOriginal),
        }
    }

    /// Compares ours with the other implementations of its class for which `is_wanted` is true: for each build, the
    /// smallest ratio of the duels. Without duels, the best figure of the others counts.
    pub(crate) fn matches(
        &self,
        ours: &Row,
        quantity: Quantity,
        is_wanted: &dyn Fn(&Row) -> bool,
    ) -> Vec<Match<'f>> {
        let mut found: Vec<Match<'f>> = Vec::new();
        if !quantity.is_compared() || self.sources.rows.is_incomparable(&ours.key) {
            return found;
        }
        let is_alike = |row: &Row| row.role.is_other() && ours.class.is_some() && row.class == ours.class;
        let others = || self.of_key(&ours.key).filter(|row| is_alike(row) && is_wanted(row));
        let duels = self.duels.get(&(&*ours.key, &*ours.implementation)).into_iter().flatten();
        for duel in duels.filter(|_| quantity.is_of_time()) {
            let other = others().find(|row| row.implementation == duel.peer);
            let Some((other, ratio)) = other.zip(duel.ratio()) else { continue };
            let one = Match { build: &duel.build, other, ratio };
            match found.iter_mut().find(|found| found.build == one.build) {
                Some(found) if one.ratio.value < found.ratio.value => *found = one,
                Some(_) => {}
                None => found.push(one),
            }
        }
        found.sort_by_key(|one| one.build);
        if found.is_empty() {
            let ratio =
                best(others(), quantity).and_then(|other| Some((other, ours.ratio(other, quantity)?)));
            found.extend(ratio.map(|(other, ratio)| Match { build: "", other, ratio }));
        }
        found
    }

    /// Returns our result in a row of a published line, compared with all implementations or the named one.
    pub(crate) fn compared(
        &self,
        key: &str,
        quantity: Quantity,
        library: Option<&String>,
    ) -> Option<Standing<'f>> {
        let ours = self.row(key, Party::Ours, quantity)?;
        let is_wanted = |row: &Row| library.is_none_or(|name| row.implementation == *name);
        let matches = self.matches(ours, quantity, &is_wanted);
        Some(Standing { matches, ..self.standing(&ours.key, Some(ours), quantity, true) })
    }

    fn standing(
        &self,
        key: &'f str,
        ours: Option<&'f Row>,
        quantity: Quantity,
        is_published: bool,
    ) -> Standing<'f> {
        let matches = ours.map_or_else(Vec::new, |ours| self.matches(ours, quantity, &|_| true));
        let remark = self.sources.rows.remark(key, ours.and_then(|row| row.class.as_deref()));
        Standing { key, is_published, ours, quantity, matches, remark }
    }

    /// Returns our results: first those of the published benchmarks, then those of all other rows.
    pub(crate) fn standings(&self) -> Vec<Standing<'f>> {
        let published = self.sources.seed.benches().filter(|bench| bench.published);
        let mut keys: Vec<&'f str> = Vec::new();
        for bench in published {
            let parts = self.sources.rows.parts(&bench.key);
            let measured =
                self.keys.iter().copied().filter(|key| parts.iter().any(|part| matches(part, key)));
            let mut measured: Vec<&str> = measured.collect();
            if measured.is_empty() {
                measured.push(self.aliases.get(&*bench.key).copied().unwrap_or(&bench.key));
            }
            keys.extend(measured);
        }
        let mut keys = distinct(keys.into_iter());
        let count = keys.len();
        keys.extend(self.keys.iter().copied());
        let keys = distinct(keys.into_iter());
        keys.iter().enumerate().flat_map(|(index, key)| self.of_classes(key, index < count)).collect()
    }

    /// Returns our result in each class in which ours was measured.
    fn of_classes(&self, key: &'f str, is_published: bool) -> Vec<Standing<'f>> {
        let quantity = Quantity::COMPARED.into_iter().find(|quantity| {
            let of_role = |role: fn(Role) -> bool| {
                self.of_key(key).any(|row| role(row.role) && row.value(*quantity).is_some())
            };
            of_role(|role| role == Role::Ours) && of_role(Role::is_other)
        });
        let quantity = quantity.unwrap_or(Quantity::Time);
        let standing = |ours| self.standing(key, ours, quantity, is_published);
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

    /// Summarizes the ratios of the rows of a group, each against the implementations for which `is_wanted` is true.
    pub(crate) fn summary(&self, group: &Group, is_wanted: &dyn Fn(&Row) -> bool) -> Option<Summary> {
        let keys = self.keys.iter().filter(|key| self.is_in(group, key));
        let mut standings: Vec<Standing<'f>> = keys.flat_map(|key| self.of_classes(key, false)).collect();
        for standing in &mut standings {
            let ours = standing.ours;
            standing.matches =
                ours.map_or_else(Vec::new, |ours| self.matches(ours, standing.quantity, is_wanted));
        }
        let worst: Vec<&Match<'f>> = standings.iter().filter_map(Standing::worst).collect();
        let values: Vec<f64> = worst.iter().map(|one| one.ratio.value).collect();
        let count = |outcome| standings.iter().filter(|one| one.outcome() == Some(outcome)).count();
        let mut names: Vec<(usize, String)> = Vec::new();
        for name in worst.iter().map(|one| library(one.other)) {
            match names.iter_mut().find(|(_, other)| *other == name) {
                Some((count, _)) => *count += 1,
                None => names.push((1, name)),
            }
        }
        names.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        Some(Summary {
            median: median(&values)?,
            low: minimum(&values)?,
            high: maximum(&values)?,
            outcomes: Outcome::ALL.map(count),
            rough: worst.iter().filter(|one| one.ratio.is_rough()).count(),
            names: names.into_iter().map(|(_, name)| name).collect(),
        })
    }

    pub(crate) fn is_in(&self, group: &Group, key: &str) -> bool {
        self.sources.group_of(key).is_some_and(|found| std::ptr::eq(found, group))
    }

    /// Returns the duels of an implementation with itself.
    pub(crate) fn equals(&self) -> impl Iterator<Item = &'f Duel> {
        self.report.duels.iter().filter(|duel| duel.is_of_equals())
    }

    /// Returns why the figures must not be published; empty if they may be.
    pub(crate) fn unfit(&self) -> Vec<String> {
        let mut reasons = self.report.run.unfit();
        let outcomes: Vec<Outcome> = self.standings().iter().filter_map(Standing::outcome).collect();
        let undecided = outcomes.iter().filter(|outcome| **outcome == Outcome::Undecided).count();
        if undecided as f64 > MAX_UNDECIDED * outcomes.len() as f64 {
            reasons.push(format!("{undecided} of {} results are undecided", outcomes.len()));
        }
        let equals: Vec<Ratio> = self.equals().filter_map(Duel::ratio).collect();
        let unequal = equals.iter().filter(|ratio| is_different(ratio)).count();
        if unequal as f64 > MAX_UNEQUAL * equals.len() as f64 {
            reasons.push(format!("{unequal} of {} duels of equal code show a difference", equals.len()));
        }
        reasons
    }

    /// Returns whether rows of the JSON suite were compared in the portable build only.
    pub(crate) fn is_portable_only(&self) -> bool {
        let has_json = self.keys.iter().any(|key| key.starts_with("json/"));
        has_json && self.report.duels.iter().all(|duel| duel.build != NATIVE)
    }

    /// Returns the peers that were not measured, by reason.
    pub(crate) fn missing(&self) -> BTreeMap<&'f str, Vec<&'f Missing>> {
        let mut missing: BTreeMap<&str, Vec<&Missing>> = BTreeMap::new();
        for one in &self.report.run.missing_peers {
            missing.entry(&one.reason).or_default().push(one);
        }
        missing
    }
}

/// Returns whether a duel shows that one side is faster.
pub(crate) fn is_different(ratio: &Ratio) -> bool {
    matches!(ratio.outcome(), Outcome::Faster | Outcome::Slower)
}

/// Returns the names in the order of their first occurrence.
pub(crate) fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut known = std::collections::BTreeSet::new();
    names.filter(|name| known.insert(*name)).collect()
}

/// Returns the name of an implementation, marked if it is a program of ours in place of the Go project.
pub(crate) fn shown(row: &Row) -> String {
    match (row.role, row.implementation.as_str()) {
        (Role::OriginalStandin, "original-standin") => "our stand-in".to_owned(),
        (Role::OriginalStandin, name) => format!("{name} (our stand-in)"),
        (_, name) => name.to_owned(),
    }
}

/// Returns the library of an implementation, whose name begins with it.
fn library(row: &Row) -> String {
    let name = row.implementation.split([' ', ',']).next().unwrap_or_default();
    shown(&Row { implementation: name.to_owned(), role: row.role, ..Row::default() })
}

/// Formats a ratio with its interval.
pub(crate) fn range(ratio: &Ratio) -> String {
    let value = units::ratio(ratio.value);
    match ratio.is_rough() {
        true => format!("~{value}x"),
        false => format!("{value}x ({} to {})", units::ratio(ratio.low), units::ratio(ratio.high)),
    }
}

impl<'f> Standing<'f> {
    /// Returns the comparison with the smallest ratio.
    pub(crate) fn worst(&self) -> Option<&Match<'f>> {
        self.matches.iter().min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))
    }

    /// Returns how ours compares in all builds: "faster" only if it is in each. `None` without a ratio that can be decided.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let order = [Outcome::Slower, Outcome::Undecided, Outcome::Even, Outcome::Faster];
        let outcomes = self.matches.iter().filter(|one| !one.ratio.is_rough()).map(|one| one.ratio.outcome());
        outcomes.min_by_key(|outcome| order.iter().position(|one| one == outcome))
    }

    /// Returns the word by which results are counted.
    pub(crate) fn label(&self) -> &'static str {
        match (self.outcome(), self.ours) {
            (Some(outcome), _) => outcome.label(),
            (None, Some(_)) if !self.matches.is_empty() => "rough",
            (None, Some(_)) => "no alternative",
            (None, None) => "not in this run",
        }
    }

    /// Returns the verdict with the name of the implementation that ours is compared with.
    pub(crate) fn verdict(&self) -> String {
        let Some(worst) = self.worst() else { return self.label().to_owned() };
        let word = match self.outcome() {
            Some(Outcome::Even) => "even with",
            Some(Outcome::Undecided) => "undecided against",
            Some(Outcome::Faster) => "faster than",
            Some(Outcome::Slower) => "slower than",
            None => "roughly, against",
        };
        format!("{word} {}", shown(worst.other))
    }

    /// Returns the ratio of each build with its interval.
    pub(crate) fn ratios(&self) -> String {
        let build = |one: &Match<'_>| match (one.build, self.matches.len()) {
            ("", 1) => range(&one.ratio),
            ("", _) => format!("portable {}", range(&one.ratio)),
            (build, _) => format!("{build} {}", range(&one.ratio)),
        };
        let ratios: Vec<String> = self.matches.iter().map(build).collect();
        if ratios.is_empty() { crate::table::NONE.to_owned() } else { ratios.join("; ") }
    }

    /// Returns the figure of the implementation that ours is compared with, and its name.
    pub(crate) fn other(&self) -> String {
        let figure = self.worst().and_then(|one| {
            let value = self.quantity.format(one.other.value(self.quantity)?);
            Some(format!("{value} ({})", shown(one.other)))
        });
        figure.unwrap_or_else(|| crate::table::NONE.to_owned())
    }

    /// Returns the key with the class of the result.
    pub(crate) fn name(&self) -> String {
        match self.ours.and_then(|ours| ours.class.as_deref()) {
            Some(class) => format!("{} ({class})", self.key),
            None => self.key.to_owned(),
        }
    }
}

/// Returns the best row: the one with the highest rate or, for all other quantities, the shortest time. Rows without
/// a time are compared by the quantity itself.
pub(crate) fn best<'r>(rows: impl Iterator<Item = &'r Row>, quantity: Quantity) -> Option<&'r Row> {
    let value = |row: &Row| {
        let value = row.value(quantity)?;
        Some(if quantity.is_rate() { -value } else { row.value(Quantity::Time).unwrap_or(value) })
    };
    let rows = rows.filter_map(|row| Some((value(row)?, row)));
    rows.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, row)| row)
}
