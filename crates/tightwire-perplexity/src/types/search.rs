//! Web search without a model: `POST /search`.

use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

#[cfg(test)]
use super::arbitrary::{Arbitrary, Source};
use super::invalid::{Invalid, present};
#[cfg(test)]
use super::shape::Shape;
use super::wire::{field, field_value, object, open_enum};
use super::{Recency, SearchContextSize, SearchMode, TextOrList};

object! {
    /// Request body of `POST /search`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::{Recency, search::Request};
    ///
    /// let request = Request::new(["tides", "moon"]).max_results(5).search_recency_filter(Recency::Month);
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: request, new {
        /// One query, or several that are answered together.
        query: required TextOrList,
        /// Country to search from, as an ISO 3166-1 code.
        country: optional String,
        /// Whether to return the server's time.
        display_server_time: scalar bool,
        /// Maximum results per query. More than 20 only for [`SearchType::People`].
        max_results: scalar u32,
        /// Maximum tokens of all snippets together.
        max_tokens: scalar u32,
        /// Maximum tokens per snippet.
        max_tokens_per_page: scalar u32,
        /// Amount of text to return, as an alternative to `max_tokens` and `max_tokens_per_page` [server
        /// default: `high`].
        search_context_size: optional SearchContextSize,
        /// Domains to search in; a leading `-` excludes a domain. [`DomainFilter`](crate::types::DomainFilter) has the
        /// limits of the API.
        search_domain_filter: list String,
        /// Languages of the results, as lower-case ISO 639-1 codes.
        search_language_filter: list String,
        /// Collection of sources to search.
        search_mode: optional SearchMode,
        /// Maximum age of the results.
        search_recency_filter: optional Recency,
        /// Earliest publication date, as `M/D/YYYY`.
        search_after_date_filter: optional String,
        /// Latest publication date, as `M/D/YYYY`.
        search_before_date_filter: optional String,
        /// Earliest date of the last update, as `M/D/YYYY`.
        last_updated_after_filter: optional String,
        /// Latest date of the last update, as `M/D/YYYY`.
        last_updated_before_filter: optional String,
        /// Type of search.
        search_type: optional SearchType,
    }
}

impl Request {
    /// Validates the request locally.
    ///
    /// # Errors
    ///
    /// Returns [`Invalid`] if there is no query or one is empty.
    pub fn validate(&self) -> Result<(), Invalid> {
        present("query", self.query.is_blank())
    }
}

open_enum! {
    /// Type of search.
    pub enum SearchType {
        /// Full web search.
        Web = "web",
        /// Faster, less thorough web search.
        Fast = "fast",
        /// Search for people.
        People = "people",
    }
}

object! {
    /// Response of `POST /search`.
    pub struct Response: response {
        /// Identifier of the search.
        id: String,
        /// Results of all queries.
        results: Results,
        /// Time of the server.
        server_time: Option<String>,
    }

    /// A search result.
    pub struct SearchResult: response {
        /// Extract of the page's text.
        snippet: String,
        /// Title of the page.
        title: String,
        /// URL of the page.
        url: String,
        /// Publication date, as `YYYY-MM-DD`.
        date: Option<String>,
        /// Date of the last update, as `YYYY-MM-DD`.
        last_updated: Option<String>,
    }
}

/// Results of all queries of a search request.
///
/// The server sends a flat list or, for several queries, a list per query. Both dereference to a slice of all
/// results; [`by_query`](Self::by_query) returns the groups.
///
/// # Examples
///
/// ```
/// use tightwire_perplexity::types::search::Response;
///
/// let nested: Response = tightwire_json::from_str(r#"{"results": [[{"title": "a"}], [{"title": "b"}, {"title": "c"}]]}"#)?;
/// assert_eq!(nested.results.len(), 3);
/// assert_eq!(nested.results.by_query().map(<[_]>::len).collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    all: Vec<SearchResult>,
    /// End index of each query's results in `all`, if the server grouped them.
    ends: Option<Box<[usize]>>,
}

