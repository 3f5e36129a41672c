//! Builds responses for pages, files and errors.

use std::ops::Range;
use std::time::SystemTime;

use http::StatusCode;
use http::header::{
    ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    HeaderName, HeaderValue, LAST_MODIFIED, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};

use super::ResponseBody;
use super::message::{ProxyResponse, RequestFields};
use super::request_metrics::RejectionReason;
use crate::error::Chain;
use crate::guard::Rejection;
use crate::page_cache::{CachedPage, Variant};
use crate::rules::Violation;
use crate::{ByteRange, Coding, Error, Form};

pub(super) const X_CACHE: HeaderName = HeaderName::from_static("x-cache");
pub(super) const X_RULE: HeaderName = HeaderName::from_static("x-pypi-proxy-rule");
const X_REMOVED: HeaderName = HeaderName::from_static("x-pypi-proxy-removed");
/// Set to `true` on pages and errors while no request is sent to an index.
pub(super) const X_OFFLINE: HeaderName = HeaderName::from_static("x-pypi-proxy-offline");
const X_SERIAL: HeaderName = HeaderName::from_static("x-pypi-last-serial");
/// Cache-Control of files, which never change.
pub(super) const IMMUTABLE: &str = "max-age=365000000, immutable, public";

/// Builds the response to a failed request.
pub(super) fn error_response(error: &Error) -> ProxyResponse {
    let status = if error.retry_after().is_some() {
        StatusCode::SERVICE_UNAVAILABLE
    } else if error.is_not_found() || error.is_name() {
        let mut response = ProxyResponse::text(StatusCode::NOT_FOUND, "Not Found");
        response.set(X_CACHE, if error.is_remembered() { "negative" } else { "miss" });
        return response;
    } else if error.is_forbidden() || error.is_refused() {
        StatusCode::FORBIDDEN
    } else if error.is_offline() {
        // As for a request with `only-if-cached` (RFC 9111, section 5.2.1.7).
        let mut response = problem(StatusCode::GATEWAY_TIMEOUT, OFFLINE, OFFLINE_DETAIL);
        response.set(X_OFFLINE, "true");
        return response;
    } else if error.is_timeout() {
        StatusCode::GATEWAY_TIMEOUT
    } else if error.is_storage() || error.is_config() {
        StatusCode::INTERNAL_SERVER_ERROR
    } else {
        StatusCode::BAD_GATEWAY
    };
    // Failures of indexes are logged with their causes when they happen.
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        tracing::error!(error = %Chain(error), "a request failed");
    } else {
        tracing::debug!(status = status.as_u16(), error = %Chain(error), "a request failed");
    }
    let mut response = ProxyResponse::text(status, error.to_string());
    if let Some(time) = error.retry_after() {
        // Round up to full seconds.
        response.set(RETRY_AFTER, time.as_secs() + u64::from(time.subsec_nanos() > 0));
    }
    response
}

/// Builds the response with a page, or 304 if the client has the current one.
pub(super) fn page_response(
    fields: &RequestFields<'_>,
    cached: &CachedPage,
    form: Form,
    coding: Coding,
    variant: Variant,
) -> ProxyResponse {
    let Variant { body, etag } = variant;
    let modified = cached.page.modified();
    let is_known = match fields.if_none_match {
        Some(tags) => has_tag(tags, &etag),
        None => is_unmodified(fields.if_modified_since, modified),
    };
    let mut response = if is_known {
        ProxyResponse::new(StatusCode::NOT_MODIFIED, ResponseBody::empty())
    } else {
        let mut response = ProxyResponse::new(StatusCode::OK, body.into());
        response.set(CONTENT_TYPE, form.content_type());
        if let Some(coding) = coding.content_encoding() {
            response.set(CONTENT_ENCODING, coding);
        }
        response
    };
    response.set(ETAG, etag);
    // Pages may change at any time, and revalidating them is cheap.
    response.set(CACHE_CONTROL, "no-cache");
    response.set(VARY, "Accept, Accept-Encoding");
    response.set(LAST_MODIFIED, modified);
    if let Some(serial) = cached.page.last_serial() {
        response.set(X_SERIAL, serial);
    }
    if let Some(removed) = cached.page.removed() {
        response.set(X_REMOVED, removed.clone());
    }
    response.set(X_CACHE, cached.status.name());
    response
}

pub(super) struct FileHeaders<'a> {
    pub(super) name: &'a str,
    pub(super) len: Option<u64>,
    pub(super) etag: Option<HeaderValue>,
    pub(super) cache_status: &'static str,
}

