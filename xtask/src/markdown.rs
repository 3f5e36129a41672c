//! Tables and lists in Markdown.

use std::fmt::Write;

use crate::model::{Column, Sheet};

/// Maximum width to which a column is padded; longer cells exceed it.
const MAX_WIDTH: usize = 48;

/// Returns a list; nothing without items.
pub(crate) fn list(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let items = items.into_iter().map(|item| format!("- {}\n", escaped(item.as_ref())));
    let list: String = items.collect();
    if list.is_empty() { list } else { format!("\n{list}") }
}

/// Returns a table with title and notes; nothing if it has no lines.
pub(crate) fn table(sheet: &Sheet) -> String {
    match sheet.lines.is_empty() {
        true => String::new(),
        false => format!("\n### {}\n{}\n{}", escaped(&sheet.title), notes(sheet), grid(sheet)),
    }
}

/// Returns a table that the reader has to unfold.
pub(crate) fn folded(sheet: &Sheet) -> String {
    match sheet.lines.is_empty() {
        true => String::new(),
        false => format!(
            "\n<details><summary>{}</summary>\n{}\n{}\n</details>\n",
            escaped(&sheet.title),
            notes(sheet),
            grid(sheet)
        ),
    }
}

fn notes(sheet: &Sheet) -> String {
    if sheet.notes.is_empty() { String::new() } else { format!("\n{}\n", escaped(&sheet.notes.join(" "))) }
}

/// Returns the columns and lines of a table, padded, so that the source is readable.
pub(crate) fn grid(sheet: &Sheet) -> String {
    let headings: Vec<String> = sheet.columns.iter().map(|column| cell(&column.name)).collect();
    let cells: Vec<Vec<String>> =
        sheet.lines.iter().map(|line| line.cells.iter().map(|text| cell(text)).collect()).collect();
    let width = |index: usize| {
        let column = cells.iter().map(|line| &line[index]).chain([&headings[index]]);
        column.map(|cell| cell.chars().count()).max().unwrap_or_default().clamp(3, MAX_WIDTH)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let mut text = String::new();
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

fn row(text: &mut String, cells: &[String], widths: &[usize], columns: &[Column]) {
    for ((cell, &width), column) in cells.iter().zip(widths).zip(columns) {
        let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
        let _ = if column.is_number {
            write!(text, "| {padding}{cell} ")
        } else {
            write!(text, "| {cell}{padding} ")
        };
    }
    text.push_str("|\n");
}

/// Escapes what starts an HTML element.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('<', "&lt;")
}

/// Escapes vertical bars, which would end the cell.
fn cell(text: &str) -> String {
    escaped(text).replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_aligned_columns() {
        let lines = vec![vec!["a|<b".to_owned(), "1".to_owned()], vec!["c".to_owned(), "200".to_owned()]];
        let sheet = Sheet::new("T", "Name | #Number", lines).with_notes(vec!["N.".to_owned()]);
        let text = "\n### T\n\nN.\n\n| Name     | Number |\n|----------|-------:|\n| a\\|&lt;b |      1 |\n| c        |    200 |\n";
        assert_eq!(table(&sheet), text);
        assert!(folded(&sheet).starts_with("\n<details><summary>T</summary>\n\nN.\n\n| Name"));
        assert_eq!(table(&Sheet::default()), "");
    }
}
