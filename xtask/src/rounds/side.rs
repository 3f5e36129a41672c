//! One implementation of one row and its results.

use serde::{Deserialize, Serialize};

use crate::parse::Timing;
use crate::parse::record::Listed;

/// The program that runs a side.
#[derive(Clone, Copy, Debug)]
pub(super) enum Runner {
    /// Index of the suite.
    Suite(usize),
    /// Index of the program.
    Program(usize),
}

/// Result of one slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    /// The program has no such row.
    Absent,
    Failed(String),
    Found(Found),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) timing: Timing,
    /// False if a single call exceeds the time guard, so that each round is one call.
    pub(super) sampled: bool,
    pub(super) check: Option<u64>,
    /// Counts are the same in every round, so later rounds may omit them.
    pub(super) bytes_op: Option<f64>,
    pub(super) allocs_op: Option<f64>,
    pub(super) deterministic: Option<bool>,
    pub(super) payload_bytes: Option<u64>,
    pub(super) version: Option<String>,
}

/// One implementation of one row with the results of all rounds.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) listed: Listed,
    pub(super) runner: Runner,
    /// One entry for each round that measured this side.
    pub(crate) timings: Vec<Timing>,
    /// False if a single call exceeds the time guard, so that each round is one call.
    pub(crate) sampled: bool,
    pub(crate) failure: Option<String>,
    pub(super) absent: bool,
    /// True if the side is so slow that more rounds are not needed.
    pub(super) distant: bool,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) deterministic: Option<bool>,
    pub(super) check: Option<u64>,
}

impl Side {
    pub(super) fn new(listed: Listed, runner: Runner) -> Self {
        Self {
            listed,
            runner,
            timings: Vec::new(),
            sampled: true,
            failure: None,
            absent: false,
            distant: false,
            bytes_op: None,
            allocs_op: None,
            deterministic: None,
            check: None,
        }
    }

    /// Creates a side with timings.
    #[cfg(test)]
    pub(crate) fn with_timings(listed: Listed, timings: Vec<Timing>) -> Self {
        Self { timings, ..Self::new(listed, Runner::Suite(0)) }
    }

    /// Returns `system/row/implementation`, which is also the exact filter of the suite.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.listed.key, self.listed.implementation)
    }

    /// Returns a unique name: some peers use one name for several classes.
    pub(super) fn identity(&self) -> String {
        format!("{} ({}, {})", self.name(), self.listed.language, self.listed.class.as_deref().unwrap_or("-"))
    }

    pub(super) fn is_done(&self) -> bool {
        self.absent || self.distant || self.failure.is_some()
    }

    /// Adds a slice. Its result must equal the expected value, if there is one.
    pub(super) fn take(&mut self, step: Step, expected: Option<u64>) {
        let found = match step {
            Step::Absent => {
                self.absent = true;
                return;
            }
            Step::Failed(reason) => return self.fail(reason),
            Step::Found(found) => found,
        };
        if let (Some(check), Some(expected)) = (found.check, expected)
            && check != expected
        {
            return self.fail(format!("failed: check value {check}, expected {expected}"));
        }
        self.timings.push(found.timing);
        self.sampled &= found.sampled;
        self.check = self.check.or(found.check);
        self.bytes_op = found.bytes_op.or(self.bytes_op);
        self.allocs_op = found.allocs_op.or(self.allocs_op);
        self.deterministic = found.deterministic.or(self.deterministic);
        self.listed.payload_bytes = found.payload_bytes.or(self.listed.payload_bytes);
        self.listed.version = found.version.or_else(|| self.listed.version.take());
    }

    /// Records the reason of a failure and discards the results of earlier rounds.
    fn fail(&mut self, reason: String) {
        self.timings.clear();
        self.failure = Some(reason);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::side;
    use super::*;

    fn found(check: u64) -> Step {
        Step::Found(Found {
            timing: Timing { median_ns: None, mean_ns: 5.0 },
            sampled: true,
            check: Some(check),
            bytes_op: Some(8.0),
            allocs_op: None,
            deterministic: None,
            payload_bytes: None,
            version: Some("1.2".to_owned()),
        })
    }

    #[test]
    fn a_wrong_check_value_is_a_failure() {
        let mut wrong = side("s/a", "x");
        wrong.take(found(4), Some(5));
        assert_eq!(wrong.failure.as_deref(), Some("failed: check value 4, expected 5"));
        assert!(wrong.timings.is_empty() && wrong.is_done());

        let mut right = side("s/a", "x");
        right.take(found(4), Some(4));
        assert_eq!((right.timings.len(), right.listed.version.as_deref()), (1, Some("1.2")));
    }

    #[test]
    fn a_failure_takes_back_what_earlier_rounds_found() {
        let mut side = side("s/a", "x");
        side.take(found(4), None);
        side.take(Step::Failed("failed: ended".to_owned()), None);
        assert!(side.timings.is_empty() && side.is_done());
    }
}
