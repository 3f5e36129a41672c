//! Rules of a scenario, and their path patterns.

use http::{HeaderName, Method};
use serde_json::Value;

use crate::mock_response::MockResponse;
use crate::request::Request;

/// A request matcher with a sequence of responses.
///
/// Each response is sent as many [times](MockResponse::times) as it says. The last one repeats forever unless
/// it has a count. After the last one the rule no longer matches, or restarts if it [cycles](Self::cycle).
///
/// ```
/// use tightwire_perplexity_mock::{MockResponse, Rule};
/// use std::time::Duration;
///
/// let rule = Rule::new("/chat/completions")
///     .method("POST")
///     .body_field("/model", "sonar")
///     .respond(MockResponse::rate_limited(Duration::from_millis(20)).times(2))
///     .respond(MockResponse::api());
/// ```
#[derive(Debug, Clone)]
pub struct Rule {
    pub(crate) path: PathPattern,
    pub(crate) method: Option<Method>,
    pub(crate) headers: Vec<(HeaderName, String)>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Vec<(String, Value)>,
    pub(crate) responses: Vec<MockResponse>,
    pub(crate) cycles: bool,
}

/// Progress in the response sequence of a rule.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    index: usize,
    served: u32,
}

impl Rule {
    /// Creates a rule for a path: `*` matches one segment, a final `**` any number. Segments are compared
    /// after percent-decoding.
    ///
    /// # Panics
    ///
    /// Panics if the pattern does not start with a slash, or has `**` anywhere but at its end.
    pub fn new(path: &str) -> Self {
        let path = PathPattern::parse(path);
        let path = path.expect("a pattern that starts with / and has ** only at its end");
        Self {
            path,
            method: None,
            headers: Vec::new(),
            query: Vec::new(),
            body: Vec::new(),
            responses: Vec::new(),
            cycles: false,
        }
    }

    /// Requires this method. Default: any.
    ///
    /// # Panics
    ///
    /// Panics if the method is invalid.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.method = Some(method.parse().expect("a valid method"));
        self
    }

    /// Requires a header with this value; `*` matches any value.
    ///
    /// # Panics
    ///
    /// Panics if the name is invalid.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.parse().expect("a valid header name"), value.to_owned()));
        self
    }

    /// Requires a query parameter with this value; `*` matches any value.
    #[must_use]
    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.query.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Requires a JSON body with this value at the JSON pointer (RFC 6901).
    #[must_use]
    pub fn body_field(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        self.body.push((pointer.to_owned(), value.into()));
        self
    }

    /// Appends a response to the sequence. A rule without responses matches no request.
    #[must_use]
    pub fn respond(mut self, response: MockResponse) -> Self {
        self.responses.push(response);
        self
    }

    /// Restarts with the first response after the last one.
    #[must_use]
    pub fn cycle(mut self) -> Self {
        self.cycles = true;
        self
    }

    pub(crate) fn matches(&self, request: &Request) -> bool {
        let fits = |expected: &str, found: Option<&str>| {
            found.is_some_and(|found| expected == "*" || expected == found)
        };
        self.method.as_ref().is_none_or(|method| *method == request.method)
            && self.path.matches(&request.segments())
            && self.headers.iter().all(|(name, value)| fits(value, request.header(name.as_str())))
            && self.query.iter().all(|(name, value)| fits(value, request.query_value(name).as_deref()))
            && (self.body.is_empty() || self.has_fields(request))
    }

    fn has_fields(&self, request: &Request) -> bool {
        let Some(body) = request.json() else { return false };
        self.body.iter().all(|(pointer, value)| body.pointer(pointer) == Some(value))
    }

    /// Returns the next response, or `None` after the last one.
    pub(crate) fn next(&self, progress: &mut Progress) -> Option<&MockResponse> {
        loop {
            let response = self.responses.get(progress.index)?;
            let is_last = progress.index + 1 == self.responses.len();
            let times = match response.times {
                Some(times) => times.get(),
                None if is_last && !self.cycles => return Some(response),
                None => 1,
            };
            if progress.served < times {
                progress.served += 1;
                return Some(response);
            }
            progress.served = 0;
            progress.index = if is_last && self.cycles { 0 } else { progress.index + 1 };
        }
    }
}

/// A path pattern: `*` matches one segment, a final `**` any number of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    segments: Vec<String>,
    is_open: bool,
}

impl PathPattern {
    /// Returns `None` unless the pattern starts with a slash and has `**` only at its end.
    pub(crate) fn parse(pattern: &str) -> Option<Self> {
        let mut segments: Vec<String> = pattern.strip_prefix('/')?.split('/').map(str::to_owned).collect();
        let is_open = segments.last().is_some_and(|last| last == "**");
        if is_open {
            segments.pop();
        }
        (!segments.iter().any(|segment| segment == "**")).then_some(Self { segments, is_open })
    }

    pub(crate) fn matches(&self, path: &[impl AsRef<str>]) -> bool {
        let is_long_enough =
            if self.is_open { path.len() >= self.segments.len() } else { path.len() == self.segments.len() };
        is_long_enough
            && self
                .segments
                .iter()
                .zip(path)
                .all(|(pattern, segment)| pattern == "*" || pattern == segment.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(rule: &Rule, requests: usize) -> Vec<Option<u16>> {
        let mut progress = Progress::default();
        (0..requests)
            .map(|_| rule.next(&mut progress).map(|response| response.status.unwrap().as_u16()))
            .collect()
    }

    #[test]
    fn last_response_repeats() {
        let rule =
            Rule::new("/").respond(MockResponse::status(429).times(2)).respond(MockResponse::status(200));
        assert_eq!(statuses(&rule, 5), [429, 429, 200, 200, 200].map(Some));
    }

    #[test]
    fn counted_last_response_exhausts_the_rule() {
        let rule =
            Rule::new("/").respond(MockResponse::status(500)).respond(MockResponse::status(200).times(1));
        assert_eq!(statuses(&rule, 3), [Some(500), Some(200), None]);
        assert_eq!(statuses(&Rule::new("/"), 1), [None]);
    }

    #[test]
    fn cycle_restarts_the_sequence() {
        let rule =
            Rule::new("/").cycle().respond(MockResponse::status(429)).respond(MockResponse::status(200));
        assert_eq!(statuses(&rule, 5), [429, 200, 429, 200, 429].map(Some));
    }

    #[test]
    fn wildcards_stand_for_segments() {
        for (pattern, path, expected) in [
            ("/v1/files", &["v1", "files"] as &[&str], true),
            ("/v1/files", &["v1", "files", ""], false),
            ("/v1/files/*/content", &["v1", "files", "a/b", "content"], true),
            ("/v1/files/*/content", &["v1", "files", "content"], false),
            ("/v1/**", &["v1"], true),
            ("/v1/**", &["v1", "a", "b"], true),
            ("/**", &[""], true),
            ("/v1/**", &["v2"], false),
        ] {
            assert_eq!(PathPattern::parse(pattern).unwrap().matches(path), expected, "{pattern} {path:?}");
        }
    }

    #[test]
    fn invalid_patterns_are_rejected() {
        for pattern in ["", "v1", "/**/a"] {
            assert_eq!(PathPattern::parse(pattern), None);
        }
    }
}
