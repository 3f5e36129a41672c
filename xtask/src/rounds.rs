//! Alternating rounds: per row, every implementation gets a short slice, and the order turns every other round.
//!
//! Sides of one row are measured seconds apart, so that a change of the machine's load hits both. Whole suites in
//! turn leave ten seconds and more between the sides, which made ratios of one row range from 4.1 to 14.2.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::parse::record::{self, Listed, Outcome};
use crate::parse::{Timing, criterion_data};
use crate::peers::{Program, Sample};
use crate::process;
use crate::progress::Progress;
use crate::report::Role;
use crate::suites::Suite;
use crate::workspace::Workspace;

/// How one slice is sampled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    pub(crate) warm_up: Duration,
    pub(crate) measure: Duration,
    pub(crate) samples: usize,
    /// A peer whose operation takes longer gets one call per round.
    pub(crate) time_guard: Duration,
}

impl Slice {
    /// One of several rounds: about 0.4 CPU seconds per implementation and round.
    pub(crate) const NORMAL: Self = Self {
        warm_up: Duration::from_millis(100),
        measure: Duration::from_millis(200),
        samples: 20,
        time_guard: Duration::from_millis(500),
    };
    /// For a first look.
    pub(crate) const QUICK: Self = Self {
        warm_up: Duration::from_millis(20),
        measure: Duration::from_millis(60),
        samples: 10,
        time_guard: Duration::from_millis(100),
    };
}

/// criterion's bootstrap; only its confidence intervals depend on it, and the report shows the range of rounds instead.
const RESAMPLES: &str = "2000";

/// A run of one side that takes longer is stopped and recorded as failed.
const STEP_LIMIT: Duration = Duration::from_secs(120);

/// One implementation of one row, and what the rounds found.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) listed: Listed,
    runner: Runner,
    /// One entry per round that reached this side.
    pub(crate) timings: Vec<Timing>,
    /// `false` where each round holds a single call, because one exceeds the time guard.
    pub(crate) sampled: bool,
    pub(crate) failure: Option<String>,
    /// The program has no such row.
    absent: bool,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) deterministic: Option<bool>,
    check: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Runner {
    /// Index of the suite.
    Suite(usize),
    /// Index of the program.
    Program(usize),
}

impl Side {
    /// A side with timings that no program took.
    #[cfg(test)]
    pub(crate) fn with_timings(listed: Listed, timings: Vec<Timing>) -> Self {
        Self { timings, ..Self::new(listed, Runner::Suite(0)) }
    }

    /// Notes why there are no figures. What earlier rounds found does not count either.
    fn fail(&mut self, reason: String) {
        self.timings.clear();
        self.failure = Some(reason);
    }

    fn new(listed: Listed, runner: Runner) -> Self {
        Self {
            listed,
            runner,
            timings: Vec::new(),
            sampled: true,
            failure: None,
            absent: false,
            bytes_op: None,
            allocs_op: None,
            deterministic: None,
            check: None,
        }
    }

    /// `system/row/implementation`, which is also the exact filter of the suite.
    fn name(&self) -> String {
        format!("{}/{}", self.listed.key, self.listed.implementation)
    }

    fn is_done(&self) -> bool {
        self.absent || self.failure.is_some()
    }
}

/// All sides of one row, next to each other.
type Sides = Vec<Vec<Side>>;

/// Lists the sides of every row that passes `row`, a part of the row's key.
pub(crate) fn plan(suites: &[Suite], programs: &[Program], row: Option<&str>) -> Sides {
    let mut rows: Sides = Vec::new();
    for (index, suite) in suites.iter().enumerate() {
        let wanted = suite.listed.iter().filter(|listed| row.is_none_or(|row| listed.key.contains(row)));
        for listed in wanted {
            let side = Side::new(listed.clone(), Runner::Suite(index));
            match rows.last_mut().filter(|sides| sides[0].listed.key == listed.key) {
                Some(sides) => sides.push(side),
                None => rows.push(vec![side]),
            }
        }
    }
    for sides in &mut rows {
        let first = sides[0].listed.clone();
        let Some((system, row)) = first.key.split_once('/') else { continue };
        for (index, program) in programs.iter().enumerate().filter(|(_, program)| program.system == system) {
            for implementation in program.implementations.iter().filter(|candidate| candidate.has(row)) {
                let listed = Listed {
                    key: first.key.clone(),
                    implementation: implementation.name.clone(),
                    role: implementation.role,
                    language: program.language.clone(),
                    version: implementation.version.clone(),
                    class: implementation.class.clone(),
                    payload_bytes: first.payload_bytes,
                    elements: first.elements,
                };
                sides.push(Side::new(listed, Runner::Program(index)));
            }
        }
    }
    rows
}