/// Part of a file that a client requests.
pub(super) enum Selection {
    All,
    Part(Range<u64>),
    /// A complete response without content: 304 or 416.
    Done(Box<ProxyResponse>),
}

impl FileHeaders<'_> {
    /// Evaluates the conditions and the range of a request.
    pub(super) fn select(&self, fields: &RequestFields<'_>) -> Selection {
        if let (Some(tags), Some(etag)) = (fields.if_none_match, &self.etag)
            && has_tag(tags, etag)
        {
            let mut response = self.respond(ResponseBody::empty());
            response.status = StatusCode::NOT_MODIFIED;
            response.fields.retain(|(name, _)| name != CONTENT_LENGTH);
            return Selection::Done(Box::new(response));
        }
        let (Some(range), Some(len)) = (fields.range, self.len) else { return Selection::All };
        // A client with a part of another version needs the whole file.
        let is_same = |tag: &str| self.etag.as_ref().is_some_and(|etag| etag == tag);
        if fields.if_range.is_some_and(|tag| !is_same(tag)) {
            return Selection::All;
        }
        match ByteRange::parse(range, len) {
            ByteRange::Full => Selection::All,
            ByteRange::Part { start, end } => Selection::Part(start..end),
            ByteRange::Unsatisfiable => {
                let mut response = ProxyResponse::text(StatusCode::RANGE_NOT_SATISFIABLE, "");
                response.set_text(CONTENT_RANGE, &format!("bytes */{len}"));
                Selection::Done(Box::new(response))
            }
        }
    }

    /// Builds the response to a request, with the body of the whole file or of a range.
    pub(super) fn answer(
        &self,
        fields: &RequestFields<'_>,
        body: impl FnOnce(Option<Range<u64>>) -> ResponseBody,
    ) -> ProxyResponse {
        match self.select(fields) {
            Selection::All => self.respond(body(None)),
            Selection::Part(range) => self.respond_part(range.clone(), body(Some(range))),
            Selection::Done(response) => *response,
        }
    }

    pub(super) fn respond(&self, body: ResponseBody) -> ProxyResponse {
        let mut response = ProxyResponse::new(StatusCode::OK, body);
        response.set(CONTENT_TYPE, content_type(self.name));
        // A file without a hash is checked before it is stored, not before it is sent.
        response.set(CACHE_CONTROL, if self.etag.is_some() { IMMUTABLE } else { "no-cache" });
        response.set(ACCEPT_RANGES, "bytes");
        if is_metadata(self.name) {
            response.set(VARY, "Accept-Encoding");
        }
        response.set(X_CACHE, self.cache_status);
        if let Some(etag) = &self.etag {
            response.set(ETAG, etag.clone());
        }
        if let Some(len) = self.len {
            response.set(CONTENT_LENGTH, len);
        }
        response
    }

    pub(super) fn respond_part(&self, range: Range<u64>, body: ResponseBody) -> ProxyResponse {
        let mut response = self.respond(body);
        response.status = StatusCode::PARTIAL_CONTENT;
        let len = self.len.map_or_else(|| "*".to_owned(), |len| len.to_string());
        response.set_text(CONTENT_RANGE, &format!("bytes {}-{}/{len}", range.start, range.end - 1));
        response.set(CONTENT_LENGTH, range.end - range.start);
        response
    }
}

/// Returns whether the file is the metadata of another file, which is text.
pub(super) fn is_metadata(name: &str) -> bool {
    name.ends_with(".metadata")
}

