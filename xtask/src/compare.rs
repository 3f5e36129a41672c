//! Compares two reports and finds rows of ours that became slower.
//!
//! The machine may differ between the runs, so the ratios of the same duels are compared, not times: the peer is the same
//! code in both, and shares what changed in the machine.

use bench_report::model::{Change, ChangeVerdict as Verdict, Comparison, Duel, Report, Role, Row};
use bench_report::quantity::Quantity;

/// Minimum ratio that counts as a change, even if both intervals are narrow.
const LEAST: f64 = 1.05;

/// Compares the duels and the allocations of ours that are in both reports.
pub(crate) fn compare(before: &Report, after: &Report) -> Comparison {
    let duels = after.duels.iter().filter(|duel| !duel.is_of_equals()).filter_map(|duel| {
        let is_same = |old: &&Duel| {
            (&old.key, &old.ours, &old.peer, &old.build) == (&duel.key, &duel.ours, &duel.peer, &duel.build)
        };
        let is_comparable = version(before, duel) == version(after, duel);
        change(before.duels.iter().find(is_same).filter(|_| is_comparable)?, duel)
    });
    let rows = after.rows.iter().filter(|row| row.role == Role::Ours).filter_map(|row| {
        let old = before.rows.iter().find(|old| is_row(old, &row.key, &row.implementation))?;
        allocations(old, row)
    });
    Comparison {
        date: before.run.date.clone(),
        commit: before.run.commit.clone(),
        changes: duels.chain(rows).collect(),
    }
}

fn is_row(row: &Row, key: &str, implementation: &str) -> bool {
    row.key == key && row.implementation == implementation
}

/// Returns the version of the peer of a duel.
fn version<'r>(report: &'r Report, duel: &Duel) -> Option<&'r str> {
    report.rows.iter().find(|row| is_row(row, &duel.key, &duel.peer))?.version.as_deref()
}

fn change(before: &Duel, after: &Duel) -> Option<Change> {
    let (old, new) = (before.ratio()?, after.ratio()?);
    let verdict = match old.value / new.value {
        change if change > LEAST && new.high < old.low => Verdict::Slower,
        change if change < 1.0 / LEAST && new.low > old.high => Verdict::Faster,
        _ => Verdict::Unchanged,
    };
    let row = format!("{}/{} {}", after.key, after.ours, after.build).trim().to_owned();
    Some(Change { row, peer: after.peer.clone(), before: old.value, after: new.value, verdict })
}

/// Returns the change of counts that are the same in each batch of a run; `None` without one.
fn allocations(before: &Row, after: &Row) -> Option<Change> {
    let (old, new) = (before.value(Quantity::Allocs)?, after.value(Quantity::Allocs)?);
    let is_counted = [before, after].iter().all(|row| row.deterministic == Some(true));
    let verdict = if new > old { Verdict::AllocatesMore } else { Verdict::Unchanged };
    let row = format!("{}/{}", after.key, after.implementation);
    is_counted.then(|| Change { row, peer: String::new(), before: old, after: new, verdict })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A report with one duel with these ratios, whose peer has this version, and allocations of ours.
    fn report(ratios: [f64; 3], version: &str, allocs: f64) -> Report {
        let row = |implementation: &str, role| Row {
            key: "a/b".to_owned(),
            implementation: implementation.to_owned(),
            role,
            version: Some(version.to_owned()),
            deterministic: Some(true),
            figures: BTreeMap::from([(Quantity::Allocs, vec![allocs])]),
            ..Row::default()
        };
        let duel = |peer: &str, ratios: &[f64]| Duel {
            key: "a/b".to_owned(),
            ours: "x".to_owned(),
            peer: peer.to_owned(),
            ratios: ratios.to_vec(),
            ..Duel::default()
        };
        Report {
            rows: vec![row("x", Role::Ours), row("p", Role::Peer)],
            duels: vec![duel("x", &[1.0]), duel("p", &ratios)],
            ..Report::default()
        }
    }

    fn verdicts(before: &Report, after: &Report) -> Vec<Verdict> {
        compare(before, after).changes.iter().map(|change| change.verdict).collect()
    }

    #[test]
    fn a_change_beyond_the_intervals_is_one() {
        let before = report([1.98, 2.0, 2.02], "1", 1.0);
        let verdict = |ratios| verdicts(&before, &report(ratios, "1", 1.0))[0];
        assert_eq!(verdict([1.95, 1.96, 1.97]), Verdict::Unchanged, "too small");
        assert_eq!(verdict([1.68, 1.7, 1.72]), Verdict::Slower);
        assert_eq!(verdict([1.2, 1.7, 2.2]), Verdict::Unchanged, "too noisy to tell");
        assert_eq!(verdict([2.4, 2.5, 2.6]), Verdict::Faster);
    }

    #[test]
    fn another_version_of_the_peer_says_nothing_about_ours() {
        let (before, after) = (report([2.0; 3], "1", 1.0), report([1.0; 3], "2", 1.0));
        assert_eq!(verdicts(&before, &after), [Verdict::Unchanged], "only the allocations");
    }

    #[test]
    fn allocations_have_no_noise() {
        let (before, mut after) = (report([2.0; 3], "1", 1.0), report([2.0; 3], "1", 2.0));
        assert_eq!(verdicts(&before, &after), [Verdict::Unchanged, Verdict::AllocatesMore]);
        assert_eq!(compare(&before, &after).regressions(), 1);
        after.rows[0].deterministic = Some(false);
        assert_eq!(compare(&before, &after).regressions(), 0);
    }
}
