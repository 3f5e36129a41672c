//! Answers to those who do not get what they ask for, though there is such a thing.

use http::StatusCode;
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};

use super::answer::Answer;
use crate::guard::Rejection;
use crate::rules::RuleViolation;

/// Why a request was refused, as it is counted.
pub(super) const REASONS: [&str; 7] = ["login", "rate", "busy", "project", "age", "yanked", "head"];

/// An answer to a request that was refused, and what it is counted as.
pub(super) type Denial = (Answer, &'static str);

/// Problem details (RFC 9457): uv shows them, and whoever does not know them can read them all the same. Installers that
/// look at the first line of an answer only have the title there.
fn problem(status: StatusCode, title: &'static str, detail: &str) -> Answer {
    let body = serde_json::json!({"title": title, "status": status.as_u16(), "detail": detail});
    let mut answer = Answer::typed(status, "application/problem+json", body.to_string());
    answer.reason = Some(title);
    answer
}

/// By a rule about projects and files.
pub(super) fn by_rule(refusal: RuleViolation) -> Denial {
    (problem(StatusCode::FORBIDDEN, refusal.title(), &refusal.to_string()), refusal.name())
}

/// By who asks, or how much.
pub(super) fn by_guard(refused: Rejection) -> Denial {
    match refused {
        Rejection::Unauthenticated => {
            let detail =
                "the proxy answers those who log in: a user and a password, or __token__ and a token";
            let mut answer = problem(StatusCode::UNAUTHORIZED, "Unauthorized", detail);
            answer.set(WWW_AUTHENTICATE, "Basic realm=\"pypi-proxy\", charset=\"UTF-8\"");
            (answer, "login")
        }
        Rejection::RateLimited(time) => {
            let detail = "the proxy answers only so many requests of one client a second";
            let mut answer = problem(StatusCode::TOO_MANY_REQUESTS, "Too Many Requests", detail);
            // What is left of a second counts as one.
            answer.set(RETRY_AFTER, time.as_secs() + u64::from(time.subsec_nanos() > 0));
            (answer, "rate")
        }
        Rejection::Overloaded => {
            let detail = "too many passwords wait for being checked";
            let mut answer = problem(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable", detail);
            answer.set(RETRY_AFTER, 1);
            (answer, "busy")
        }
    }
}

/// By the limits of a request's header.
pub(super) fn too_large() -> Denial {
    let title = "Request Header Fields Too Large";
    let detail = "the request has too many header fields, or too many bytes of them";
    (problem(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, title, detail), "head")
}
