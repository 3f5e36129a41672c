//! Builds the request of each connection, which differs only in `Last-Event-ID`, and validates the response (HTML
//! standard, section 9.2.3 "Processing model").

use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::status::StatusCode;

use super::MIME_TYPE;
use crate::error::{Error, Kind, Refused, Result};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Request that can be sent repeatedly.
pub(crate) struct RequestTemplate {
    request: reqwest::Request,
    /// Whether a request without `Last-Event-ID` is not sent.
    requires_id: bool,
}

impl RequestTemplate {
    /// Adds the default headers of the standard.
    pub(crate) fn new(mut request: reqwest::Request) -> Result<Self> {
        let cache_control = request.headers_mut().entry(CACHE_CONTROL);
        cache_control.or_insert(HeaderValue::from_static("no-cache"));
        Self::without_cache_control(request)
    }

    /// Adds only `Accept`, as reqwest-eventsource does.
    pub(crate) fn without_cache_control(mut request: reqwest::Request) -> Result<Self> {
        request.headers_mut().entry(ACCEPT).or_insert(HeaderValue::from_static(MIME_TYPE));
        if request.try_clone().is_none() {
            return Err(Error::with_source(Kind::Request, "body is a stream, which cannot be sent again"));
        }
        Ok(Self { request, requires_id: false })
    }

    /// Changes the request to a GET request that is only sent with `Last-Event-ID`. Returns its headers.
    pub(super) fn resume_with_get(&mut self) -> &mut HeaderMap {
        *self.request.method_mut() = http::Method::GET;
        *self.request.body_mut() = None;
        self.requires_id = true;
        self.request.headers_mut()
    }

    /// Returns the request with `Last-Event-ID`, or `None` if it requires an id. It can be cloned, as `new` has checked.
    ///
    /// The header is omitted if the id is empty, and if it has control characters, which are valid in an event stream
    /// but not in HTTP.
    pub(crate) fn resume(&self, last_event_id: &str) -> Option<reqwest::Request> {
        let mut request = self.request.try_clone()?;
        if !last_event_id.is_empty()
            && let Ok(value) = HeaderValue::from_bytes(last_event_id.as_bytes())
        {
            request.headers_mut().insert(LAST_EVENT_ID, value);
        } else if self.requires_id {
            return None;
        }
        Some(request)
    }
}

/// Returns an error if reqwest cannot connect to a URL with this scheme.
pub(super) fn check_scheme(scheme: &str, has_tls: bool) -> Result<()> {
    let reason = match scheme {
        "http" => return Ok(()),
        "https" if has_tls => return Ok(()),
        "https" => "reqwest is built without TLS (enable one of its TLS features)",
        _ => "scheme of the URL is not http or https",
    };
    Err(Error::with_source(Kind::Request, reason))
}

/// Removes `Last-Event-ID` from the headers and returns its value.
pub(super) fn take_last_event_id(headers: &mut HeaderMap) -> Result<Option<String>> {
    let Some(value) = headers.remove(LAST_EVENT_ID) else { return Ok(None) };
    let id = str::from_utf8(value.as_bytes()).map_err(|error| Error::with_source(Kind::Request, error))?;
    Ok(Some(id.to_owned()))
}

/// Returns an error if the initial id is not a valid header value.
pub(super) fn check_last_event_id(id: &str) -> Result<()> {
    HeaderValue::from_bytes(id.as_bytes()).map_err(|error| Error::with_source(Kind::Request, error))?;
    Ok(())
}

/// Kind of the error for a refused response.
pub(super) type Refusal = fn(Box<Refused>) -> Kind;

/// Accepts values of `Content-Type`; `None` is a missing header.
pub(crate) type ContentTypes = fn(Option<&HeaderValue>) -> bool;

/// Returns an error unless the status is 200 and the content type is accepted.
pub(crate) fn check_response(
    status: StatusCode,
    headers: &HeaderMap,
    accepts: ContentTypes,
) -> Result<(), Refusal> {
    match status {
        StatusCode::OK if accepts(headers.get(CONTENT_TYPE)) => Ok(()),
        StatusCode::OK => Err(Kind::ContentType),
        _ => Err(Kind::Status),
    }
}

/// Content type that the standard requires.
pub(crate) fn is_event_stream(value: Option<&HeaderValue>) -> bool {
    value.is_some_and(|value| is_media_type(value.as_bytes(), MIME_TYPE))
}

/// Content types that servers send with event streams: also none, `text/plain`, and a list that names the right one.
pub(super) fn may_be_event_stream(value: Option<&HeaderValue>) -> bool {
    value.is_none_or(|value| mentions_event_stream(value) || is_media_type(value.as_bytes(), "text/plain"))
}

/// Whether the type, or one of a list of types, is that of an event stream.
pub(super) fn mentions_event_stream(value: &HeaderValue) -> bool {
    value.as_bytes().split(|&byte| byte == b',').any(|value| is_media_type(value, MIME_TYPE))
}

/// Compares the essence of a MIME type. Ignores parameters, including `charset`: event streams and JSON are always
/// UTF-8.
pub(super) fn is_media_type(value: &[u8], expected: &str) -> bool {
    let essence = value.split(|&byte| byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(expected.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_requires_tls() {
        assert!(check_scheme("https", true).is_ok() && check_scheme("http", false).is_ok());
        assert!(check_scheme("https", false).unwrap_err().is_request());
        assert!(check_scheme("ftp", true).unwrap_err().is_request());
    }

    #[test]
    fn an_id_is_sent_as_utf8_unless_it_is_not_a_valid_header_value() {
        for (id, sent) in
            [("\u{2026}", true), ("a b", true), ("", false), ("a\u{1}", false), ("\u{7f}", false)]
        {
            let request = reqwest::Request::new(http::Method::GET, "http://example.org/".parse().unwrap());
            let request = RequestTemplate::new(request).unwrap().resume(id).unwrap();
            let header = request.headers().get(LAST_EVENT_ID).map(HeaderValue::as_bytes);
            assert_eq!(header, sent.then_some(id.as_bytes()), "{id:?}");
        }
    }

    #[test]
    fn the_content_type_is_compared_without_parameters() {
        for accepted in [
            "text/event-stream",
            "text/event-stream;",
            "text/event-stream;charset=windows-1252",
            "Text/Event-Stream ; charset=\"utf-8\"",
            " text/event-stream\t",
        ] {
            let value = HeaderValue::from_static(accepted);
            assert!(is_event_stream(Some(&value)) && may_be_event_stream(Some(&value)), "{accepted:?}");
        }
        for rejected in [
            "",
            ";",
            "x bogus",
            "text/x-bogus",
            "text/event-stream-2",
            "text/event",
            "text/event-stream, text/html",
            "application/json; text/event-stream",
        ] {
            assert!(!is_event_stream(Some(&HeaderValue::from_static(rejected))), "{rejected:?}");
        }
        assert!(!is_event_stream(None) && may_be_event_stream(None));
        for (value, expected) in [
            ("text/event-stream, text/html", true),
            ("application/json, text/event-stream; charset=utf-8", true),
            ("text/plain; charset=utf-8", true),
            ("application/json", false),
            ("text/html", false),
            ("", false),
        ] {
            assert_eq!(may_be_event_stream(Some(&HeaderValue::from_static(value))), expected, "{value:?}");
        }
    }
}
