//! A transport without sockets: scripted responses on the clock of the test, and a log of the requests.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use tightwire_perplexity::retry::{Jitter, RetryPolicy};
use tightwire_perplexity::{Call, Client, ClientBuilder, Error};
use tokio::net::TcpSocket;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::time::{Instant, sleep};
use tower::service_fn;
use tower::util::BoxCloneService;

pub(crate) const KEY: &str = "pplx-s3cret";

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Returns a loopback address that refuses connections while the socket is alive: it is bound, but not
/// listening.
pub(crate) fn refusing() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// Returns the texts of an error and of its sources.
pub(crate) fn chain(error: &Error) -> String {
    let mut text = String::new();
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        text += &format!("{error} {error:?} ");
        source = error.source();
    }
    text
}

/// Creates a call with a JSON response of any form.
pub(crate) fn get(client: &Client) -> Call<tightwire_json::Value> {
    client.request(http::Method::GET, "/x")
}

/// Returns the event of a chunk that adds text.
pub(crate) fn delta(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

/// Outcome of one request.
pub(crate) enum Step {
    Response(http::Response<reqwest::Body>),
    /// The connection fails.
    Broken,
    /// No response, ever.
    Silent,
    /// A delay before another outcome.
    After(Duration, Box<Self>),
}

impl Step {
    pub(crate) fn status(status: u16, headers: &[(&str, &str)], body: impl Into<reqwest::Body>) -> Self {
        let mut response = http::Response::builder().status(status).header("x-request-id", "rid-1");
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        Self::Response(response.body(body.into()).unwrap())
    }

    pub(crate) fn ok(body: &'static str) -> Self {
        Self::status(200, &[("content-type", "application/json")], body)
    }

    pub(crate) fn failed(status: u16) -> Self {
        Self::status(status, &[], "")
    }

    /// Changes the status of a response.
    pub(crate) fn with_status(mut self, status: u16) -> Self {
        if let Self::Response(response) = &mut self {
            *response.status_mut() = status.try_into().unwrap();
        }
        self
    }

    pub(crate) fn after(self, time: Duration) -> Self {
        Self::After(time, Box::new(self))
    }

    /// A response whose body is sent through the returned handle.
    pub(crate) fn fed() -> (Self, Feed) {
        let (body, feed) = Feed::new();
        (Self::status(200, &[("content-type", "text/event-stream")], body), feed)
    }

    /// A response whose body is split into these chunks.
    pub(crate) fn pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::byte_pieces(pieces.into_iter().map(str::as_bytes))
    }

    /// Same as `pieces`, for chunks that may end inside a character.
    pub(crate) fn byte_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let (step, feed) = Self::fed();
        for piece in pieces {
            feed.send_bytes(piece);
        }
        step
    }
}

/// Sends a response body. Dropping it ends the body.
pub(crate) struct Feed(UnboundedSender<io::Result<Bytes>>);

impl Feed {
    /// Creates a body, and the handle that sends it.
    pub(crate) fn new() -> (reqwest::Body, Self) {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        (reqwest::Body::wrap_stream(stream::poll_fn(move |cx| receiver.poll_recv(cx))), Self(sender))
    }

    pub(crate) fn send(&self, piece: &str) {
        self.send_bytes(piece.as_bytes());
    }

    pub(crate) fn send_bytes(&self, piece: &[u8]) {
        // Some tests drop the reader of the body.
        let _ = self.0.send(Ok(Bytes::copy_from_slice(piece)));
    }

    pub(crate) fn fail(&self) {
        let _ = self.0.send(Err(io::ErrorKind::ConnectionReset.into()));
    }

    /// Waits until the reader of the body is dropped.
    pub(crate) async fn cancelled(&self) {
        self.0.closed().await;
    }

    /// Returns whether the reader of the body was dropped.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.is_closed()
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

/// Scripted responses, and the requests that were answered with them.
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

    /// Returns a client builder that uses this script and no jitter.
    pub(crate) fn builder(&self) -> ClientBuilder {
        Client::builder()
            .without_environment()
            .api_key(KEY)
            .base_url("https://example.org/base")
            .retry_policy(RetryPolicy { jitter: Jitter::None, ..RetryPolicy::new() })
            .service(self.service())
    }

    /// Returns a tower service that plays the script.
    pub(crate) fn service(
        &self,
    ) -> BoxCloneService<http::Request<reqwest::Body>, http::Response<reqwest::Body>, BoxError> {
        let script = self.clone();
        BoxCloneService::new(service_fn(move |request: http::Request<reqwest::Body>| {
            let body = request.body().as_bytes().unwrap_or_default();
            script.sent.lock().unwrap().push(Sent {
                at: script.start.elapsed(),
                method: request.method().to_string(),
                url: request.uri().to_string(),
                headers: request.headers().clone(),
                body: String::from_utf8_lossy(body).into_owned(),
            });
            let step = script.steps.lock().unwrap().pop_front();
            async { play(step.ok_or("the script has ended")?).await }
        }))
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().unwrap()
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    /// Returns when the requests were sent, in milliseconds from the start.
    pub(crate) fn times(&self) -> Vec<u128> {
        self.sent().iter().map(|sent| sent.at.as_millis()).collect()
    }

    /// Returns the number of remaining steps.
    pub(crate) fn left(&self) -> usize {
        self.steps.lock().unwrap().len()
    }
}

/// Returns the outcome of a request.
pub(crate) async fn play(mut step: Step) -> Result<http::Response<reqwest::Body>, BoxError> {
    loop {
        match step {
            Step::Response(response) => return Ok(response),
            Step::Broken => return Err(io::Error::from(io::ErrorKind::ConnectionReset).into()),
            Step::Silent => return pending().await,
            Step::After(time, next) => {
                sleep(time).await;
                step = *next;
            }
        }
    }
}
