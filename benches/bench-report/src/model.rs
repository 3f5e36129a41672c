//! Data of a report, of which `report.json` is the JSON form, and of the list of programs in other languages.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::quantity::{self, Quantity};
use crate::stats::{interval, median};
use crate::table::{Sheet, optional};

/// Schema version of `report.json`, incremented with every incompatible change.
pub const SCHEMA: u32 = 6;

/// Everything that a run measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Circumstances of the run.
    pub run: Run,
    /// One entry per row and implementation, in the order of the suites.
    pub rows: Vec<Row>,
    /// Comparisons of two implementations of a row in one process.
    #[serde(default)]
    pub duels: Vec<Duel>,
    /// Comparison with an earlier report.
    pub comparison: Option<Sheet>,
    /// Results of `cargo xtask load`, if it ran.
    pub load: Option<ProxyRun>,
    /// Results of `cargo xtask fleet`, if it ran.
    pub fleet: Option<ProxyRun>,
}

/// Rows and tables that the program `pypi-proxy-load` writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProxyRun {
    /// One entry per row and server.
    pub rows: Vec<Row>,
    /// Tables to be shown unchanged.
    pub tables: Vec<Sheet>,
}

/// Part of the processors' time used by other programs above which times mean nothing.
const MAX_BUSY: f64 = 0.05;

/// Date, machine and settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Start time: UTC, ISO 8601.
    pub date: String,
    /// Where it ran.
    pub machine: Machine,
    /// Version lines of the tools, by language.
    pub versions: Vec<(String, String)>,
    /// Commit, with a mark if files differ from it.
    pub commit: Option<String>,
    /// Part of the processors' time that other programs used during the run. Absent if the system does not report it.
    pub busy_after: Option<f64>,
    /// Peers that were not measured, with the reason.
    pub missing_peers: Vec<Missing>,
    /// Files given with `--import`.
    pub imports: Vec<String>,
    /// Duration without the build.
    pub elapsed_s: f64,
    /// Remarks about the run, such as results that were left out.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Run {
    /// Returns the reasons in the circumstances why the figures must not be published; empty if they may be.
    pub fn unfit(&self) -> Vec<String> {
        let busy = self.busy_after.filter(|&part| part > MAX_BUSY);
        let busy = busy.map(|part| format!("other programs used {:.0} % of the processors", 100.0 * part));
        let commit = match &self.commit {
            Some(commit) if commit.contains(' ') => Some(format!("the code is that of {commit}")),
            Some(_) => None,
            None => Some("the commit is unknown".to_owned()),
        };
        busy.into_iter().chain(commit).collect()
    }
}

/// The machine of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor.
    pub cpu: String,
    /// Instruction set extensions of the processor, as the system lists them.
    #[serde(default)]
    pub flags: String,
    /// Processors that the run could use.
    pub cores: usize,
    /// Name and version of the kernel.
    pub kernel: String,
}

/// A peer that was not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// Name of the implementation.
    pub peer: String,
    /// Its language.
    pub language: String,
    /// Why it was not measured.
    pub reason: String,
}

/// Role of an implementation, in the order of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
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
}

impl Role {
    /// Returns whether our rows are compared with rows of this role.
    pub fn is_other(self) -> bool {
        matches!(self, Self::Original | Self::OriginalStandin | Self::Peer)
    }

    /// Returns the word shown next to an implementation.
    pub fn label(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Original => "original",
            Self::OriginalStandin => "original (stand-in)",
            Self::Peer => "peer",
            Self::Limit => "limit",
            Self::RecordedOriginal => "original (recorded)",
        }
    }
}

/// One implementation of one row. A suite lists its rows in this form, without the figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `system/row`.
    pub key: String,
    /// Keys of published rows that measure the same code.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Name, which begins with that of the library.
    pub implementation: String,
    /// Ours, a peer, or another role.
    pub role: Role,
    /// Programming language in lower case.
    pub language: String,
    /// Version of the library.
    pub version: Option<String>,
    /// Class of the operation's output. Ours is compared with implementations of the same class only.
    pub class: Option<String>,
    /// Size of the input or output.
    pub payload_bytes: Option<u64>,
    /// Number of elements, such as events, per operation.
    pub elements: Option<u64>,
    /// One value, or one per round of `pypi-proxy-load`.
    #[serde(default)]
    pub figures: BTreeMap<Quantity, Vec<f64>>,
    /// Whether the time is that of one screening, because other implementations of the class are faster.
    #[serde(default)]
    pub is_rough: bool,
    /// False if the two batches that count allocations differed.
    pub deterministic: Option<bool>,
    /// Why there are no figures, or where they come from.
    #[serde(default)]
    pub remark: Option<String>,
}