/// Runs all rounds.
///
/// # Errors
///
/// Fails where one of ours fails; what a peer does wrong is kept in its side.
pub(crate) fn run(
    sides: &mut Sides,
    suites: &[Suite],
    programs: &[Program],
    workspace: &Workspace,
    rounds: usize,
    slice: Slice,
) -> Result<()> {
    let order = order(sides, rounds);
    let names: Vec<String> = order.iter().map(|&(_, row, side)| sides[row][side].name()).collect();
    let mut progress = Progress::new(order.len());
    for (step, &(round, row, side)) in order.iter().enumerate() {
        let name = &names[step];
        progress.begin(name, names[step + 1..].iter().map(String::as_str));
        let start = Instant::now();
        if !sides[row][side].is_done() {
            let expected = sides[row].iter().find_map(|side| side.check);
            let side = &mut sides[row][side];
            match side.runner {
                Runner::Suite(index) => {
                    run_suite(side, &suites[index], workspace, round, slice)
                        .with_context(|| format!("{name} in round {}", round + 1))?;
                }
                Runner::Program(index) => {
                    run_program(side, &programs[index], workspace, slice, expected);
                }
            }
        }
        progress.end(name, start.elapsed());
    }
    progress.finish();
    for row in sides.iter_mut() {
        row.retain(|side| !side.absent);
    }
    Ok(())
}

/// Round, row and side of every step.
fn order(sides: &Sides, rounds: usize) -> Vec<(usize, usize, usize)> {
    let mut steps = Vec::new();
    for round in 0..rounds {
        for (row, sides) in sides.iter().enumerate() {
            // Who comes second may find warmer caches or a slower clock, so the turn alternates.
            let forward = round % 2 == 0;
            let turn = (0..sides.len()).map(|side| if forward { side } else { sides.len() - 1 - side });
            steps.extend(turn.map(|side| (round, row, side)));
        }
    }
    steps
}

fn run_suite(
    side: &mut Side,
    suite: &Suite,
    workspace: &Workspace,
    round: usize,
    slice: Slice,
) -> Result<()> {
    let scratch = workspace.scratch().join("step");
    if scratch.exists() {
        fs::remove_dir_all(&scratch).with_context(|| format!("cannot empty {}", scratch.display()))?;
    }
    let baseline = format!("round{}", round + 1);
    let mut command = Command::new(&suite.executable);
    command
        .env("CRITERION_HOME", scratch.join("criterion"))
        .env("BENCH_HOME", scratch.join("records"))
        .args(["--bench", "--exact", &side.name(), "--save-baseline", &baseline])
        .args(["--warm-up-time", &slice.warm_up.as_secs_f64().to_string()])
        .args(["--measurement-time", &slice.measure.as_secs_f64().to_string()])
        .args(["--sample-size", &slice.samples.to_string()])
        .args(["--nresamples", RESAMPLES])
        .args(["--time-guard", &slice.time_guard.as_secs_f64().to_string()]);
    if round > 0 {
        // Counts do not depend on the round.
        command.arg("--skip-counting");
    }
    let finished = match process::run(&mut command, &scratch, STEP_LIMIT) {
        Ok(finished) if finished.status.success() => finished,
        ended => {
            let reason = match ended {
                Ok(finished) => finished.complaint(),
                Err(error) => format!("{error:#}"),
            };
            if side.listed.role == Role::Ours {
                bail!("{reason}");
            }
            side.fail(format!("failed: {reason}"));
            return Ok(());
        }
    };
    let record = sole_record(&scratch.join("records"))?
        .with_context(|| format!("the suite wrote no figures; it printed: {}", finished.stdout.trim()))?;
    side.check = Some(record.check);
    if round == 0 {
        side.bytes_op = record.bytes_op;
        side.allocs_op = record.allocs_op;
        side.deterministic = record.deterministic;
    }
    match record.outcome {
        Outcome::Failed { why } => side.fail(why),
        Outcome::Guarded { once_ns } => {
            side.sampled = false;
            side.timings.push(Timing { median_ns: Some(once_ns), mean_ns: once_ns });
        }
        Outcome::Ok => {
            let found = criterion_data::collect(&scratch.join("criterion"))?;
            let system = suite.system.as_str();
            let timing = found
                .iter()
                .find(|found| {
                    found.baseline == baseline
                        && found.identity.group == system
                        && found.identity.value.as_deref() == Some(side.listed.implementation.as_str())
                })
                .context("criterion left no estimates")?
                .timing;
            side.timings.push(timing);
        }
    }
    Ok(())
}

