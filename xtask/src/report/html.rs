//! `index.html`: a single file without external references.

use std::fmt::Write;

use super::view::{self, Sheet};
use super::{Report, System, overview, plot};

const STYLE: &str = include_str!("style.css");

/// Renders the whole page.
pub(crate) fn render(report: &Report) -> String {
    let mut page = Page::default();
    page.head(report);
    page.overview(report);
    for system in &report.systems {
        page.system(report, system);
    }
    page.section("load", "Load");
    match &report.load {
        Some(load) => page.sheets("load", &crate::load::sheets(load), true),
        None => page.element("p", "There is no load run: `cargo xtask load` makes one."),
    }
    page.section("fleet", "Fleet");
    match &report.fleet {
        Some(fleet) => page.sheets("fleet", &crate::fleet::sheets(fleet), true),
        None => page.element("p", "There is no run of a fleet: `cargo xtask fleet` makes one."),
    }
    page.gaps(report);
    page.method(report);
    page.text + "</main>\n</body>\n</html>\n"
}

#[derive(Debug, Default)]
struct Page {
    text: String,
    in_section: bool,
}

impl Page {
    fn head(&mut self, report: &Report) {
        self.text = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>Benchmark report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#overview\">Skip to the overview</a>\n<header>\n<h1>Benchmark report</h1>\n"
        );
        let run = &report.run;
        let place = format!("{}, {} ({} cores)", run.date, run.machine.cpu, run.machine.cores);
        self.element("p class=\"note\"", &place);
        self.text += "</header>\n<nav aria-label=\"Sections\">";
        let systems = report.systems.iter().map(|system| (system.id.as_str(), system.name.as_str()));
        let others = [
            ("load", "Load"),
            ("fleet", "Fleet"),
            ("gaps", "Not measured"),
            ("method", "Method"),
            ("run", "Run"),
        ];
        for (id, name) in std::iter::once(("overview", "Overview")).chain(systems).chain(others) {
            let _ = write!(self.text, "<a href=\"#{id}\">{}</a>", escaped(name));
        }
        self.text += "</nav>\n<main>\n";
        let warnings = view::warnings(report);
        if !warnings.is_empty() {
            self.text += "<ul class=\"warning\">\n";
            for warning in &warnings {
                self.element("li", warning);
            }
            self.text += "</ul>\n";
        }
    }

    fn overview(&mut self, report: &Report) {
        self.section("overview", "Overview");
        self.text += "<dl class=\"tiles\">\n";
        for (word, count) in view::tally(report) {
            let class = tone(word);
            let _ = writeln!(self.text, "<div{class}><dd>{count}</dd><dt>{word}</dt></div>");
        }
        self.text += "</dl>\n";
        self.element(
            "p class=\"note\"",
            "Published benchmarks, ours against the strongest that was measured beside it: the best peer, in any language, or the original.",
        );
        if let Some(svg) = overview::draw(report) {
            self.text += "<p class=\"key\"><span class=\"ours\">faster in every round</span> \
                          <span class=\"peer\">slower in every round</span> <span class=\"limit\">neither</span></p>\n";
            let _ = writeln!(self.text, "<figure class=\"wide\">\n{svg}</figure>");
        }
        for sheet in [view::standings(report), view::margins(report)] {
            self.sheet("overview", &sheet);
        }
        if let Some(sheet) = view::comparison(report) {
            self.sheet("overview", &sheet);
        }
    }

    /// Renders one report: its claims, its tables with plots, and all measurements for it.
    fn system(&mut self, report: &Report, system: &System) {
        self.section(&system.id, &system.name);
        self.element("p", &format!("{}.", system.role));
        let sheets = view::published(report, &system.id);
        self.text += "<ul class=\"contents\">\n";
        for sheet in &sheets {
            let id = anchor(&system.id, &sheet.title);
            let _ = writeln!(self.text, "<li><a href=\"#{id}\">{}</a></li>", escaped(&sheet.title));
        }
        self.text += "</ul>\n";
        self.sheet(&system.id, &view::claims(report, &system.id));
        self.text += "<p class=\"key\">";
        for (class, words) in plot::KEY {
            let _ = write!(self.text, "<span class=\"{class}\">{words}</span> ");
        }
        self.text += "</p>\n";
        let tables = report.tables.iter().filter(|table| table.system == system.id);
        for (sheet, table) in sheets.iter().zip(tables) {
            self.sheet(&system.id, sheet);
            if let Some(svg) = plot::table(table) {
                let _ = writeln!(self.text, "<figure>\n{svg}</figure>");
            }
        }
        let measured = view::measured(report, &system.suites);
        self.sheets(&system.id, &measured, false);
    }

    fn gaps(&mut self, report: &Report) {
        self.section("gaps", "Not measured, and added");
        for sheet in [view::absent(report), view::added(report)] {
            self.sheet("gaps", &sheet);
        }
    }

    fn method(&mut self, report: &Report) {
        self.section("method", "Method and bias");
        self.list(view::LEGEND.iter().chain(&view::BIAS));
        self.section("run", "Run");
        self.text += "<dl>\n";
        for (name, value) in view::run_facts(report) {
            let _ = writeln!(self.text, "<dt>{}</dt><dd>{}</dd>", escaped(&name), escaped(&value));
        }
        self.text += "</dl>\n</section>\n";
    }

    fn list<'t>(&mut self, items: impl Iterator<Item = &'t &'static str>) {
        self.text += "<ul>\n";
        for item in items {
            self.element("li", item);
        }
        self.text += "</ul>\n";
    }

    /// Starts a section and ends the previous one.
    fn section(&mut self, id: &str, title: &str) {
        if self.in_section {
            self.text += "</section>\n";
        }
        self.in_section = true;
        let _ = writeln!(self.text, "<section id=\"{id}\">\n<h2>{}</h2>", escaped(title));
    }

    /// Renders long tables, collapsed below their titles.
    fn sheets(&mut self, section: &str, sheets: &[Sheet], is_open: bool) {
        for sheet in sheets.iter().filter(|sheet| !sheet.lines.is_empty()) {
            let open = if is_open { " open" } else { "" };
            let _ = writeln!(self.text, "<details{open}><summary>{}</summary>", escaped(&sheet.title));
            self.table(section, sheet);
            self.text += "</details>\n";
        }
    }

    fn sheet(&mut self, section: &str, sheet: &Sheet) {
        if sheet.lines.is_empty() {
            return;
        }
        let _ = writeln!(
            self.text,
            "<h3 id=\"{}\">{}</h3>",
            anchor(section, &sheet.title),
            escaped(&sheet.title)
        );
        self.table(section, sheet);
    }

    fn table(&mut self, section: &str, sheet: &Sheet) {
        for note in &sheet.notes {
            self.element("p class=\"note\"", note);
        }
        // Scrollable content must be reachable by keyboard and have a label.
        let _ = write!(
            self.text,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{section}: {}\"><table>\n<thead><tr>",
            escaped(&sheet.title)
        );
        for index in 0..sheet.columns.len() {
            let heading = escaped(&sheet.columns[index].name);
            let _ = write!(self.text, "<th scope=\"col\"{}>{heading}</th>", class_of(sheet, index));
        }
        self.text += "</tr></thead>\n<tbody>\n";
        for line in &sheet.lines {
            let classes: Vec<&str> = [(line.ours, "ours"), (line.starts_group, "start")]
                .into_iter()
                .filter_map(|(holds, class)| holds.then_some(class))
                .collect();
            self.text += &if classes.is_empty() {
                "<tr>".to_owned()
            } else {
                format!("<tr class=\"{}\">", classes.join(" "))
            };
            for (index, cell) in line.cells.iter().enumerate() {
                let is_verdict = sheet.columns[index].name == "Verdict";
                let class = if is_verdict { tone(cell) } else { class_of(sheet, index) };
                let text = if sheet.columns[index].numeric { unbroken(cell) } else { cell.clone() };
                let _ = write!(self.text, "<td{class}>{}</td>", escaped(&text));
            }
            self.text += "</tr>\n";
        }
        self.text += "</tbody>\n</table></div>\n";
    }

    /// Writes an element. `tag` may contain attributes.
    fn element(&mut self, tag: &str, content: &str) {
        let name = tag.split(' ').next().unwrap_or(tag);
        let _ = writeln!(self.text, "<{tag}>{}</{name}>", code(content));
    }
}

