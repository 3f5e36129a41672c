//! The request that opens the stream, the same on every connection but for `Last-Event-ID`.

use http::header::{ACCEPT, CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};

use super::MIME_TYPE;
use crate::error::{Error, Kind, Result};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A request that can be sent any number of times.
pub(super) struct Template {
    request: reqwest::Request,
}

impl Template {
    /// Completes the request with the headers of the standard, where the caller has not chosen others.
    pub(super) fn new(mut request: reqwest::Request) -> Result<Self> {
        let headers = request.headers_mut();
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static(MIME_TYPE));
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
        if request.try_clone().is_none() {
            return Err(Error::with_source(Kind::Request, "body is a stream, which can be sent only once"));
        }
        Ok(Self { request })
    }

    /// Returns the request that resumes after `last_event_id`; `None` never occurs for a body that was cloned
    /// once.
    ///
    /// An empty id means that there is nothing to resume and is not sent. Neither is one with control
    /// characters, which the stream format allows and HTTP does not: a request without the header still gets
    /// events, a malformed one gets none.
    pub(super) fn resume(&self, last_event_id: &str) -> Option<reqwest::Request> {
        let mut request = self.request.try_clone()?;
        if !last_event_id.is_empty()
            && let Ok(value) = HeaderValue::from_bytes(last_event_id.as_bytes())
        {
            request.headers_mut().insert(LAST_EVENT_ID, value);
        }
        Some(request)
    }
}

/// Checks that reqwest can connect to a URL of this scheme.
pub(super) fn check_scheme(scheme: &str, has_tls: bool) -> Result<()> {
    let problem = match scheme {
        "http" => return Ok(()),
        "https" if has_tls => return Ok(()),
        "https" => "reqwest is built without TLS (enable one of its TLS features)",
        _ => "scheme of the URL is neither http nor https",
    };
    Err(Error::with_source(Kind::Request, problem))
}

/// Takes an id that the caller set as a plain header, because a later id has to replace it.
pub(super) fn take_last_event_id(headers: &mut HeaderMap) -> Result<Option<String>> {
    let Some(value) = headers.remove(LAST_EVENT_ID) else { return Ok(None) };
    match String::from_utf8(value.as_bytes().to_vec()) {
        Ok(id) => Ok(Some(id)),
        Err(error) => Err(Error::with_source(Kind::Request, error.utf8_error())),
    }
}

/// Checks an id that the caller presets; an id of the server cannot be refused any more.
pub(super) fn check_last_event_id(id: &str) -> Result<()> {
    match HeaderValue::from_bytes(id.as_bytes()) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::with_source(Kind::Request, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template() -> Template {
        let url = "http://example.org/stream".parse().expect("URL is valid");
        Template::new(reqwest::Request::new(http::Method::GET, url)).expect("request is complete")
    }

    fn sent_id(id: &str) -> Option<Vec<u8>> {
        let request = template().resume(id).expect("there is no body");
        request.headers().get(LAST_EVENT_ID).map(|value| value.as_bytes().to_vec())
    }

    #[test]
    fn http_02_default_headers() {
        let request = template().resume("").expect("there is no body");
        assert_eq!(request.headers()[ACCEPT], "text/event-stream");
        assert_eq!(request.headers()[CACHE_CONTROL], "no-cache");
        assert_eq!(request.headers().len(), 2);
    }

    #[test]
    fn https_needs_tls() {
        assert!(check_scheme("https", true).is_ok() && check_scheme("http", false).is_ok());
        assert!(check_scheme("https", false).unwrap_err().is_request());
        assert!(check_scheme("ftp", true).unwrap_err().is_request());
    }

    #[test]
    fn rec_10_id_is_sent_as_utf8() {
        assert_eq!(sent_id("…").as_deref(), Some("…".as_bytes()));
        assert_eq!(sent_id("a b"), Some(b"a b".to_vec()));
    }

    #[test]
    fn id_that_http_cannot_carry_is_left_out() {
        for id in ["", "a\u{1}", "\u{7f}"] {
            assert_eq!(sent_id(id), None, "{id:?}");
        }
    }
}
