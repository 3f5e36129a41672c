//! Runs one slice in its own process.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::side::{Found, Side, Step};
use crate::parse::record::{self, Outcome};
use crate::parse::{Timing, criterion_data};
use crate::peers::Program;
use crate::process;
use crate::suites::Suite;

/// Sampling parameters of one slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    pub(crate) warm_up: Duration,
    pub(crate) measure: Duration,
    pub(crate) samples: usize,
    /// A peer with a slower operation gets one call per round.
    pub(crate) time_guard: Duration,
}

impl Slice {
    /// Default: about a fifth of a second per implementation and round.
    pub(crate) const NORMAL: Self = Self {
        warm_up: Duration::from_millis(30),
        measure: Duration::from_millis(100),
        samples: 12,
        time_guard: Duration::from_millis(500),
    };
    /// For `--quick`.
    pub(crate) const QUICK: Self = Self {
        warm_up: Duration::from_millis(5),
        measure: Duration::from_millis(25),
        samples: 10,
        time_guard: Duration::from_millis(50),
    };

    /// Describes the sampling.
    pub(crate) fn describe(&self) -> String {
        format!(
            "{} ms warm-up and {} ms in {} samples per implementation and round; peers that take more than {} times as \
             long as the best of their class in one only",
            self.warm_up.as_millis(),
            self.measure.as_millis(),
            self.samples,
            super::DISTANT,
        )
    }
}

/// criterion's bootstrap affects only its confidence intervals; the report shows the range of the rounds instead.
const RESAMPLES: &str = "2000";

/// Time limit of a slice. A slower one is stopped and recorded as failed.
const STEP_LIMIT: Duration = Duration::from_secs(120);

/// Runs a slice of a suite. Failures are recorded and do not end the run.
pub(super) fn of_suite(side: &Side, suite: &Suite, scratch: &Path, round: usize, slice: Slice) -> Step {
    run_suite(side, suite, scratch, round, slice)
        .unwrap_or_else(|error| Step::Failed(format!("failed: {error:#}")))
}

/// Runs a slice of another program.
pub(super) fn of_program(side: &Side, program: &Program, scratch: &Path, slice: Slice) -> Step {
    let row = side.listed.key.split_once('/').map_or(side.listed.key.as_str(), |(_, row)| row);
    match program.run(row, &side.listed.implementation, slice.measure, STEP_LIMIT, scratch) {
        Err(error) => Step::Failed(format!("failed: {error:#}")),
        Ok(None) => Step::Absent,
        Ok(Some(sample)) => Step::Found(Found {
            timing: sample.timing,
            sampled: true,
            check: sample.check,
            bytes_op: sample.bytes_op,
            allocs_op: sample.allocs_op,
            deterministic: None,
            payload_bytes: sample.payload_bytes,
            version: sample.version,
        }),
    }
}

fn run_suite(side: &Side, suite: &Suite, scratch: &Path, round: usize, slice: Slice) -> Result<Step> {
    if scratch.exists() {
        fs::remove_dir_all(scratch).with_context(|| format!("cannot empty {}", scratch.display()))?;
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
        // Counts are the same in every round.
        command.arg("--skip-counting");
    }
    let finished = process::run(&mut command, scratch, STEP_LIMIT)?;
    ensure!(finished.status.success(), "{}", finished.complaint());
    let record = sole_record(&scratch.join("records"))?
        .with_context(|| format!("the suite wrote no figures; it printed: {}", finished.stdout.trim()))?;
    let (timing, sampled) = match record.outcome {
        Outcome::Failed { why } => return Ok(Step::Failed(why)),
        Outcome::Guarded { once_ns } => (Timing { median_ns: Some(once_ns), mean_ns: once_ns }, false),
        Outcome::Ok => (estimate(side, scratch, &baseline)?, true),
    };
    let count = |value: Option<f64>| value.filter(|_| round == 0);
    Ok(Step::Found(Found {
        timing,
        sampled,
        check: Some(record.check),
        bytes_op: count(record.bytes_op),
        allocs_op: count(record.allocs_op),
        deterministic: record.deterministic.filter(|_| round == 0),
        payload_bytes: None,
        version: None,
    }))
}

/// Reads criterion's result.
fn estimate(side: &Side, scratch: &Path, baseline: &str) -> Result<Timing> {
    let system = side.listed.key.split('/').next().unwrap_or_default();
    let found = criterion_data::collect(&scratch.join("criterion"))?;
    let is_it = |found: &&criterion_data::Found| {
        found.baseline == baseline
            && found.identity.group == system
            && found.identity.value.as_deref() == Some(side.listed.implementation.as_str())
    };
    Ok(found.iter().find(is_it).context("criterion left no estimates")?.timing)
}

/// Returns the only side file below `directory`; each step has its own directory.
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
