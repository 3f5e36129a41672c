//! Verdicts for ratios, and the summary of all published benchmarks.

use super::Sources;
use super::measure::{Facts, Party};
use crate::data::claims::Term;
use crate::report::{Margin, Overview, Quantity, Ratio, Row, Standing, Summary, Table};
use crate::stats;

/// How ours compares with another side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Faster,
    Slower,
    Even,
    /// There is only one round, which says nothing about noise.
    Undecided,
}

impl Outcome {
    /// "Faster" and "slower" require all ratios on one side of 1.
    pub(crate) fn of(ratio: &Ratio) -> Self {
        match ratio {
            Ratio { rounds: 0 | 1, .. } => Self::Undecided,
            Ratio { min, .. } if *min > 1.0 => Self::Faster,
            Ratio { max, .. } if *max < 1.0 => Self::Slower,
            _ => Self::Even,
        }
    }
}

/// Returns the verdict as text.
pub(crate) fn words(best_peer: Option<&Ratio>) -> String {
    let Some(ratio) = best_peer else { return "no peer".to_owned() };
    let against = format!("{}{}", ratio.against, if ratio.like_for_like { "" } else { " (another class)" });
    match Outcome::of(ratio) {
        Outcome::Undecided => format!("undecided after one round against {against}"),
        Outcome::Faster => format!("faster than {against}"),
        Outcome::Slower => format!("slower than {against}"),
        Outcome::Even => format!("even with {against}"),
    }
}

/// Counts the verdicts of all published benchmarks.
pub(crate) fn overview(facts: &Facts<'_>, tables: &[Table], sources: &Sources) -> Overview {
    let mut standings: Vec<Standing> = Vec::new();
    for bench in sources.seed.benches.iter().filter(|bench| bench.published) {
        let of_table = |quantity| Term { quantity, key: bench.key.clone(), implementation: None };
        let lines = || tables.iter().flat_map(|table| &table.lines);
        let is_there = facts.has(&bench.key)
            || lines().any(|line| line.keys.contains(&bench.key) && line.ours.is_some());
        // Rows of the load run have several figures: the rate is used, or else the figure of the published line.
        let ratio = facts
            .ratio(&of_table(Quantity::Time))
            .or_else(|| facts.ratio(&of_table(Quantity::RequestsPerS)))
            .or_else(|| lines().find(|line| line.keys == [bench.key.as_str()])?.ratio.clone());
        standings.push(Standing {
            key: bench.key.clone(),
            is_published: true,
            is_measured: is_there,
            ratio,
            remark: sources.rows.remark(&bench.key).map(str::to_owned),
        });
    }
    let mut margins: Vec<Margin> = standings
        .iter()
        .filter_map(|standing| {
            let ratio = standing.ratio.as_ref()?;
            Some(Margin { key: standing.key.clone(), against: ratio.against.clone(), ratio: ratio.median })
        })
        .collect();
    margins.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    margins.truncate(5);
    let is_listed = |key: &str, standings: &[Standing]| standings.iter().any(|standing| standing.key == key);
    for row in facts.rows {
        let key = row.key();
        if !is_listed(&key, &standings) {
            standings.push(Standing {
                is_published: false,
                is_measured: row.time_ns.is_some(),
                ratio: facts.row(&key, Party::Ours).and_then(Row::opponent).cloned(),
                remark: sources.rows.remark(&key).map(str::to_owned),
                key,
            });
        }
    }
    Overview { standings, smallest_margins: margins }
}

/// Returns one summary per system and variant of ours.
pub(crate) fn summaries(rows: &[Row]) -> Vec<Summary> {
    let mut groups: Vec<(&Row, Vec<&Ratio>)> = Vec::new();
    for row in rows {
        let Some(ratio) = row.best_peer() else {
            continue;
        };
        let same = |other: &Row| other.system == row.system && other.implementation == row.implementation;
        match groups.iter_mut().find(|(other, _)| same(other)) {
            Some((_, ratios)) => ratios.push(ratio),
            None => groups.push((row, vec![ratio])),
        }
    }
    let summary = |(row, ratios): (&Row, Vec<&Ratio>)| {
        let count = |outcome| ratios.iter().filter(|ratio| Outcome::of(ratio) == outcome).count();
        let medians: Vec<f64> = ratios.iter().map(|ratio| ratio.median).collect();
        Some(Summary {
            system: row.system.clone(),
            implementation: row.implementation.clone(),
            class: row.class.clone(),
            rows: ratios.len(),
            faster: count(Outcome::Faster),
            slower: count(Outcome::Slower),
            geometric_mean: stats::geometric_mean(&medians)?,
        })
    };
    groups.into_iter().filter_map(summary).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{side, sources};
    use super::super::{complete, rows};
    use super::*;
    use crate::report::{Report, Role};

    fn report(peer: &[f64]) -> Report {
        let sides = vec![vec![
            side("a", Role::Ours, Some("owned"), &[10.0, 10.0]),
            side("p", Role::Peer, Some("owned"), peer),
        ]];
        let sources = sources("");
        let mut report = Report { rows: rows(&sides, &sources), ..Report::empty() };
        complete(&mut report, &sources);
        report
    }

    #[test]
    fn the_overview_has_every_published_benchmark() {
        let overview = report(&[20.0, 21.0]).overview;
        assert_eq!(overview.standings.iter().filter(|standing| standing.is_published).count(), 84);
        let measured: Vec<&Standing> =
            overview.standings.iter().filter(|standing| standing.is_measured).collect();
        assert_eq!((measured.len(), measured[0].key.as_str()), (1, "sse/decode_simple_event"));
        assert_eq!(measured[0].ratio.as_ref().map(|ratio| (ratio.min, ratio.max)), Some((2.0, 2.1)));
        assert_eq!(overview.smallest_margins.len(), 1);
    }

    #[test]
    fn a_summary_counts_decided_rows() {
        let summaries = report(&[20.0, 20.0]).summaries;
        assert_eq!(summaries.len(), 1);
        assert_eq!((summaries[0].rows, summaries[0].faster, summaries[0].slower), (1, 1, 0));
        assert!((summaries[0].geometric_mean - 2.0).abs() < 1e-12);
    }
}
