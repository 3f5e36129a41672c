//! Rules of a scenario, and path patterns.

use http::{HeaderName, Method};
use serde::Serialize;
use tightwire_json::Value;

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
/// let rule = Rule::new("/v1/agent")
///     .method("POST")
///     .body_field("/model", "perplexity/sonar")
///     .respond(MockResponse::rate_limited(Duration::from_millis(20)).times(2))
///     .respond(MockResponse::api());
/// ```
#[derive(Debug, Clone)]
pub struct Rule {
    pub(crate) path: String,
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
    /// after percent-decoding. Paths of the same endpoint, such as `/v1/agent` and `/v1/responses`, match each other.
    ///
    /// # Panics
    ///
    /// Panics if the pattern does not start with a slash, or has `**` anywhere but at its end.
    pub fn new(path: &str) -> Self {
        assert!(is_pattern(path), "a pattern starts with / and has ** only at its end");
        Self {
            path: path.to_owned(),
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
    ///
    /// # Panics
    ///
    /// Panics if the value cannot be encoded.
    #[must_use]
    pub fn body_field(mut self, pointer: &str, value: impl Serialize) -> Self {
        let value = tightwire_json::to_value(value).expect("a value that can be encoded");
        self.body.push((pointer.to_owned(), value));
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
            && self.has_path(&request.segments())
            && self.headers.iter().all(|(name, value)| fits(value, request.header(name.as_str())))
            && self.query.iter().all(|(name, value)| fits(value, request.query_value(name).as_deref()))
            && (self.body.is_empty() || self.has_fields(request))
    }

    fn has_path(&self, segments: &[String]) -> bool {
        let path: Vec<&str> = segments.iter().map(String::as_str).collect();
        let pattern = sdk_path(self.path.split('/').skip(1).collect()).join("/");
        matched_ids(&self.path, &path).is_some()
            || matched_ids(&format!("/{pattern}"), &sdk_path(path)).is_some()
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

/// Returns whether a path pattern starts with a slash and has `**` only at its end.
pub(crate) fn is_pattern(pattern: &str) -> bool {
    pattern.starts_with('/') && !pattern.split('/').rev().skip(1).any(|segment| segment == "**")
}

/// Returns the path of an endpoint in the official SDKs, for a path of the API reference.
pub(crate) fn sdk_path(path: Vec<&str>) -> Vec<&str> {
    match path.as_slice() {
        ["v1", "sonar"] | ["v1", "chat", "completions"] => vec!["chat", "completions"],
        ["v1", "async", "sonar", rest @ ..] => [&["async", "chat", "completions"], rest].concat(),
        ["v1", "agent", rest @ ..] => [&["v1", "responses"], rest].concat(),
        _ => path,
    }
}

/// Returns the segments that match a `*`, if the path matches the pattern. A final `**` matches any number of
/// segments.
pub(crate) fn matched_ids<'a>(pattern: &str, path: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut ids = Vec::new();
    let mut segments = path.iter();
    for expected in pattern.split('/').skip(1) {
        match expected {
            "**" => return Some(ids),
            "*" => ids.push(*segments.next()?),
            name if segments.next()? == &name => {}
            _ => return None,
        }
    }
    segments.next().is_none().then_some(ids)
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
    fn responses_are_sent_in_sequence() {
        let status = MockResponse::status;
        let rule = Rule::new("/");
        for (rule, expected) in [
            (rule.clone(), vec![None]),
            (
                rule.clone().respond(status(429).times(2)).respond(status(200)),
                [429, 429, 200, 200, 200].map(Some).into(),
            ),
            (
                rule.clone().respond(status(500)).respond(status(200).times(1)),
                vec![Some(500), Some(200), None],
            ),
            (
                rule.cycle().respond(status(429)).respond(status(200)),
                [429, 200, 429, 200, 429].map(Some).into(),
            ),
        ] {
            assert_eq!(statuses(&rule, expected.len()), expected);
        }
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
            assert_eq!(matched_ids(pattern, path).is_some(), expected, "{pattern} {path:?}");
        }
    }

    #[test]
    fn paths_of_one_endpoint_match_each_other() {
        for (pattern, path, expected) in [
            ("/v1/responses", "v1/agent", true),
            ("/v1/agent/**", "v1/responses/a/files", true),
            ("/chat/completions", "v1/sonar", true),
            ("/v1/**", "v1/sonar", true),
            ("/v1/sonar", "v1/agent", false),
        ] {
            let segments: Vec<_> = path.split('/').map(str::to_owned).collect();
            assert_eq!(Rule::new(pattern).has_path(&segments), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn invalid_patterns_are_rejected() {
        for pattern in ["", "v1", "/**/a"] {
            assert!(!is_pattern(pattern), "{pattern}");
        }
    }
}
