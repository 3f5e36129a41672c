//! Alternating rounds: each implementation of a row runs for a short slice, and every other round reverses the
//! order.
//!
//! The sides of a row are measured seconds apart, so that a change of the machine's load affects all of them.
//! Running whole suites in turn leaves ten seconds and more between the sides; the ratios of one row then ranged from
//! 4.1 to 14.2.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;

use crate::model::{Role, Row};
use crate::quantity::Quantity;
use crate::stats::{median, rounded};
use crate::suites::Suite;
use crate::workspace::Workspace;
use crate::{machine, process};

/// A peer that takes this many times as long as the best of its class in its language gets [`FEW`] processes only.
const DISTANT: f64 = 1.5;
const FEW: usize = 3;

/// Time limit of a slice. A slower one is stopped and recorded as failed.
const STEP_LIMIT: Duration = Duration::from_secs(120);

/// Sampling parameters of one slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    measure: Duration,
    /// A peer whose operation takes longer gets one call per round.
    time_guard: Duration,
}

impl Slice {
    pub(crate) const NORMAL: Self =
        Self { measure: Duration::from_millis(15), time_guard: Duration::from_millis(200) };
    /// For `--quick`.
    pub(crate) const QUICK: Self =
        Self { measure: Duration::from_millis(5), time_guard: Duration::from_millis(50) };

    /// Describes the sampling.
    pub(crate) fn describe(&self) -> String {
        format!(
            "{} ms in 100 samples per process, longer while another thread shares the core; implementations that take \
             more than {DISTANT} times as long as the best of their class and language have {FEW} processes",
            self.measure.as_millis(),
        )
    }
}

/// One implementation of one row with the results of all rounds.
#[derive(Debug)]
pub(crate) struct Side<'p> {
    row: Row,
    suite: &'p Suite,
    check: Option<u64>,
    /// False if the program has no such row.
    is_present: bool,
    /// True if the side failed, or is so slow that more rounds are not needed.
    is_done: bool,
}

/// Lists the sides of each row whose key is wanted.
pub(crate) fn plan(suites: &[Suite], is_wanted: impl Fn(&str) -> bool) -> Vec<Vec<Side<'_>>> {
    let mut rows: Vec<Vec<Side<'_>>> = Vec::new();
    for suite in suites {
        for row in suite.rows.iter().filter(|row| is_wanted(&row.key)) {
            let side = Side::new(row.clone(), suite);
            match rows.last_mut().filter(|sides| sides[0].row.key == row.key) {
                Some(sides) => sides.push(side),
                None => rows.push(vec![side]),
            }
        }
    }
    rows
}

/// Runs all rounds and returns the rows. Failures are recorded in them.
///
/// The processes of rows that use one thread are pinned to one processor, if the system has `taskset`.
pub(crate) fn run(
    mut sides: Vec<Vec<Side<'_>>>,
    workspace: &Workspace,
    rounds: usize,
    slice: Slice,
    has_threads: impl Fn(&str) -> bool,
) -> Vec<Row> {
    let counts: Vec<usize> = sides.iter().map(Vec::len).collect();
    let order = order(&counts, rounds);
    let scratch = workspace.scratch().join("step");
    let processor = machine::last_processor().filter(|_| process::is_installed("taskset"));
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len}, {eta} left: {msg}");
    let bar = ProgressBar::new(order.len() as u64).with_style(style.expect("the template is valid"));
    let mut begun = 0;
    for (round, row, side) in order {
        if round == begun {
            begun += 1;
            bar.suspend(|| crate::note(&format!("round {begun} of {rounds}")));
        }
        if round == FEW {
            leave_behind(&mut sides[row]);
        }
        // A suite checks its own results, because its implementations may have different expected values.
        let ours = sides[row].iter().find(|side| side.row.role == Role::Ours);
        let expected = ours.and_then(|side| side.check);
        let side = &mut sides[row][side];
        bar.inc(1);
        if side.is_done {
            continue;
        }
        bar.set_message(side.name());
        let has_threads = has_threads(&side.row.key);
        let processor = processor.filter(|_| !has_threads);
        // Each sample of such a row starts its threads.
        let slice = Slice { measure: slice.measure * if has_threads { 10 } else { 1 }, ..slice };
        let sample =
            side.run_suite(&scratch, round, slice, processor).and_then(|sample| checked(sample, expected));
        side.take(sample);
    }
    bar.finish_and_clear();
    sides.into_iter().flatten().filter(|side| side.is_present).map(|side| side.row).collect()
}

