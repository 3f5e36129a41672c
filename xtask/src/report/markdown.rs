//! `report.md`, which is also printed at the end of `cargo xtask bench`.

use std::fmt::Write;

use super::Report;
use super::view::{self, Column, Sheet};

/// Renders the whole report.
pub(crate) fn render(report: &Report) -> String {
    let mut text = String::from("# Benchmark report\n\nWritten by `cargo xtask bench`; do not edit.\n\n");
    facts(&mut text, report);
    for warning in view::warnings(report) {
        line(&mut text, &format!("**{warning}**\n"));
    }
    overview(&mut text, report);
    systems(&mut text, report, true);
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
    legend(&mut text, report);
    text
}

/// Renders `BENCHMARKS.md`: the published tables of one run.
pub(crate) fn benchmarks(report: &Report, overview_svg: &str) -> String {
    let mut text = String::from("# Benchmarks\n\n");
    let machine = &report.run.machine;
    let _ = writeln!(
        text,
        "Every table that the reports of the originals publish, beside what was measured on {} on a machine with {} cores \
         ({}). Written by `cargo xtask report --out`; do not edit.\n",
        report.run.date.split('T').next().unwrap_or_default(),
        machine.cores,
        machine.cpu
    );
    let _ = writeln!(text, "![Ratios of the strongest other's time to ours, row by row]({overview_svg})\n");
    facts(&mut text, report);
    overview(&mut text, report);
    systems(&mut text, report, false);
    legend(&mut text, report);
    text
}

fn facts(text: &mut String, report: &Report) {
    for (name, value) in view::run_facts(report) {
        line(text, &format!("- {name}: {value}"));
    }
    text.push('\n');
}

fn overview(text: &mut String, report: &Report) {
    text.push_str("## Overview\n\n");
    let counts: Vec<String> =
        view::tally(report).iter().map(|(word, count)| format!("{word} {count}")).collect();
    let _ = writeln!(
        text,
        "Published benchmarks, ours against the strongest of the best peer and the original: {}.",
        counts.join(", ")
    );
    let lists = [Some(view::standings(report)), Some(view::margins(report)), view::comparison(report)];
    for drawn in lists.into_iter().flatten().filter(|drawn| !drawn.lines.is_empty()) {
        sheet(text, &drawn);
    }
}

/// Renders claims and published tables of every report, optionally with all implementations.
fn systems(text: &mut String, report: &Report, with_all: bool) {
    for system in &report.systems {
        let _ = writeln!(text, "\n## {}\n\n{}.", system.name, system.role);
        let claims = view::claims(report, &system.id);
        for drawn in std::iter::once(claims).chain(view::published(report, &system.id)) {
            if !drawn.lines.is_empty() {
                sheet(text, &drawn);
            }
        }
        if with_all {
            for drawn in view::measured(report, &system.suites) {
                sheet(text, &drawn);
            }
        }
    }
}

fn legend(text: &mut String, report: &Report) {
    text.push_str("\n## Not measured, and added\n");
    for drawn in [view::absent(report), view::added(report)] {
        if !drawn.lines.is_empty() {
            sheet(text, &drawn);
        }
    }
    text.push_str("\n## Method and bias\n\n");
    for remark in view::LEGEND.iter().chain(&view::BIAS) {
        line(text, &format!("- {remark}"));
    }
}

/// Renders one table.
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
    if !sheet.notes.is_empty() {
        line(text, &format!("{}\n", sheet.notes.join(" ")));
    }
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

/// Pads the cells, so that the source is readable as a table.
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

/// Escapes vertical bars, which would end the cell.
fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}