impl Row {
    /// Returns the part of the key before the slash, which is the name of the suite.
    pub fn system(&self) -> &str {
        self.key.split('/').next().unwrap_or_default()
    }

    /// Returns the part of the key after the system.
    pub fn name(&self) -> &str {
        self.key.split_once('/').map_or(&self.key, |(_, name)| name)
    }

    /// Returns the values of a quantity, one per process or a single one.
    pub fn figure(&self, quantity: Quantity) -> &[f64] {
        let measured = if quantity.is_of_time() { Quantity::Time } else { quantity };
        self.figures.get(&measured).map_or(&[], Vec::as_slice)
    }

    /// Returns the median over the processes.
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        let figure = || median(self.figure(quantity));
        let elements = || self.elements.filter(|&elements| elements > 0).map(|elements| elements as f64);
        match quantity {
            Quantity::TimePerElement => Some(figure()? / elements()?),
            Quantity::ElementsPerS => Some(elements()? * 1e9 / figure()?),
            Quantity::Payload => self.payload_bytes.map(|bytes| bytes as f64),
            _ => figure(),
        }
    }

    /// Returns the median with its unit; `-` without a figure.
    pub fn shown(&self, quantity: Quantity) -> String {
        optional(self.value(quantity), |value| quantity.format(value))
    }

    /// Compares this row of ours with another one, in each round of `pypi-proxy-load`. With a single figure of each, the
    /// ratio is rough. `None` if a figure is missing.
    pub fn ratio(&self, other: &Self, quantity: Quantity) -> Option<Ratio> {
        let (ours, others) = (self.figure(quantity), other.figure(quantity));
        let is_rate = quantity.is_rate() && !quantity.is_of_time();
        let better = |ours: f64, other: f64| if is_rate { ours / other } else { other / ours };
        // Within a round, a change of the machine's load affects both sides.
        let rounds = ours.iter().zip(others).map(|(ours, other)| better(*ours, *other));
        Ratio::of(&other.implementation, &rounds.collect::<Vec<_>>())
    }
}

/// Two implementations of one row that took turns within a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Duel {
    /// `system/row`.
    pub key: String,
    /// Our implementation.
    pub ours: String,
    /// The other implementation. Equal to `ours` if the duel measures the error of the method.
    pub peer: String,
    /// Build of both sides: empty for the portable one, or `native`.
    #[serde(default)]
    pub build: String,
    /// Time of the peer divided by ours, one value per placement: the median over its pairs of slices.
    pub ratios: Vec<f64>,
    /// Number of processes. Each has several placements.
    pub processes: usize,
    /// Median time per operation of ours in nanoseconds.
    pub ours_ns: f64,
    /// Median time per operation of the peer in nanoseconds.
    pub peer_ns: f64,
}

impl Duel {
    /// Returns whether one implementation was compared with itself.
    pub fn is_of_equals(&self) -> bool {
        self.ours == self.peer
    }

    /// Returns the ratio; `None` without placements.
    pub fn ratio(&self) -> Option<Ratio> {
        Ratio::of(&self.peer, &self.ratios)
    }
}

/// Figure of another implementation divided by ours, or the inverse for rates; above one, ours is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// The other implementation.
    pub against: String,
    /// The median.
    pub value: f64,
    /// Bounds of its confidence interval.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Number of placements or rounds.
    pub count: usize,
}

/// How ours compares with another side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Ours is faster.
    Faster,
    /// The difference is small.
    Even,
    /// The other side is faster.
    Slower,
    /// The measurement does not show which side is faster.
    Undecided,
}

impl Outcome {
    /// Returns the word of the tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Even => "even",
            Self::Slower => "slower",
            Self::Undecided => "undecided",
        }
    }
}