fn checked(sample: Option<Sample>, expected: Option<u64>) -> Result<Option<Sample>> {
    if let (Some(found), Some(expected)) = (sample.as_ref().and_then(|sample| sample.check), expected) {
        ensure!(found == expected, "check value {found}, expected {expected}");
    }
    Ok(sample)
}

impl<'p> Side<'p> {
    fn new(row: Row, suite: &'p Suite) -> Self {
        Self { row, suite, check: None, is_present: true, is_done: false }
    }

    /// Returns `system/row/implementation`, which is also the exact filter of the suite.
    fn name(&self) -> String {
        format!("{}/{}", self.row.key, self.row.implementation)
    }

    /// Runs a slice of a suite.
    fn run_suite(
        &self,
        scratch: &Path,
        round: usize,
        slice: Slice,
        processor: Option<usize>,
    ) -> Result<Option<Sample>> {
        let mut command = process::pinned(&self.suite.executable, processor);
        command
            .args(["--bench", "--format", "json", "--exact", &self.name()])
            .args(["--measurement-time", &slice.measure.as_secs_f64().to_string()])
            .args(["--time-guard", &slice.time_guard.as_secs_f64().to_string()]);
        if round > 0 {
            // Counts are the same in every round.
            command.arg("--skip-counting");
        }
        let finished = process::run(&mut command, scratch, STEP_LIMIT)?;
        ensure!(finished.status.success(), "{}", finished.complaint());
        let sample = sample(&finished.stdout, &self.row.key, &self.row.implementation)?;
        ensure!(sample.is_some(), "the suite wrote no figures; it printed: {}", finished.stdout.trim());
        Ok(sample)
    }

    /// Adds the result of a slice. A failure discards the results of earlier rounds.
    fn take(&mut self, sample: Result<Option<Sample>>) {
        let row = &mut self.row;
        let sample = match sample {
            Ok(Some(sample)) => sample,
            Ok(None) => {
                (self.is_present, self.is_done) = (false, true);
                return;
            }
            Err(error) => {
                row.figures.clear();
                row.remark = Some(format!("failed: {error:#}"));
                self.is_done = true;
                return;
            }
        };
        row.figures.entry(Quantity::Time).or_default().push(rounded(sample.time_ns));
        for (quantity, value) in [(Quantity::Bytes, sample.bytes_op), (Quantity::Allocs, sample.allocs_op)] {
            if let Some(value) = value {
                row.figures.insert(quantity, vec![value]);
            }
        }
        row.is_once |= sample.is_once;
        row.deterministic = sample.deterministic.or(row.deterministic);
        row.payload_bytes = sample.payload_bytes.or(row.payload_bytes);
        row.version = sample.version.or_else(|| row.version.take());
        self.check = self.check.or(sample.check);
    }
}

/// Marks the peers of a row for which [`FEW`] processes suffice. Ours, the Go project and the limits are never marked.
fn leave_behind(sides: &mut [Side<'_>]) {
    let time = |side: &Side<'_>| side.row.value(Quantity::Time);
    let is_distant = |side: &Side<'_>| {
        let row = &side.row;
        let is_alike = |other: &Row| other.class == row.class && other.language == row.language;
        let others = sides.iter().filter(|other| other.row.role == Role::Peer && is_alike(&other.row));
        let best = others.filter_map(time).fold(f64::INFINITY, f64::min);
        let limit = if matches!(row.language.as_str(), "rust" | "go") { DISTANT * best } else { 0.0 };
        row.role == Role::Peer && time(side).is_some_and(|time| time > limit)
    };
    let distant: Vec<bool> = sides.iter().map(is_distant).collect();
    for (side, distant) in sides.iter_mut().zip(distant) {
        side.is_done |= distant;
    }
}

