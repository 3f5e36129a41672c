//! Data model of the report. `report.json` is its JSON form; Markdown and HTML are rendered from it alone.

use serde::{Deserialize, Serialize};

use super::quantity::Unit;
use crate::compare::Comparison;

/// Schema version of `report.json`, incremented with every incompatible change.
pub(crate) const SCHEMA: u32 = 2;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) schema: u32,
    pub(crate) run: Run,
    /// One entry per row and implementation, in the order of the suites.
    pub(crate) rows: Vec<Row>,
    /// The published reports of the reference implementations.
    pub(crate) systems: Vec<System>,
    /// All published tables with the measurements for their lines.
    pub(crate) tables: Vec<Table>,
    /// One entry per system and variant of ours.
    pub(crate) summaries: Vec<Summary>,
    /// Claims of the published reports.
    pub(crate) claims: Vec<ClaimLine>,
    pub(crate) overview: Overview,
    /// Published figures that no run measures, with the reason.
    pub(crate) absent: Vec<Absent>,
    /// Rows without a published figure, with the reason why they exist.
    pub(crate) added: Vec<Absent>,
    /// Comparison with an earlier report.
    #[serde(default)]
    pub(crate) comparison: Option<Comparison>,
    /// Results of `cargo xtask load`, if it ran.
    #[serde(default)]
    pub(crate) load: Option<crate::load::Outcome>,
    /// Results of `cargo xtask fleet`, if it ran.
    #[serde(default)]
    pub(crate) fleet: Option<crate::fleet::Outcome>,
}

impl Report {
    /// Creates an empty report.
    pub(crate) fn empty() -> Self {
        Self {
            schema: SCHEMA,
            run: Run::default(),
            rows: Vec::new(),
            systems: Vec::new(),
            tables: Vec::new(),
            summaries: Vec::new(),
            claims: Vec::new(),
            overview: Overview::default(),
            absent: Vec::new(),
            added: Vec::new(),
            comparison: None,
            load: None,
            fleet: None,
        }
    }
}

/// Date, machine and settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Start time: UTC, ISO 8601.
    pub(crate) date: String,
    pub(crate) machine: Machine,
    /// Version lines of the tools, by language.
    pub(crate) versions: Vec<(String, String)>,
    pub(crate) commit: Option<String>,
    /// One-minute load average before the build and at the end. Absent if the system does not provide it.
    pub(crate) load_before: Option<f64>,
    pub(crate) load_after: Option<f64>,
    pub(crate) rounds: usize,
    /// Description of the sampling in one round.
    pub(crate) settings: String,
    /// Reasons why the figures must not be published; empty if they may be.
    pub(crate) unfit: Vec<String>,
    /// Peers that were not measured, with the reason.
    pub(crate) missing_peers: Vec<Missing>,
    /// Files given with `--import`.
    pub(crate) imports: Vec<String>,
    pub(crate) elapsed_s: f64,
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

/// Role of an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// A crate of this workspace.
    Ours,
    /// A peer, measured in the same run.
    Peer,
    /// A limit of the machine, not a competitor.
    Limit,
    /// The reference implementation: measured in the same run if possible, else from an imported file.
    Original,
    /// Our reimplementation of the reference's algorithm in its language, measured in the same run.
    OriginalStandin,
}

impl Role {
    /// Returns the word shown next to an implementation.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Peer => "peer",
            Self::Limit => "limit",
            Self::Original => "original (imported)",
            Self::OriginalStandin => "original (stand-in)",
        }
    }
}

/// One implementation of one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The suite: the part of the key before the first slash.
    pub(crate) system: String,
    /// The published table that contains the row's own figure, if any.
    pub(crate) table: Option<String>,
    /// The part of the key after the first slash.
    pub(crate) row: String,
    pub(crate) implementation: String,
    pub(crate) role: Role,
    pub(crate) language: String,
    pub(crate) version: Option<String>,
    /// Class of the operation's output. Ratios only compare implementations of the same class.
    pub(crate) class: Option<String>,
    pub(crate) time_ns: Option<Time>,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    /// True if both batches that count allocations agreed.
    pub(crate) counts_deterministic: Option<bool>,
    pub(crate) payload_bytes: Option<u64>,
    pub(crate) elements: Option<u64>,
    pub(crate) throughput: Option<Throughput>,
    pub(crate) published: Option<Published>,
    /// Figures of the reference implementation and others that were recorded earlier, in different conditions.
    pub(crate) recorded: Vec<Recorded>,
    /// Present for our implementations only.
    pub(crate) ratio_vs: Option<Ratios>,
    /// Verdict against the best peer for our implementations; for others empty, or the reason why there is no figure.
    pub(crate) verdict: String,
}

impl Row {
    pub(crate) fn key(&self) -> String {
        format!("{}/{}", self.system, self.row)
    }

    /// Ours against the best peer.
    pub(crate) fn best_peer(&self) -> Option<&Ratio> {
        self.ratio_vs.as_ref()?.best_peer.as_ref()
    }

    /// Ours against the strongest of the best peer and the reference implementation.
    pub(crate) fn opponent(&self) -> Option<&Ratio> {
        let ratios = self.ratio_vs.as_ref()?;
        let both = [&ratios.best_peer, &ratios.original].into_iter().flatten();
        both.min_by(|a, b| a.median.total_cmp(&b.median))
    }
}

