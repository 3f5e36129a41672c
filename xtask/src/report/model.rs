//! The report as data. `report.json` is this model; Markdown and HTML are drawn from it alone.

use serde::{Deserialize, Serialize};

use super::quantity::Unit;
use crate::compare::Comparison;

/// Schema version of `report.json`, raised with every incompatible change.
pub(crate) const SCHEMA: u32 = 2;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) schema: u32,
    pub(crate) run: Run,
    /// One entry per row and implementation, in the order of the suites.
    pub(crate) rows: Vec<Row>,
    /// The reports of the originals.
    pub(crate) systems: Vec<System>,
    /// All published tables with what was measured for their lines.
    pub(crate) tables: Vec<Table>,
    /// One entry per system and variant of ours.
    pub(crate) summaries: Vec<Summary>,
    /// What the reports claim.
    pub(crate) claims: Vec<ClaimLine>,
    pub(crate) overview: Overview,
    /// What no run measures, with the reason.
    pub(crate) absent: Vec<Absent>,
    /// Rows that no report has, with the reason for them.
    pub(crate) added: Vec<Absent>,
    /// Against an earlier report.
    #[serde(default)]
    pub(crate) comparison: Option<Comparison>,
    /// What `cargo xtask load` has measured, if it has.
    #[serde(default)]
    pub(crate) load: Option<crate::load::Outcome>,
    /// What `cargo xtask fleet` has found, if it has run.
    #[serde(default)]
    pub(crate) fleet: Option<crate::fleet::Outcome>,
}

impl Report {
    /// A report of nothing.
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

/// When, where and how the figures were taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Start, UTC, ISO 8601.
    pub(crate) date: String,
    pub(crate) machine: Machine,
    /// Version lines of the tools, by language.
    pub(crate) versions: Vec<(String, String)>,
    pub(crate) commit: Option<String>,
    /// One-minute load average before the build and at the end; absent where the system does not tell.
    pub(crate) load_before: Option<f64>,
    pub(crate) load_after: Option<f64>,
    pub(crate) rounds: usize,
    /// Sampling of one round, in words.
    pub(crate) settings: String,
    /// Why the figures must not be published; empty where they may be.
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

/// The part an implementation plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// This workspace.
    Ours,
    /// A competitor, measured in the same run.
    Peer,
    /// A bound of the machine, never a competitor.
    Limit,
    /// The original itself: measured in the same run where it can be had, else from an imported file.
    Original,
    /// Our own program with the original's algorithm, in the original's language, measured in the same run.
    OriginalStandin,
}

impl Role {
    /// The word shown beside an implementation.
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
    /// The suite, which is the part of the key before the first slash.
    pub(crate) system: String,
    /// The published table that holds the row's own figure, if any.
    pub(crate) table: Option<String>,
    /// The part of the key after the first slash.
    pub(crate) row: String,
    pub(crate) implementation: String,
    pub(crate) role: Role,
    pub(crate) language: String,
    pub(crate) version: Option<String>,
    /// What the operation hands out; ratios compare within a class.
    pub(crate) class: Option<String>,
    pub(crate) time_ns: Option<Time>,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    /// Whether both counted batches agreed.
    pub(crate) counts_deterministic: Option<bool>,
    pub(crate) payload_bytes: Option<u64>,
    pub(crate) elements: Option<u64>,
    pub(crate) throughput: Option<Throughput>,
    pub(crate) published: Option<Published>,
    /// The original, and others for scale, as recorded earlier on a machine in another state.
    pub(crate) recorded: Vec<Recorded>,
    /// Present for ours only.
    pub(crate) ratio_vs: Option<Ratios>,
    /// For ours: the outcome against the best peer. For others: empty, or why there is no figure.
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

    /// Ours against the strongest of the best peer and the original.
    pub(crate) fn opponent(&self) -> Option<&Ratio> {
        let ratios = self.ratio_vs.as_ref()?;
        let both = [&ratios.best_peer, &ratios.original].into_iter().flatten();
        both.min_by(|a, b| a.median.total_cmp(&b.median))
    }
}

/// Times per operation over all rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Time {
    /// Smallest of the rounds' medians (means where the tool reports no median).
    pub(crate) min: f64,
    /// Median of the same.
    pub(crate) median: f64,
    /// Largest of the same.
    pub(crate) max: f64,
    /// One value per round.
    pub(crate) rounds: Vec<f64>,
    /// `false` where each round holds a single call, because one exceeds the time guard.
    pub(crate) sampled: bool,
}

