//! Server whose clients resume: a client is dropped, and the next one continues after its last event.
//!
//! The server keeps its latest events in a [`ReplayChannel`]. A request with `Last-Event-ID` first gets the missed
//! events, or the event `reset` if they are no longer buffered. A connection that takes no data is aborted, and all of
//! them end regularly when the server stops.
//!
//! Run it: `cargo run --example sse_resume`.

use std::io::{self, Write, stdout};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use axum::serve::Listener;
use futures_util::{StreamExt, TryStreamExt, stream};
use http::HeaderMap;
use tightwire_sse::{EventSource, ReplayBuffer, ReplayChannel, SseBody, SseEvent};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_io_timeout::TimeoutStream;

/// Delay before each event.
const EVENT_DELAY: Duration = Duration::from_millis(20);

/// Time without progress of a write after which a connection is aborted.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Tells a client that it has missed events and has to load its state again.
const RESET: &[u8] = b"event: reset\ndata:\n\n";

#[derive(Clone)]
struct Server {
    channel: Arc<ReplayChannel>,
    stop: watch::Receiver<bool>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    run(&mut stdout()).await
}

/// Receives three events, restarts the client, receives three more, and stops the server.
pub(crate) async fn run(out: &mut impl Write) -> anyhow::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}/events", listener.local_addr()?);
    let (stop, stopped) = watch::channel(false);
    let channel = Arc::new(ReplayChannel::new(ReplayBuffer::new().with_max_events(10_000)));
    let publisher = tokio::spawn(publish(Arc::clone(&channel)));
    let server = tokio::spawn(serve(listener, Server { channel: Arc::clone(&channel), stop: stopped }));

    // A real client saves the id together with its state.
    let last_event_id = receive(&url, "", out).await?;
    writeln!(out, "client restarts")?;
    let published = channel.last_event_id();
    while channel.last_event_id() == published {
        tokio::time::sleep(EVENT_DELAY).await;
    }
    receive(&url, &last_event_id, out).await?;

    stop.send(true)?;
    server.await??;
    publisher.abort();
    writeln!(out, "server stopped")?;
    Ok(())
}

/// Writes the data of three events after an id. Returns the id of the last one.
async fn receive(url: &str, last_event_id: &str, out: &mut impl Write) -> anyhow::Result<String> {
    let mut source = EventSource::builder(url).last_event_id(last_event_id).build()?;
    for _ in 0..3 {
        let event = source.events().try_next().await?.context("the server ended the stream")?;
        anyhow::ensure!(event.event_type() != "reset", "missed events are no longer available");
        writeln!(out, "{}", event.data())?;
    }
    Ok(source.last_event_id().into())
}

async fn publish(channel: Arc<ReplayChannel>) -> anyhow::Result<()> {
    for number in 1_u64.. {
        channel.publish(SseEvent::new().data(number.to_string()))?;
        tokio::time::sleep(EVENT_DELAY).await;
    }
    Ok(())
}

async fn serve(listener: TcpListener, server: Server) -> io::Result<()> {
    let mut stop = server.stop.clone();
    let routes = Router::new().route("/events", get(events)).with_state(server);
    axum::serve(WriteTimeouts(listener), routes)
        .with_graceful_shutdown(async move { _ = stop.wait_for(|stop| *stop).await })
        .await
}

async fn events(State(server): State<Server>, headers: HeaderMap) -> Response {
    let Server { channel, mut stop } = server;
    let (reset, events) = match headers.get("last-event-id").map(|id| channel.resume(id)) {
        None => (None, channel.subscribe_from_start()),
        Some(Ok(events)) => (None, events),
        Some(Err(_)) => (Some(Ok(Bytes::from_static(RESET))), channel.subscribe()),
    };
    SseBody::new(stream::iter(reset).chain(events))
        .with_shutdown(async move { _ = stop.wait_for(|stop| *stop).await })
        .into_response()
        .map(Body::new)
}

/// Aborts connections whose client does not receive.
struct WriteTimeouts(TcpListener);

impl Listener for WriteTimeouts {
    type Io = Pin<Box<TimeoutStream<TcpStream>>>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (socket, address) = Listener::accept(&mut self.0).await;
        let mut socket = TimeoutStream::new(socket);
        socket.set_write_timeout(Some(WRITE_TIMEOUT));
        (Box::pin(socket), address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.0.local_addr()
    }
}
