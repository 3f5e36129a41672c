//! Responses to rejected requests.

use http::StatusCode;
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};

use super::message::ProxyResponse;
use crate::guard::Rejection;
use crate::rules::RuleViolation;

/// Reasons for rejections, as in the metrics.
pub(super) const REASONS: [&str; 7] = ["login", "rate", "busy", "project", "age", "yanked", "head"];

/// Response to a rejected request, and the reason it is counted as.
pub(super) type CountedRejection = (ProxyResponse, &'static str);

/// Creates a response with problem details (RFC 9457). uv shows them; for installers that only show the status line,
/// the title is also the reason phrase.
fn problem(status: StatusCode, title: &'static str, detail: &str) -> ProxyResponse {
    let body = serde_json::json!({"title": title, "status": status.as_u16(), "detail": detail});
    let mut response = ProxyResponse::typed(status, "application/problem+json", body.to_string());
    response.reason = Some(title);
    response
}

/// Response to a request that the rules about projects and files forbid.
pub(super) fn rule_rejection(violation: RuleViolation) -> CountedRejection {
    (problem(StatusCode::FORBIDDEN, violation.title(), &violation.to_string()), violation.name())
}

/// Response to a request without a valid login or above the rate limit.
pub(super) fn guard_rejection(rejection: Rejection) -> CountedRejection {
    match rejection {
        Rejection::Unauthenticated => {
            let detail = "the proxy requires a login: a user name and password, or __token__ and a token";
            let mut response = problem(StatusCode::UNAUTHORIZED, "Unauthorized", detail);
            response.set(WWW_AUTHENTICATE, "Basic realm=\"pypi-proxy\", charset=\"UTF-8\"");
            (response, "login")
        }
        Rejection::RateLimited(time) => {
            let detail = "the client has sent too many requests";
            let mut response = problem(StatusCode::TOO_MANY_REQUESTS, "Too Many Requests", detail);
            // Round up to full seconds.
            response.set(RETRY_AFTER, time.as_secs() + u64::from(time.subsec_nanos() > 0));
            (response, "rate")
        }
        Rejection::Overloaded => {
            let detail = "too many passwords are waiting to be checked";
            let mut response = problem(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable", detail);
            response.set(RETRY_AFTER, 1);
            (response, "busy")
        }
    }
}

/// Response to a request whose header exceeds a limit.
pub(super) fn too_large() -> CountedRejection {
    let title = "Request Header Fields Too Large";
    let detail = "the request header has too many fields or is too large";
    (problem(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, title, detail), "head")
}
