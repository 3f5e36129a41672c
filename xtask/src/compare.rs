//! Compares two reports and finds rows that became slower, taking noise into account.
//!
//! The machine may differ between the runs. The median change of all peers of a suite is attributed to the machine
//! and removed. A change counts only if it exceeds the differences between the rounds of either run.

use serde::{Deserialize, Serialize};

use crate::report::{Report, Role, Row, Time};
use crate::stats::median;

/// Minimum ratio that counts as a change, even if both runs had little noise.
const LEAST: f64 = 1.05;

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
    /// Ratio between the rounds of the noisier run.
    pub(crate) noise: f64,
    pub(crate) allocs: Option<(f64, f64)>,
    pub(crate) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Faster,
    Unchanged,
    Slower,
    /// Counts have no noise: any increase is reported.
    AllocatesMore,
}

impl Verdict {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Unchanged => "unchanged",
            Self::Slower => "slower",
            Self::AllocatesMore => "allocates more",
        }
    }

    pub(crate) fn is_regression(self) -> bool {
        matches!(self, Self::Slower | Self::AllocatesMore)
    }
}

impl Comparison {
    pub(crate) fn regressions(&self) -> usize {
        self.changes.iter().filter(|change| change.verdict.is_regression()).count()
    }
}

/// Compares the rows that are in both reports.
pub(crate) fn compare(before: &Report, after: &Report) -> Comparison {
    let pairs: Vec<(&Row, &Row)> = after
        .rows
        .iter()
        .filter_map(|row| {
            let same = |other: &&Row| {
                other.key() == row.key()
                    && other.implementation == row.implementation
                    && other.role == row.role
                    && other.class == row.class
            };
            Some((before.rows.iter().find(same)?, row))
        })
        .collect();
    let changes = pairs.iter().filter(|(_, row)| row.role == Role::Ours);
    let changes = changes.filter_map(|&(before, after)| change(before, after, drift(&pairs, after)));
    Comparison {
        date: before.run.date.clone(),
        commit: before.run.commit.clone(),
        changes: changes.collect(),
    }
}

/// Returns the median change of the peers of a row's suite.
fn drift(pairs: &[(&Row, &Row)], row: &Row) -> f64 {
    let peers = pairs.iter().filter(|(_, peer)| peer.role != Role::Ours && peer.system == row.system);
    let ratios: Vec<f64> = peers
        .filter_map(|(before, after)| Some(after.time_ns.as_ref()?.min / before.time_ns.as_ref()?.min))
        .collect();
    median(&ratios).unwrap_or(1.0)
}

fn change(before: &Row, after: &Row, drift: f64) -> Option<Change> {
    let (old, new) = (before.time_ns.as_ref()?, after.time_ns.as_ref()?);
    // The median round, because the minimum of five rounds is lower than that of two.
    let spread = |time: &Time| time.median / time.min;
    let noise = spread(old).max(spread(new));
    let change = new.min / old.min / drift;
    let allocs = before.allocs_op.zip(after.allocs_op);
    let counted = [before, after].iter().all(|row| row.counts_deterministic == Some(true));
    let limit = LEAST.max(noise);
    let verdict = match allocs {
        _ if change > limit => Verdict::Slower,
        Some((old, new)) if counted && new > old => Verdict::AllocatesMore,
        _ if change < 1.0 / limit => Verdict::Faster,
        _ => Verdict::Unchanged,
    };
    Some(Change {
        key: after.key(),
        implementation: after.implementation.clone(),
        before_ns: old.min,
        after_ns: new.min,
        drift,
        change,
        noise,
        allocs,
        verdict,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    /// A report with one row of ours and one peer, with these times and this noise.
    fn report(ours: f64, peer: f64, noise: f64) -> Report {
        let mut report = fixture::report();
        for (row, time) in report.rows.iter_mut().zip([ours, peer]) {
            let rounds = vec![time, time * noise, time * noise];
            row.time_ns =
                Some(Time { min: time, median: time * noise, max: time * noise, rounds, sampled: true });
        }
        report
    }

    fn verdict(before: &Report, after: &Report) -> Verdict {
        compare(before, after).changes[0].verdict
    }

    #[test]
    fn a_change_beyond_the_noise_is_one() {
        let before = report(40.0, 80.0, 1.02);
        assert_eq!(verdict(&before, &report(41.0, 80.0, 1.02)), Verdict::Unchanged);
        assert_eq!(verdict(&before, &report(48.0, 80.0, 1.02)), Verdict::Slower);
        assert_eq!(
            verdict(&before, &report(48.0, 80.0, 1.3)),
            Verdict::Unchanged,
            "the run is too noisy to tell"
        );
        assert_eq!(verdict(&before, &report(30.0, 80.0, 1.02)), Verdict::Faster);
    }

    #[test]
    fn what_the_peers_share_is_the_machine() {
        let comparison = compare(&report(40.0, 80.0, 1.0), &report(60.0, 120.0, 1.0));
        assert_eq!((comparison.changes[0].drift, comparison.changes[0].verdict), (1.5, Verdict::Unchanged));
        assert_eq!(comparison.regressions(), 0);
        assert_eq!(verdict(&report(40.0, 80.0, 1.0), &report(40.0, 40.0, 1.0)), Verdict::Slower);
    }

    #[test]
    fn allocations_have_no_noise() {
        let (before, mut after) = (report(40.0, 80.0, 1.0), report(40.0, 80.0, 1.0));
        after.rows[0].allocs_op = Some(2.0);
        let comparison = compare(&before, &after);
        assert_eq!(comparison.changes[0].verdict, Verdict::AllocatesMore);
        assert_eq!(comparison.regressions(), 1);
        after.rows[0].counts_deterministic = Some(false);
        assert_eq!(verdict(&before, &after), Verdict::Unchanged);
    }

    #[test]
    fn rows_of_one_report_only_are_left_out() {
        let (before, mut after) = (report(40.0, 80.0, 1.0), report(40.0, 80.0, 1.0));
        "another".clone_into(&mut after.rows[0].row);
        assert!(compare(&before, &after).changes.is_empty());
    }
}
