//! Joins rows, duels, and published and recorded figures, and computes every ratio of the report.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Duel, Outcome, Ratio, Report, Role, Row, matches};
use crate::quantity::Quantity;
use crate::sources::Sources;
use crate::table::NONE;

/// Parts of undecided results, and of duels of equal code with a difference, above which a run is not published.
const MAX_UNDECIDED: f64 = 0.03;
const MAX_UNEQUAL: f64 = 0.1;

/// All results that figures are computed from.
#[derive(Debug)]
pub(crate) struct Facts<'f> {
    pub(crate) report: &'f Report,
    pub(crate) sources: &'f Sources,
    /// Our results: first those of the published benchmarks, then those of all other rows.
    pub(crate) standings: Vec<Standing<'f>>,
    /// Keys of measured rows in the order of the report.
    pub(crate) keys: Vec<&'f str>,
    rows: BTreeMap<&'f str, Vec<&'f Row>>,
    recorded: BTreeMap<&'f str, Vec<&'f Row>>,
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
    /// Whether a report contains the benchmark; otherwise only the harness does.
    pub(crate) is_published: bool,
    /// Index of its group.
    pub(crate) group: Option<usize>,
    /// Absent if the row was not measured.
    pub(crate) ours: Option<&'f Row>,
    pub(crate) quantity: Quantity,
    /// For each build, the smallest ratio against the implementations of the same class.
    pub(crate) matches: Vec<Match<'f>>,
}

