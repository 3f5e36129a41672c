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
    /// True for numbers, which are aligned to the right.
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

    /// Removes columns without a figure.
    pub(crate) fn without_empty_columns(self) -> Self {
        let is_empty = |(index, _): (usize, &Column)| {
            self.lines.iter().all(|line| [NONE, ""].contains(&&*line.cells[index]))
        };
        let kept = self.columns.iter().enumerate().map(|column| !is_empty(column)).collect();
        self.keep(kept)
    }

    /// Keeps the named columns.
    pub fn only(self, names: &[&str]) -> Self {
        let kept = self.columns.iter().map(|column| names.contains(&&*column.name)).collect();
        self.keep(kept)
    }

    fn keep(mut self, kept: Vec<bool>) -> Self {
        let mut index = kept.iter();
        self.columns.retain(|_| index.next() == Some(&true));
        for line in &mut self.lines {
            let mut index = kept.iter();
            line.cells.retain(|_| index.next() == Some(&true));
        }
        self
    }

    /// Returns the table in Markdown, with title and notes; nothing if it has no lines.
    pub fn markdown(&self) -> String {
        match self.lines.is_empty() {
            true => String::new(),
            false => format!("\n### {}\n{}\n{}", escaped(&self.title), self.notes(), self.grid()),
        }
    }

    /// Returns the table in Markdown, to be unfolded by the reader.
    pub fn folded(&self) -> String {
        let Self { title, lines, .. } = self;
        match lines.is_empty() {
            true => String::new(),
            false => format!(
                "\n<details><summary>{}</summary>\n{}\n{}\n</details>\n",
                escaped(title),
                self.notes(),
                self.grid()
            ),
        }
    }

    fn notes(&self) -> String {
        if self.notes.is_empty() { String::new() } else { format!("\n{}\n", escaped(&self.notes.join(" "))) }
    }

    /// Returns columns and lines in Markdown, padded, so that the source is readable.
    pub fn grid(&self) -> String {
        let headings: Vec<String> = self.columns.iter().map(|column| cell(&column.name)).collect();
        let cells: Vec<Vec<String>> =
            self.lines.iter().map(|line| line.cells.iter().map(|text| cell(text)).collect()).collect();
        let widths = widths(&headings, &cells).map(|width| width.clamp(3, MAX_WIDTH)).collect::<Vec<_>>();
        let mut text = String::new();
        let mut row = |cells: &[String]| {
            let cells = cells.iter().zip(&widths).zip(&self.columns);
            cells.for_each(|((cell, width), column)| text += &format!("| {} ", padded(cell, *width, column)));
            text += "|\n";
        };
        row(&headings);
        for line in &cells {
            row(line);
        }
        let rule = |(column, width): (&Column, &usize)| match column.is_number {
            true => format!("|{}:", "-".repeat(width + 1)),
            false => format!("|{}", "-".repeat(width + 2)),
        };
        let rules: String = self.columns.iter().zip(&widths).map(rule).collect();
        text.insert_str(text.find('\n').map_or(0, |end| end + 1), &format!("{rules}|\n"));
        text
    }

    /// Returns the table for a terminal, at most 110 columns wide: long cells of the widest columns are cut.
    pub fn text(&self) -> String {
        let headings: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        let cells: Vec<Vec<String>> = self.lines.iter().map(|line| line.cells.clone()).collect();
        let mut widths: Vec<usize> = widths(&headings, &cells).collect();
        while widths.iter().sum::<usize>() + 2 * widths.len() > MAX_TEXT + 2 {
            let Some(widest) = widths.iter_mut().max().filter(|width| **width > 8) else { break };
            *widest -= 1;
        }
        let mut text = format!("\n{}\n", self.title);
        for line in std::iter::once(&headings).chain(&cells) {
            let cells = line.iter().zip(&widths).zip(&self.columns);
            let cells =
                cells.map(|((cell, width), column)| padded(&cut_inside(cell, *width), *width, column));
            let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        text
    }
}

/// Returns the width of the longest cell of each column.
fn widths(headings: &[String], cells: &[Vec<String>]) -> impl Iterator<Item = usize> {
    let width = |text: &String| text.chars().count();
    (0..headings.len()).map(move |index| {
        let column = cells.iter().map(|line| &line[index]).chain([&headings[index]]);
        column.map(width).max().unwrap_or_default()
    })
}

fn padded(cell: &str, width: usize, column: &Column) -> String {
    if column.is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
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
