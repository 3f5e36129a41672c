//! `index.html`: one file without references to anything else.

use std::fmt::Write;

use anyhow::Result;

use super::view::{self, Sheet};
use super::{Report, Role, Row, plot};

const STYLE: &str = include_str!("style.css");

/// Draws the whole page.
pub(crate) fn render(report: &Report) -> Result<String> {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Benchmark report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>Benchmark report</h1>\n"
    );
    for warning in view::warnings(report) {
        element(&mut page, "p class=\"warning\"", &warning);
    }
    page += "<ul>\n";
    for sentence in view::summary(report) {
        let _ = writeln!(page, "<li>{}</li>", code(&sentence));
    }
    page += "</ul>\n<h2>Run</h2>\n<dl>\n";
    for (name, value) in view::run_facts(report) {
        let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", escaped(&name), escaped(&value));
    }
    page += "</dl>\n<h2>Ratios</h2>\n";
    ratio_plots(&mut page, report)?;
    page += "<h2>Published tables</h2>\n";
    for drawn in view::published(report) {
        sheet(&mut page, &drawn);
    }
    page += "<h2>Times</h2>\n";
    time_plots(&mut page, report)?;
    page += "<h2>All implementations</h2>\n";
    for drawn in view::measured(report) {
        sheet(&mut page, &drawn);
    }
    if let Some(load) = &report.load {
        page += "<h2>Load</h2>\n";
        for drawn in crate::load::sheets(load) {
            sheet(&mut page, &drawn);
        }
    }
    if let Some(fleet) = &report.fleet {
        page += "<h2>Fleet</h2>\n";
        for drawn in crate::fleet::sheets(fleet) {
            sheet(&mut page, &drawn);
        }
    }
    page += "<h2>How to read this page</h2>\n<ul>\n";
    for remark in view::LEGEND {
        element(&mut page, "li", remark);
    }
    page += "</ul>\n</main>\n</body>\n</html>\n";
    Ok(page)
}

/// One plot per variant of ours in each system.
fn ratio_plots(page: &mut String, report: &Report) -> Result<()> {
    *page += "<p class=\"key\"><span class=\"ours\">ours is faster in every round</span> \
              <span class=\"peer\">slower, or not in every round</span></p>\n<div class=\"plots\">\n";
    for summary in &report.summaries {
        let rows: Vec<&Row> = report.rows.iter().filter(|row| row.system == summary.system).collect();
        if let Some(svg) = plot::ratios(&summary.implementation, &rows) {
            figure(page, &svg?);
        }
    }
    *page += "</div>\n";
    Ok(())
}

/// One plot per row.
fn time_plots(page: &mut String, report: &Report) -> Result<()> {
    *page += "<p class=\"key\">";
    for role in [Role::Ours, Role::Peer, Role::OriginalStandin, Role::Limit] {
        let (class, label) = match role {
            Role::Ours => ("ours", "ours"),
            Role::Peer => ("peer", "peer"),
            Role::Original | Role::OriginalStandin => ("original", "original or its stand-in"),
            Role::Limit => ("limit", "limit of the machine"),
        };
        let _ = write!(page, "<span class=\"{class}\">{label}</span> ");
    }
    *page += "</p>\n<div class=\"plots\">\n";
    for rows in report.rows.chunk_by(|a, b| a.system == b.system && a.row == b.row) {
        if let Some(svg) = plot::times(&rows.iter().collect::<Vec<_>>()) {
            figure(page, &svg?);
        }
    }
    *page += "</div>\n";
    Ok(())
}

fn figure(page: &mut String, svg: &str) {
    let _ = writeln!(page, "<figure>\n{}\n</figure>", svg.trim());
}

fn sheet(page: &mut String, sheet: &Sheet) {
    element(page, "h3", &sheet.title);
    for note in &sheet.notes {
        element(page, "p class=\"note\"", note);
    }
    *page += "<div class=\"scroll\"><table>\n<thead><tr>";
    for index in 0..sheet.columns.len() {
        let heading = escaped(&sheet.columns[index].name);
        let _ = write!(page, "<th scope=\"col\"{}>{heading}</th>", class_of(sheet, index));
    }
    *page += "</tr></thead>\n<tbody>\n";
    for line in &sheet.lines {
        let classes: Vec<&str> = [(line.ours, "ours"), (line.starts_group, "start")]
            .into_iter()
            .filter_map(|(holds, class)| holds.then_some(class))
            .collect();
        let _ = write!(page, "<tr class=\"{}\">", classes.join(" "));
        for (index, cell) in line.cells.iter().enumerate() {
            let _ = write!(page, "<td{}>{}</td>", class_of(sheet, index), escaped(cell));
        }
        *page += "</tr>\n";
    }
    *page += "</tbody>\n</table></div>\n";
}

fn class_of(sheet: &Sheet, column: usize) -> &'static str {
    match &sheet.columns[column] {
        _ if column == sheet.key_column => " class=\"key-column\"",
        column if column.numeric => " class=\"number\"",
        _ => "",
    }
}

/// `tag` may carry attributes.
fn element(page: &mut String, tag: &str, content: &str) {
    let name = tag.split(' ').next().unwrap_or(tag);
    let _ = writeln!(page, "<{tag}>{}</{name}>", escaped(content));
}

/// Escapes, and turns pairs of backticks into code.
fn code(text: &str) -> String {
    let parts = escaped(text);
    parts
        .split('`')
        .enumerate()
        .map(|(index, part)| if index % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() })
        .collect()
}

/// Escapes text for content and quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_an_element() {
        assert_eq!(escaped("<b> & \"c\""), "&lt;b&gt; &amp; &quot;c&quot;");
        assert_eq!(code("a `b<c` d"), "a <code>b&lt;c</code> d");
    }
}
