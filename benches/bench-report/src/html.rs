//! The report as a single HTML file without external references, converted from Markdown.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::chart::escaped;

const STYLE: &str = concat!(include_str!("style.css"), include_str!("chart.css"));

/// Converts a page. An image is replaced by the drawing with the same name in `charts`.
pub(crate) fn render(title: &str, markdown: &str, charts: &BTreeMap<String, String>) -> String {
    let mut events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    let links = name_sections(&mut events);
    let mut is_image = false;
    let events = events.into_iter().filter_map(|event| match event {
        // Scrollable content must be reachable by keyboard.
        Event::Start(Tag::Table(_)) => {
            Some(vec![Event::Html("<div class=\"scroll\" tabindex=\"0\">".into()), event])
        }
        Event::End(TagEnd::Table) => Some(vec![event, Event::Html("</div>\n".into())]),
        Event::Start(Tag::Image { dest_url, .. }) => {
            is_image = true;
            let name = Path::new(&*dest_url).file_stem().and_then(OsStr::to_str);
            let drawing = name.and_then(|name| charts.get(name)).cloned().unwrap_or_default();
            Some(vec![Event::InlineHtml(drawing.into())])
        }
        Event::End(TagEnd::Image) => {
            is_image = false;
            None
        }
        _ if is_image => None,
        _ => Some(vec![event]),
    });
    let mut body = String::new();
    html::push_html(&mut body, events.flatten());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<nav aria-label=\"Sections\">{links}</nav>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escaped(title)
    )
}

/// Gives the headings ids, and returns links to those of the second level.
fn name_sections(events: &mut [Event<'_>]) -> String {
    let mut links = String::new();
    for index in 0..events.len() {
        let (before, after) = events.split_at_mut(index + 1);
        let Event::Start(Tag::Heading { level, id, .. }) = &mut before[index] else { continue };
        let words = after.iter().map_while(|event| match event {
            Event::Text(text) | Event::Code(text) => Some(text.to_string()),
            _ => None,
        });
        let title: String = words.collect();
        let name = format!("s{index}");
        if *level == HeadingLevel::H2 {
            let _ = write!(links, "<a href=\"#{name}\">{}</a>", escaped(&title));
        }
        *id = Some(CowStr::from(name));
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;
    use crate::files::page;
    use crate::pages::tests::report;
    use crate::sources::tests::sources;

    #[test]
    fn page_has_no_external_references() {
        let (report, sources) = (report(), sources());
        let page = page(&Facts::new(&report, &sources));
        for reference in ["http:", "https:", " src=", "<script", "@import", "url("] {
            let allowed = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!allowed.contains(reference), "{reference} points elsewhere");
        }
        assert!(page.matches("<svg ").count() > 1, "a chart per suite");
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
        assert!(page.contains("a&lt;b") && !page.contains("a<b"), "text is escaped");
    }

    #[test]
    fn links_have_targets() {
        let page = render("t", "## A `b`\n\n### C\n\n## D\n", &BTreeMap::new());
        let ids = page.matches(" id=\"s").count();
        assert_eq!((ids, page.matches("<a href=\"#s").count()), (3, 2), "{page}");
        assert!(page.contains("<a href=\"#s0\">A b</a>"), "{page}");
    }
}
