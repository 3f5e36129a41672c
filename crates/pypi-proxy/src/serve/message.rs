//! Requests and responses, independent of the HTTP version.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, RANGE,
};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::ext::ReasonPhrase;

use super::ResponseBody;
use super::request_metrics::{Endpoint, RejectionReason};

pub(super) const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Parts of a request that its response may depend on.
pub(super) struct RequestParts<'r> {
    pub(super) method: &'r Method,
    pub(super) path: &'r str,
    pub(super) query: Option<&'r str>,
    pub(super) fields: RequestFields<'r>,
    pub(super) forwarded: &'r str,
}

/// Header fields that a response may depend on. A value that is not text is replaced by an empty one.
#[derive(Clone, Copy, Default)]
pub(super) struct RequestFields<'r> {
    pub(super) accept: Option<&'r str>,
    pub(super) accept_encoding: Option<&'r str>,
    pub(super) if_none_match: Option<&'r str>,
    pub(super) if_modified_since: Option<&'r str>,
    pub(super) range: Option<&'r str>,
    pub(super) if_range: Option<&'r str>,
    pub(super) authorization: Option<&'r str>,
}

impl<'r> RequestParts<'r> {
    /// `headers` are those of the request, changed by [`join_lines`].
    pub(super) fn of<B>(request: &'r Request<B>, headers: &'r HeaderMap) -> Self {
        let field = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
        Self {
            method: request.method(),
            path: request.uri().path(),
            query: request.uri().query(),
            fields: RequestFields {
                accept: field(ACCEPT),
                accept_encoding: field(ACCEPT_ENCODING),
                if_none_match: field(IF_NONE_MATCH),
                if_modified_since: field(IF_MODIFIED_SINCE),
                range: field(RANGE),
                if_range: field(IF_RANGE),
                authorization: field(AUTHORIZATION),
            },
            forwarded: field(X_FORWARDED_FOR).unwrap_or_default(),
        }
    }
}

/// Joins the lines of each field whose value is a list (RFC 9110, section 5.3).
pub(super) fn join_lines(headers: &HeaderMap) -> Cow<'_, HeaderMap> {
    let mut joined = Cow::Borrowed(headers);
    for name in [ACCEPT, ACCEPT_ENCODING, IF_NONE_MATCH, X_FORWARDED_FOR] {
        let lines = headers.get_all(&name);
        if lines.iter().nth(1).is_some() {
            let lines: Vec<_> = lines.iter().map(HeaderValue::as_bytes).collect();
            let value = HeaderValue::from_bytes(&lines.join(&b", "[..]));
            joined.to_mut().insert(name, value.expect("joined values are a value"));
        }
    }
    joined
}

#[derive(Debug)]
pub(super) struct ProxyResponse {
    pub(super) status: StatusCode,
    /// Reason phrase, if it differs from that of the status.
    pub(super) reason: Option<&'static str>,
    pub(super) fields: Vec<(HeaderName, Value)>,
    pub(super) body: ResponseBody,
    pub(super) user: Option<Arc<str>>,
    /// Why the request was refused.
    pub(super) rejected: Option<RejectionReason>,
    pub(super) endpoint: Endpoint,
}

/// Value of a header field.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Static(&'static str),
    Shared(HeaderValue),
    Number(u64),
    Date(SystemTime),
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Static(text)
    }
}

impl From<HeaderValue> for Value {
    fn from(value: HeaderValue) -> Self {
        Self::Shared(value)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<SystemTime> for Value {
    fn from(time: SystemTime) -> Self {
        Self::Date(time)
    }
}

impl ProxyResponse {
    pub(super) fn new(status: StatusCode, body: ResponseBody) -> Self {
        // The maximum number of fields of any response.
        let (fields, endpoint) = (Vec::with_capacity(10), Endpoint::Unknown);
        Self { status, reason: None, fields, body, user: None, rejected: None, endpoint }
    }

    pub(super) fn text(status: StatusCode, text: impl Into<Bytes>) -> Self {
        Self::typed(status, "text/plain; charset=utf-8", text)
    }

    pub(super) fn typed(status: StatusCode, content_type: &'static str, bytes: impl Into<Bytes>) -> Self {
        let mut response = Self::new(status, ResponseBody::from(bytes.into()));
        response.set(CONTENT_TYPE, content_type);
        response
    }

    /// Sets or replaces a field.
    pub(super) fn set(&mut self, name: HeaderName, value: impl Into<Value>) {
        let value = value.into();
        match self.fields.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = value,
            None => self.fields.push((name, value)),
        }
    }

    /// Sets a field to a text. Ignores text that is not a valid header value.
    pub(super) fn set_text(&mut self, name: HeaderName, text: &str) {
        if let Ok(value) = HeaderValue::from_str(text) {
            self.set(name, value);
        }
    }

    pub(super) fn get(&self, name: &HeaderName) -> Option<&Value> {
        self.fields.iter().find_map(|(other, value)| (other == name).then_some(value))
    }

    /// Converts the response to one for `HEAD`: without the body, but with its length.
    pub(super) fn without_body(&mut self) {
        let body = std::mem::replace(&mut self.body, ResponseBody::empty());
        if let Some(len) = http_body::Body::size_hint(&body).exact()
            && self.get(&CONTENT_LENGTH).is_none()
            && self.status != StatusCode::NOT_MODIFIED
        {
            self.set(CONTENT_LENGTH, len);
        }
    }
}

impl From<ProxyResponse> for Response<ResponseBody> {
    fn from(response: ProxyResponse) -> Self {
        let mut headers = HeaderMap::with_capacity(response.fields.len());
        for (name, value) in response.fields {
            let value = match value {
                Value::Static(text) => HeaderValue::from_static(text),
                Value::Shared(value) => value,
                Value::Number(number) => number.into(),
                Value::Date(time) => {
                    let mut text = String::with_capacity(29);
                    // Writing to a string can't fail, and a date is always a valid header value.
                    let _ = write!(text, "{}", httpdate::HttpDate::from(time));
                    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static(""))
                }
            };
            headers.insert(name, value);
        }
        let mut converted = Self::new(response.body);
        *converted.status_mut() = response.status;
        *converted.headers_mut() = headers;
        if let Some(reason) = response.reason {
            converted.extensions_mut().insert(ReasonPhrase::from_static(reason.as_bytes()));
        }
        converted
    }
}