/// The only side file below `directory`: each step has a directory of its own.
fn sole_record(directory: &Path) -> Result<Option<record::Record>> {
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        if !directory.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
            } else if let Some(record) = record::read(&path)? {
                return Ok(Some(record));
            }
        }
    }
    Ok(None)
}

fn run_program(
    side: &mut Side,
    program: &Program,
    workspace: &Workspace,
    slice: Slice,
    expected: Option<u64>,
) {
    let row = side.listed.key.split_once('/').map_or(side.listed.key.as_str(), |(_, row)| row);
    let scratch = workspace.scratch().join("step");
    match program.run(row, &side.listed.implementation, slice.measure, STEP_LIMIT, &scratch) {
        Err(error) => side.fail(format!("failed: {error:#}")),
        Ok(None) => side.absent = true,
        Ok(Some(sample)) => keep(side, sample, expected),
    }
}

fn keep(side: &mut Side, sample: Sample, expected: Option<u64>) {
    if let (Some(check), Some(expected)) = (sample.check, expected)
        && check != expected
    {
        side.fail(format!("failed: check value {check}, expected {expected}"));
        return;
    }
    side.timings.push(sample.timing);
    side.bytes_op = sample.bytes_op;
    side.allocs_op = sample.allocs_op;
    side.listed.payload_bytes = sample.payload_bytes.or(side.listed.payload_bytes);
    side.listed.version = sample.version.or_else(|| side.listed.version.take());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(key: &str, implementation: &str) -> Side {
        let listed = Listed {
            key: key.to_owned(),
            implementation: implementation.to_owned(),
            role: Role::Ours,
            language: "rust".to_owned(),
            version: None,
            class: None,
            payload_bytes: None,
            elements: None,
        };
        Side::new(listed, Runner::Suite(0))
    }

    #[test]
    fn the_order_turns_every_other_round() {
        let sides = vec![vec![side("s/a", "x"), side("s/a", "y")], vec![side("s/b", "x")]];
        assert_eq!(order(&sides, 2), [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 0, 0), (1, 1, 0)]);
    }

    #[test]
    fn a_wrong_check_value_of_a_program_is_a_failure() {
        let sample = || Sample {
            timing: Timing { median_ns: None, mean_ns: 5.0 },
            bytes_op: Some(8.0),
            allocs_op: None,
            payload_bytes: None,
            version: Some("1.2".to_owned()),
            check: Some(4),
        };
        let mut wrong = side("s/a", "x");
        keep(&mut wrong, sample(), Some(5));
        assert_eq!(wrong.failure.as_deref(), Some("failed: check value 4, expected 5"));
        assert!(wrong.timings.is_empty() && wrong.is_done());

        let mut right = side("s/a", "x");
        keep(&mut right, sample(), Some(4));
        assert_eq!((right.timings.len(), right.listed.version.as_deref()), (1, Some("1.2")));
    }
}
