//! Request headers.

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use crate::error::{Error, Result};

pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const X_SOURCE: HeaderName = HeaderName::from_static("x-source");
const X_TITLE: HeaderName = HeaderName::from_static("x-title");

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Default `User-Agent`.
const AGENT: &str = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));

/// Value of the `Accept` header of event streams.
pub(crate) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// A header to set, or to remove for `None`.
pub(crate) type HeaderEdit = (HeaderName, Option<HeaderValue>);

/// Returns the default headers of every request.
pub(crate) fn defaults(authorization: HeaderValue) -> HeaderMap {
    // Reserve space for all headers of a request, so that clones do not reallocate.
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(AUTHORIZATION, authorization);
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(X_SOURCE, HeaderValue::from_static(env!("CARGO_PKG_NAME")));
    headers.insert(X_TITLE, HeaderValue::from_static("Perplexity client for Rust"));
    headers
}

/// Sets and removes headers, in order.
pub(crate) fn apply(headers: &mut HeaderMap, edits: &[HeaderEdit]) {
    for (name, value) in edits {
        match value {
            Some(value) => drop(headers.insert(name, value.clone())),
            None => drop(headers.remove(name)),
        }
    }
}

/// Returns the `Authorization` header, marked as sensitive so that debug output redacts it.
pub(crate) fn bearer(key: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
        .map_err(|_| Error::config("API key contains characters that are invalid in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Parses the `name: value` lines of the environment variable. Lines without a colon are ignored.
pub(crate) fn parse_lines(lines: &str) -> Result<Vec<HeaderEdit>> {
    let pairs = lines.split('\n').filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| Ok((parse_name(name.trim())?, Some(parse_value(value.trim())?)))).collect()
}

/// Parses a header name.
pub(crate) fn parse_name(name: &str) -> Result<HeaderName> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|error| Error::invalid("header", "has an invalid name").with_source(error))
}

/// Parses a header value. The error omits the value, which may be a secret.
pub(crate) fn parse_value(value: &str) -> Result<HeaderValue> {
    HeaderValue::from_bytes(value.as_bytes())
        .map_err(|error| Error::invalid("header", "has an invalid value").with_source(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &'static str, value: &'static str) -> HeaderEdit {
        (HeaderName::from_static(name), Some(HeaderValue::from_static(value)))
    }

    #[test]
    fn lines_of_the_environment() {
        let edits = parse_lines("x-a: 1 \nno colon\n X-B :two: three\r\n\n").unwrap();
        assert_eq!(edits, [set("x-a", "1"), set("x-b", "two: three")]);
        assert!(parse_lines("a b: 1").unwrap_err().is_invalid_request());
        let error = parse_lines("x: se\u{1}cret").unwrap_err();
        assert!(!format!("{error:?}").contains("cret"));
    }
}
