//! HTTP transport of the client.

use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::Body as _;
use reqwest::redirect::Policy;

use super::request::check_scheme;
use crate::error::{Error, Kind, Result};

pub(super) type Response = http::Response<reqwest::Body>;

/// Request in flight. Dropping it cancels the request and closes its connection.
pub(super) type Connecting = Pin<Box<dyn Future<Output = Result<Response, Failure>> + Send>>;

/// Sends requests. A closure, so that the client can be tested without sockets.
pub(super) struct Transport(Box<dyn Fn(reqwest::Request) -> Connecting + Send + Sync>);

/// Failed request.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: Error,
    /// Another attempt would fail in the same way.
    pub(super) is_permanent: bool,
}

impl Transport {
    pub(super) fn new(connect: impl Fn(reqwest::Request) -> Connecting + Send + Sync + 'static) -> Self {
        Self(Box::new(connect))
    }

    pub(super) fn reqwest(client: reqwest::Client) -> Self {
        Self::new(move |request| {
            let response = client.execute(request);
            Box::pin(async move {
                response.await.map(Into::into).map_err(|error| {
                    let is_permanent = is_permanent_error(&error, has_tls());
                    Failure { error: transport_error(error), is_permanent }
                })
            })
        })
    }

    pub(super) fn connect(&self, request: reqwest::Request) -> Connecting {
        (self.0)(request)
    }
}

/// Receives a body of at most `max_size` bytes. After an error, `received` has the first bytes of the body.
pub(super) fn poll_body(
    body: &mut reqwest::Body,
    received: &mut Vec<u8>,
    max_size: usize,
    cx: &mut Context<'_>,
) -> Poll<Result<()>> {
    while let Some(frame) = ready!(Pin::new(&mut *body).poll_frame(cx)) {
        // Trailers are ignored.
        let data = frame.map_err(transport_error)?.into_data().unwrap_or_default();
        let free = max_size.saturating_sub(received.len());
        received.extend_from_slice(&data[..data.len().min(free)]);
        if data.len() > free {
            let kind = Kind::TooLarge { limit: max_size, offset: max_size as u64 };
            return Poll::Ready(Err(Error::new(kind)));
        }
    }
    Poll::Ready(Ok(()))
}

/// Returns the default HTTP client.
///
/// Does not follow a redirect to the same URL, such as an empty `Location`, which would repeat the request up to ten
/// times. The status check then rejects the redirect.
pub(super) fn default_client() -> Result<reqwest::Client> {
    let policy = Policy::custom(|attempt| {
        if attempt.previous().last() == Some(attempt.url()) {
            attempt.stop()
        } else {
            Policy::default().redirect(attempt)
        }
    });
    reqwest::Client::builder().redirect(policy).build().map_err(request_error)
}

/// Returns whether reqwest is built with TLS, which depends on its features, not on those of this crate.
pub(super) fn has_tls() -> bool {
    // `ClientBuilder` only has this method in builds with TLS. Otherwise this calls the method of the trait.
    reqwest::Client::builder().tls_info(false).is_built_with_tls()
}

struct NoTls;

#[allow(dead_code, reason = "unused in builds with TLS")]
trait TlsInfoFallback: Sized {
    fn tls_info(self, _enabled: bool) -> NoTls {
        NoTls
    }
}

impl TlsInfoFallback for reqwest::ClientBuilder {}

trait TlsSupport {
    fn is_built_with_tls(&self) -> bool;
}

impl TlsSupport for NoTls {
    fn is_built_with_tls(&self) -> bool {
        false
    }
}

impl TlsSupport for reqwest::ClientBuilder {
    fn is_built_with_tls(&self) -> bool {
        true
    }
}

/// Returns whether another attempt would fail in the same way. An unsupported scheme may be that of the target of a
/// redirect.
fn is_permanent_error(error: &reqwest::Error, has_tls: bool) -> bool {
    let is_scheme_unsupported = error.url().is_some_and(|url| check_scheme(url.scheme(), has_tls).is_err());
    error.is_builder() || error.is_redirect() || is_scheme_unsupported
}

/// Wraps an error of the connection.
pub(super) fn transport_error(error: reqwest::Error) -> Error {
    Error::with_source(Kind::Transport, without_urls(error))
}

/// Wraps an error of building or sending the request.
pub(super) fn request_error(error: reqwest::Error) -> Error {
    Error::with_source(Kind::Request, without_urls(error))
}

/// Removes the URL from an error, because its query and userinfo may contain secrets. If a nested error contains a URL,
/// which cannot be removed, returns a generic error.
pub fn without_urls(error: reqwest::Error) -> Box<dyn StdError + Send + Sync> {
    let error = error.without_url();
    if has_nested_url(&error) {
        return "request failed (details omitted because they contain a URL)".into();
    }
    Box::new(error)
}

/// Returns whether the source chain of an error contains a URL.
pub(crate) fn has_nested_url(error: &reqwest::Error) -> bool {
    std::iter::successors(error.source(), |cause| (*cause).source())
        .filter_map(|cause| cause.downcast_ref::<reqwest::Error>())
        .any(|error| error.url().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn https_is_retried_only_if_reqwest_has_tls() {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        // No server listens on this port. Without TLS, reqwest rejects the scheme before it connects.
        let error = client.get("https://127.0.0.1:1/").send().await.unwrap_err();
        assert!(is_permanent_error(&error, false));
        assert!(!is_permanent_error(&error, true));
        let mut is_scheme_rejected = false;
        let mut cause: Option<&dyn StdError> = Some(&error);
        while let Some(error) = cause {
            is_scheme_rejected |= error.to_string().contains("scheme is not http");
            cause = error.source();
        }
        assert_eq!(has_tls(), !is_scheme_rejected);
    }
}
