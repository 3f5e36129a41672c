//! Tables, and how they are written: Markdown and aligned plain text.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// One table with its title and notes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// Heading.
    pub title: String,
    /// Sentences before the table.
    pub notes: Vec<String>,
    /// Headings of the columns.
    pub columns: Vec<Column>,
    /// Lines of cells.
    pub lines: Vec<Line>,
}

/// Heading of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Text.
    pub name: String,
    /// Whether the cells are numbers, which are aligned to the right.
    pub is_number: bool,
}

/// One line, with as many cells as the table has columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Texts in Markdown.
    pub cells: Vec<String>,
}

/// Maximum width to which a column is padded in Markdown; longer cells exceed it.
const MAX_WIDTH: usize = 48;
/// Maximum width of a table on a terminal.
const MAX_TEXT: usize = 110;
/// Shown if there is no figure.
pub const NONE: &str = "-";

impl Sheet {
    /// Creates a table. `|` separates the names of the columns. Those of number columns begin with `#`.
    pub fn new(title: &str, columns: &str, lines: impl IntoIterator<Item = Vec<String>>) -> Self {
        let column = |name: &str| Column {
            name: name.trim().trim_start_matches('#').to_owned(),
            is_number: name.trim().starts_with('#'),
        };
        Self {
            title: title.to_owned(),
            notes: Vec::new(),
            columns: columns.split('|').map(column).collect(),
            lines: lines.into_iter().map(|cells| Line { cells }).collect(),
        }
    }

    /// Sets the notes.
    #[must_use]
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    pub(crate) fn without_empty_columns(self) -> Self {
        let is_figure = |line: &Line, index: usize| ![NONE, ""].contains(&&*line.cells[index]);
        self.keep(|sheet, index| sheet.lines.iter().any(|line| is_figure(line, index)))
    }

    /// Keeps the named columns. `|` separates the names.
    pub fn only(self, names: &str) -> Self {
        self.keep(|sheet, index| names.split(" | ").any(|name| name == sheet.columns[index].name))
    }

    fn keep(mut self, is_kept: impl Fn(&Self, usize) -> bool) -> Self {
        for index in (0..self.columns.len()).rev().filter(|&index| !is_kept(&self, index)).collect::<Vec<_>>()
        {
            self.columns.remove(index);
            self.lines.iter_mut().for_each(|line| drop(line.cells.remove(index)));
        }
        self
    }

    /// Returns the table in Markdown, with title and notes; nothing if it has no lines.
    pub fn markdown(&self) -> String {
        self.framed("### ", "", "")
    }

    /// Returns the table in Markdown, to be unfolded by the reader.
    pub fn folded(&self) -> String {
        self.framed("<details><summary>", "</summary>", "\n</details>\n")
    }