/// Returns the CSS class of a verdict from its first words.
fn tone(verdict: &str) -> &'static str {
    let begins = |words: &[&str]| words.iter().any(|word| verdict.starts_with(word));
    match verdict {
        _ if begins(&["slower", "does not hold", "missed", "allocates more", "FAILED"]) => {
            " class=\"verdict bad\""
        }
        _ if begins(&["faster", "holds", "met", "passed"]) => " class=\"verdict good\"",
        _ => " class=\"verdict\"",
    }
}

fn class_of(sheet: &Sheet, column: usize) -> &'static str {
    match &sheet.columns[column] {
        named if matches!(named.name.as_str(), "Claim" | "Target") => " class=\"key-column prose\"",
        _ if column == sheet.key_column => " class=\"key-column\"",
        column if column.numeric => " class=\"number\"",
        column if matches!(column.name.as_str(), "Remark" | "Reason" | "Found") => " class=\"prose\"",
        _ => "",
    }
}

/// Prevents a line break between a number and its unit.
fn unbroken(text: &str) -> String {
    let mut last = ' ';
    let join = |letter: char| {
        let joined = if letter == ' ' && last.is_ascii_digit() { '\u{a0}' } else { letter };
        last = letter;
        joined
    };
    text.chars().map(join).collect()
}

/// Returns an anchor made of the section's id and the words of the title.
fn anchor(section: &str, title: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { ' ' };
    let words: String = title.chars().map(letter).collect();
    std::iter::once(section).chain(words.split_whitespace()).collect::<Vec<_>>().join("-")
}

/// Escapes text and converts pairs of backticks to code elements.
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
    fn text_is_escaped() {
        assert_eq!(escaped("<b> & \"c\""), "&lt;b&gt; &amp; &quot;c&quot;");
        assert_eq!(code("a `b<c` d"), "a <code>b&lt;c</code> d");
    }

    #[test]
    fn anchors_consist_of_words() {
        assert_eq!(anchor("codec", "Speed / What (these) mean?"), "codec-speed-what-these-mean");
    }

    #[test]
    fn numbers_and_units_stay_on_one_line() {
        assert_eq!(unbroken("2.00 ns, 8 B (a b)"), "2.00\u{a0}ns, 8\u{a0}B (a b)");
    }

    #[test]
    fn verdicts_have_classes() {
        assert!(tone("faster than a").contains("good") && tone("missed").contains("bad"));
        assert_eq!(tone("not measured: slower"), " class=\"verdict\"");
    }
}
