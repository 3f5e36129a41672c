//! A transport without sockets: scripted answers, on whatever clock the test runs, and a log of what was sent.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame};
use tightwire_perplexity::{Client, ClientBuilder};
use tokio::net::TcpSocket;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep};
use tower::Service;

pub(crate) const KEY: &str = "pplx-s3cret";

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An address of this host that refuses connections for as long as the socket lives: it is taken, and nobody listens.
pub(crate) fn refusing() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// What becomes of one request.
pub(crate) enum Step {
    Answer(http::Response<reqwest::Body>),
    /// There is no answer.
    Broken,
    /// There is none for ever.
    Silent,
    /// First some time passes.
    After(Duration, Box<Self>),
}

impl Step {
    pub(crate) fn status(status: u16, headers: &[(&str, &str)], body: impl Into<reqwest::Body>) -> Self {
        let mut response = http::Response::builder().status(status).header("x-request-id", "rid-1");
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        Self::Answer(response.body(body.into()).unwrap())
    }

    pub(crate) fn ok(body: &'static str) -> Self {
        Self::status(200, &[("content-type", "application/json")], body)
    }

    pub(crate) fn failed(status: u16) -> Self {
        Self::status(status, &[], "")
    }

    pub(crate) fn after(self, time: Duration) -> Self {
        Self::After(time, Box::new(self))
    }

    /// An answer whose body is what is sent by the returned handle.
    pub(crate) fn fed() -> (Self, Feed) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (
            Self::status(200, &[("content-type", "text/event-stream")], reqwest::Body::wrap(Fed(receiver))),
            Feed(sender),
        )
    }

    /// An answer whose body comes in these pieces.
    pub(crate) fn pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::byte_pieces(pieces.into_iter().map(str::as_bytes))
    }

    /// The same, where a piece may end within a character.
    pub(crate) fn byte_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let (step, feed) = Self::fed();
        for piece in pieces {
            feed.send_bytes(piece);
        }
        step
    }
}

/// Sends the body of an answer. Dropping it ends the body.
pub(crate) struct Feed(UnboundedSender<io::Result<Bytes>>);

impl Feed {
    pub(crate) fn send(&self, piece: &str) {
        self.send_bytes(piece.as_bytes());
    }

    fn send_bytes(&self, piece: &[u8]) {
        // A body that nobody reads any more is what some tests are about.
        let _ = self.0.send(Ok(Bytes::copy_from_slice(piece)));
    }

    pub(crate) fn fail(&self) {
        let _ = self.0.send(Err(io::ErrorKind::ConnectionReset.into()));
    }

    /// Whether nobody can read the body any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.is_closed()
    }
}

struct Fed(UnboundedReceiver<io::Result<Bytes>>);

impl Body for Fed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

/// A request that was sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) at: Duration,
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

/// The service under the client.
#[derive(Clone)]
pub(crate) struct Script {
    steps: Arc<Mutex<VecDeque<Step>>>,
    sent: Arc<Mutex<Vec<Sent>>>,
    start: Instant,
}

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: Arc::new(Mutex::new(steps.into_iter().collect())),
            sent: Arc::default(),
            start: Instant::now(),
        }
    }

    /// A builder of a client over this script, without jitter.
    pub(crate) fn builder(&self) -> ClientBuilder {
        Client::builder()
            .without_environment()
            .api_key(KEY)
            .base_url("https://example.org/base")
            .retry_policy(tightwire_perplexity::RetryPolicy::new().jitter(tightwire_perplexity::Jitter::None))
            .service(self.clone())
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().unwrap()
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    /// When the requests were sent, in milliseconds from the start.
    pub(crate) fn times(&self) -> Vec<u128> {
        self.sent().iter().map(|sent| sent.at.as_millis()).collect()
    }

    /// What is left of the script.
    pub(crate) fn left(&self) -> usize {
        self.steps.lock().unwrap().len()
    }
}

impl Service<reqwest::Request> for Script {
    type Response = reqwest::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<reqwest::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: reqwest::Request) -> Self::Future {
        let body = request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default();
        self.sent.lock().unwrap().push(Sent {
            at: self.start.elapsed(),
            method: request.method().to_string(),
            url: request.url().to_string(),
            headers: request.headers().clone(),
            body: String::from_utf8_lossy(body).into_owned(),
        });
        let step = self.steps.lock().unwrap().pop_front();
        Box::pin(async move { play(step.ok_or("the script has ended")?).await })
    }
}

async fn play(mut step: Step) -> Result<reqwest::Response, BoxError> {
    loop {
        match step {
            Step::Answer(response) => return Ok(response.into()),
            Step::Broken => return Err(io::Error::from(io::ErrorKind::ConnectionReset).into()),
            Step::Silent => return pending().await,
            Step::After(time, next) => {
                sleep(time).await;
                step = *next;
            }
        }
    }
}
