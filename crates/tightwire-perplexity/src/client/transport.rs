//! Sends requests through reqwest or a tower service.

use std::any::Any;
use std::error::Error as StdError;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::{fmt, io};

use bytes::{Buf as _, Bytes};
use http_body::{Frame, SizeHint};
use reqwest::{Body, Request};
use tightwire_sse::without_urls;
use tokio::time::error::Elapsed;
use tower_service::Service;

use crate::error::{BoxError, Error, Kind, Origin, TimeoutPhase};
use crate::retry::Outcome;

type ResponseFuture<E> = Pin<Box<dyn Future<Output = Result<http::Response<Body>, E>> + Send>>;

/// A `reqwest::Client` as a tower service of the types of the `http` crate, for layers around it; see
/// [`ClientBuilder::service`](crate::ClientBuilder::service).
#[derive(Debug, Clone)]
pub struct ReqwestService(reqwest::Client);

impl From<reqwest::Client> for ReqwestService {
    fn from(client: reqwest::Client) -> Self {
        Self(client)
    }
}

impl Service<http::Request<Body>> for ReqwestService {
    type Response = http::Response<Body>;
    type Error = reqwest::Error;
    type Future = ResponseFuture<reqwest::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let client = self.0.clone();
        Box::pin(async move { Ok(client.execute(request.try_into()?).await?.into()) })
    }
}

/// Sends single requests.
#[derive(Clone)]
pub(super) enum Transport {
    Reqwest(reqwest::Client),
    Service(Arc<dyn Fn(http::Request<Body>) -> ResponseFuture<BoxError> + Send + Sync>),
}

impl Transport {
    pub(super) fn service<S, B>(service: S) -> Self
    where
        S: Service<http::Request<Body>, Response = http::Response<B>> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        // The lock makes the service `Sync`, so that several threads can clone it.
        let shared = Mutex::new(service);
        Self::Service(Arc::new(move |request| -> ResponseFuture<BoxError> {
            let mut service = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Box::pin(async move {
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
                let response = service.call(request).await.map_err(Into::into)?;
                Ok(response.map(ServiceBody::convert))
            })
        }))
    }

    pub(super) async fn send(&self, request: Request) -> Result<http::Response<Body>, AttemptError> {
        match self {
            Self::Reqwest(client) => match client.execute(request).await {
                Ok(response) => Ok(response.into()),
                Err(error) => Err(AttemptError::from_reqwest(error)),
            },
            Self::Service(service) => {
                let request = request.try_into().map_err(AttemptError::from_reqwest)?;
                service(request).await.map_err(AttemptError::from_service)
            }
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

/// Response body of a service. The lock makes it `Sync`, which `reqwest::Body` requires; it is only used for size hints.
struct ServiceBody<B>(Mutex<Pin<Box<B>>>);

impl<B> ServiceBody<B>
where
    B: http_body::Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    fn convert(body: B) -> Body {
        let mut body = Some(body);
        // A body of reqwest is not wrapped again.
        match (&mut body as &mut dyn Any).downcast_mut::<Option<Body>>().and_then(Option::take) {
            Some(body) => body,
            None => body.map(|body| Body::wrap(Self(Mutex::new(Box::pin(body))))).unwrap_or_default(),
        }
    }
}

impl<B: http_body::Body> http_body::Body for ServiceBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let body = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let frame = std::task::ready!(body.as_mut().poll_frame(cx));
        // Copies nothing if the data is `Bytes`.
        let to_bytes = |mut data: B::Data| data.copy_to_bytes(data.remaining());
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(to_bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}

/// Error of an attempt that got no complete response.
#[derive(Debug)]
pub(super) struct AttemptError {
    pub(super) error: Error,
    /// Whether a retry would fail in the same way.
    pub(super) is_permanent: bool,
    /// False if there was no connection.
    pub(super) is_sent: bool,
}

impl AttemptError {
    pub(super) fn from_reqwest(error: reqwest::Error) -> Self {
        let is_permanent = error.is_builder() || error.is_redirect();
        let is_sent = !error.is_connect();
        let error = Error::new(kind(error.is_timeout(), !is_sent)).with_source(without_urls(error));
        Self { error, is_permanent, is_sent }
    }

    fn from_service(error: BoxError) -> Self {
        let error = match error.downcast::<reqwest::Error>() {
            Ok(error) => return Self::from_reqwest(*error),
            Err(error) => error,
        };
        let causes =
            || std::iter::successors(Some(&*error as &(dyn StdError + 'static)), |&cause| cause.source());
        let is_timeout = causes().any(|cause| {
            let io = cause.downcast_ref::<io::Error>();
            cause.is::<Elapsed>() || io.is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
        });
        let hyper = causes().find_map(|cause| cause.downcast_ref::<hyper_util::client::legacy::Error>());
        let is_sent = !hyper.is_some_and(|error| error.is_connect());
        let error = Error::new(kind(is_timeout, !is_sent)).with_source(error);
        Self { error, is_permanent: false, is_sent }
    }

    /// Adds the status and request ID of the response whose body failed.
    pub(super) fn with_response(self, head: &http::response::Parts) -> Self {
        let origin = Origin::of(head.status, &head.headers, 0);
        Self { error: self.error.with_origin(origin), ..self }
    }

    pub(super) fn timeout(phase: TimeoutPhase) -> Self {
        Self { error: Error::new(Kind::Timeout(phase)), is_permanent: false, is_sent: true }
    }

    pub(super) fn outcome(&self) -> Outcome<'static> {
        self.error.timeout_phase().map_or(Outcome::Connection, Outcome::Timeout)
    }
}

fn kind(is_timeout: bool, is_connect: bool) -> Kind {
    match (is_timeout, is_connect) {
        (true, true) => Kind::Timeout(TimeoutPhase::Connect),
        (true, false) => Kind::Timeout(TimeoutPhase::Attempt),
        (false, _) => Kind::Connection,
    }
}
