//! A line of the log for each request.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use http::{Method, Response};
use http_body::{Body as _, Frame, SizeHint};
use tracing::Level;

use super::Body;
use super::answer::{Answer, Value};
use super::respond::X_CACHE;
use crate::Error;
use crate::error::Chain;

/// What a request was, for the line that is written when its answer has ended.
struct Line {
    method: Method,
    path: Box<str>,
    begun: Instant,
    status: u16,
    verdict: &'static str,
    /// The bytes that the answer has, if that is known.
    len: Option<u64>,
    bytes: u64,
    has_ended: bool,
}

/// A request that is being answered.
pub(super) struct Access(Option<Box<Line>>);

impl Access {
    /// Begins to watch a request, if the log wants to know of it.
    pub(super) fn begin(method: &Method, path: &str, is_wanted: bool) -> Self {
        let is_wanted = is_wanted && tracing::enabled!(target: "pypi_proxy::access", Level::INFO);
        Self(is_wanted.then(|| {
            Box::new(Line {
                method: method.clone(),
                path: path.into(),
                begun: Instant::now(),
                status: 0,
                verdict: "-",
                len: None,
                bytes: 0,
                has_ended: false,
            })
        }))
    }

    /// What it is answered with.
    pub(super) fn answered(&mut self, answer: &Answer) {
        if let Some(line) = &mut self.0 {
            line.status = answer.status.as_u16();
            if let Some(Value::Static(verdict)) = answer.get(&X_CACHE) {
                line.verdict = verdict;
            }
            line.len = answer.body.size_hint().exact();
        }
    }

    /// Bytes of the body that were sent.
    pub(super) fn sent(&mut self, bytes: u64) {
        if let Some(line) = &mut self.0 {
            line.bytes += bytes;
        }
    }

    /// All was sent.
    pub(super) fn ended(&mut self) {
        if let Some(line) = &mut self.0 {
            line.has_ended = true;
        }
    }

    /// Why the body ends before its end.
    pub(super) fn broken(error: &Error) {
        tracing::warn!(error = %Chain(error), "an answer breaks off");
    }

    /// Watches the answer to its end.
    pub(super) fn watch(mut self, answer: Answer) -> Response<Watched> {
        self.answered(&answer);
        Response::from(answer).map(|body| Watched { body, access: self })
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        let Some(line) = &self.0 else { return };
        let whole = line.has_ended || line.len == Some(line.bytes) || line.method == Method::HEAD;
        #[expect(clippy::cast_precision_loss, reason = "a log needs no more digits")]
        let ms = (line.begun.elapsed().as_micros() as f64) / 1000.0;
        // What follows the path may hold a token.
        tracing::info!(
            target: "pypi_proxy::access",
            method = %line.method, path = &*line.path, status = line.status, bytes = line.bytes, ms,
            cache = line.verdict, whole,
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
        match &next {
            Some(Ok(frame)) => {
                self.access.sent(frame.data_ref().map_or(0, |bytes| bytes.len() as u64));
            }
            Some(Err(error)) => Access::broken(error),
            None => self.access.ended(),
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
