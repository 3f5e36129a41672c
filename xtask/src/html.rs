//! The report as a single HTML file without external references.

use std::fmt::Write;

use crate::chart::escaped;
use crate::model::Sheet;
use crate::view::{Block, Section};

const STYLE: &str = concat!(include_str!("style.css"), include_str!("chart.css"));

/// Renders the whole page.
pub(crate) fn render(introduction: &str, sections: &[Section]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Benchmark report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#overview\">Skip to the overview</a>\n<header>\n<h1>Benchmark report</h1>\n\
         <p class=\"note\">{}</p>\n</header>\n<nav aria-label=\"Sections\">",
        code(introduction)
    );
    for section in sections {
        let _ = write!(page, "<a href=\"#{}\">{}</a>", section.id, escaped(&section.title));
    }
    page += "</nav>\n<main>\n";
    for section in sections {
        let _ = writeln!(page, "<section id=\"{}\">\n<h2>{}</h2>", section.id, escaped(&section.title));
        contents(&mut page, section);
        for block in &section.blocks {
            self::block(&mut page, &section.id, block);
        }
        page += "</section>\n";
    }
    page + "</main>\n</body>\n</html>\n"
}

/// Links the tables of a long section.
fn contents(page: &mut String, section: &Section) {
    let titles = section.blocks.iter().filter_map(|block| match block {
        Block::Table(sheet) if !sheet.lines.is_empty() => Some(&sheet.title),
        _ => None,
    });
    let links: Vec<String> = titles
        .map(|title| format!("<li><a href=\"#{}\">{}</a></li>\n", anchor(&section.id, title), escaped(title)))
        .collect();
    if links.len() > 3 {
        let _ = write!(page, "<ul class=\"contents\">\n{}</ul>\n", links.concat());
    }
}

fn block(page: &mut String, section: &str, block: &Block) {
    match block {
        Block::Text(text) => element(page, "p", text),
        Block::Warnings(warnings) => list(page, "ul class=\"warning\"", warnings),
        Block::List(items) => list(page, "ul", items),
        Block::Facts(facts) => {
            *page += "<dl>\n";
            for (name, value) in facts {
                let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
            }
            *page += "</dl>\n";
        }
        Block::Table(sheet) | Block::Folded(sheet) if sheet.lines.is_empty() => {}
        Block::Table(sheet) => {
            let id = anchor(section, &sheet.title);
            let _ = writeln!(page, "<h3 id=\"{id}\">{}</h3>", escaped(&sheet.title));
            table(page, section, sheet);
        }
        Block::Folded(sheet) => {
            let _ = writeln!(page, "<details><summary>{}</summary>", escaped(&sheet.title));
            table(page, section, sheet);
            *page += "</details>\n";
        }
        Block::Chart(chart) => {
            let _ = writeln!(
                page,
                "<figure>\n<figcaption>{}</figcaption>\n{}</figure>",
                escaped(&chart.title),
                chart.svg
            );
        }
    }
}

fn list(page: &mut String, tag: &str, items: &[impl AsRef<str>]) {
    if !items.is_empty() {
        let _ = writeln!(page, "<{tag}>");
        items.iter().for_each(|item| element(page, "li", item.as_ref()));
        *page += "</ul>\n";
    }
}

