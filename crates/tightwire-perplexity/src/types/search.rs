//! Search without a model: `POST /search`.

use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

#[cfg(test)]
use super::arbitrary::{Arbitrary, Source};
use super::invalid::{Invalid, present};
use super::wire::{member, object, open_enum, value_member};
use super::{Recency, SearchContextSize, SearchMode, TextOrList};

object! {
    /// The body of a search.
    ///
    /// # Examples
    /// ```
    /// use tightwire_perplexity::types::{Recency, search::Request};
    ///
    /// let request = Request::new(["tides", "moon"]).max_results(5).search_recency_filter(Recency::Month);
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: body {
        /// What to search for: one query, or several at once.
        query: must TextOrList,
        /// Country to search from, as ISO 3166-1 code.
        country: may String,
        /// Whether to tell the time of the server.
        display_server_time: copy bool,
        /// How many results to return per query. More than 20 are for [`SearchType::People`] alone.
        max_results: copy u32,
        /// Upper bound of the tokens of all snippets.
        max_tokens: copy u32,
        /// Upper bound of the tokens of each snippet.
        max_tokens_per_page: copy u32,
        /// How much text to return. Leave it out together with the two bounds above. The server's default is `high`.
        search_context_size: may SearchContextSize,
        /// Domains to search in; a leading `-` excludes one.
        search_domain_filter: many String,
        /// Languages of the results, as lower-case ISO 639-1 codes.
        search_language_filter: many String,
        /// Where to search.
        search_mode: may SearchMode,
        /// How old results may be.
        search_recency_filter: may Recency,
        /// Earliest day of publication, as `M/D/YYYY`.
        search_after_date_filter: may String,
        /// Latest day of publication, as `M/D/YYYY`.
        search_before_date_filter: may String,
        /// Earliest day of the last change, as `M/D/YYYY`.
        last_updated_after_filter: may String,
        /// Latest day of the last change, as `M/D/YYYY`.
        last_updated_before_filter: may String,
        /// What is searched.
        search_type: may SearchType,
    }
}

impl Request {
    /// A search for one text or several.
    pub fn new(query: impl Into<TextOrList>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }

    /// Checks what the server would refuse.
    ///
    /// # Errors
    /// There is no query, or one of them is empty.
    pub fn validate(&self) -> Result<(), Invalid> {
        present("query", self.query.is_blank())
    }
}

open_enum! {
    /// What is searched.
    pub enum SearchType {
        /// The web.
        Web = "web",
        /// The web, quickly.
        Fast = "fast",
        /// People.
        People = "people",
    }
}

object! {
    /// The answer to a search.
    pub struct Response: answer {
        /// Its identifier.
        id: must String,
        /// What was found.
        results: must Results,
        /// The time of the server.
        server_time: may String,
    }
}

object! {
    /// A page that was found.
    pub struct SearchResult: answer {
        /// What it says.
        snippet: must String,
        /// Its title.
        title: must String,
        /// Its address.
        url: must String,
        /// When it was published, as `YYYY-MM-DD`.
        date: may String,
        /// When it was changed, as `YYYY-MM-DD`.
        last_updated: may String,
    }
}

/// The results of all queries of a request.
///
/// Servers write one list, or for several queries a list of lists. Either is a slice of all results; which of
/// them belong to which query is in [`by_query`](Self::by_query).
///
/// # Examples
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
    /// Where the results of each query end, if the server grouped them.
    ends: Option<Box<[usize]>>,
}

impl Results {
    /// The results of each query; of all of them at once if the server did not group them.
    pub fn by_query(&self) -> impl Iterator<Item = &[SearchResult]> {
        let whole = self.ends.is_none().then_some(self.all.len());
        let ends = self.ends.iter().flatten().copied().chain(whole);
        ends.scan(0, |start, end| Some(&self.all[std::mem::replace(start, end)..end]))
    }

    /// Whether the server grouped the results by query.
    pub fn is_grouped(&self) -> bool {
        self.ends.is_some()
    }

    /// All results.
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

/// Results that are grouped by query.
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
            // A single result among groups is a group of its own.
            ends.push(all.len());
        }
        Ok(Results { all, ends: is_grouped.then(|| ends.into()) })
    }
}

/// Reads a result, or a group of them, to the end of a list; tells whether it is a group.
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
        self.0.append(&mut member::list(seq)?);
        Ok(true)
    }
}

value_member!(Results);

#[cfg(test)]
impl Arbitrary for Results {
    fn arbitrary(source: &mut Source) -> Self {
        if bool::arbitrary(source) {
            Vec::<SearchResult>::arbitrary(source).into()
        } else {
            // Groups are only visible where there are some.
            let mut groups = Vec::<Vec<SearchResult>>::arbitrary(source);
            groups.push(Vec::new());
            groups.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_list_is_one_group() {
        let flat: Results = tightwire_json::from_str(r#"[{"title": "a"}, {"title": "b"}]"#).unwrap();
        assert!(!flat.is_grouped());
        assert_eq!(flat.by_query().map(<[_]>::len).collect::<Vec<_>>(), [2]);
        assert_eq!(flat[1].title, "b");
    }

    #[test]
    fn groups_are_written_as_they_came() {
        let text = r#"[[],[{"snippet":"","title":"a","url":""}],[]]"#;
        let groups: Results = tightwire_json::from_str(text).unwrap();
        assert_eq!(groups.by_query().map(<[_]>::len).collect::<Vec<_>>(), [0, 1, 0]);
        assert_eq!(tightwire_json::to_string(&groups).unwrap(), text);
    }

    #[test]
    fn a_single_result_among_groups_is_a_group() {
        let mixed: Results = tightwire_json::from_str(r#"[[{}, {}], {}, []]"#).unwrap();
        assert_eq!(mixed.by_query().map(<[_]>::len).collect::<Vec<_>>(), [2, 1, 0]);
    }
}