/// Rates at the smallest time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Throughput {
    pub(crate) bytes_per_s: Option<f64>,
    pub(crate) elements_per_s: Option<f64>,
}

/// A published figure of the original, from another machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Published {
    pub(crate) time_ns: Option<f64>,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    /// Name of the original and the machine its report names.
    pub(crate) platform: String,
}

/// A figure somebody recorded earlier; its origin says where and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Recorded {
    pub(crate) implementation: String,
    /// Whether it is the program behind the published figure.
    pub(crate) original: bool,
    pub(crate) time_ns: f64,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) origin: String,
}

/// How many times as long the other side takes; above one, ours is faster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratios {
    /// Against the imported original, else against its stand-in.
    pub(crate) original: Option<Ratio>,
    pub(crate) best_peer: Option<Ratio>,
    /// Across machines or machine states: an orientation, no measurement.
    pub(crate) recorded_original: Option<Ratio>,
    /// Against the fastest limit of the machine: the share of it that ours reaches, usually below one.
    pub(crate) limit: Option<Ratio>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratio {
    /// The other implementation.
    pub(crate) against: String,
    pub(crate) language: String,
    /// Whether both are known to be of one class.
    pub(crate) like_for_like: bool,
    /// Median, smallest and largest of the rounds' ratios.
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// Ratio of the two smallest times.
    pub(crate) of_minima: f64,
    /// How many rounds both sides have.
    pub(crate) rounds: usize,
}

/// One original.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct System {
    pub(crate) id: String,
    pub(crate) name: String,
    /// What it is.
    pub(crate) role: String,
    /// The suites that have its rows.
    pub(crate) suites: Vec<String>,
}

/// One published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) id: String,
    /// The report that has it.
    pub(crate) system: String,
    pub(crate) heading: String,
    /// Where the published figures come from.
    pub(crate) platform: String,
    /// Where and how its recorded figures were taken.
    pub(crate) origins: Vec<String>,
    pub(crate) lines: Vec<TableLine>,
}

/// One published line, and what every party takes for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableLine {
    pub(crate) id: String,
    pub(crate) label: String,
    /// Keys of the rows that the line speaks of.
    pub(crate) keys: Vec<String>,
    /// The printed figures, in words.
    pub(crate) published: String,
    /// The printed figure of the line's quantity, where there is one.
    pub(crate) published_value: Option<f64>,
    pub(crate) unit: Unit,
    /// The original as recorded earlier.
    pub(crate) recorded: Option<Cell>,
    /// The original live or imported, or its stand-in; else the best peer in Go.
    pub(crate) go: Option<Cell>,
    /// The best peer in Rust; under load the one in Python.
    pub(crate) peer: Option<Cell>,
    /// What the machine can do, under load.
    pub(crate) limit: Option<Cell>,
    pub(crate) ours: Option<Cell>,
    /// Against the strongest of the best peer, in any language, and the original.
    pub(crate) ratio: Option<Ratio>,
    pub(crate) verdict: String,
}

/// A figure, and whose it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Absent for a range.
    pub(crate) value: Option<f64>,
}

/// Something that a report claims, evaluated from this run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClaimLine {
    pub(crate) system: String,
    /// Where it is published.
    pub(crate) table: String,
    pub(crate) claim: String,
    pub(crate) published: String,
    /// The bound that the verdict is about.
    pub(crate) demand: Option<String>,
    pub(crate) measured: Option<String>,
    pub(crate) verdict: String,
}

/// How ours stands in the published benchmarks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Overview {
    pub(crate) standings: Vec<Standing>,
    pub(crate) smallest_margins: Vec<Margin>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Standing {
    pub(crate) key: String,
    /// Whether a report has it, and not only the harness.
    pub(crate) is_published: bool,
    pub(crate) is_measured: bool,
    /// Against the strongest of the best peer and the original.
    pub(crate) ratio: Option<Ratio>,
    /// Why it is as it is.
    pub(crate) remark: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Margin {
    pub(crate) key: String,
    pub(crate) against: String,
    pub(crate) ratio: f64,
}

/// What a report has and the harness has not.
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
    /// Of the rows' median ratios.
    pub(crate) geometric_mean: f64,
}