impl Results {
    /// Returns the results grouped by query, or one group of all results if the server did not group them.
    pub fn by_query(&self) -> impl Iterator<Item = &[SearchResult]> {
        let whole = self.ends.is_none().then_some(self.all.len());
        let ends = self.ends.iter().flatten().copied().chain(whole);
        ends.scan(0, |start, end| Some(&self.all[std::mem::replace(start, end)..end]))
    }

    /// Returns whether the server grouped the results by query.
    pub fn is_grouped(&self) -> bool {
        self.ends.is_some()
    }

    /// Returns all results.
    pub fn into_vec(self) -> Vec<SearchResult> {
        self.all
    }
}

impl Deref for Results {
    type Target = [SearchResult];

    fn deref(&self) -> &[SearchResult] {
        &self.all
    }
}

impl From<Vec<SearchResult>> for Results {
    fn from(all: Vec<SearchResult>) -> Self {
        Self { all, ends: None }
    }
}

/// Creates results that are grouped by query.
impl From<Vec<Vec<SearchResult>>> for Results {
    fn from(groups: Vec<Vec<SearchResult>>) -> Self {
        let ends = groups.iter().scan(0, |end, group| {
            *end += group.len();
            Some(*end)
        });
        Self { ends: Some(ends.collect()), all: groups.into_iter().flatten().collect() }
    }
}

impl<'a> IntoIterator for &'a Results {
    type Item = &'a SearchResult;
    type IntoIter = std::slice::Iter<'a, SearchResult>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}

impl IntoIterator for Results {
    type Item = SearchResult;
    type IntoIter = std::vec::IntoIter<SearchResult>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}

impl Serialize for Results {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_grouped() {
            serializer.collect_seq(self.by_query())
        } else {
            self.all.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ResultsVisitor)
    }
}

struct ResultsVisitor;

impl<'de> Visitor<'de> for ResultsVisitor {
    type Value = Results;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of results, or of arrays of results")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Results, A::Error> {
        let mut all = Vec::new();
        let mut ends = Vec::new();
        let mut is_grouped = false;
        while let Some(is_group) = seq.next_element_seed(Element(&mut all))? {
            is_grouped |= is_group;
            // A single result between groups forms its own group.
            ends.push(all.len());
        }
        Ok(Results { all, ends: is_grouped.then(|| ends.into()) })
    }
}

/// Appends one result or a group of results to a list. Returns whether it was a group.
struct Element<'a>(&'a mut Vec<SearchResult>);

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = bool;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Element<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result, or an array of results")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<bool, A::Error> {
        self.0.push(object::read(map)?);
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<bool, A::Error> {
        self.0.append(&mut field::list(seq)?);
        Ok(true)
    }
}

field_value!(Results);

#[cfg(test)]
impl Arbitrary for Results {
    fn arbitrary(source: &mut Source) -> Self {
        if bool::arbitrary(source) {
            Vec::<SearchResult>::arbitrary(source).into()
        } else {
            // An empty list of groups would encode like an empty flat list.
            let mut groups = Vec::<Vec<SearchResult>>::arbitrary(source);
            groups.push(Vec::new());
            groups.into()
        }
    }

    fn describe(shape: &mut Shape) {
        SearchResult::describe(shape);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_of_the_server() {
        for (text, is_grouped, lengths) in [
            (r#"[{"title": "a"}, {"title": "b"}]"#, false, &[2][..]),
            (r#"[[], [{"title": "a"}], []]"#, true, &[0, 1, 0]),
            // A single result among groups is a group.
            (r#"[[{"title": "a"}, {}], {}, []]"#, true, &[2, 1, 0]),
        ] {
            let results: Results = tightwire_json::from_str(text).unwrap();
            assert_eq!(results.is_grouped(), is_grouped);
            assert_eq!(results.by_query().map(<[_]>::len).collect::<Vec<_>>(), lengths);
            assert_eq!(results[0].title, "a");
        }
    }
}
