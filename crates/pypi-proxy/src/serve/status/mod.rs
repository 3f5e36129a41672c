//! The status page: downloads in flight, most requested and largest projects, totals, and buttons to purge the cache.

mod html;
mod text;
mod view;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::StatusCode;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};

use self::view::View;
use super::message::ProxyResponse;
use super::state::State;

const STYLE: &str = include_str!("status.css");
const SCRIPT: &str = include_str!("status.js");

/// Time for which a view is reused, so that many visitors cost no more than one.
const VIEW_MAX_AGE: Duration = Duration::from_secs(1);

/// The last view and when it was created.
#[derive(Debug, Default)]
pub(super) struct ViewCache(Mutex<Option<(Instant, Arc<View>)>>);

impl ViewCache {
    /// Returns the current view, which may be a second old.
    fn get(&self, proxy: &State) -> Arc<View> {
        // No code panics while it holds the lock in the middle of an update.
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((at, view)) if at.elapsed() < VIEW_MAX_AGE => view.clone(),
            _ => {
                let view = Arc::new(View::of(proxy));
                *last = Some((Instant::now(), view.clone()));
                view
            }
        }
    }
}

/// Allows only the embedded style and script, and requests to this proxy.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = |text: &str| BASE64_STANDARD.encode(digest(&SHA256, text.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT),
    );
    // Consists of ASCII characters only.
    HeaderValue::from_str(&policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// Response with the page.
pub(super) fn html(proxy: &State, views: &ViewCache) -> ProxyResponse {
    let page = html::page(&views.get(proxy), STYLE, SCRIPT);
    let mut response = private("text/html; charset=utf-8", page);
    response.set(CONTENT_SECURITY_POLICY, POLICY.clone());
    response
}

/// Response with the data of the page, which its script requests to update it.
pub(super) fn json(proxy: &State, views: &ViewCache) -> ProxyResponse {
    // Serializing texts and numbers can't fail.
    let view = serde_json::to_string(&*views.get(proxy)).unwrap_or_default();
    private("application/json", view)
}

fn private(content_type: &'static str, text: String) -> ProxyResponse {
    let mut response = ProxyResponse::typed(StatusCode::OK, content_type, text);
    response.set(CACHE_CONTROL, "no-store");
    response.set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    response.set(REFERRER_POLICY, "no-referrer");
    response
}
