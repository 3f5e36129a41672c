//! Answers, from what they are made of.

use std::ops::Range;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED, RANGE, RETRY_AFTER,
    VARY,
};
use http::{HeaderMap, Response, StatusCode};

use super::Body;
use crate::error::Chain;
use crate::pages::{Served, Variant, Verdict};
use crate::{ByteRange, Coding, Error, Form};

pub(super) const X_CACHE: HeaderName = HeaderName::from_static("x-cache");
const X_SERIAL: HeaderName = HeaderName::from_static("x-pypi-last-serial");
/// A file never changes.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("max-age=365000000, immutable, public");

pub(super) fn text(status: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    typed(status, "text/plain; charset=utf-8", text)
}

pub(super) fn typed(
    status: StatusCode,
    content_type: &'static str,
    bytes: impl Into<Bytes>,
) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// What a client gets to know of an error.
pub(super) fn failure(error: &Error) -> Response<Body> {
    let status = match () {
        () if error.retry_after().is_some() => StatusCode::SERVICE_UNAVAILABLE,
        () if error.is_not_found() || error.is_name() => return text(StatusCode::NOT_FOUND, "Not Found"),
        () if error.is_forbidden() => StatusCode::FORBIDDEN,
        () if error.is_timeout() => StatusCode::GATEWAY_TIMEOUT,
        () if error.is_storage() || error.is_config() => StatusCode::INTERNAL_SERVER_ERROR,
        () => StatusCode::BAD_GATEWAY,
    };
    tracing::warn!(status = status.as_u16(), error = %Chain(error), "a request fails");
    let mut response = text(status, error.to_string());
    if let Some(time) = error.retry_after() {
        // What is left of a second counts as one.
        response
            .headers_mut()
            .insert(RETRY_AFTER, (time.as_secs() + u64::from(time.subsec_nanos() > 0)).into());
    }
    response
}

/// A page, or that the client has it.
pub(super) fn page(
    headers: &HeaderMap,
    served: &Served,
    form: Form,
    coding: Coding,
    variant: Variant,
) -> Response<Body> {
    let Variant { body, etag } = variant;
    let modified = served.entry.modified();
    let is_known = match headers.get(IF_NONE_MATCH) {
        Some(tags) => has_tag(tags, &etag),
        None => is_unmodified(headers, modified),
    };
    let mut response = if is_known { Response::new(Body::empty()) } else { Response::new(Body::from(body)) };
    let out = response.headers_mut();
    out.insert(ETAG, etag);
    // Another one may be there at any time, and asking for it is cheap.
    out.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    out.insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
    insert(out, LAST_MODIFIED, &httpdate::fmt_http_date(modified));
    if let Some(serial) = served.entry.last_serial() {
        out.insert(X_SERIAL, serial.into());
    }
    out.insert(
        X_CACHE,
        HeaderValue::from_static(match served.verdict {
            Verdict::Hit => "hit",
            Verdict::Stale => "stale",
            Verdict::Miss => "miss",
        }),
    );
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        out.insert(CONTENT_TYPE, HeaderValue::from_static(form.content_type()));
        if let Some(coding) = coding.content_encoding() {
            out.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
    }
    response
}

/// What a file is answered with, but for its bytes.
pub(super) struct FileHead<'a> {
    pub(super) name: &'a str,
    pub(super) len: Option<u64>,
    pub(super) etag: Option<HeaderValue>,
    pub(super) verdict: &'static str,
}

/// Which bytes of a file a client gets.
pub(super) enum Wanted {
    All,
    Part(Range<u64>),
    /// It has them, or there are none.
    Nothing(Box<Response<Body>>),
}

impl FileHead<'_> {
    /// What a request wants of a file whose length is known.
    pub(super) fn wanted(&self, headers: &HeaderMap) -> Wanted {
        if let (Some(tags), Some(etag)) = (headers.get(IF_NONE_MATCH), &self.etag)
            && has_tag(tags, etag)
        {
            let mut response = self.respond(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return Wanted::Nothing(Box::new(response));
        }
        let (Some(range), Some(len)) = (headers.get(RANGE).and_then(|range| range.to_str().ok()), self.len)
        else {
            return Wanted::All;
        };
        // A client that has a part of another file wants all of this one.
        if headers.get(IF_RANGE).is_some_and(|known| Some(known) != self.etag.as_ref()) {
            return Wanted::All;
        }
        match ByteRange::parse(range, len) {
            ByteRange::Full => Wanted::All,
            ByteRange::Part { start, end } => Wanted::Part(start..end),
            ByteRange::Unsatisfiable => {
                let mut response = text(StatusCode::RANGE_NOT_SATISFIABLE, "");
                insert(response.headers_mut(), CONTENT_RANGE, &format!("bytes */{len}"));
                Wanted::Nothing(Box::new(response))
            }
        }
    }

    /// All of the file.
    pub(super) fn respond(&self, body: Body) -> Response<Body> {
        let mut response = Response::new(body);
        let out = response.headers_mut();
        out.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(self.name)));
        out.insert(CACHE_CONTROL, IMMUTABLE);
        out.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        out.insert(X_CACHE, HeaderValue::from_static(self.verdict));
        if let Some(etag) = &self.etag {
            out.insert(ETAG, etag.clone());
        }
        if let Some(len) = self.len {
            out.insert(CONTENT_LENGTH, len.into());
        }
        response
    }

    /// Part of the file.
    pub(super) fn respond_part(&self, range: Range<u64>, body: Body) -> Response<Body> {
        let mut response = self.respond(body);
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        let out = response.headers_mut();
        let len = self.len.map_or_else(|| "*".to_owned(), |len| len.to_string());
        insert(out, CONTENT_RANGE, &format!("bytes {}-{}/{len}", range.start, range.end - 1));
        out.insert(CONTENT_LENGTH, (range.end - range.start).into());
        response
    }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    // These are made of digits, letters and a few marks.
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Weak comparison (RFC 9110, 13.1.2).
fn has_tag(tags: &HeaderValue, etag: &HeaderValue) -> bool {
    let (Ok(tags), Ok(etag)) = (tags.to_str(), etag.to_str()) else { return false };
    tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

fn is_unmodified(headers: &HeaderMap, modified: SystemTime) -> bool {
    let since =
        headers.get(IF_MODIFIED_SINCE).and_then(|since| httpdate::parse_http_date(since.to_str().ok()?).ok());
    // Times of headers have whole seconds.
    let seconds =
        |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    since.is_some_and(|since| seconds(modified) <= seconds(since))
}

fn content_type(name: &str) -> &'static str {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    match end {
        "whl" | "zip" | "egg" => "application/zip",
        "gz" | "tgz" => "application/gzip",
        "bz2" => "application/x-bzip2",
        "metadata" | "asc" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
