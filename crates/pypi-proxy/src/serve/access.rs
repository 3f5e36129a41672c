//! Watching a request to its end: it is counted, and gets a line of the log.

use std::borrow::Cow;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use http_body::{Body as _, Frame, SizeHint};
use tracing::Level;

use super::answer::{Answer, Asked, AskedFields, Value};
use super::meter::Endpoint;
use super::refuse::too_large;
use super::respond::X_CACHE;
use super::{Body, Proxy};
use crate::Error;
use crate::error::Chain;

/// What a request was, for the line that is written when its answer has ended.
struct Line {
    client: Option<IpAddr>,
    user: Option<Arc<str>>,
    method: Method,
    path: Box<str>,
    verdict: &'static str,
}

/// A request that is being answered.
pub(super) struct Access {
    proxy: Proxy,
    endpoint: Endpoint,
    begun: Instant,
    /// There as soon as the head of the answer is.
    status: Option<StatusCode>,
    /// The bytes that the answer has, if that is known.
    len: Option<u64>,
    bytes: u64,
    has_ended: bool,
    line: Option<Box<Line>>,
}

impl Access {
    /// Begins to watch a request to this proxy.
    pub(super) fn begin(proxy: Proxy, client: Option<IpAddr>, asked: &Asked<'_>, is_logged: bool) -> Self {
        proxy.meter().begin();
        let is_logged = is_logged && tracing::enabled!(target: "pypi_proxy::access", Level::INFO);
        let line = is_logged.then(|| {
            let method = asked.method.clone();
            Box::new(Line { client, user: None, method, path: asked.path.into(), verdict: "-" })
        });
        Self {
            proxy,
            endpoint: Endpoint::of(asked.path),
            begun: Instant::now(),
            status: None,
            len: None,
            bytes: 0,
            has_ended: *asked.method == Method::HEAD,
            line,
        }
    }

    /// Counts and logs a request whose header exceeds a limit, and returns the response. Nothing of such a request is used:
    /// the log has `-` for its method and path.
    pub(super) fn too_large(proxy: &Proxy, client: Option<IpAddr>, is_logged: bool) -> (Self, Answer) {
        let method = Method::from_bytes(b"-").unwrap_or_default();
        let asked = Asked {
            method: &method,
            path: "-",
            query: None,
            fields: AskedFields::default(),
            forwarded: Cow::Borrowed(""),
        };
        let mut access = Self::begin(proxy.clone(), client, &asked, is_logged);
        let answer = proxy.refuse(too_large());
        access.answered(&answer);
        (access, answer)
    }

    /// The head of the answer is there.
    pub(super) fn answered(&mut self, answer: &Answer) {
        let verdict = match answer.get(&X_CACHE) {
            Some(Value::Static(verdict)) => Some(*verdict),
            _ => None,
        };
        self.proxy.meter().answer(self.endpoint, answer.status, verdict, self.begun.elapsed());
        self.status = Some(answer.status);
        self.len = answer.body.size_hint().exact();
        if let Some(line) = &mut self.line {
            line.user.clone_from(&answer.user);
            line.verdict = verdict.unwrap_or("-");
        }
    }

    /// Bytes of the body that were sent.
    pub(super) fn sent(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// All was sent.
    pub(super) fn ended(&mut self) {
        self.has_ended = true;
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
        let time = self.begun.elapsed();
        let whole = self.status.is_some() && (self.has_ended || self.len == Some(self.bytes));
        self.proxy.meter().end(self.status.map(|_| self.endpoint), self.bytes, time, whole);
        let Some(line) = &self.line else { return };
        #[expect(clippy::cast_precision_loss, reason = "a log needs no more digits")]
        let ms = (time.as_micros() as f64) / 1000.0;
        // What follows the path may hold a token. As a string the path is quoted, with no character that could end the
        // line or do something to a terminal.
        tracing::info!(
            target: "pypi_proxy::access",
            client = line.client.map(tracing::field::display),
            user = line.user.as_deref(),
            method = %line.method,
            path = &*line.path,
            status = self.status.map_or(0, |status| status.as_u16()),
            bytes = self.bytes,
            ms,
            cache = line.verdict,
            whole,
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
