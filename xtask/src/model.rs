//! Data of a report. `report.json` is its JSON form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::quantity::Quantity;
use crate::stats::{has_two_groups, interval, median};

/// Schema version of `report.json`, incremented with every incompatible change.
pub(crate) const SCHEMA: u32 = 5;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) schema: u32,
    pub(crate) run: Run,
    /// One entry per row and implementation, in the order of the suites.
    pub(crate) rows: Vec<Row>,
    /// Comparison with an earlier report.
    pub(crate) comparison: Option<Comparison>,
    /// Results of `cargo xtask load`, if it ran.
    pub(crate) load: Option<ProxyRun>,
    /// Results of `cargo xtask fleet`, if it ran.
    pub(crate) fleet: Option<ProxyRun>,
}

/// Rows and tables that the program `pypi-proxy-load` writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProxyRun {
    pub(crate) rows: Vec<Row>,
    pub(crate) tables: Vec<Sheet>,
}

/// Part of the processors' time used by other programs above which times mean nothing.
const MAX_BUSY: f64 = 0.05;

/// Date, machine and settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Start time: UTC, ISO 8601.
    pub(crate) date: String,
    pub(crate) machine: Machine,
    /// Version lines of the tools, by language.
    pub(crate) versions: Vec<(String, String)>,
    pub(crate) commit: Option<String>,
    /// Part of the processors' time that other programs used during two seconds before the build and at the end. Absent if
    /// the system does not report it.
    pub(crate) busy_before: Option<f64>,
    pub(crate) busy_after: Option<f64>,
    pub(crate) rounds: usize,
    /// Description of the sampling in one round.
    pub(crate) settings: String,
    /// True if the slices were short.
    #[serde(default)]
    pub(crate) is_quick: bool,
    /// Peers that were not measured, with the reason.
    pub(crate) missing_peers: Vec<Missing>,
    /// Files given with `--import`.
    pub(crate) imports: Vec<String>,
    pub(crate) elapsed_s: f64,
}

impl Run {
    /// Returns the reasons why the figures must not be published; empty if they may be.
    pub(crate) fn unfit(&self) -> Vec<String> {
        let parts = [("start", self.busy_before), ("end", self.busy_after)];
        let busy = parts.into_iter().filter_map(|(time, part)| {
            let percent = 100.0 * part.filter(|&part| part > MAX_BUSY)?;
            Some(format!("other programs used {percent:.0} % of the processors at the {time}"))
        });
        busy.chain(self.is_quick.then(|| "a quick run".to_owned())).collect()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) kernel: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Missing {
    pub(crate) peer: String,
    pub(crate) language: String,
    pub(crate) reason: String,
}

/// Role of an implementation, in the order of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// A crate of this workspace.
    Ours,
    /// The reference implementation: measured in the same run if possible, else from an imported file.
    Original,
    /// Our reimplementation of the reference's algorithm in its language, measured in the same run.
    OriginalStandin,
    /// A peer, measured in the same run.
    #[default]
    Peer,
    /// A limit of the machine, not a competitor.
    Limit,
    /// The reference implementation as recorded earlier.
    RecordedOriginal,
    /// Another program as recorded earlier.
    Recorded,
}

impl Role {
    /// Returns whether our rows are compared with rows of this role.
    pub(crate) fn is_other(self) -> bool {
        matches!(self, Self::Original | Self::OriginalStandin | Self::Peer)
    }

    /// Returns the word shown next to an implementation.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Original => "original",
            Self::OriginalStandin => "original (stand-in)",
            Self::Peer => "peer",
            Self::Limit => "limit",
            Self::RecordedOriginal => "original (recorded)",
            Self::Recorded => "recorded",
        }
    }
}

/// One implementation of one row. A suite lists its rows in this form, without the figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// `system/row`.
    pub(crate) key: String,
    pub(crate) implementation: String,
    pub(crate) role: Role,
    pub(crate) language: String,
    pub(crate) version: Option<String>,
    /// Class of the operation's output. Ratios prefer implementations of the same class.
    pub(crate) class: Option<String>,
    pub(crate) payload_bytes: Option<u64>,
    pub(crate) elements: Option<u64>,
    /// One value per process, or a single one. Each round starts one process per implementation.
    #[serde(default)]
    pub(crate) figures: BTreeMap<Quantity, Vec<f64>>,
    /// True if each round consists of a single call, because one call exceeds the time limit.
    #[serde(default)]
    pub(crate) is_once: bool,
    /// False if the two batches that count allocations differed.
    pub(crate) deterministic: Option<bool>,
    /// Why there are no figures, or where they come from.
    #[serde(default)]
    pub(crate) remark: Option<String>,
}

impl Row {
    pub(crate) fn system(&self) -> &str {
        self.key.split('/').next().unwrap_or_default()
    }

