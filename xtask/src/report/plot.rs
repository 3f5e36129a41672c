//! One plot per published table with the figures of every party, line by line.

use super::svg::{Drawing, Scale};
use super::{Cell, Table, TableLine, Unit};

const WIDTH: f64 = 400.0;
const MARGIN: f64 = 14.0;
const TOP: f64 = 6.0;
/// Height of one line: its text above its marks.
const LINE: f64 = 36.0;
const AXIS: f64 = 36.0;
const RADIUS: f64 = 5.0;
/// Maximum length of a label; longer ones would exceed the drawing.
const LABEL: usize = 56;

/// Legend of the marks: CSS class and label.
pub(crate) const KEY: [(&str, &str); 6] = [
    ("ours", "ours"),
    ("peer", "best Rust peer (under load: proxpi)"),
    ("go", "Go, live"),
    ("recorded", "original, recorded earlier"),
    ("published", "published, from another machine"),
    ("limit", "bound of the machine"),
];

/// A value of one party.
struct Mark {
    class: &'static str,
    value: f64,
    words: String,
}

/// Draws the plot of a table. `None` if no line has two values of the same unit.
pub(crate) fn table(table: &Table) -> Option<String> {
    let lines: Vec<(&TableLine, Vec<Mark>)> = table
        .lines
        .iter()
        .map(|line| (line, marks(line)))
        .filter(|(_, marks)| marks.iter().any(|mark| mark.class == "ours") && marks.len() > 1)
        .collect();
    // A table may contain both times and rates; the axis has the unit of most lines.
    let unit = most_common(lines.iter().map(|(line, _)| line.unit))?;
    let lines: Vec<_> = lines.into_iter().filter(|(line, _)| line.unit == unit).collect();
    let values = lines.iter().flat_map(|(_, marks)| marks).map(|mark| mark.value);
    let scale = Scale::of(values, MARGIN, WIDTH - MARGIN)?;
    let bottom = TOP + LINE * lines.len() as f64;
    let mut drawing =
        Drawing::new(&format!("{}: plot of the table above", table.heading), WIDTH, bottom + AXIS);
    drawing.axis(&scale, TOP, bottom, |value| unit.format(value));
    let mut top = TOP;
    for (line, marks) in &lines {
        drawing.text("label", MARGIN, top + 13.0, &shortened(&line.label));
        let y = top + 25.0;
        drawing.line("track", (MARGIN, y), (WIDTH - MARGIN, y));
        // Ours is drawn last, so that it is not hidden.
        for mark in marks.iter().rev() {
            drawing.mark(mark.class, scale.place(mark.value), y, RADIUS, &mark.words);
        }
        top += LINE;
    }
    drawing.text("tick", WIDTH / 2.0, bottom + 30.0, &format!("{}, logarithmic", unit.axis()));
    Some(drawing.finish())
}

fn marks(line: &TableLine) -> Vec<Mark> {
    let cells = [
        ("ours", &line.ours),
        ("peer", &line.peer),
        ("go", &line.go),
        ("recorded", &line.recorded),
        ("limit", &line.limit),
    ];
    let of = |(class, cell): (&'static str, &Option<Cell>)| {
        let cell = cell.as_ref()?;
        let value = cell.value.filter(|value| *value > 0.0)?;
        Some(Mark { class, value, words: format!("{}: {}", cell.name, cell.text) })
    };
    let published = line.published_value.filter(|value| *value > 0.0).map(|value| Mark {
        class: "published",
        value,
        words: format!("published: {}", line.unit.format(value)),
    });
    cells.into_iter().filter_map(of).chain(published).collect()
}

fn most_common(units: impl Iterator<Item = Unit>) -> Option<Unit> {
    let mut counts: Vec<(Unit, usize)> = Vec::new();
    for unit in units {
        match counts.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, count)) => *count += 1,
            None => counts.push((unit, 1)),
        }
    }
    // On a tie the first one wins, because a table starts with its main subject.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(unit, _)| unit)
}

fn shortened(label: &str) -> String {
    if label.chars().count() <= LABEL {
        return label.to_owned();
    }
    label.chars().take(LABEL - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    #[test]
    fn every_party_has_a_mark_and_a_label() {
        let svg = table(&fixture::report().tables[0]).unwrap();
        for expected in [
            "class=\"ours\"",
            "class=\"peer\"",
            "class=\"recorded\"",
            "published: 611 ns",
            "a&lt;b: 80.0 ns",
            "Simple Event",
            "time, logarithmic",
        ] {
            assert!(svg.contains(expected), "{expected} is missing:\n{svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 4);
    }

    #[test]
    fn tables_without_our_figures_have_no_plot() {
        let mut without = fixture::report().tables.remove(0);
        without.lines[0].ours = None;
        assert!(table(&without).is_none());
    }

    #[test]
    fn axis_has_a_single_unit() {
        let mut mixed = fixture::report().tables.remove(0);
        let mut rate = mixed.lines[0].clone();
        rate.unit = Unit::PerS;
        mixed.lines.push(rate);
        assert_eq!(table(&mixed).unwrap().matches("class=\"track\"").count(), 1);
    }
}