impl<'f> Facts<'f> {
    pub(crate) fn new(report: &'f Report, sources: &'f Sources) -> Self {
        let of_proxy = [&report.load, &report.fleet].into_iter().flatten().flat_map(|run| &run.rows);
        let rows: Vec<&Row> = report.rows.iter().chain(of_proxy).collect();
        let aliases = rows
            .iter()
            .flat_map(|row| row.aliases.iter().map(move |alias| (alias.as_str(), row.key.as_str())));
        let duels = report.duels.iter().filter(|duel| !duel.is_of_equals());
        let mut facts = Self {
            report,
            sources,
            standings: Vec::new(),
            keys: distinct(rows.iter().map(|row| row.key.as_str())),
            aliases: aliases.collect(),
            rows: grouped(rows.iter().map(|row| (row.key.as_str(), *row))),
            recorded: grouped(sources.recorded.iter().map(|row| (row.key.as_str(), row))),
            duels: grouped(duels.map(|duel| ((duel.key.as_str(), duel.ours.as_str()), duel))),
        };
        let published = sources.benches().filter(|bench| bench.published).flat_map(|bench| {
            let parts = sources.notes.parts(&bench.key);
            let measured =
                facts.keys.iter().copied().filter(|key| parts.iter().any(|part| matches(part, key)));
            let measured: Vec<&'f str> = measured.collect();
            let alias = facts.aliases.get(&*bench.key).copied().unwrap_or(&bench.key);
            if measured.is_empty() { vec![alias] } else { measured }
        });
        let published = distinct(published);
        let keys = distinct(published.iter().chain(&facts.keys).copied());
        let keys = keys.iter().enumerate();
        facts.standings =
            keys.flat_map(|(index, key)| facts.of_classes(key, index < published.len())).collect();
        facts
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

    /// Returns our result in a row of a published line, compared with all implementations or the named one. Ours is the
    /// implementation that does the same work as the Go project; otherwise one with an alternative of its class.
    pub(crate) fn compared(
        &self,
        key: &str,
        quantity: Quantity,
        library: Option<&String>,
    ) -> Option<Standing<'f>> {
        let is_wanted = |row: &Row| library.is_none_or(|name| row.implementation == *name);
        let is_go = |row: &&Row| row.role.is_other() && row.language == "go";
        let original = best(self.of_key(key).filter(is_go).filter(|row| row.role != Role::Peer), quantity);
        let go = original.or_else(|| best(self.of_key(key).filter(is_go), quantity));
        let ours = |is_ours: &dyn Fn(&Row) -> bool| {
            best(self.of_key(key).filter(|row| row.role == Role::Ours && is_ours(row)), quantity)
        };
        let ours = ours(&|row| go.is_some_and(|go| go.class.is_some() && go.class == row.class))
            .or_else(|| ours(&|row| !self.matches(row, quantity, &is_wanted).is_empty()))
            .or_else(|| ours(&|_| true))?;
        let matches = self.matches(ours, quantity, &is_wanted);
        let group = self.sources.group_of(&ours.key);
        Some(Standing { key: &ours.key, is_published: true, group, ours: Some(ours), quantity, matches })
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
        if !quantity.is_compared() || self.sources.notes.is_incomparable(&ours.key) {
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

    /// Returns our result in each class in which ours was measured.
    fn of_classes(&self, key: &'f str, is_published: bool) -> Vec<Standing<'f>> {
        let quantity = Quantity::COMPARED.into_iter().find(|quantity| {
            let of_role = |role: fn(Role) -> bool| {
                self.of_key(key).any(|row| role(row.role) && row.value(*quantity).is_some())
            };
            of_role(|role| role == Role::Ours) && of_role(Role::is_other)
        });
        let quantity = quantity.unwrap_or(Quantity::Time);
        let standing = |ours: Option<&'f Row>| {
            let matches = ours.map_or_else(Vec::new, |ours| self.matches(ours, quantity, &|_| true));
            Standing { key, is_published, group: self.sources.group_of(key), ours, quantity, matches }
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

    /// Returns the reason for a result; empty if none is known.
    pub(crate) fn remark(&self, one: &Standing<'_>) -> &'f str {
        let class = one.ours.and_then(|row| row.class.as_deref());
        self.sources.notes.remark(one.key, class).unwrap_or_default()
    }

    /// Returns the duels of an implementation with itself.
    pub(crate) fn equals(&self) -> Vec<(&'f Duel, Ratio)> {
        let equals = self.report.duels.iter().filter(|duel| duel.is_of_equals());
        equals.filter_map(|duel| Some((duel, duel.ratio()?))).collect()
    }

    /// Returns why the figures must not be published; empty if they may be.
    pub(crate) fn unfit(&self) -> Vec<String> {
        let mut reasons = self.report.run.unfit();
        let outcomes: Vec<Outcome> = self.standings.iter().filter_map(Standing::outcome).collect();
        let undecided = outcomes.iter().filter(|outcome| **outcome == Outcome::Undecided).count();
        if undecided as f64 > MAX_UNDECIDED * outcomes.len() as f64 {
            reasons.push(format!("{undecided} of {} results are undecided", outcomes.len()));
        }
        let equals = self.equals();
        let unequal = equals.iter().filter(|(_, ratio)| is_different(ratio)).count();
        if unequal as f64 > MAX_UNEQUAL * equals.len() as f64 {
            reasons.push(format!("{unequal} of {} duels of equal code show a difference", equals.len()));
        }
        reasons
    }

    /// Returns whether rows of the JSON suite were compared in the portable build only.
    pub(crate) fn is_portable_only(&self) -> bool {
        let has_json = self.keys.iter().any(|key| key.starts_with("json/"));
        has_json && self.report.duels.iter().all(|duel| duel.build.is_empty())
    }
}

pub(crate) fn is_different(ratio: &Ratio) -> bool {
    matches!(ratio.outcome(), Outcome::Faster | Outcome::Slower)
}

/// Returns the values of each key, in their order.
pub(crate) fn grouped<K: Ord, V>(items: impl Iterator<Item = (K, V)>) -> BTreeMap<K, Vec<V>> {
    let mut groups: BTreeMap<K, Vec<V>> = BTreeMap::new();
    items.for_each(|(key, value)| groups.entry(key).or_default().push(value));
    groups
}

/// Returns the names in the order of their first occurrence.
pub(crate) fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut known = BTreeSet::new();
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
            ("", 1) => one.ratio.to_string(),
            ("", _) => format!("portable {}", one.ratio),
            (build, _) => format!("{build} {}", one.ratio),
        };
        let ratios: Vec<String> = self.matches.iter().map(build).collect();
        if ratios.is_empty() { NONE.to_owned() } else { ratios.join("; ") }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::{KEY, go_row, row};
    use crate::pages::tests::{duel, report};
    use crate::sources::tests::sources;

    #[test]
    fn the_smallest_duel_of_each_build_decides() {
        let (mut report, sources) = (report(), sources());
        let first = |report: &Report| {
            let facts = Facts::new(report, &sources);
            let one = &facts.standings.iter().find(|one| one.key == KEY).unwrap();
            (one.ratios(), one.verdict(), facts.is_portable_only())
        };
        let expected = ("2.00x (1.95 to 2.05)".to_owned(), "faster than a<b".to_owned(), false);
        assert_eq!(first(&report), expected);
        let mut native = duel(KEY, "push | owned", "a<b", &[0.8, 0.9, 0.9]);
        native.build = "native".to_owned();
        report.duels.push(native);
        let ratios = "portable 2.00x (1.95 to 2.05); native 0.900x (0.800 to 0.900)";
        assert_eq!(first(&report), (ratios.to_owned(), "slower than a<b".to_owned(), false));
        report.duels.clear();
        assert_eq!(first(&report).0, "~2.00x");
        assert_eq!(first(&report).1, "roughly, against a<b");
    }

    #[test]
    fn ours_in_a_published_line_does_what_the_go_project_does() {
        let rows = vec![
            Row {
                key: "sse/x".to_owned(),
                aliases: vec![KEY.to_owned()],
                ..row("a", Role::Ours, Some("owned"), &[20.0])
            },
            Row { key: "sse/x".to_owned(), ..row("b", Role::Ours, Some("borrowed"), &[10.0]) },
            Row { key: "sse/x".to_owned(), ..go_row("fast", Role::Peer, &[70.0]) },
            Row { key: "sse/x".to_owned(), ..go_row("original-standin", Role::OriginalStandin, &[900.0]) },
            Row { key: "sse/x".to_owned(), ..row("limit", Role::Limit, Some("owned"), &[1.0]) },
        ];
        let (report, sources) = (Report { rows, ..Report::default() }, sources());
        let facts = Facts::new(&report, &sources);
        let one = facts.compared(KEY, Quantity::Time, None).unwrap();
        assert_eq!((one.ours.unwrap().implementation.as_str(), one.ratios().as_str()), ("a", "~3.50x"));
        let named = facts.compared(KEY, Quantity::Time, Some(&"original-standin".to_owned())).unwrap();
        assert_eq!(
            (named.verdict().as_str(), named.ratios().as_str()),
            ("roughly, against our stand-in", "~45.0x")
        );
        assert!(facts.compared(KEY, Quantity::Allocs, None).is_none());
        let published: Vec<_> =
            facts.standings.iter().filter(|one| one.is_published && one.ours.is_some()).collect();
        assert_eq!(published.len(), 2, "an alias is published, and each class has a result");
    }

    #[test]
    fn a_run_with_many_undecided_rows_or_unequal_twins_is_unfit() {
        let (mut report, sources) = (report(), sources());
        assert_eq!(Facts::new(&report, &sources).unfit(), [""; 0]);
        report.duels[2].ratios = vec![1.05, 1.06, 1.07];
        report.duels[3].ratios = vec![0.9, 1.0, 1.1];
        let reasons = ["1 of 2 results are undecided", "1 of 1 duels of equal code show a difference"];
        assert_eq!(Facts::new(&report, &sources).unfit(), reasons);
    }
}
