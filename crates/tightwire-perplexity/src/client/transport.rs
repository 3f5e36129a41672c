//! Sends requests through reqwest or a tower service.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::{Request, Response};
use tightwire_sse::without_urls;
use tower_service::Service;

use crate::error::{BoxError, Error, Kind, Origin, TimeoutPhase};
use crate::retry::Outcome;

type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response, BoxError>> + Send>>;

/// Sends single requests.
#[derive(Clone)]
pub(super) enum Transport {
    Reqwest(reqwest::Client),
    Service(Arc<dyn Fn(Request) -> ResponseFuture + Send + Sync>),
}

impl Transport {
    pub(super) fn service<S>(service: S) -> Self
    where
        S: Service<Request, Response = Response> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        // The lock makes the service `Sync`, so that several threads can clone it.
        let shared = Mutex::new(service);
        Self::Service(Arc::new(move |request| -> ResponseFuture {
            let mut service = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Box::pin(async move {
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
                service.call(request).await.map_err(Into::into)
            })
        }))
    }

    pub(super) async fn send(&self, request: Request) -> Result<Response, AttemptError> {
        match self {
            Self::Reqwest(client) => client.execute(request).await.map_err(AttemptError::from_reqwest),
            Self::Service(service) => service(request).await.map_err(AttemptError::from_service),
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reqwest(_) => "Reqwest",
            Self::Service(_) => "Service",
        })
    }
}

/// Error of an attempt that got no complete response.
#[derive(Debug)]
pub(super) struct AttemptError {
    pub(super) error: Error,
    /// True if a retry would fail in the same way.
    pub(super) is_permanent: bool,
}

impl AttemptError {
    pub(super) fn from_reqwest(error: reqwest::Error) -> Self {
        let is_permanent = error.is_builder() || error.is_redirect();
        let kind = match (error.is_timeout(), error.is_connect()) {
            (true, true) => Kind::Timeout(TimeoutPhase::Connect),
            (true, false) => Kind::Timeout(TimeoutPhase::Attempt),
            (false, _) => Kind::Connection,
        };
        let error = Error::new(kind).with_source(without_urls(error));
        Self { error, is_permanent }
    }

    fn from_service(error: BoxError) -> Self {
        match error.downcast::<reqwest::Error>() {
            Ok(error) => Self::from_reqwest(*error),
            Err(error) => Self { error: Error::connection(error), is_permanent: false },
        }
    }

    /// Adds the status and request ID of the response whose body failed.
    pub(super) fn with_response(self, head: &http::response::Parts) -> Self {
        let origin = Origin::of(head.status, &head.headers, 0);
        Self { error: self.error.with_origin(origin), ..self }
    }

    pub(super) fn timeout(phase: TimeoutPhase) -> Self {
        Self { error: Error::new(Kind::Timeout(phase)), is_permanent: false }
    }

    pub(super) fn outcome(&self) -> Outcome<'static> {
        self.error.timeout_phase().map_or(Outcome::Connection, Outcome::Timeout)
    }
}