    fn framed(&self, before: &str, after: &str, end: &str) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let notes = escaped(&self.notes.join(" "));
        let notes = if notes.is_empty() { notes } else { format!("\n{notes}\n") };
        format!("\n{before}{}{after}\n{notes}\n{}{end}", escaped(&self.title), self.grid())
    }

    /// Returns columns and lines in Markdown, padded, so that the source is readable.
    pub fn grid(&self) -> String {
        let lines: Vec<Vec<String>> =
            self.cells().map(|line| line.iter().map(|text| cell(text)).collect()).collect();
        let widths: Vec<usize> = widths(&lines).into_iter().map(|width| width.clamp(3, MAX_WIDTH)).collect();
        let row = |line: &Vec<String>| format!("| {} |\n", self.padded(line, &widths).join(" | "));
        let rule = |(column, width): (&Column, &usize)| match column.is_number {
            true => format!("|{}:", "-".repeat(width + 1)),
            false => format!("|{}", "-".repeat(width + 2)),
        };
        let rules: String = self.columns.iter().zip(&widths).map(rule).collect();
        format!("{}{rules}|\n{}", row(&lines[0]), lines[1..].iter().map(row).collect::<String>())
    }

    /// Returns the table for a terminal, at most 110 columns wide: long cells of the widest columns are cut.
    pub fn text(&self) -> String {
        let mut lines: Vec<Vec<String>> = self.cells().collect();
        let mut widths = widths(&lines);
        while widths.iter().sum::<usize>() + 2 * widths.len() > MAX_TEXT + 2 {
            let Some(widest) = widths.iter_mut().max().filter(|width| **width > 8) else { break };
            *widest -= 1;
        }
        let mut text = format!("\n{}\n", self.title);
        for line in &mut lines {
            line.iter_mut().zip(&widths).for_each(|(cell, width)| *cell = cut_inside(cell, *width));
            let _ = writeln!(text, "{}", self.padded(line, &widths).join("  ").trim_end());
        }
        text
    }

    /// Returns the cells of the heading and of all lines.
    fn cells(&self) -> impl Iterator<Item = Vec<String>> {
        let heading = self.columns.iter().map(|column| column.name.clone()).collect();
        std::iter::once(heading).chain(self.lines.iter().map(|line| line.cells.clone()))
    }

    fn padded(&self, line: &[String], widths: &[usize]) -> Vec<String> {
        let cells = line.iter().zip(widths).zip(&self.columns);
        let padded = cells.map(|((cell, width), column)| match column.is_number {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        padded.collect()
    }
}

fn widths(lines: &[Vec<String>]) -> Vec<usize> {
    let width = |index: usize| lines.iter().map(|line| line[index].chars().count()).max().unwrap_or_default();
    (0..lines[0].len()).map(width).collect()
}

/// Shortens a text to a number of characters.
pub fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// Shortens a text to a number of characters. Its end remains, which distinguishes the names of similar rows.
fn cut_inside(text: &str, width: usize) -> String {
    let (count, tail) = (text.chars().count(), width / 2);
    match count > width {
        true => cut(text, width - tail) + &text.chars().skip(count - tail).collect::<String>(),
        false => text.to_owned(),
    }
}

/// Formats an optional value; `-` if it is absent.
pub fn optional<T>(value: Option<T>, format: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), format)
}

/// Returns a list in Markdown; nothing without items.
pub fn list(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let items = items.into_iter().map(|item| format!("- {}\n", escaped(item.as_ref())));
    let list: String = items.collect();
    if list.is_empty() { list } else { format!("\n{list}") }
}

/// Escapes what starts an HTML element.
pub fn escaped(text: &str) -> String {
    text.replace('<', "&lt;")
}

/// Escapes vertical bars, which would end the cell.
fn cell(text: &str) -> String {
    escaped(text).replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(name: &str) -> Sheet {
        let lines = vec![
            vec![name.to_owned(), NONE.to_owned(), "1".to_owned()],
            vec!["c".to_owned(), String::new(), "200".to_owned()],
        ];
        Sheet::new("T", "Name | Empty | #Number", lines).with_notes(vec!["N.".to_owned()])
    }

    #[test]
    fn markdown_is_aligned_and_escaped() {
        let sheet = sheet("a|<b").without_empty_columns();
        let text = "\n### T\n\nN.\n\n| Name     | Number |\n|----------|-------:|\n| a\\|&lt;b |      1 |\n| c        |    200 |\n";
        assert_eq!(sheet.markdown(), text);
        assert!(sheet.folded().starts_with("\n<details><summary>T</summary>\n\nN.\n\n| Name"));
        assert_eq!(Sheet::default().markdown(), "");
    }

    #[test]
    fn text_fits_a_terminal() {
        assert_eq!(
            sheet("a|<b").without_empty_columns().text(),
            "\nT\nName  Number\na|<b       1\nc        200\n"
        );
        let long = sheet(&"é".repeat(200)).text();
        let widths: Vec<usize> = long.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths, [0, 1, 110, 110, 110]);
        assert!(long.contains("é…é"));
    }
}
