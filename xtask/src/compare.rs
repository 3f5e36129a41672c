//! Compares two reports and finds rows that became slower, taking noise into account.
//!
//! The machine may differ between the runs. The median change of all peers of a suite is attributed to the machine
//! and removed. A change counts only if it exceeds the interval of either run.

use crate::model::{Change, ChangeVerdict as Verdict, Comparison, Report, Role, Row};
use crate::quantity::Quantity;
use crate::stats::{interval, median};

/// Minimum ratio that counts as a change, even if both runs had little noise.
const LEAST: f64 = 1.05;

/// Compares the rows that are in both reports.
pub(crate) fn compare(before: &Report, after: &Report) -> Comparison {
    let pairs: Vec<(&Row, &Row)> = after
        .rows
        .iter()
        .filter_map(|row| {
            let same = |other: &&Row| {
                other.key == row.key
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
    let peers = pairs.iter().filter(|(_, peer)| peer.role != Role::Ours && peer.system() == row.system());
    let time = |row: &Row| row.value(Quantity::Time);
    let ratios: Vec<f64> = peers.filter_map(|(before, after)| Some(time(after)? / time(before)?)).collect();
    median(&ratios).unwrap_or(1.0)
}

fn change(before: &Row, after: &Row, drift: f64) -> Option<Change> {
    let (before_ns, after_ns) = (before.value(Quantity::Time)?, after.value(Quantity::Time)?);
    let spread = |row: &Row| interval(row.figure(Quantity::Time)).map(|(low, high)| high / low);
    let noise = spread(before)?.max(spread(after)?);
    let change = after_ns / before_ns / drift;
    let allocs = before.value(Quantity::Allocs).zip(after.value(Quantity::Allocs));
    let counted = [before, after].iter().all(|row| row.deterministic == Some(true));
    let limit = LEAST.max(noise);
    let verdict = match allocs {
        _ if change > limit => Verdict::Slower,
        Some((old, new)) if counted && new > old => Verdict::AllocatesMore,
        _ if change < 1.0 / limit => Verdict::Faster,
        _ => Verdict::Unchanged,
    };
    Some(Change {
        key: after.key.clone(),
        implementation: after.implementation.clone(),
        before_ns,
        after_ns,
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
    use crate::model::tests::row;

    /// A report with one row of ours and one peer, with these times and this noise.
    fn report(ours: f64, peer: f64, noise: f64) -> Report {
        let row = |name, role, time| {
            let mut row = row(name, role, Some("owned"), &[time, time * noise, time * noise]);
            row.figures.insert(Quantity::Allocs, vec![1.0]);
            Row { deterministic: Some(true), ..row }
        };
        Report { rows: vec![row("a", Role::Ours, ours), row("p", Role::Peer, peer)], ..Report::default() }
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
        after.rows[0].figures.insert(Quantity::Allocs, vec![2.0]);
        let comparison = compare(&before, &after);
        assert_eq!(comparison.changes[0].verdict, Verdict::AllocatesMore);
        assert_eq!(comparison.regressions(), 1);
        after.rows[0].deterministic = Some(false);
        assert_eq!(verdict(&before, &after), Verdict::Unchanged);
    }

    #[test]
    fn rows_of_one_report_only_are_left_out() {
        let (before, mut after) = (report(40.0, 80.0, 1.0), report(40.0, 80.0, 1.0));
        "another/row".clone_into(&mut after.rows[0].key);
        assert!(compare(&before, &after).changes.is_empty());
    }
}