    /// Returns the part of the key after the system.
    pub(crate) fn name(&self) -> &str {
        self.key.split_once('/').map_or(&self.key, |(_, name)| name)
    }

    /// Returns the values of a quantity, one per process or a single one.
    pub(crate) fn figure(&self, quantity: Quantity) -> &[f64] {
        let measured = if quantity.is_of_time() { Quantity::Time } else { quantity };
        self.figures.get(&measured).map_or(&[], Vec::as_slice)
    }

    /// Returns the median over the processes.
    pub(crate) fn value(&self, quantity: Quantity) -> Option<f64> {
        let figure = || median(self.figure(quantity));
        let elements = || self.elements.filter(|&elements| elements > 0).map(|elements| elements as f64);
        match quantity {
            Quantity::TimePerElement => Some(figure()? / elements()?),
            Quantity::ElementsPerS => Some(elements()? * 1e9 / figure()?),
            Quantity::Payload => self.payload_bytes.map(|bytes| bytes as f64),
            _ => figure(),
        }
    }

    /// Compares this row of ours with another one. `None` if a figure is missing.
    pub(crate) fn ratio(&self, other: &Self, quantity: Quantity) -> Option<Ratio> {
        let (ours, others) = (self.figure(quantity), other.figure(quantity));
        let is_rate = quantity.is_rate() && !quantity.is_of_time();
        let better = |ours: f64, other: f64| if is_rate { ours / other } else { other / ours };
        // Within a round, a change of the machine's load affects both sides.
        let rounds: Vec<f64> = ours.iter().zip(others).map(|(ours, other)| better(*ours, *other)).collect();
        let value = better(median(ours)?, median(others)?);
        let (low, high) = interval(&rounds)?;
        value.is_finite().then(|| Ratio {
            against: other.implementation.clone(),
            value,
            low: low.min(value),
            high: high.max(value),
            processes: rounds.len(),
            has_two_groups: has_two_groups(ours) || has_two_groups(others),
        })
    }
}

/// Figure of another implementation divided by ours; above one, ours is better.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ratio {
    /// The other implementation.
    pub(crate) against: String,
    /// The ratio of the medians.
    pub(crate) value: f64,
    /// Bounds of its confidence interval, from the ratios of the rounds.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Number of processes per side.
    pub(crate) processes: usize,
    /// True if the processes of one side form two groups, so that the median depends on chance.
    pub(crate) has_two_groups: bool,
}

/// How ours compares with another side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Faster,
    Even,
    Slower,
    /// The measurement does not show which side is faster.
    Undecided,
}

impl Outcome {
    pub(crate) const ALL: [Self; 4] = [Self::Faster, Self::Even, Self::Slower, Self::Undecided];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Even => "even",
            Self::Slower => "slower",
            Self::Undecided => "undecided",
        }
    }
}

/// Minimum number of processes per side for a verdict.
pub(crate) const MIN_PROCESSES: usize = 10;
/// The smallest ratio that counts as a difference.
pub(crate) const LEAST_RATIO: f64 = 1.02;

impl Ratio {
    /// "Faster" and "slower" require that the whole interval exceeds [`LEAST_RATIO`].
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            _ if self.processes < MIN_PROCESSES || self.has_two_groups => Outcome::Undecided,
            Self { low, .. } if *low > LEAST_RATIO => Outcome::Faster,
            Self { high, .. } if *high < 1.0 / LEAST_RATIO => Outcome::Slower,
            _ => Outcome::Even,
        }
    }

    /// Returns the verdict as text.
    pub(crate) fn verdict(&self) -> String {
        let reason = match self.outcome() {
            Outcome::Undecided if self.has_two_groups => " (two groups)".to_owned(),
            Outcome::Undecided if self.processes == 1 => " (1 process)".to_owned(),
            Outcome::Undecided => format!(" ({} processes)", self.processes),
            _ => String::new(),
        };
        format!("{}{reason}", self.outcome().label())
    }
}

/// The comparison of our rows with an earlier report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Comparison {
    /// Date and commit of the earlier report.
    pub(crate) date: String,
    pub(crate) commit: Option<String>,
    pub(crate) changes: Vec<Change>,
}

/// One of our rows in both reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) key: String,
    pub(crate) implementation: String,
    pub(crate) before_ns: f64,
    pub(crate) after_ns: f64,
    /// Factor by which the peers of the suite became slower; 1 without peers.
    pub(crate) drift: f64,
    /// Factor by which our row became slower, divided by `drift`.
    pub(crate) change: f64,
    /// Ratio between the bounds of the confidence interval of the time, in the noisier run.
    pub(crate) noise: f64,
    pub(crate) allocs: Option<(f64, f64)>,
    pub(crate) verdict: ChangeVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeVerdict {
    Faster,
    Unchanged,
    Slower,
    /// Counts have no noise: any increase is reported.
    AllocatesMore,
}

