//! Compares two reports and finds rows of ours that became slower.
//!
//! The machine may differ between the runs, so the ratios of the same duels are compared, not times: the peer is the same
//! code in both, and shares what changed in the machine.

use bench_report::model::{Duel, Report, Role, Row};
use bench_report::quantity::{self, Quantity};
use bench_report::table::Sheet;

/// Minimum ratio that counts as a change, even if both intervals are narrow.
const LEAST: f64 = 1.05;

/// Adds a table of the changes of ours to a report: those of the duels and allocations that are in both reports. Returns
/// the number of those for the worse.
pub(crate) fn compare(before: &Report, report: &mut Report) -> usize {
    let (mut lines, mut count, mut worse) = (Vec::new(), 0, 0);
    let mut add = |row: String, what: &str, values: [String; 2], change: &str| {
        count += 1;
        worse += usize::from(["slower", "allocates more"].contains(&change));
        if change != "unchanged" {
            let [old, new] = values;
            lines.push(vec![row, what.to_owned(), old, new, change.to_owned()]);
        }
    };
    for duel in report.duels.iter().filter(|duel| !duel.is_of_equals()) {
        let id = |duel: &Duel| (duel.key.clone(), duel.ours.clone(), duel.peer.clone(), duel.build.clone());
        let old = before.duels.iter().find(|old| id(old) == id(duel)).and_then(Duel::ratio);
        let Some((old, new)) = old.zip(duel.ratio()) else { continue };
        // Another version of the peer says nothing about ours.
        if row(before, &duel.key, &duel.peer) != row(report, &duel.key, &duel.peer) {
            continue;
        }
        let change = match old.value / new.value {
            change if change > LEAST && new.high < old.low => "slower",
            change if change < 1.0 / LEAST && new.low > old.high => "faster",
            _ => "unchanged",
        };
        let name = format!("{}/{} {}", duel.key, duel.ours, duel.build).trim().to_owned();
        add(
            name,
            &duel.peer,
            [old.value, new.value].map(|ratio| format!("{}x", quantity::ratio(ratio))),
            change,
        );
    }
    for new in report.rows.iter().filter(|row| row.role == Role::Ours && row.deterministic == Some(true)) {
        let is_same = |old: &&Row| old.key == new.key && old.implementation == new.implementation;
        let Some(old) = before.rows.iter().find(is_same).filter(|old| old.deterministic == Some(true)) else {
            continue;
        };
        let Some((old, now)) = old.value(Quantity::Allocs).zip(new.value(Quantity::Allocs)) else { continue };
        let change = if now > old { "allocates more" } else { "unchanged" };
        add(
            format!("{}/{}", new.key, new.implementation),
            "allocations",
            [old, now].map(quantity::per_op),
            change,
        );
    }
    let note = format!(
        "Since {}, commit {}: {count} duels and counts of ours compared, {worse} regressions; unchanged ones are left out. A ratio \
         changed if it did by more than 5 % and the intervals do not overlap.",
        before.run.date,
        before.run.commit.as_deref().unwrap_or("unknown"),
    );
    let sheet = Sheet::new("Changes", "Row | Compared with | #Before | #Now | Change", lines);
    report.comparison = Some(sheet.with_notes(vec![note]));
    worse
}

/// Returns the version of an implementation.
fn row<'r>(report: &'r Report, key: &str, implementation: &str) -> Option<&'r str> {
    report.rows.iter().find(|row| row.key == key && row.implementation == implementation)?.version.as_deref()
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
        let (key, ours, peer) = ("a/b".to_owned(), "x".to_owned(), "p".to_owned());
        let duels = vec![Duel { key, ours, peer, ratios: ratios.to_vec(), ..Duel::default() }];
        Report { rows: vec![row("x", Role::Ours), row("p", Role::Peer)], duels, ..Report::default() }
    }

    #[test]
    fn a_change_beyond_the_intervals_is_one() {
        let before = report([1.98, 2.0, 2.02], "1", 1.0);
        for (ratios, version, allocs, found, worse) in [
            ([1.95, 1.96, 1.97], "1", 1.0, None, 0),
            ([1.68, 1.7, 1.72], "1", 1.0, Some("slower"), 1),
            ([1.2, 1.7, 2.2], "1", 1.0, None, 0),
            ([2.4, 2.5, 2.6], "1", 1.0, Some("faster"), 0),
            ([1.0, 1.0, 1.0], "2", 1.0, None, 0),
            ([2.0, 2.0, 2.0], "1", 2.0, Some("allocates more"), 1),
        ] {
            let mut after = report(ratios, version, allocs);
            assert_eq!(compare(&before, &mut after), worse, "{ratios:?}");
            let lines = after.comparison.unwrap().lines;
            assert_eq!(lines.first().map(|line| line.cells[4].as_str()), found, "{ratios:?}");
        }
    }
}
