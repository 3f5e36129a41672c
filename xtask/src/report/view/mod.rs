//! Content of the report's tables, independent of Markdown and HTML.

mod lists;
mod measured;
mod published;

pub(crate) use self::lists::{absent, added, claims, comparison, margins, standings, tally};
pub(crate) use self::measured::measured;
pub(crate) use self::published::published;
use super::{Report, units};

/// One table with its title and notes.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) notes: Vec<String>,
    pub(crate) columns: Vec<Column>,
    /// The column that identifies a line, which stays visible on a narrow screen.
    pub(crate) key_column: usize,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// True for numbers, which are aligned to the right.
    pub(crate) numeric: bool,
}

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) cells: Vec<String>,
    /// True for our implementations, which are highlighted.
    pub(crate) ours: bool,
    /// True for the first line of a row of the suite.
    pub(crate) starts_group: bool,
}

/// Shown if there is no figure.
const NONE: &str = "-";

impl Column {
    pub(crate) fn text(name: &str) -> Self {
        Self { name: name.to_owned(), numeric: false }
    }

    pub(crate) fn number(name: &str) -> Self {
        Self { name: name.to_owned(), numeric: true }
    }
}

impl Line {
    /// Creates a line without highlighting.
    pub(crate) fn plain(cells: Vec<String>) -> Self {
        Self { cells, ours: false, starts_group: false }
    }
}

impl Sheet {
    /// Creates a table whose first columns identify the lines.
    pub(crate) fn new(title: &str, notes: Vec<String>, columns: Vec<Column>, lines: Vec<Line>) -> Self {
        Self { title: title.to_owned(), notes, columns, key_column: 0, lines }
    }
}

/// Returns the distinct values in order of first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// Returns the facts of the run, as pairs of name and value.
pub(crate) fn run_facts(report: &Report) -> Vec<(String, String)> {
    let run = &report.run;
    let load = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.2}"));
    let mut facts = vec![
        ("Date".to_owned(), run.date.clone()),
        (
            "Machine".to_owned(),
            format!("{}, {} cores, {}", run.machine.cpu, run.machine.cores, run.machine.kernel),
        ),
        (
            "Load average".to_owned(),
            format!("{} before, {} after", load(run.load_before), load(run.load_after)),
        ),
        ("Commit".to_owned(), run.commit.clone().unwrap_or_else(|| "unknown".to_owned())),
        (
            "Method".to_owned(),
            format!(
                "{} alternating rounds, {}, {} in all",
                run.rounds,
                run.settings,
                units::time(run.elapsed_s * 1e9)
            ),
        ),
    ];
    facts.extend(run.versions.iter().map(|(language, version)| (language.clone(), version.clone())));
    if !run.imports.is_empty() {
        facts.push(("Imported".to_owned(), run.imports.join(", ")));
    }
    facts
}

/// Returns the warnings to show before the figures.
pub(crate) fn warnings(report: &Report) -> Vec<String> {
    let mut warnings: Vec<String> =
        report.run.unfit.iter().map(|reason| format!("Not fit to publish: {reason}.")).collect();
    let missing = &report.run.missing_peers;
    for reason in distinct(missing.iter().map(|missing| missing.reason.as_str())) {
        let names: Vec<String> = missing
            .iter()
            .filter(|missing| missing.reason == reason)
            .map(|missing| format!("{} ({})", missing.peer, missing.language))
            .collect();
        warnings.push(format!("Not measured: {}: {reason}.", names.join(", ")));
    }
    warnings
}

/// Explains the columns; the same for all tables.
pub(crate) const LEGEND: [&str; 6] = [
    "Time/op is the smallest of the rounds' medians (of the means for Go, which reports nothing else).",
    "Bytes/op and Allocs/op count requested bytes and allocations; a reallocation counts its whole new size. Go rounds sizes up to size classes.",
    "A ratio is the other side's time divided by ours, the median over the rounds with smallest and largest in parentheses: above one, ours is faster. Ours is compared with peers of its own class where there is one, and in published tables with the strongest of the best peer and the original; * marks another class. Published tables show the variant of ours that does what the original does.",
    "\"Faster\" and \"slower\" are said only where the ratios of all rounds are on one side of one.",
    "Published figures come from the originals' reports and other machines; no ratio uses them.",
    "What was recorded earlier was measured on a machine of this kind in another state; the ratio to the recorded original is cross-machine, an orientation only.",
];

/// Describes the limits of the method, and how they are addressed.
pub(crate) const BIAS: [&str; 5] = [
    "Every implementation of a row gets a short slice, a process of its own, before the next row comes; all rows make a round, and the order turns every other round. Sides of a row are seconds apart, so that a change of the machine's load hits both.",
    "A result is compared with the expected value before anything is timed. Bytes and allocations are counted in a pass of their own.",
    "The authors of these benchmarks are the authors of one of the sides. Rows and inputs are those of the originals' reports; every peer runs as its documentation shows first, in the same profile; all implementations of a row are shown, lost rows included.",
    "What remains: we know our own code best, rows beside the published ones are rows we thought of, and the adapters around peers are ours.",
    "Under load, the generator, the servers and the index share one machine. Processor time per request is what servers are compared by; requests per second depend on what the generator leaves.",
];

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn peers_missing_for_the_same_reason_share_a_warning() {
        let mut report = fixture::report();
        let mut second = report.run.missing_peers[0].clone();
        "another".clone_into(&mut second.peer);
        report.run.missing_peers.push(second);
        report.run.unfit.push("a quick run".to_owned());
        assert_eq!(
            warnings(&report),
            [
                "Not fit to publish: a quick run.",
                "Not measured: go-sse (go), another (go): `go version` cannot be run here."
            ]
        );
    }
}
