//! A line of the log for each request.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body::{Body as _, Frame, SizeHint};
use tracing::Level;

use super::Body;
use super::respond::X_CACHE;
use crate::Error;
use crate::error::Chain;

/// What a request was, for the line that is written when its answer has ended.
struct Line {
    method: Method,
    // Shares the memory of the request.
    uri: Uri,
    begun: Instant,
    status: u16,
    verdict: Option<HeaderValue>,
    /// The bytes that the answer has, if that is known.
    len: Option<u64>,
    bytes: u64,
    has_ended: bool,
}

/// A request that is being answered.
pub(super) struct Access(Option<Box<Line>>);

impl Access {
    /// Begins to watch a request, if the log wants to know of it.
    pub(super) fn begin<B>(request: &Request<B>, is_wanted: bool) -> Self {
        let is_wanted = is_wanted && tracing::enabled!(target: "pypi_proxy::access", Level::INFO);
        Self(is_wanted.then(|| {
            Box::new(Line {
                method: request.method().clone(),
                uri: request.uri().clone(),
                begun: Instant::now(),
                status: 0,
                verdict: None,
                len: None,
                bytes: 0,
                has_ended: false,
            })
        }))
    }

    /// Watches the answer to its end.
    pub(super) fn watch(mut self, response: Response<Body>) -> Response<Watched> {
        if let Some(line) = &mut self.0 {
            line.status = response.status().as_u16();
            line.verdict = response.headers().get(X_CACHE).cloned();
            line.len = response.body().size_hint().exact();
        }
        response.map(|body| Watched { body, access: self })
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        let Some(line) = &self.0 else { return };
        let cache = line.verdict.as_ref().and_then(|verdict| verdict.to_str().ok()).unwrap_or("-");
        let whole = line.has_ended || line.len == Some(line.bytes) || line.method == Method::HEAD;
        #[expect(clippy::cast_precision_loss, reason = "a log needs no more digits")]
        let ms = (line.begun.elapsed().as_micros() as f64) / 1000.0;
        // What follows the path may hold a token.
        tracing::info!(
            target: "pypi_proxy::access",
            method = %line.method, path = line.uri.path(), status = line.status, bytes = line.bytes, ms, cache, whole,
        );
    }
}

/// A body whose bytes are counted.
pub(super) struct Watched {
    body: Body,
    access: Access,
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let next = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Err(error)) = &next {
            tracing::warn!(error = %Chain(error), "an answer breaks off");
        }
        if let Some(line) = &mut self.access.0 {
            match &next {
                Some(Ok(frame)) => line.bytes += frame.data_ref().map_or(0, |bytes| bytes.len() as u64),
                Some(Err(_)) => {}
                None => line.has_ended = true,
            }
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