impl ChangeVerdict {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Unchanged => "unchanged",
            Self::Slower => "slower",
            Self::AllocatesMore => "allocates more",
        }
    }
}

impl Comparison {
    pub(crate) fn regressions(&self) -> usize {
        let is_regression =
            |change: &&Change| matches!(change.verdict, ChangeVerdict::Slower | ChangeVerdict::AllocatesMore);
        self.changes.iter().filter(is_regression).count()
    }
}

/// One table with its title and notes, independent of Markdown and HTML.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) notes: Vec<String>,
    pub(crate) columns: Vec<Column>,
    pub(crate) lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// True for numbers, which are aligned to the right.
    pub(crate) is_number: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) cells: Vec<String>,
}

impl Sheet {
    /// Creates a table. `|` separates the names of the columns. Those of number columns begin with `#`.
    pub(crate) fn new(title: &str, columns: &str, lines: impl IntoIterator<Item = Vec<String>>) -> Self {
        let column = |name: &str| Column {
            name: name.trim().trim_start_matches('#').to_owned(),
            is_number: name.trim().starts_with('#'),
        };
        Self {
            title: title.to_owned(),
            notes: Vec::new(),
            columns: columns.split('|').map(column).collect(),
            lines: lines.into_iter().map(|cells| Line { cells }).collect(),
        }
    }

    pub(crate) fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const KEY: &str = "sse/decode_simple_event";

    /// Creates a row with a time per process.
    pub(crate) fn row(implementation: &str, role: Role, class: Option<&str>, times: &[f64]) -> Row {
        Row {
            key: KEY.to_owned(),
            implementation: implementation.to_owned(),
            role,
            language: "rust".to_owned(),
            class: class.map(str::to_owned),
            payload_bytes: Some(25),
            elements: Some(1),
            figures: BTreeMap::from([(Quantity::Time, times.to_vec())]),
            ..Row::default()
        }
    }

    /// Creates a row of a Go program.
    pub(crate) fn go_row(implementation: &str, role: Role, times: &[f64]) -> Row {
        Row { language: "go".to_owned(), ..row(implementation, role, Some("owned"), times) }
    }

    #[test]
    fn a_verdict_needs_an_interval_beyond_two_percent() {
        let around = |middle: f64| (0..10).map(|i| middle + f64::from(i) * 0.01).collect::<Vec<_>>();
        let ours = row("a", Role::Ours, Some("owned"), &around(10.0));
        let against = |times: &[f64]| {
            ours.ratio(&row("p", Role::Peer, Some("owned"), times), Quantity::Time).unwrap().verdict()
        };
        assert_eq!(against(&around(10.3)), "faster");
        assert_eq!(against(&around(10.15)), "even", "1.5 % are too little");
        assert_eq!(against(&around(9.7)), "slower");
        assert_eq!(against(&[30.0]), "undecided (1 process)");
        assert_eq!(against(&[30.0; 9]), "undecided (9 processes)");
        let groups = [30.0, 30.0, 30.0, 40.0, 40.0, 40.0, 40.0, 30.0, 40.0, 30.0];
        assert_eq!(against(&groups), "undecided (two groups)");
        assert_eq!(ours.ratio(&row("failed", Role::Peer, None, &[]), Quantity::Time), None);
    }

    #[test]
    fn a_ratio_is_that_of_the_medians_with_the_interval_of_the_rounds() {
        let ours = row("a", Role::Ours, Some("owned"), &[10.0, 10.0, 20.0]);
        let ratio = ours.ratio(&go_row("b", Role::OriginalStandin, &[80.0, 40.0, 80.0]), Quantity::Time);
        let ratio = ratio.unwrap();
        assert_eq!((ratio.value, ratio.low, ratio.high, ratio.processes), (8.0, 4.0, 8.0, 3));
    }

    #[test]
    fn rates_are_better_if_higher() {
        let rate = |name, value: f64| Row {
            figures: BTreeMap::from([(Quantity::RequestsPerS, vec![value, value])]),
            ..row(name, Role::Ours, None, &[])
        };
        assert_eq!(rate("a", 30.0).ratio(&rate("b", 10.0), Quantity::RequestsPerS).unwrap().value, 3.0);
        assert_eq!(rate("a", 30.0).value(Quantity::RequestsPerS), Some(30.0));
    }

    #[test]
    fn a_time_can_be_divided_by_elements() {
        let row = Row { elements: Some(4), ..row("a", Role::Ours, None, &[30.0, 20.0, 15.0]) };
        assert_eq!(row.value(Quantity::TimePerElement), Some(5.0));
        assert_eq!(row.value(Quantity::ElementsPerS), Some(2e8));
        assert_eq!((row.value(Quantity::Payload), row.value(Quantity::P50)), (Some(25.0), None));
    }
}