fn table(page: &mut String, section: &str, sheet: &Sheet) {
    for note in &sheet.notes {
        element(page, "p class=\"note\"", note);
    }
    // Scrollable content must be reachable by keyboard and have a label.
    let _ = write!(
        page,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{section}: {}\"><table>\n<thead><tr>",
        escaped(&sheet.title)
    );
    for (index, column) in sheet.columns.iter().enumerate() {
        let _ = write!(page, "<th scope=\"col\"{}>{}</th>", class_of(sheet, index), escaped(&column.name));
    }
    *page += "</tr></thead>\n<tbody>\n";
    for line in &sheet.lines {
        let classes = [(line.is_ours, "ours"), (line.starts_group, "start")];
        let classes: Vec<&str> =
            classes.iter().filter(|(holds, _)| *holds).map(|(_, class)| *class).collect();
        let class =
            if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
        let _ = write!(page, "<tr{class}>");
        for (index, (cell, column)) in line.cells.iter().zip(&sheet.columns).enumerate() {
            let class = if column.name == "Verdict" { tone(cell) } else { class_of(sheet, index) };
            let text = if column.is_number { unbroken(cell) } else { cell.clone() };
            let _ = write!(page, "<td{class}>{}</td>", escaped(&text));
        }
        *page += "</tr>\n";
    }
    *page += "</tbody>\n</table></div>\n";
}

/// Writes an element. `tag` may contain attributes.
fn element(page: &mut String, tag: &str, content: &str) {
    let name = tag.split(' ').next().unwrap_or(tag);
    let _ = writeln!(page, "<{tag}>{}</{name}>", code(content));
}

/// Returns the CSS class of a verdict from its first words.
fn tone(verdict: &str) -> &'static str {
    let begins = |words: &[&str]| words.iter().any(|word| verdict.starts_with(word));
    match verdict {
        _ if begins(&["slower", "missed", "allocates more", "failed", "FAILED"]) => " class=\"verdict bad\"",
        _ if begins(&["faster", "met", "passed"]) => " class=\"verdict good\"",
        _ => " class=\"verdict\"",
    }
}

fn class_of(sheet: &Sheet, column: usize) -> &'static str {
    // In tables of all implementations, the first column is empty in most lines.
    let key = usize::from(sheet.columns.get(1).is_some_and(|column| column.name == "Implementation"));
    match (&sheet.columns[column], column == key) {
        (_, true) => " class=\"key-column\"",
        (column, _) if column.is_number => " class=\"number\"",
        (column, _)
            if matches!(column.name.as_str(), "Remark" | "Reason" | "Condition" | "Even" | "Undecided") =>
        {
            " class=\"prose\""
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sections;
    use crate::view::tests::{report, sources};

    #[test]
    fn text_is_converted() {
        assert_eq!(escaped("<b> & \"c\""), "&lt;b&gt; &amp; &quot;c&quot;");
        assert_eq!(code("a `b<c` d"), "a <code>b&lt;c</code> d");
        assert_eq!(anchor("codec", "Speed / What (these) mean?"), "codec-speed-what-these-mean");
        assert_eq!(unbroken("2.00 ns, 8 B (a b)"), "2.00\u{a0}ns, 8\u{a0}B (a b)");
        assert!(tone("faster against a").contains("good") && tone("missed").contains("bad"));
        assert_eq!(tone("not measured: slower"), " class=\"verdict\"");
    }

    #[test]
    fn page_has_no_external_references() {
        let page = render("of a test", &sections(&report(), &sources()));
        for reference in ["http:", "https:", " src=", "<script", "@import", "url("] {
            let allowed = page.replace("http://www.w3.org/2000/svg", "").replace("https:\\/\\/", "");
            assert!(!allowed.contains(reference), "{reference} points elsewhere");
        }
        assert!(page.matches("<svg ").count() > 1, "a chart per suite");
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
        assert!(page.contains("faster against a&lt;b"), "text is escaped");
    }

    #[test]
    fn links_have_unique_targets() {
        let page = render("of a test", &sections(&report(), &sources()));
        let values = |attribute: &str| -> Vec<String> {
            let begin = format!(" {attribute}=\"");
            page.split(&begin).skip(1).filter_map(|part| Some(part.split_once('"')?.0.to_owned())).collect()
        };
        let mut ids = values("id");
        for link in values("href") {
            let target = link.strip_prefix('#').expect("links stay on the page");
            assert!(ids.iter().any(|id| id == target), "{link} leads nowhere");
        }
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }
}
