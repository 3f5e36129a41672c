//! HTTP server on loopback that the test controls request by request.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of this module")]

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// Timeout of waiting, far above any regular duration.
const PATIENCE: Duration = Duration::from_secs(120);

/// Server in a thread. Requests are queued until the test accepts them.
pub struct Server {
    address: SocketAddr,
    exchanges: mpsc::UnboundedReceiver<Exchange>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Request without response yet. Dropping it closes the connection without a response.
pub struct Exchange {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    reply: oneshot::Sender<Response<Stream>>,
}

/// Body of a response. Dropping it ends the body regularly.
pub struct Sender(mpsc::UnboundedSender<io::Result<Bytes>>);

struct Stream(mpsc::UnboundedReceiver<io::Result<Bytes>>);

impl Server {
    pub fn start() -> Self {
        let (exchange_sender, exchanges) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        let (address_sender, address) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
                address_sender.send(listener.local_addr().unwrap()).unwrap();
                serve(listener, exchange_sender, stopped).await;
            });
        });
        let address = address.recv().expect("the server starts");
        Self { address, exchanges, stop: Some(stop), thread: Some(thread) }
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

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop.take().expect("dropped once").send(());
        let ended = self.thread.take().expect("dropped once").join();
        if !thread::panicking() {
            assert!(ended.is_ok(), "the server panicked");
        }
    }
}

impl Exchange {
    /// Responds with an event stream.
    pub fn open(self) -> Sender {
        self.respond(200, &[("content-type", "text/event-stream")])
    }

    /// Responds with this status and these headers.
    pub fn respond(self, status: u16, headers: &[(&str, &str)]) -> Sender {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        // The client may have disconnected.
        let _ = self.reply.send(response.body(Stream(receiver)).unwrap());
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
    tokio::time::timeout(PATIENCE, future).await.expect("it happens in time")
}

async fn serve(
    listener: TcpListener,
    exchanges: mpsc::UnboundedSender<Exchange>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => {
                let (socket, _) = accepted.unwrap();
                connections.spawn(serve_connection(socket, exchanges.clone()));
            }
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended && let Ok(panic) = error.try_into_panic() {
                    resume_unwind(panic);
                }
            }
        }
    }
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
) -> io::Result<Response<Stream>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let (reply, replied) = oneshot::channel();
    let path = head.uri.path_and_query().expect("requests have a path").to_string();
    let _ = exchanges.send(Exchange { method: head.method, path, headers: head.headers, body, reply });
    replied.await.map_err(io::Error::other)
}

impl Body for Stream {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(cx).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }
}
