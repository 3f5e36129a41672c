//! All implementations of all rows, one sheet per suite.

use super::{Column, Line, NONE, Sheet, distinct};
use crate::report::{Ratio, Ratios, Report, Role, Row, units};

/// Returns one sheet per suite.
pub(crate) fn measured(report: &Report, suites: &[String]) -> Vec<Sheet> {
    distinct(report.rows.iter().map(|row| row.system.as_str()))
        .into_iter()
        .filter(|system| suites.iter().any(|suite| suite == system))
        .map(|system| {
            let rows: Vec<&Row> = report.rows.iter().filter(|row| row.system == system).collect();
            let published = rows.iter().filter_map(|row| row.published.as_ref());
            let recorded = rows.iter().flat_map(|row| &row.recorded);
            let notes =
                distinct(published.map(|published| format!("Published by {}.", published.platform)).chain(
                    recorded.map(|recorded| {
                        format!("Recorded earlier: {}, {}.", recorded.implementation, recorded.origin)
                    }),
                ));
            Sheet {
                title: format!("{system}: all implementations"),
                notes,
                key_column: 1,
                columns: vec![
                    Column::text("Row"),
                    Column::text("Implementation"),
                    Column::text("Role"),
                    Column::text("Class"),
                    Column::number("Time/op"),
                    Column::number("Bytes/op"),
                    Column::number("Allocs/op"),
                    Column::number("Throughput"),
                    Column::text("Published"),
                    Column::number("Ratio to best peer (min..max)"),
                    Column::number("Ratio to original (min..max)"),
                    Column::number("Ratio to recorded original, cross-machine"),
                    Column::number("Share of the machine's limit (min..max)"),
                    Column::text("Verdict"),
                ],
                lines: rows
                    .iter()
                    .enumerate()
                    .map(|(index, row)| {
                        let starts_group = index == 0 || rows[index - 1].row != row.row;
                        measured_line(row, starts_group)
                    })
                    .collect(),
            }
        })
        .collect()
}

fn measured_line(row: &Row, starts_group: bool) -> Line {
    let optional = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let ratio = |pick: fn(&Ratios) -> Option<&Ratio>| row.ratio_vs.as_ref().and_then(pick);
    let language = if row.language == "rust" { String::new() } else { format!(", {}", row.language) };
    let published = row.published.as_ref().filter(|_| starts_group).map(|published| {
        let parts = [
            published.time_ns.map(units::time),
            published.bytes_op.map(|bytes| format!("{bytes} B")),
            published.allocs_op.map(|count| format!("{count} allocs")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    });
    let count = |value: Option<f64>| {
        let mark = if row.counts_deterministic == Some(false) { "~" } else { "" };
        optional(value.map(|value| format!("{mark}{}", units::per_op(value))))
    };
    let throughput = row.throughput.as_ref().and_then(|throughput| {
        let parts = [
            throughput.bytes_per_s.map(units::bytes_per_second),
            throughput.elements_per_s.map(|rate| format!("{}/s", units::count(rate))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    });
    let cells =
        vec![
            if starts_group { row.row.clone() } else { String::new() },
            match &row.version {
                Some(version) => format!("{} {version}", row.implementation),
                None => row.implementation.clone(),
            },
            format!("{}{language}", row.role.label()),
            optional(row.class.clone()),
            optional(row.time_ns.as_ref().map(|time| {
                format!("{}{}", units::time(time.min), if time.sampled { "" } else { " (once)" })
            })),
            count(row.bytes_op),
            count(row.allocs_op),
            optional(throughput),
            published.unwrap_or_default(),
            optional(ratio(|ratios| ratios.best_peer.as_ref()).map(ratio_range)),
            optional(ratio(|ratios| ratios.original.as_ref()).map(ratio_range)),
            optional(
                ratio(|ratios| ratios.recorded_original.as_ref()).map(|ratio| units::ratio(ratio.of_minima)),
            ),
            optional(ratio(|ratios| ratios.limit.as_ref()).map(share)),
            row.verdict.clone(),
        ];
    Line { cells, ours: row.role == Role::Ours, starts_group }
}

fn ratio_range(ratio: &Ratio) -> String {
    format!("{} ({}..{})", units::ratio(ratio.median), units::ratio(ratio.min), units::ratio(ratio.max))
}

fn share(ratio: &Ratio) -> String {
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    format!(
        "{} % of {} ({}..{})",
        percent(ratio.median),
        ratio.against,
        percent(ratio.min),
        percent(ratio.max)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    #[test]
    fn group_shows_row_and_published_figure_once() {
        let sheets = measured(&fixture::report(), &["sse".to_owned()]);
        assert_eq!(sheets.len(), 1);
        let firsts: Vec<&str> = sheets[0].lines.iter().map(|line| line.cells[0].as_str()).collect();
        assert_eq!(firsts, ["decode_simple_event", ""]);
        assert!(sheets[0].lines.iter().all(|line| line.cells.len() == sheets[0].columns.len()));
        assert!(sheets[0].lines[0].ours && !sheets[0].lines[1].ours);
    }
}
