//! `report.md`, which the end of `cargo xtask bench` prints as well.

use std::fmt::Write;

use super::Report;
use super::view::{self, Column, Sheet};

/// Draws the whole report.
pub(crate) fn render(report: &Report) -> String {
    let mut text = String::from("# Benchmark report\n\nWritten by `cargo xtask bench`; do not edit.\n\n");
    for (name, value) in view::run_facts(report) {
        line(&mut text, &format!("- {name}: {value}"));
    }
    text.push('\n');
    for warning in view::warnings(report) {
        line(&mut text, &format!("**{warning}**\n"));
    }
    text += &tables(report);
    text += "\n## How to read the tables\n\n";
    for remark in view::LEGEND {
        line(&mut text, &format!("- {remark}"));
    }
    text
}

/// Draws the summary and the tables only.
pub(crate) fn tables(report: &Report) -> String {
    let mut text = String::from("## Summary\n\n");
    for sentence in view::summary(report) {
        line(&mut text, &format!("- {sentence}"));
    }
    text += "\n## Published tables\n";
    for drawn in view::published(report) {
        sheet(&mut text, &drawn);
    }
    text += "\n## All implementations\n";
    for drawn in view::measured(report) {
        sheet(&mut text, &drawn);
    }
    if let Some(load) = &report.load {
        text += "\n## Load\n";
        for drawn in crate::load::sheets(load) {
            sheet(&mut text, &drawn);
        }
    }
    if let Some(fleet) = &report.fleet {
        text += "\n## Fleet\n";
        for drawn in crate::fleet::sheets(fleet) {
            sheet(&mut text, &drawn);
        }
    }
    text
}

/// Draws one table.
pub(crate) fn table(drawn: &Sheet) -> String {
    let mut text = String::new();
    sheet(&mut text, drawn);
    text
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn sheet(text: &mut String, sheet: &Sheet) {
    line(text, &format!("\n### {}\n", sheet.title));
    for note in &sheet.notes {
        line(text, &format!("{note}  "));
    }
    text.push('\n');
    let headings: Vec<String> = sheet.columns.iter().map(|column| escaped(&column.name)).collect();
    let cells: Vec<Vec<String>> =
        sheet.lines.iter().map(|line| line.cells.iter().map(|cell| escaped(cell)).collect()).collect();
    let widths: Vec<usize> = headings
        .iter()
        .enumerate()
        .map(|(index, heading)| {
            let width = |cell: &String| cell.chars().count();
            cells.iter().map(|line| width(&line[index])).chain([width(heading), 3]).max().unwrap_or(3)
        })
        .collect();
    row(text, &headings, &widths, &sheet.columns);
    for (column, width) in sheet.columns.iter().zip(&widths) {
        let (rule, end) =
            if column.numeric { ("-".repeat(width + 1), ":") } else { ("-".repeat(width + 2), "") };
        let _ = write!(text, "|{rule}{end}");
    }
    text.push_str("|\n");
    for line in &cells {
        row(text, line, &widths, &sheet.columns);
    }
}

/// Pads the cells, so that the source reads as a table too.
fn row(text: &mut String, cells: &[String], widths: &[usize], columns: &[Column]) {
    for ((cell, &width), column) in cells.iter().zip(widths).zip(columns) {
        let padding = " ".repeat(width - cell.chars().count());
        let _ = if column.numeric {
            write!(text, "| {padding}{cell} ")
        } else {
            write!(text, "| {cell}{padding} ")
        };
    }
    text.push_str("|\n");
}

/// A bar would end the cell.
fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}
