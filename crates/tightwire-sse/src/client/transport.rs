//! The seam between the client's rules and HTTP.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use reqwest::redirect::Policy;

use super::request::check_scheme;
use crate::error::{Error, Kind, Result};

pub(super) type Response = http::Response<reqwest::Body>;

/// A request under way. Dropping it cancels the request and closes its connection.
pub(super) type Connecting = Pin<Box<dyn Future<Output = Result<Response, Failure>> + Send>>;

/// Sends requests. A closure, so that the driver's timing can be tested without sockets.
pub(super) struct Transport(Box<dyn Fn(reqwest::Request) -> Connecting + Send + Sync>);

/// Why there is no response.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: Error,
    /// Another attempt would end the same way.
    pub(super) futile: bool,
}

impl Transport {
    pub(super) fn new(connect: impl Fn(reqwest::Request) -> Connecting + Send + Sync + 'static) -> Self {
        Self(Box::new(connect))
    }

    pub(super) fn reqwest(client: reqwest::Client) -> Self {
        Self::new(move |request| {
            let response = client.execute(request);
            Box::pin(async move {
                match response.await {
                    Ok(response) => Ok(response.into()),
                    Err(error) => {
                        let futile = is_futile(&error, has_tls());
                        Err(Failure { error: transport_error(error), futile })
                    }
                }
            })
        })
    }

    pub(super) fn connect(&self, request: reqwest::Request) -> Connecting {
        (self.0)(request)
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transport")
    }
}

/// Builds the client of a caller who brings none.
///
/// An empty `Location` resolves to the URL that it came from. Following it asks the same question up to ten
/// times, so the redirect itself is taken as the answer, which the status check then refuses.
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

/// Whether reqwest is built with TLS, which depends on its features and not on those of this crate.
pub(super) fn has_tls() -> bool {
    // The builder has a method of this name in builds with TLS alone. In others this calls the one of the trait.
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

/// Whether another attempt would fail in the same way. A redirect can lead to a scheme that reqwest cannot connect to.
fn is_futile(error: &reqwest::Error, has_tls: bool) -> bool {
    let is_scheme_unsupported = error.url().is_some_and(|url| check_scheme(url.scheme(), has_tls).is_err());
    error.is_builder() || error.is_redirect() || is_scheme_unsupported
}

/// The connection failed.
pub(super) fn transport_error(error: reqwest::Error) -> Error {
    Error::with_source(Kind::Transport, without_urls(error))
}

/// The request is not one that could be sent.
pub(super) fn request_error(error: reqwest::Error) -> Error {
    Error::with_source(Kind::Request, without_urls(error))
}

/// URLs carry secrets in their query and user parts. One inside of a nested error cannot be taken out, so
/// that error as a whole is replaced.
pub fn without_urls(error: reqwest::Error) -> Box<dyn StdError + Send + Sync> {
    let error = error.without_url();
    let mut cause = error.source();
    while let Some(inner) = cause {
        if inner.downcast_ref::<reqwest::Error>().is_some_and(|inner| inner.url().is_some()) {
            return "request failed for a reason that names a URL".into();
        }
        cause = inner.source();
    }
    Box::new(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn https_is_retried_only_where_reqwest_has_tls() {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        // No server listens there. Without TLS, reqwest rejects the scheme before it connects.
        let error = client.get("https://127.0.0.1:1/").send().await.unwrap_err();
        assert!(is_futile(&error, false));
        assert!(!is_futile(&error, true));
        let mut is_scheme_rejected = false;
        let mut cause: Option<&dyn StdError> = Some(&error);
        while let Some(error) = cause {
            is_scheme_rejected |= error.to_string().contains("scheme is not http");
            cause = error.source();
        }
        assert_eq!(has_tls(), !is_scheme_rejected);
    }
}