/// Result of one process of an implementation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Sample {
    /// Median time per operation.
    #[serde(skip)]
    time_ns: f64,
    /// True if the time is that of a single call, which exceeds the time guard.
    is_once: bool,
    bytes_op: Option<f64>,
    allocs_op: Option<f64>,
    deterministic: Option<bool>,
    payload_bytes: Option<u64>,
    version: Option<String>,
    check: Option<u64>,
}

/// One line that a suite prints.
#[derive(Clone, Debug, Deserialize)]
struct Line {
    key: String,
    implementation: String,
    time_ns: Option<f64>,
    /// Reason why there is no time.
    failure: Option<String>,
    #[serde(flatten)]
    sample: Sample,
}

/// Parses the lines of a suite and returns the result of an implementation of a row.
fn sample(text: &str, key: &str, implementation: &str) -> Result<Option<Sample>> {
    let (mut times, mut last) = (Vec::new(), None);
    for text in text.lines().map(str::trim).filter(|line| line.starts_with('{')) {
        let line: Line = serde_json::from_str(text).with_context(|| format!("not a result line: {text}"))?;
        if line.key != key || line.implementation != implementation {
            continue;
        }
        if let Some(failure) = line.failure {
            bail!("{failure}");
        }
        times.push(line.time_ns.with_context(|| format!("no time: {text}"))?);
        last = Some(line);
    }
    Ok(last.zip(median(&times)).map(|(line, time_ns)| Sample { time_ns, ..line.sample }))
}

/// Returns the steps in order, each with the indexes of its round, row and side. `counts` are the numbers of sides of
/// the rows.
fn order(counts: &[usize], rounds: usize) -> Vec<(usize, usize, usize)> {
    let mut steps = Vec::new();
    for round in 0..rounds {
        for (row, &count) in counts.iter().enumerate() {
            // The second side may find warmer caches or a slower clock.
            let turn = (0..count).map(|side| if round % 2 == 0 { side } else { count - 1 - side });
            steps.extend(turn.map(|side| (round, row, side)));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::row;

    fn side<'p>(suite: &'p Suite, name: &str, role: Role, class: &str, times: &[f64]) -> Side<'p> {
        Side::new(row(name, role, Some(class), times), suite)
    }

    fn suite() -> Suite {
        Suite { executable: "suite".into(), rows: Vec::new() }
    }

    #[test]
    fn the_order_turns_every_other_round() {
        assert_eq!(order(&[2, 1], 2), [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 0, 0), (1, 1, 0)]);
    }

    #[test]
    fn only_peers_far_behind_the_best_of_their_class_are_left_behind() {
        let suite = suite();
        let mut sides = [
            side(&suite, "ours", Role::Ours, "owned", &[10.0]),
            side(&suite, "best", Role::Peer, "owned", &[50.0]),
            side(&suite, "near", Role::Peer, "owned", &[74.0]),
            side(&suite, "far", Role::Peer, "owned", &[76.0]),
            side(&suite, "only one", Role::Peer, "borrowed", &[5000.0]),
            side(&suite, "original", Role::Original, "owned", &[9000.0]),
        ];
        leave_behind(&mut sides);
        let done: Vec<&str> =
            sides.iter().filter(|side| side.is_done).map(|side| &*side.row.implementation).collect();
        assert_eq!(done, ["far"]);
    }

    #[test]
    fn a_wrong_check_value_discards_what_earlier_rounds_found() {
        let sample =
            Sample { time_ns: 5.0, check: Some(4), version: Some("1.2".to_owned()), ..Sample::default() };
        let suite = suite();
        let mut side = side(&suite, "x", Role::Peer, "owned", &[]);
        side.take(checked(Some(sample.clone()), Some(4)));
        assert_eq!((side.row.figure(Quantity::Time), side.row.version.as_deref()), (&[5.0][..], Some("1.2")));
        side.take(checked(Some(sample), Some(5)));
        assert_eq!(side.row.remark.as_deref(), Some("failed: check value 4, expected 5"));
        assert!(side.row.figures.is_empty() && side.is_done);
    }
}
