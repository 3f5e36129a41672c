//! Tracks requests for the metrics and the access log.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use http_body::{Body as _, Frame, SizeHint};
use tracing::Level;

use super::message::{ProxyResponse, RequestFields, RequestParts, Value};
use super::request_metrics::Endpoint;
use super::respond::{X_CACHE, too_large};
use super::{Proxy, ResponseBody};
use crate::Error;
use crate::error::Chain;

/// Fields of an access log line that are known before the response is complete.
struct LogLine {
    client: Option<IpAddr>,
    user: Option<Arc<str>>,
    method: Method,
    path: Box<str>,
    cache_status: &'static str,
}

/// A request in progress. Updates the metrics and writes the log line when dropped.
pub(super) struct RequestTracker {
    proxy: Proxy,
    started: Instant,
    /// Set when the response starts.
    status: Option<(StatusCode, Endpoint)>,
    /// Length of the body, if it is known.
    len: Option<u64>,
    bytes: u64,
    is_body_sent: bool,
    line: Option<Box<LogLine>>,
}

impl RequestTracker {
    pub(super) fn start(
        proxy: Proxy,
        client: Option<IpAddr>,
        request: &RequestParts<'_>,
        is_logged: bool,
    ) -> Self {
        proxy.0.metrics.in_flight.add(1);
        let is_logged = is_logged && tracing::enabled!(target: "pypi_proxy::access", Level::INFO);
        let line = is_logged.then(|| {
            let method = request.method.clone();
            Box::new(LogLine { client, user: None, method, path: request.path.into(), cache_status: "-" })
        });
        Self {
            proxy,
            started: Instant::now(),
            status: None,
            len: None,
            bytes: 0,
            is_body_sent: *request.method == Method::HEAD,
            line,
        }
    }

    /// Tracks a request whose header exceeds a limit, and returns the response. The access log has `-` for method and
    /// path, because such a request is not parsed further.
    pub(super) fn too_large(proxy: &Proxy, client: Option<IpAddr>, is_logged: bool) -> (Self, ProxyResponse) {
        let method = Method::from_bytes(b"-").unwrap_or_default();
        let request = RequestParts {
            method: &method,
            path: "-",
            query: None,
            fields: RequestFields::default(),
            forwarded: "",
        };
        let mut tracker = Self::start(proxy.clone(), client, &request, is_logged);
        let response = proxy.reject(too_large());
        tracker.record_response(&response);
        (tracker, response)
    }

    pub(super) fn record_response(&mut self, response: &ProxyResponse) {
        let cache_status = match response.get(&X_CACHE) {
            Some(Value::Static(cache_status)) => Some(*cache_status),
            _ => None,
        };
        let (status, endpoint) = (response.status, response.endpoint);
        self.proxy.0.metrics.record_response(endpoint, status, cache_status, self.started.elapsed());
        self.status = Some((status, endpoint));
        self.len = response.body.size_hint().exact();
        if let Some(line) = &mut self.line {
            line.user.clone_from(&response.user);
            line.cache_status = cache_status.unwrap_or("-");
        }
    }

    pub(super) fn add_sent(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Records that the body was sent completely.
    pub(super) fn finish(&mut self) {
        self.is_body_sent = true;
    }

    /// Logs why a body ends early.
    pub(super) fn log_error(error: &Error) {
        tracing::warn!(error = %Chain(error), "a response was not sent completely");
    }

    /// Tracks the response until its body is sent.
    pub(super) fn track(mut self, response: ProxyResponse) -> Response<TrackedBody> {
        self.record_response(&response);
        Response::from(response).map(|body| TrackedBody { body, tracker: self })
    }
}

impl Drop for RequestTracker {
    fn drop(&mut self) {
        let time = self.started.elapsed();
        let is_complete = self.status.is_some() && (self.is_body_sent || self.len == Some(self.bytes));
        let endpoint = self.status.map(|(_, endpoint)| endpoint);
        self.proxy.0.metrics.record_end(endpoint, self.bytes, time, is_complete);
        let Some(line) = &self.line else { return };
        #[expect(clippy::cast_precision_loss, reason = "a log needs no more digits")]
        let ms = (time.as_micros() as f64) / 1000.0;
        // The query is left out, because it may contain a token. The path is formatted as a quoted string, so that it
        // can't break the line or send control sequences to a terminal.
        tracing::info!(
            target: "pypi_proxy::access",
            client = line.client.map(tracing::field::display),
            user = line.user.as_deref(),
            method = %line.method,
            path = &*line.path,
            status = self.status.map_or(0, |(status, _)| status.as_u16()),
            bytes = self.bytes,
            ms,
            cache = line.cache_status,
            whole = is_complete,
        );
    }
}

pub(super) struct TrackedBody {
    body: ResponseBody,
    tracker: RequestTracker,
}

impl http_body::Body for TrackedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let next = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &next {
            Some(Ok(frame)) => {
                self.tracker.add_sent(frame.data_ref().map_or(0, |bytes| bytes.len() as u64));
            }
            Some(Err(error)) => RequestTracker::log_error(error),
            None => self.tracker.finish(),
        }
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
