//! The page for people: what the proxy does, as it does it.

mod history;
mod html;
mod plot;
mod text;
mod view;

use std::sync::{Arc, LazyLock};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::StatusCode;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};

pub(super) use self::history::{History, sample};
use self::view::View;
use super::answer::Answer;
use super::service::Inner;

const STYLE: &str = include_str!("status.css");
const SCRIPT: &str = include_str!("status.js");

/// Nothing but what is on the page: these two texts, and questions to this proxy.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = |text: &str| BASE64_STANDARD.encode(digest(&SHA256, text.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT),
    );
    // Made of ASCII alone.
    HeaderValue::from_str(&policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// The page.
pub(super) fn html(proxy: &Arc<Inner>) -> Answer {
    let page = html::page(&View::of(proxy), STYLE, SCRIPT);
    let mut answer = private("text/html; charset=utf-8", page);
    answer.set(CONTENT_SECURITY_POLICY, POLICY.clone());
    answer
}

/// What changes on the page.
pub(super) fn json(proxy: &Arc<Inner>) -> Answer {
    // It is made of texts and numbers.
    let view = serde_json::to_string(&*View::of(proxy)).unwrap_or_default();
    private("application/json", view)
}

fn private(content_type: &'static str, text: String) -> Answer {
    let mut answer = Answer::typed(StatusCode::OK, content_type, text);
    answer.set(CACHE_CONTROL, "no-store");
    answer.set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    answer.set(REFERRER_POLICY, "no-referrer");
    answer
}