/// Times per operation over all rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Time {
    /// Minimum of the rounds' medians (means if the tool reports no median).
    pub(crate) min: f64,
    /// Median of the rounds' medians.
    pub(crate) median: f64,
    /// Maximum of the rounds' medians.
    pub(crate) max: f64,
    /// One value per round.
    pub(crate) rounds: Vec<f64>,
    /// False if each round consists of a single call, because one call exceeds the time limit.
    pub(crate) sampled: bool,
}

/// Rates computed from the minimum time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Throughput {
    pub(crate) bytes_per_s: Option<f64>,
    pub(crate) elements_per_s: Option<f64>,
}

/// A published figure of the reference implementation, measured on another machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Published {
    pub(crate) time_ns: Option<f64>,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    /// Name of the reference implementation and the machine named in its report.
    pub(crate) platform: String,
}

/// A figure recorded earlier. `origin` describes where and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Recorded {
    pub(crate) implementation: String,
    /// True for the program behind the published figure.
    pub(crate) original: bool,
    pub(crate) time_ns: f64,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) origin: String,
}

/// Time of another implementation divided by ours; above one, ours is faster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratios {
    /// Against the imported reference implementation, else against its stand-in.
    pub(crate) original: Option<Ratio>,
    pub(crate) best_peer: Option<Ratio>,
    /// Against a figure from another machine or time: only for orientation.
    pub(crate) recorded_original: Option<Ratio>,
    /// Against the fastest limit of the machine: the share of it that ours reaches, usually below one.
    pub(crate) limit: Option<Ratio>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratio {
    /// The other implementation.
    pub(crate) against: String,
    pub(crate) language: String,
    /// True if both are known to be of the same class.
    pub(crate) like_for_like: bool,
    /// Median, minimum and maximum of the rounds' ratios.
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// Ratio of the minimum times.
    pub(crate) of_minima: f64,
    /// Number of rounds that both implementations have.
    pub(crate) rounds: usize,
}

/// A reference implementation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct System {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Short description.
    pub(crate) role: String,
    /// Suites that contain its rows.
    pub(crate) suites: Vec<String>,
}

/// One published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) id: String,
    /// The report that contains it.
    pub(crate) system: String,
    pub(crate) heading: String,
    /// Source of the published figures.
    pub(crate) platform: String,
    /// Where and how its recorded figures were taken.
    pub(crate) origins: Vec<String>,
    pub(crate) lines: Vec<TableLine>,
}

/// One published line, with the figures of every party.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableLine {
    pub(crate) id: String,
    pub(crate) label: String,
    /// Keys of the rows that belong to the line.
    pub(crate) keys: Vec<String>,
    /// The published figures as text.
    pub(crate) published: String,
    /// The published figure in the line's quantity, if there is one.
    pub(crate) published_value: Option<f64>,
    pub(crate) unit: Unit,
    /// The reference implementation as recorded earlier.
    pub(crate) recorded: Option<Cell>,
    /// The reference implementation (measured or imported), or its stand-in; else the best peer in Go.
    pub(crate) go: Option<Cell>,
    /// The best peer in Rust; in the load test, the best one in Python.
    pub(crate) peer: Option<Cell>,
    /// The limit of the machine in the load test.
    pub(crate) limit: Option<Cell>,
    pub(crate) ours: Option<Cell>,
    /// Against the strongest of the best peer, in any language, and the reference implementation.
    pub(crate) ratio: Option<Ratio>,
    pub(crate) verdict: String,
}

/// A figure and the implementation it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Absent for a range.
    pub(crate) value: Option<f64>,
}

/// A claim of a published report, evaluated with this run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClaimLine {
    pub(crate) system: String,
    /// Where it is published.
    pub(crate) table: String,
    pub(crate) claim: String,
    pub(crate) published: String,
    /// The limit that the verdict refers to.
    pub(crate) demand: Option<String>,
    pub(crate) measured: Option<String>,
    pub(crate) verdict: String,
}

/// Result of our implementation in a published benchmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Overview {
    pub(crate) standings: Vec<Standing>,
    pub(crate) smallest_margins: Vec<Margin>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Standing {
    pub(crate) key: String,
    /// True if a report contains the benchmark; false if only the harness does.
    pub(crate) is_published: bool,
    pub(crate) is_measured: bool,
    /// Against the strongest of the best peer and the reference implementation.
    pub(crate) ratio: Option<Ratio>,
    /// Explanation of the result.
    pub(crate) remark: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Margin {
    pub(crate) key: String,
    pub(crate) against: String,
    pub(crate) ratio: f64,
}

/// A published figure that the harness does not measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Absent {
    pub(crate) what: Vec<String>,
    pub(crate) reason: String,
}

/// All rows of one variant of ours against the best peers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) system: String,
    pub(crate) implementation: String,
    pub(crate) class: Option<String>,
    /// Rows with a ratio.
    pub(crate) rows: usize,
    pub(crate) faster: usize,
    pub(crate) slower: usize,
    /// Statistics of the rows' median ratios.
    pub(crate) geometric_mean: f64,
}