/// The smallest ratio that counts as a difference.
pub const LEAST_RATIO: f64 = 1.02;
/// An interval within these bounds is even.
pub const EVEN: std::ops::RangeInclusive<f64> = 0.95..=1.05;

impl Ratio {
    /// Returns the median of the ratios of placements or rounds, with its interval. `None` without a finite median.
    pub fn of(against: &str, ratios: &[f64]) -> Option<Self> {
        let value = median(ratios).filter(|value| value.is_finite())?;
        let (low, high) = interval(ratios)?;
        Some(Self {
            against: against.to_owned(),
            value,
            low: low.min(value),
            high: high.max(value),
            count: ratios.len(),
        })
    }

    /// Returns whether the ratio follows from a single figure of each side, which decides nothing.
    pub fn is_rough(&self) -> bool {
        self.count < 2
    }

    /// "Faster" and "slower" require that the whole interval exceeds [`LEAST_RATIO`], "even" that it is within
    /// [`EVEN`].
    pub fn outcome(&self) -> Outcome {
        match self {
            _ if self.is_rough() => Outcome::Undecided,
            Self { low, .. } if *low > LEAST_RATIO => Outcome::Faster,
            Self { high, .. } if *high < 1.0 / LEAST_RATIO => Outcome::Slower,
            Self { low, high, .. } if EVEN.contains(low) && EVEN.contains(high) => Outcome::Even,
            _ => Outcome::Undecided,
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [value, low, high] = [self.value, self.low, self.high].map(quantity::ratio);
        match self.is_rough() {
            true => write!(f, "~{value}x"),
            false => write!(f, "{value}x ({low} to {high})"),
        }
    }
}

/// A program in another language with implementations of rows, which is ready to run: an entry of the list that `cargo xtask`
/// writes and the suites read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Suite whose rows it implements.
    pub system: String,
    /// Programming language in lower case.
    pub language: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Folder that it is started in.
    pub directory: PathBuf,
    /// Libraries that it measures.
    pub implementations: Vec<Implementation>,
}

/// One implementation of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Implementation {
    /// Name in the rows.
    pub name: String,
    /// Version of the library.
    pub version: Option<String>,
    /// Class in the rows.
    pub class: Option<String>,
    /// Peer, reference implementation or our stand-in for it.
    pub role: Role,
    /// Rows that it implements; `*` at the end matches any rest.
    pub rows: Vec<String>,
    /// Rows that it does not implement, or only too slowly.
    #[serde(default)]
    pub except: Vec<String>,
}

impl Implementation {
    /// Returns whether it implements a row.
    pub fn has(&self, row: &str) -> bool {
        let is_in = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, row));
        is_in(&self.rows) && !is_in(&self.except)
    }
}

/// Returns whether a name matches a pattern; `*` at the end matches any rest.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
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

    pub(crate) fn go_row(implementation: &str, role: Role, times: &[f64]) -> Row {
        Row { language: "go".to_owned(), ..row(implementation, role, Some("owned"), times) }
    }

    #[test]
    fn a_verdict_needs_an_interval_beyond_two_percent_or_within_five() {
        let outcome = |ratios: &[f64]| Ratio::of("p", ratios).unwrap().outcome();
        assert_eq!(outcome(&[1.03, 1.04, 1.06]), Outcome::Faster);
        assert_eq!(outcome(&[0.96, 0.97, 0.975]), Outcome::Slower);
        assert_eq!(outcome(&[0.96, 1.0, 1.04]), Outcome::Even);
        assert_eq!(outcome(&[1.01, 1.03, 1.2]), Outcome::Undecided);
        assert_eq!(Ratio::of("p", &[]), None);
    }

    #[test]
    fn a_ratio_has_the_interval_of_the_rounds() {
        let ours = row("a", Role::Ours, Some("owned"), &[10.0, 10.0, 20.0]);
        let ratio = ours.ratio(&go_row("b", Role::OriginalStandin, &[80.0, 40.0, 80.0]), Quantity::Time);
        let ratio = ratio.unwrap();
        assert_eq!((ratio.value, ratio.low, ratio.high), (4.0, 4.0, 8.0));
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
