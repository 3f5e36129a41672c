//! Answers, from what they are made of.

use std::ops::Range;
use std::time::SystemTime;

use http::StatusCode;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    HeaderName, HeaderValue, LAST_MODIFIED, RETRY_AFTER, VARY,
};

use super::Body;
use super::answer::{Answer, AskedFields};
use crate::error::Chain;
use crate::pages::{Served, Variant, Verdict};
use crate::{ByteRange, Coding, Error, Form};

pub(super) const X_CACHE: HeaderName = HeaderName::from_static("x-cache");
const X_SERIAL: HeaderName = HeaderName::from_static("x-pypi-last-serial");
/// A file never changes.
pub(super) const IMMUTABLE: &str = "max-age=365000000, immutable, public";

/// What a client gets to know of an error.
pub(super) fn failure(error: &Error) -> Answer {
    let status = match () {
        () if error.retry_after().is_some() => StatusCode::SERVICE_UNAVAILABLE,
        () if error.is_not_found() || error.is_name() => {
            let mut answer = Answer::text(StatusCode::NOT_FOUND, "Not Found");
            answer.set(X_CACHE, if error.is_remembered() { "negative" } else { "miss" });
            return answer;
        }
        () if error.is_forbidden() => StatusCode::FORBIDDEN,
        // As for a request with `only-if-cached` (RFC 9111, 5.2.1.7).
        () if error.is_timeout() || error.is_offline() => StatusCode::GATEWAY_TIMEOUT,
        () if error.is_storage() || error.is_config() => StatusCode::INTERNAL_SERVER_ERROR,
        () => StatusCode::BAD_GATEWAY,
    };
    tracing::warn!(status = status.as_u16(), error = %Chain(error), "a request fails");
    let mut answer = Answer::text(status, error.to_string());
    if let Some(time) = error.retry_after() {
        // What is left of a second counts as one.
        answer.set(RETRY_AFTER, time.as_secs() + u64::from(time.subsec_nanos() > 0));
    }
    answer
}

/// A page, or that the client has it.
pub(super) fn page(
    asked: &AskedFields<'_>,
    served: &Served,
    form: Form,
    coding: Coding,
    variant: Variant,
) -> Answer {
    let Variant { body, etag } = variant;
    let modified = served.entry.modified();
    let is_known = match asked.if_none_match {
        Some(tags) => has_tag(tags, &etag),
        None => is_unmodified(asked.if_modified_since, modified),
    };
    let mut answer = if is_known {
        Answer::new(StatusCode::NOT_MODIFIED, Body::empty())
    } else {
        let mut answer = Answer::new(StatusCode::OK, body.into());
        answer.set(CONTENT_TYPE, form.content_type());
        if let Some(coding) = coding.content_encoding() {
            answer.set(CONTENT_ENCODING, coding);
        }
        answer
    };
    answer.set(ETAG, etag);
    // Another one may be there at any time, and asking for it is cheap.
    answer.set(CACHE_CONTROL, "no-cache");
    answer.set(VARY, "Accept, Accept-Encoding");
    answer.set(LAST_MODIFIED, modified);
    if let Some(serial) = served.entry.last_serial() {
        answer.set(X_SERIAL, serial);
    }
    let verdict = match served.verdict {
        Verdict::Hit => "hit",
        Verdict::Stale => "stale",
        Verdict::Miss => "miss",
        Verdict::Revalidated => "revalidated",
    };
    answer.set(X_CACHE, verdict);
    answer
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
    Nothing(Box<Answer>),
}

impl FileHead<'_> {
    /// What a request wants of a file whose length is known.
    pub(super) fn wanted(&self, asked: &AskedFields<'_>) -> Wanted {
        if let (Some(tags), Some(etag)) = (asked.if_none_match, &self.etag)
            && has_tag(tags, etag)
        {
            let mut answer = self.respond(Body::empty());
            answer.status = StatusCode::NOT_MODIFIED;
            answer.fields.retain(|(name, _)| name != CONTENT_LENGTH);
            return Wanted::Nothing(Box::new(answer));
        }
        let (Some(range), Some(len)) = (asked.range, self.len) else { return Wanted::All };
        // A client that has a part of another file wants all of this one.
        let is_same = |known: &str| self.etag.as_ref().is_some_and(|etag| etag == known);
        if asked.if_range.is_some_and(|known| !is_same(known)) {
            return Wanted::All;
        }
        match ByteRange::parse(range, len) {
            ByteRange::Full => Wanted::All,
            ByteRange::Part { start, end } => Wanted::Part(start..end),
            ByteRange::Unsatisfiable => {
                let mut answer = Answer::text(StatusCode::RANGE_NOT_SATISFIABLE, "");
                answer.set_text(CONTENT_RANGE, &format!("bytes */{len}"));
                Wanted::Nothing(Box::new(answer))
            }
        }
    }

    /// All of the file.
    pub(super) fn respond(&self, body: Body) -> Answer {
        let mut answer = Answer::new(StatusCode::OK, body);
        answer.set(CONTENT_TYPE, content_type(self.name));
        answer.set(CACHE_CONTROL, IMMUTABLE);
        answer.set(ACCEPT_RANGES, "bytes");
        if is_metadata(self.name) {
            answer.set(VARY, "Accept-Encoding");
        }
        answer.set(X_CACHE, self.verdict);
        if let Some(etag) = &self.etag {
            answer.set(ETAG, etag.clone());
        }
        if let Some(len) = self.len {
            answer.set(CONTENT_LENGTH, len);
        }
        answer
    }

    /// Part of the file.
    pub(super) fn respond_part(&self, range: Range<u64>, body: Body) -> Answer {
        let mut answer = self.respond(body);
        answer.status = StatusCode::PARTIAL_CONTENT;
        let len = self.len.map_or_else(|| "*".to_owned(), |len| len.to_string());
        answer.set_text(CONTENT_RANGE, &format!("bytes {}-{}/{len}", range.start, range.end - 1));
        answer.set(CONTENT_LENGTH, range.end - range.start);
        answer
    }
}

/// Whether it is the metadata of a file, which is text, rather than a file.
pub(super) fn is_metadata(name: &str) -> bool {
    name.ends_with(".metadata")
}

/// Weak comparison (RFC 9110, 13.1.2).
fn has_tag(tags: &str, etag: &HeaderValue) -> bool {
    let Ok(etag) = etag.to_str() else { return false };
    tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

fn is_unmodified(since: Option<&str>, modified: SystemTime) -> bool {
    let since = since.and_then(|since| httpdate::parse_http_date(since).ok());
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
