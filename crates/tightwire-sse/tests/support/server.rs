//! HTTP server on loopback that the test controls request by request.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of this module")]

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

/// Timeout of waiting, far above any regular duration.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Server on the runtime of the test. Requests are queued until the test accepts them.
pub struct Server {
    address: SocketAddr,
    exchanges: mpsc::UnboundedReceiver<Exchange>,
}

/// Request without response yet. Dropping it closes the connection without a response.
pub struct Exchange {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    reply: oneshot::Sender<Response<Body>>,
}

/// Body of a response. Dropping it ends the body regularly.
pub struct Sender(mpsc::UnboundedSender<io::Result<Bytes>>);

type Body = UnsyncBoxBody<Bytes, io::Error>;

impl Server {
    pub fn start() -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let (sender, exchanges) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                tokio::spawn(serve_connection(socket, sender.clone()));
            }
        });
        Self { address, exchanges }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Waits for the next request.
    pub async fn accept(&mut self) -> Exchange {
        bounded(self.exchanges.recv()).await.expect("the server runs")
    }

    /// Returns whether a request is queued.
    pub fn has_request(&self) -> bool {
        !self.exchanges.is_empty()
    }
}

impl Exchange {
    /// Responds with an event stream.
    pub fn open(self) -> Sender {
        self.respond(200, &[("content-type", "text/event-stream")])
    }

    /// Responds with this status and these headers.
    pub fn respond(self, status: u16, headers: &[(&str, &str)]) -> Sender {
        let (sender, mut receiver) = mpsc::unbounded_channel::<io::Result<Bytes>>();
        let frames = stream::poll_fn(move |cx| receiver.poll_recv(cx)).map(|chunk| chunk.map(Frame::data));
        let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        // The client may have disconnected.
        let _ = self.reply.send(response.body(StreamBody::new(frames).boxed_unsync()).unwrap());
        Sender(sender)
    }

    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.get(name).map(|value| value.as_bytes())
    }
}

impl Sender {
    pub fn send(&self, chunk: impl Into<Bytes>) {
        let _ = self.0.send(Ok(chunk.into()));
    }

    /// Aborts the connection within the body.
    pub fn abort(self) {
        let _ = self.0.send(Err(io::Error::other("broken by the test")));
    }

    /// Waits until the client has closed the connection.
    pub async fn closed(&self) {
        bounded(self.0.closed()).await;
    }
}

/// Awaits a future, and panics after a timeout.
pub async fn bounded<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(TIMEOUT, future).await.expect("it happens in time")
}

async fn serve_connection(socket: TcpStream, exchanges: mpsc::UnboundedSender<Exchange>) {
    socket.set_nodelay(true).unwrap();
    let service = service_fn(move |request| handle(request, exchanges.clone()));
    // Either side may abort the connection in these tests.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
}

async fn handle(
    request: Request<Incoming>,
    exchanges: mpsc::UnboundedSender<Exchange>,
) -> io::Result<Response<Body>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let (reply, replied) = oneshot::channel();
    let path = head.uri.path_and_query().expect("requests have a path").to_string();
    let _ = exchanges.send(Exchange { method: head.method, path, headers: head.headers, body, reply });
    replied.await.map_err(io::Error::other)
}
