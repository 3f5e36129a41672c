//! The report as Markdown, which is also printed at the end of `cargo xtask bench`.

use std::fmt::Write;

use crate::model::{Column, Sheet};
use crate::view::{Block, Section};

/// Renders a page. `charts` is the path from the page to the folder of the drawings.
pub(crate) fn render(introduction: &str, sections: &[Section], charts: &str) -> String {
    let mut text = format!("{introduction}\n");
    for section in sections {
        let _ = write!(text, "\n## {}\n", section.title);
        for block in &section.blocks {
            self::block(&mut text, block, charts);
        }
    }
    text
}

fn block(text: &mut String, block: &Block, charts: &str) {
    let list = |items: Vec<String>| {
        let lines: String = items.iter().map(|item| format!("- {item}\n")).collect();
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    };
    *text += &match block {
        Block::Text(paragraph) => format!("\n{paragraph}\n"),
        Block::Warnings(warnings) => list(warnings.iter().map(|warning| format!("**{warning}**")).collect()),
        Block::List(items) => list(items.clone()),
        Block::Facts(facts) => list(facts.iter().map(|(name, value)| format!("{name}: {value}")).collect()),
        Block::Table(sheet) | Block::Folded(sheet) => table(sheet),
        Block::Chart(chart) => format!("\n![{}]({charts}{}.svg)\n", chart.title, chart.id),
    };
}

/// Renders one table; nothing if it has no lines.
pub(crate) fn table(sheet: &Sheet) -> String {
    if sheet.lines.is_empty() {
        return String::new();
    }
    let mut text = format!("\n### {}\n\n", sheet.title);
    if !sheet.notes.is_empty() {
        let _ = write!(text, "{}\n\n", sheet.notes.join(" "));
    }
    text + &grid(sheet)
}

/// Renders the columns and lines of a table.
pub(crate) fn grid(sheet: &Sheet) -> String {
    let mut text = String::new();
    let headings: Vec<String> = sheet.columns.iter().map(|column| escaped(&column.name)).collect();
    let cells: Vec<Vec<String>> =
        sheet.lines.iter().map(|line| line.cells.iter().map(|cell| escaped(cell)).collect()).collect();
    let width = |index: usize| {
        let column = cells.iter().map(|line| &line[index]).chain([&headings[index]]);
        column.map(|cell| cell.chars().count()).max().unwrap_or_default().max(3)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    row(&mut text, &headings, &widths, &sheet.columns);
    for (column, width) in sheet.columns.iter().zip(&widths) {
        let (rule, end) =
            if column.is_number { ("-".repeat(width + 1), ":") } else { ("-".repeat(width + 2), "") };
        let _ = write!(text, "|{rule}{end}");
    }
    text.push_str("|\n");
    for line in &cells {
        row(&mut text, line, &widths, &sheet.columns);
    }
    text
}

/// Pads the cells, so that the source is readable as a table.
fn row(text: &mut String, cells: &[String], widths: &[usize], columns: &[Column]) {
    for ((cell, &width), column) in cells.iter().zip(widths).zip(columns) {
        let padding = " ".repeat(width - cell.chars().count());
        let _ = if column.is_number {
            write!(text, "| {padding}{cell} ")
        } else {
            write!(text, "| {cell}{padding} ")
        };
    }
    text.push_str("|\n");
}

/// Escapes vertical bars, which would end the cell.
fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sections;
    use crate::view::tests::{report, sources};

    #[test]
    fn tables_have_aligned_columns() {
        let text = render("# Report", &sections(&report(), &sources()), "");
        assert!(text.contains("| push \\| owned"), "{text}");
        assert!(text.contains("![sse: time relative to ours"), "{text}");
        assert!(text.contains("go-sse (go): `go version` cannot be run here"), "{text}");
        for table in text.split("\n\n").filter(|block| block.starts_with('|')) {
            let bars = |line: &str| line.replace("\\|", "").matches('|').count();
            let widths: Vec<(usize, usize)> =
                table.lines().map(|line| (bars(line), line.chars().count())).collect();
            assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
        }
    }
}
