//! The published tables, line by line, with the results of this run.

use super::{Column, Line, NONE, Sheet};
use crate::report::{Cell, Ratio, Report, Table, TableLine, units};

/// Returns the tables of one report in its order.
pub(crate) fn published(report: &Report, system: &str) -> Vec<Sheet> {
    report.tables.iter().filter(|table| table.system == system).map(table).collect()
}

fn table(table: &Table) -> Sheet {
    let is_of_load = table.lines.iter().any(|line| line.limit.is_some()) || table.system == "pypi_proxy";
    let [recorded, go, peer] = if is_of_load {
        ["groxpi, recorded", "groxpi, live", "proxpi, live"]
    } else {
        ["Original, recorded", "Go, live", "Best Rust peer, live"]
    };
    type Pick = fn(&TableLine) -> Option<&Cell>;
    let sides: [(&str, Pick); 5] = [
        (recorded, |line| line.recorded.as_ref()),
        (go, |line| line.go.as_ref()),
        (peer, |line| line.peer.as_ref()),
        ("nginx, the bound", |line| line.limit.as_ref()),
        ("Ours", |line| line.ours.as_ref()),
    ];
    let has = |pick: Pick| table.lines.iter().any(|line| pick(line).is_some());
    // Only the load test has a limit column; the other columns are always present, so that gaps are visible.
    let sides: Vec<(&str, Pick)> =
        sides.into_iter().filter(|(name, pick)| *name != "nginx, the bound" || has(*pick)).collect();
    let mut columns = vec![Column::text("Line"), Column::text("Published")];
    columns.extend(sides.iter().map(|(name, _)| Column::number(name)));
    columns.extend([Column::number("Ratio"), Column::text("Verdict")]);
    let line = |line: &TableLine| {
        let mut cells = vec![line.label.clone(), line.published.clone()];
        cells.extend(sides.iter().map(|(_, pick)| pick(line).map_or_else(|| NONE.to_owned(), named)));
        cells.push(line.ratio.as_ref().map_or_else(|| NONE.to_owned(), ratio));
        cells.push(line.verdict.clone());
        Line::plain(cells)
    };
    Sheet {
        title: table.heading.clone(),
        notes: std::iter::once(format!("{}. Published by {}.", table.id, table.platform))
            .chain(table.origins.iter().map(|origin| format!("Recorded: {origin}.")))
            .collect(),
        columns,
        key_column: 0,
        lines: table.lines.iter().map(line).collect(),
    }
}

/// Returns a figure with the name of its implementation, unless the column has the same name.
fn named(cell: &Cell) -> String {
    let is_known = ["pypi-proxy", "groxpi", "proxpi", "nginx static"].contains(&cell.name.as_str());
    if is_known { cell.text.clone() } else { format!("{} ({})", cell.text, cell.name) }
}

fn ratio(ratio: &Ratio) -> String {
    let mark = if ratio.like_for_like { "" } else { "*" };
    let range = if ratio.rounds > 1 {
        format!(" ({} to {})", units::ratio(ratio.min), units::ratio(ratio.max))
    } else {
        String::new()
    };
    format!("{}x{mark}{range}", units::ratio(ratio.median))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    #[test]
    fn every_party_has_its_column() {
        let sheets = published(&fixture::report(), "perplexity");
        let names: Vec<&str> = sheets[0].columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "Line",
                "Published",
                "Original, recorded",
                "Go, live",
                "Best Rust peer, live",
                "Ours",
                "Ratio",
                "Verdict"
            ]
        );
        assert_eq!(
            sheets[0].lines[0].cells,
            [
                "Simple Event",
                "611 ns",
                "1.56 µs (perplexity-go)",
                "-",
                "80.0 ns (a<b)",
                "40.0 ns (push | owned)",
                "2.00x (1.90 to 2.10)",
                "faster than a<b"
            ]
        );
        assert!(published(&fixture::report(), "psrp").is_empty());
    }
}
