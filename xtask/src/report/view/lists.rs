//! Lists next to the tables: claims, standings, gaps, changes.

use super::{Column, Line, NONE, Sheet};
use crate::join::Outcome;
use crate::report::{Absent, Report, Standing, units};

fn sheet(title: &str, notes: Vec<String>, columns: Vec<Column>, lines: Vec<Vec<String>>) -> Sheet {
    Sheet::new(title, notes, columns, lines.into_iter().map(Line::plain).collect())
}

/// Returns the number of published benchmarks per verdict, without verdicts that do not occur.
pub(crate) fn tally(report: &Report) -> Vec<(&'static str, usize)> {
    let published: Vec<&Standing> = report.overview.standings.iter().filter(|one| one.is_published).collect();
    let word = |standing: &Standing| match (&standing.ratio, standing.is_measured) {
        (Some(ratio), _) => outcome(Outcome::of(ratio)),
        (None, true) => "no peer",
        (None, false) => "not in this run",
    };
    let count =
        |wanted: &'static str| (wanted, published.iter().filter(|standing| word(standing) == wanted).count());
    let words = ["faster", "even", "slower", "undecided", "no peer", "not in this run"].map(count);
    std::iter::once(("published", published.len()))
        .chain(words.into_iter().filter(|(_, count)| *count > 0))
        .collect()
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Faster => "faster",
        Outcome::Slower => "slower",
        Outcome::Even => "even",
        Outcome::Undecided => "undecided",
    }
}

/// Returns the published benchmarks in which ours is not ahead, with the reason if one is known.
pub(crate) fn standings(report: &Report) -> Sheet {
    let lines = report.overview.standings.iter().filter(|one| one.is_published).filter_map(|standing| {
        let ratio = standing.ratio.as_ref()?;
        let how = Outcome::of(ratio);
        (how != Outcome::Faster).then(|| {
            let remark = standing.remark.clone().unwrap_or_else(|| NONE.to_owned());
            let range = format!(
                "{}x ({} to {})",
                units::ratio(ratio.median),
                units::ratio(ratio.min),
                units::ratio(ratio.max)
            );
            vec![standing.key.clone(), ratio.against.clone(), range, outcome(how).to_owned(), remark]
        })
    });
    let columns = vec![
        Column::text("Row"),
        Column::text("Strongest other"),
        Column::number("Ratio"),
        Column::text("Verdict"),
        Column::text("Remark"),
    ];
    sheet("Not ahead", Vec::new(), columns, lines.collect())
}

/// Returns the benchmarks with the smallest margins over the strongest other implementation.
pub(crate) fn margins(report: &Report) -> Sheet {
    let margins = report.overview.smallest_margins.iter();
    let lines = margins.map(|margin| {
        vec![margin.key.clone(), margin.against.clone(), format!("{}x", units::ratio(margin.ratio))]
    });
    let columns = vec![Column::text("Row"), Column::text("Strongest other"), Column::number("Ratio")];
    sheet("The five smallest margins", Vec::new(), columns, lines.collect())
}

/// Returns the claims of one report.
pub(crate) fn claims(report: &Report, system: &str) -> Sheet {
    let lines = report.claims.iter().filter(|claim| claim.system == system).map(|claim| {
        let optional = |text: &Option<String>| text.clone().unwrap_or_else(|| NONE.to_owned());
        vec![
            claim.claim.clone(),
            claim.published.clone(),
            optional(&claim.measured),
            optional(&claim.demand),
            claim.verdict.clone(),
        ]
    });
    let columns = vec![
        Column::text("Claim"),
        Column::text("Published"),
        Column::number("Measured, ours"),
        Column::text("Demanded"),
        Column::text("Verdict"),
    ];
    sheet("Claims", Vec::new(), columns, lines.collect())
}

/// Returns the published figures that no run measures.
pub(crate) fn absent(report: &Report) -> Sheet {
    entries("Published and not measured", "Published", &report.absent)
}

/// Returns the rows without a published figure.
pub(crate) fn added(report: &Report) -> Sheet {
    entries("Measured and not published", "Rows", &report.added)
}

fn entries(title: &str, name: &str, entries: &[Absent]) -> Sheet {
    let of = |entry: &Absent| -> Vec<Vec<String>> {
        entry.what.iter().map(|what| vec![what.clone(), entry.reason.clone()]).collect()
    };
    let lines = entries.iter().flat_map(of);
    sheet(title, Vec::new(), vec![Column::text(name), Column::text("Reason")], lines.collect())
}

/// Returns the changes since an earlier report.
pub(crate) fn comparison(report: &Report) -> Option<Sheet> {
    let comparison = report.comparison.as_ref()?;
    let changed = comparison.changes.iter().filter(|change| change.verdict.label() != "unchanged");
    let lines = changed.map(|change| {
        let allocs = change
            .allocs
            .filter(|(before, after)| before != after)
            .map(|(before, after)| format!("{} to {}", units::per_op(before), units::per_op(after)));
        vec![
            format!("{}, {}", change.key, change.implementation),
            units::time(change.before_ns),
            units::time(change.after_ns),
            format!("{:.2}", change.drift),
            format!("{:.2}", change.change),
            format!("{:.2}", change.noise),
            allocs.unwrap_or_else(|| NONE.to_owned()),
            change.verdict.label().to_owned(),
        ]
    });
    let columns = ["Before", "Now", "Drift of peers", "Change beside them", "Noise"].map(Column::number);
    let columns = std::iter::once(Column::text("Row"))
        .chain(columns)
        .chain([Column::text("Allocations"), Column::text("Verdict")])
        .collect();
    let notes = vec![
        format!(
            "Against {}, commit {}: {} rows of ours compared, {} regressions; unchanged ones are left out.",
            comparison.date,
            comparison.commit.as_deref().unwrap_or("unknown"),
            comparison.changes.len(),
            comparison.regressions()
        ),
        "Drift is how many times as long the suite's peers take now. A change counts where it exceeds 5 % and the noise \
         of both runs."
            .to_owned(),
    ];
    Some(sheet("Changes", notes, columns, lines.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    #[test]
    fn tally_counts_published_benchmarks() {
        assert_eq!(
            tally(&fixture::report()),
            [("published", 3), ("faster", 1), ("slower", 1), ("not in this run", 1)]
        );
    }

    #[test]
    fn benchmarks_not_ahead_are_listed_with_remarks() {
        let report = fixture::report();
        let lost = standings(&report);
        assert_eq!(
            lost.lines[0].cells,
            ["client/client_do_simple", "reqwest", "0.95x (0.92 to 0.97)", "slower", "sends through it"]
        );
        assert_eq!((lost.lines.len(), margins(&report).lines.len()), (1, 1));
        assert_eq!(claims(&report, "perplexity").lines[0].cells[4], "holds");
        assert!(claims(&report, "psrp").lines.is_empty() && comparison(&report).is_none());
    }
}
