//! Sources of a response, and the citations in its text.

use std::collections::HashMap;
use std::ops::Range;

use super::output::{OutputContent, OutputItem};
use super::response::Response;

/// A page that a response is based on; see [`Response::sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source<'a> {
    /// Number that citations in the text refer to. Only search results have one.
    pub id: Option<i64>,
    /// URL of the page.
    pub url: &'a str,
    /// Title of the page; may be empty.
    pub title: &'a str,
    /// Extract of the page's text; may be empty.
    pub snippet: &'a str,
}

/// A citation such as `[7]` in the text of a response; see [`Response::citations`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Citation<'a> {
    /// Position of the citation in the text, in bytes.
    pub range: Range<usize>,
    /// Page that the citation refers to.
    pub source: Source<'a>,
}

impl Response {
    /// Returns the pages of search results, fetched pages and annotations, each URL once.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::responses::Response;
    ///
    /// let response: Response = tightwire_json::from_str(
    ///     r#"{"output": [
    ///         {"type": "fetch_url_results", "contents": [{"url": "https://example.org", "title": "Example"}]},
    ///         {"type": "search_results", "results": [{"id": 7, "url": "https://example.org", "title": "Example"}]},
    ///         {"type": "message", "content": [{"type": "output_text", "text": "It is blue [7]."}]}
    ///     ]}"#,
    /// )?;
    /// let sources = response.sources();
    /// assert_eq!((sources.len(), sources[0].id, sources[0].title), (1, Some(7), "Example"));
    /// let text = response.output_text();
    /// let citation = &response.citations(&text)[0];
    /// assert_eq!((&text[citation.range.clone()], citation.source.url), ("[7]", "https://example.org"));
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub fn sources(&self) -> Vec<Source<'_>> {
        self.numbered_sources().0
    }

    /// Returns the citations in `text`, which is the text of this response or a part of it: numbers in brackets that
    /// are the [`Source::id`] of a search result. Links in Markdown are no citations.
    pub fn citations(&self, text: &str) -> Vec<Citation<'_>> {
        let (sources, by_id) = self.numbered_sources();
        let citation = |(start, _)| {
            let (number, rest) = text.get(start + 1..)?.split_once(']')?;
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number || rest.starts_with('(') {
                return None;
            }
            let source = sources[*by_id.get(&number.parse().ok()?)?];
            Some(Citation { range: start..start + number.len() + 2, source })
        };
        text.match_indices('[').filter_map(citation).collect()
    }

    /// Returns the sources, and their positions by each of their numbers.
    fn numbered_sources(&self) -> (Vec<Source<'_>>, HashMap<i64, usize>) {
        let (mut sources, mut by_url, mut by_id) = (Vec::<Source<'_>>::new(), HashMap::new(), HashMap::new());
        for item in &self.output {
            visit_sources(item, &mut |source| {
                if source.url.is_empty() {
                    return;
                }
                let index = *by_url.entry(source.url).or_insert(sources.len());
                match sources.get_mut(index) {
                    None => sources.push(source),
                    Some(known) if known.id.is_none() && source.id.is_some() => *known = source,
                    Some(_) => {}
                }
                if let Some(id) = source.id {
                    by_id.entry(id).or_insert(index);
                }
            });
        }
        (sources, by_id)
    }
}

/// Calls `add` with the sources of an item.
fn visit_sources<'a>(item: &'a OutputItem, add: &mut impl FnMut(Source<'a>)) {
    match item {
        OutputItem::SearchResults(search) | OutputItem::PeopleSearchResults(search) => {
            for result in &search.results {
                // A missing number is decoded as 0.
                let id = Some(result.id).filter(|id| *id > 0);
                add(Source { id, url: &result.url, title: &result.title, snippet: &result.snippet });
            }
        }
        OutputItem::FetchUrlResults(fetched) => {
            for page in &fetched.contents {
                add(Source { id: None, url: &page.url, title: &page.title, snippet: &page.snippet });
            }
        }
        OutputItem::Message(message) => {
            for part in &message.content {
                let OutputContent::Text(text) = part else { continue };
                for annotation in text.annotations.iter().flatten() {
                    let (url, title) = (annotation.url.as_deref(), annotation.title.as_deref());
                    let (url, title) = (url.unwrap_or_default(), title.unwrap_or_default());
                    add(Source { id: None, url, title, snippet: "" });
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_one_source_with_all_its_numbers() {
        let response: Response = tightwire_json::from_str(
            r#"{"output": [
                {"contents": [{"url": "a", "title": "A"}, {"url": ""}], "type": "fetch_url_results"},
                {"results": [{"id": 7, "url": "a", "title": "S"}, {"url": "b"}], "type": "search_results"},
                {"results": [{"id": 17, "url": "a"}, {"id": 18, "url": "c"}], "type": "people_search_results"},
                {"content": [{"annotations": [{"url": "c"}, {"url": null}, {"url": "d", "title": null}],
                    "text": "", "type": "output_text"}], "type": "message"}]}"#,
        )
        .unwrap();
        let found: Vec<_> = response.sources().iter().map(|it| (it.url, it.id, it.title)).collect();
        assert_eq!(found, [("a", Some(7), "S"), ("b", None, ""), ("c", Some(18), ""), ("d", None, "")]);
        let text = "é[7][17] [18](https://example.org) [web:0] [0] [1] [] [+7] [7 [18]";
        let found: Vec<_> =
            response.citations(text).into_iter().map(|it| (it.range.start, it.source.url)).collect();
        assert_eq!(found, [(2, "a"), (5, "a"), (63, "c")]);
        assert_eq!(&text[63..], "[18]");
    }
}
