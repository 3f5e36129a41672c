//! Response body of a server.
#![cfg(feature = "body")]

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _, stream};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tightwire_sse::{DEFAULT_KEEP_ALIVE, DEFAULT_SHUTDOWN_EVENTS, Reader, SseBody, SseEvent};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, advance, timeout};
use tokio_io_timeout::TimeoutStream;

use crate::chunked::block_on;

/// Timeout of waiting, far above any regular duration.
const TIMEOUT: Duration = Duration::from_secs(120);

type Events = mpsc::Sender<SseEvent<'static>>;

/// Returns a body and the channel of its events.
fn channel() -> (Events, SseBody<impl futures_util::Stream<Item = Result<SseEvent<'static>, Infallible>>>) {
    let (sender, mut receiver) = mpsc::channel(8);
    (sender, SseBody::new(stream::poll_fn(move |cx| receiver.poll_recv(cx)).map(Ok)))
}

macro_rules! frame {
    ($body:expr) => {
        $body.frame().await.expect("a frame").expect("no error").into_data().expect("data")
    };
}

#[tokio::test(start_paused = true)]
async fn every_block_is_one_frame() {
    let (sender, body) = channel();
    let mut body = pin!(body);
    assert!(body.frame().now_or_never().is_none());
    sender.send(SseEvent::new().data("a")).await.unwrap();
    sender.send(SseEvent::new().event("e").data("b")).await.unwrap();
    assert_eq!(frame!(body), "data: a\n\n");
    assert_eq!(frame!(body), "event: e\ndata: b\n\n");
    assert!(!body.is_end_stream());
    drop(sender);
    assert!(body.frame().await.is_none());
    assert!(body.is_end_stream());
    assert!(body.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn keep_alive_comments_are_sent_without_blocks() {
    let (sender, body) = channel();
    let mut body = pin!(body);
    let start = Instant::now();
    assert_eq!(frame!(body), ":\n\n");
    assert_eq!(start.elapsed(), DEFAULT_KEEP_ALIVE);
    assert_eq!(frame!(body), ":\n\n");
    assert_eq!(start.elapsed(), 2 * DEFAULT_KEEP_ALIVE);
    drop(sender);
    assert!(body.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_block_restarts_the_keep_alive_interval() {
    let (sender, body) = channel();
    let mut body = pin!(body.with_keep_alive(Duration::from_secs(10)));
    assert!(body.frame().now_or_never().is_none());
    advance(Duration::from_secs(9)).await;
    sender.send(SseEvent::new().data("a")).await.unwrap();
    assert_eq!(frame!(body), "data: a\n\n");
    let start = Instant::now();
    assert_eq!(frame!(body), ":\n\n");
    assert_eq!(start.elapsed(), Duration::from_secs(10));
    drop(sender);
}

#[tokio::test(start_paused = true)]
async fn the_keep_alive_comment_is_configurable() {
    let (_sender, body) = channel();
    let mut body = pin!(body.with_keep_alive_text("still\nhere").with_keep_alive(Duration::from_secs(1)));
    let start = Instant::now();
    assert_eq!(frame!(body), ": still\n: here\n\n");
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[test]
fn without_keep_alive_no_runtime_is_required() {
    let (sender, body) = channel();
    let mut body = pin!(body.without_keep_alive());
    // This test has no runtime.
    assert!(body.frame().now_or_never().is_none());
    sender.try_send(SseEvent::new().data("a")).unwrap();
    let frame = body.frame().now_or_never().unwrap().unwrap().unwrap();
    assert_eq!(frame.into_data().unwrap(), "data: a\n\n");
}

#[tokio::test(start_paused = true)]
async fn extreme_intervals_do_not_panic() {
    for interval in [Duration::ZERO, Duration::MAX] {
        let (sender, body) = channel();
        let mut body = pin!(body.with_keep_alive(interval));
        assert!(body.frame().now_or_never().is_none());
        sender.send(SseEvent::new().data("a")).await.unwrap();
        assert_eq!(frame!(body), "data: a\n\n");
    }
}

#[test]
fn errors_end_the_body() {
    let events = [
        Ok(SseEvent::new().data("a")),
        Err(io::Error::from(io::ErrorKind::BrokenPipe)),
        Ok(SseEvent::new().data("never sent")),
    ];
    let mut body = pin!(SseBody::new(stream::iter(events)));
    assert!(block_on(body.frame()).unwrap().is_ok());
    let error = block_on(body.frame()).unwrap().unwrap_err();
    assert!(error.is_transport());
    assert!(std::error::Error::source(&error).is_some());
    assert!(body.is_end_stream() && block_on(body.frame()).is_none());

    let events = [Ok::<_, Infallible>(SseEvent::new().id("a\nb")), Ok(SseEvent::new())];
    let mut body = pin!(SseBody::new(stream::iter(events)));
    assert!(block_on(body.frame()).unwrap().unwrap_err().is_unencodable());
    assert!(body.is_end_stream() && block_on(body.frame()).is_none());
}

#[test]
fn the_response_has_the_headers_of_an_event_stream() {
    let response = SseBody::new(stream::empty::<Result<SseEvent<'static>, Infallible>>()).into_response();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-cache");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    assert_eq!(response.headers().len(), 3);
}

#[test]
fn a_large_block_is_one_frame() {
    let sizes = [1, 4000, 4096, 5000, 1 << 20, 3];
    let events = sizes.map(|size| Ok::<_, Infallible>(SseEvent::new().data("x".repeat(size))));
    let bytes = block_on(SseBody::new(stream::iter(events)).collect()).unwrap().to_bytes();
    let found: Vec<usize> = Reader::new(&bytes[..]).map(|event| event.unwrap().data().len()).collect();
    assert_eq!(found, sizes);
}

#[tokio::test(start_paused = true)]
async fn encoded_blocks_are_sent_unchanged() {
    let events = stream::iter([Ok::<_, Infallible>(bytes::Bytes::from("data: a\n\n"))]);
    assert_eq!(SseBody::new(events).collect().await.unwrap().to_bytes(), "data: a\n\n");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_the_body_after_the_ready_blocks() {
    let (sender, body) = channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let mut body = pin!(body.with_shutdown(stopped.map(|_| ())));
    sender.send(SseEvent::new().data("a")).await.unwrap();
    assert_eq!(frame!(body), "data: a\n\n");
    assert!(body.frame().now_or_never().is_none());
    sender.send(SseEvent::new().data("b")).await.unwrap();
    sender.send(SseEvent::new().data("c")).await.unwrap();
    stop.send(()).unwrap();
    assert_eq!(frame!(body), "data: b\n\n");
    assert_eq!(frame!(body), "data: c\n\n");
    assert!(body.frame().await.is_none());
    assert!(body.is_end_stream());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_wakes_a_body_without_blocks() {
    let (_sender, body) = channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let body = body.without_keep_alive().with_shutdown(stopped.map(|_| ()));
    let bytes = tokio::spawn(body.collect());
    tokio::task::yield_now().await;
    stop.send(()).unwrap();
    assert!(bytes.await.unwrap().unwrap().to_bytes().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_always_ready_ends_on_shutdown() {
    for events in [0, 2, DEFAULT_SHUTDOWN_EVENTS] {
        let endless = stream::repeat_with(|| Ok::<_, Infallible>(SseEvent::new().data("a")));
        let body = SseBody::new(endless).with_shutdown_events(events).with_shutdown(std::future::ready(()));
        assert_eq!(body.collect().await.unwrap().to_bytes().len(), events * "data: a\n\n".len());
    }
}

/// Reads from a connection until the received data contains `text`.
async fn read_until(connection: &mut TcpStream, seen: &mut String, text: &str) {
    let mut buffer = [0; 1024];
    while !seen.contains(text) {
        let length = timeout(TIMEOUT, connection.read(&mut buffer)).await.unwrap().unwrap();
        assert_ne!(length, 0, "closed after {seen:?}");
        seen.push_str(std::str::from_utf8(&buffer[..length]).unwrap());
    }
}

#[tokio::test]
async fn hyper_sends_every_block_immediately_and_drops_the_stream_on_disconnect() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut connection = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (sender, body) = channel();
    let body = Arc::new(Mutex::new(Some(body.with_keep_alive(Duration::from_millis(20)))));
    let respond = move || {
        let response = body.lock().unwrap().take().expect("one request").into_response();
        std::future::ready(response.map(axum::body::Body::new))
    };
    tokio::spawn(axum::serve(listener, axum::routing::get(respond)).into_future());
    connection.write_all(b"GET / HTTP/1.1\r\nhost: example.org\r\n\r\n").await.unwrap();
    let mut seen = String::new();
    read_until(&mut connection, &mut seen, "\r\n\r\n").await;
    assert!(seen.starts_with("HTTP/1.1 200 OK\r\n"), "{seen}");
    assert!(seen.contains("content-type: text/event-stream\r\n"), "{seen}");
    assert!(seen.contains("cache-control: no-cache\r\n"), "{seen}");
    for data in ["one", "two"] {
        sender.send(SseEvent::new().data(data)).await.unwrap();
        read_until(&mut connection, &mut seen, &format!("data: {data}\n\n")).await;
    }
    read_until(&mut connection, &mut seen, ":\n\n").await;
    drop(connection);
    // The server may notice the disconnect only on a write, such as a keep-alive comment.
    timeout(TIMEOUT, sender.closed()).await.unwrap();
}

/// Listener whose connections are aborted when a write takes longer than a timeout.
struct WriteTimeouts(TcpListener);

impl axum::serve::Listener for WriteTimeouts {
    type Io = Pin<Box<TimeoutStream<TcpStream>>>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (socket, address) = axum::serve::Listener::accept(&mut self.0).await;
        let mut socket = TimeoutStream::new(socket);
        socket.set_write_timeout(Some(Duration::from_millis(50)));
        (Box::pin(socket), address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

#[tokio::test]
async fn a_write_timeout_of_the_connection_drops_the_body_of_a_client_that_does_not_receive() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut connection = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (sender, body) = channel();
    let body = Arc::new(Mutex::new(Some(body)));
    let respond = move || {
        let response = body.lock().unwrap().take().expect("one request").into_response();
        std::future::ready(response.map(axum::body::Body::new))
    };
    tokio::spawn(axum::serve(WriteTimeouts(listener), axum::routing::get(respond)).into_future());
    connection.write_all(b"GET / HTTP/1.1\r\nhost: example.org\r\n\r\n").await.unwrap();
    let data = "x".repeat(1 << 16);
    // Sends until the buffers of hyper and of both sockets are full and the connection is aborted.
    let send = async { while sender.send(SseEvent::new().data(data.clone())).await.is_ok() {} };
    timeout(TIMEOUT, send).await.unwrap();
}