/// Compares weakly (RFC 9110, section 13.1.2).
fn has_tag(tags: &str, etag: &HeaderValue) -> bool {
    let Ok(etag) = etag.to_str() else { return false };
    tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

fn is_unmodified(since: Option<&str>, modified: SystemTime) -> bool {
    let since = since.and_then(|since| httpdate::parse_http_date(since).ok());
    // Dates in headers have full seconds.
    let seconds =
        |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    since.is_some_and(|since| seconds(modified) <= seconds(since))
}

fn content_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension {
        "whl" | "zip" | "egg" => "application/zip",
        "gz" | "tgz" => "application/gzip",
        "bz2" => "application/x-bzip2",
        "metadata" | "asc" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

const OFFLINE: &str = "Not Cached And The Proxy Is Offline";
const OFFLINE_DETAIL: &str = "the proxy is offline, and its cache has no such page or file: add it with pypi-proxy import, \
    or with pypi-proxy warm while the index is reachable";

pub(super) type CountedRejection = (ProxyResponse, RejectionReason);

/// Creates a response with problem details (RFC 9457). uv shows them; for installers that only show the status line,
/// the title is also the reason phrase.
fn problem(status: StatusCode, title: &'static str, detail: &str) -> ProxyResponse {
    let body = tightwire_json::json!({"title": title, "status": status.as_u16(), "detail": detail});
    problem_response(status, title, &body)
}

fn problem_response(status: StatusCode, title: &'static str, body: &tightwire_json::Value) -> ProxyResponse {
    let mut response = ProxyResponse::typed(status, "application/problem+json", body.to_string());
    response.reason = Some(title);
    response
}

/// Response to a request that the rules about projects and files forbid. It names the rule and its entry.
pub(super) fn rule_rejection(violation: &Violation) -> CountedRejection {
    let reason = match violation {
        Violation::ProjectDenied { .. } | Violation::ProjectNotAllowed => RejectionReason::Project,
        Violation::VersionDenied { .. } | Violation::VersionNotAllowed { .. } => RejectionReason::Version,
        Violation::Osv { .. } => RejectionReason::Osv,
        Violation::Yanked => RejectionReason::Yanked,
        Violation::Status(_) => RejectionReason::Status,
        Violation::TooNew { .. } => RejectionReason::Newer,
        Violation::TooYoung { .. } | Violation::AgeUnknown => RejectionReason::Age,
    };
    let (status, title) = (StatusCode::FORBIDDEN, violation.title());
    let mut body = tightwire_json::json!({
        "title": title,
        "status": status.as_u16(),
        "detail": violation.to_string(),
        "rule": violation.rule(),
    });
    if let Some(entry) = violation.entry() {
        body["entry"] = entry.into();
    }
    let mut response = problem_response(status, title, &body);
    response.set(X_RULE, violation.rule());
    (response, reason)
}

/// Response to a request without a valid login or above the rate limit.
pub(super) fn guard_rejection(rejection: Rejection) -> CountedRejection {
    match rejection {
        Rejection::Unauthenticated => {
            let detail = "the proxy requires a login: a user name and password, or __token__ and a token";
            let mut response = problem(StatusCode::UNAUTHORIZED, "Unauthorized", detail);
            response.set(WWW_AUTHENTICATE, "Basic realm=\"pypi-proxy\", charset=\"UTF-8\"");
            (response, RejectionReason::Login)
        }
        Rejection::RateLimited(time) => {
            let detail = "the client has sent too many requests";
            let mut response = problem(StatusCode::TOO_MANY_REQUESTS, "Too Many Requests", detail);
            // Round up to full seconds.
            response.set(RETRY_AFTER, time.as_secs() + u64::from(time.subsec_nanos() > 0));
            (response, RejectionReason::Rate)
        }
        Rejection::Overloaded => {
            let detail = "too many passwords are waiting to be checked";
            let mut response = problem(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable", detail);
            response.set(RETRY_AFTER, 1);
            (response, RejectionReason::Busy)
        }
    }
}

/// Response to an upload, for example of twine, which shows the reason phrase.
pub(super) fn upload_rejection() -> ProxyResponse {
    let text = "Method Not Allowed: pypi-proxy is a read-only cache; send uploads to the index itself";
    let mut response = ProxyResponse::text(StatusCode::METHOD_NOT_ALLOWED, text);
    response.reason = Some("Uploads Are Not Supported By This Proxy");
    response.set(ALLOW, "GET, HEAD");
    response
}

/// Response to a request to purge the cache without the admin token.
pub(super) fn purge_rejection(has_token: bool) -> CountedRejection {
    let response = if has_token {
        let mut response = ProxyResponse::text(StatusCode::UNAUTHORIZED, "Unauthorized");
        response.set(WWW_AUTHENTICATE, "Bearer");
        response
    } else {
        let text = "purging needs the admin token, and none is configured (set admin_token, or set admin_listen to \
                    purge at a separate address)";
        ProxyResponse::text(StatusCode::FORBIDDEN, text)
    };
    (response, RejectionReason::Purge)
}

/// Response to a request whose header exceeds a limit.
pub(super) fn too_large() -> CountedRejection {
    let title = "Request Header Fields Too Large";
    let detail = "the request header has too many fields or is too large";
    (problem(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, title, detail), RejectionReason::Head)
}
