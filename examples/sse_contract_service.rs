//! Test service for contract test harnesses of SSE clients.
//!
//! A harness sends HTTP requests to this program to open event streams. The program reports the received messages
//! with requests to a callback URL.
//!
//! | request | effect |
//! | --- | --- |
//! | `GET /` | returns the capabilities |
//! | `POST /` | opens a stream and returns its control URL in `Location` |
//! | `POST <control URL>` | `restart` or `listen` |
//! | `DELETE <control URL>` | closes the stream |
//! | `DELETE /` | stops the program |
//!
//! Run it with the address to listen on: `cargo run --example sse_contract_service -- 127.0.0.1:8000`.
#![allow(clippy::print_stdout, reason = "prints the address of the service")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use axum::routing::get;
use futures_util::StreamExt;
use http::StatusCode;
use http::header::LOCATION;
use serde::Deserialize;
use tightwire_json::json;
use tightwire_sse::{Backoff, EventSource, Message};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};

const CAPABILITIES: [&str; 10] = [
    "bom",
    "comments",
    "event-type-listeners",
    "headers",
    "last-event-id",
    "post",
    "read-timeout",
    "report",
    "restart",
    "server-directed-shutdown-request",
];

/// Body of `POST /`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parameters {
    stream_url: String,
    callback_url: String,
    initial_delay_ms: Option<u64>,
    read_timeout_ms: Option<u64>,
    last_event_id: Option<String>,
    #[serde(default)]
    headers: HashMap<String, String>,
    method: Option<String>,
    body: Option<String>,
}

/// Body of a request to the control URL of a stream.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
enum Command {
    Restart,
    /// Subscribes to an event type. No effect: this client reports all types.
    Listen,
}

#[derive(Default)]
struct Service {
    /// Dropping a sender closes its stream.
    streams: Mutex<HashMap<u64, mpsc::UnboundedSender<Command>>>,
    opened: AtomicU64,
    callbacks: reqwest::Client,
    stop: Notify,
}

impl Service {
    fn streams(&self) -> MutexGuard<'_, HashMap<u64, mpsc::UnboundedSender<Command>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8000".into());
    let listener = TcpListener::bind(&address).await?;
    println!("listening on {}", listener.local_addr()?);
    serve(listener).await
}

/// Serves until a request stops the program.
pub(crate) async fn serve(listener: TcpListener) -> anyhow::Result<()> {
    let service = Arc::new(Service::default());
    let capabilities = json!({ "name": "sse", "capabilities": CAPABILITIES }).to_string();
    let routes = Router::new()
        .route("/", get(|| async { capabilities }).post(open).delete(stop))
        .route("/streams/{id}", axum::routing::post(command).delete(close))
        .with_state(Arc::clone(&service));
    tokio::select! {
        // Does not wait for the response to that request.
        () = service.stop.notified() => Ok(()),
        result = axum::serve(listener, routes) => Ok(result?),
    }
}

async fn stop(State(service): State<Arc<Service>>) -> StatusCode {
    service.stop.notify_one();
    StatusCode::NO_CONTENT
}

/// Opens a stream and returns the path of its control URL.
async fn open(State(service): State<Arc<Service>>, body: Bytes) -> Result<impl IntoResponse, BadRequest> {
    let parameters: Parameters = tightwire_json::from_slice(&body).map_err(bad_request)?;
    let callbacks =
        Callbacks { client: service.callbacks.clone(), url: parameters.callback_url.clone(), sent: 0 };
    let source = source(parameters).map_err(bad_request)?;
    let (commands, received) = mpsc::unbounded_channel();
    tokio::spawn(run(source, callbacks, received));
    let id = service.opened.fetch_add(1, Ordering::Relaxed);
    service.streams().insert(id, commands);
    Ok((StatusCode::CREATED, [(LOCATION, format!("/streams/{id}"))]))
}

async fn command(
    State(service): State<Arc<Service>>,
    Path(id): Path<u64>,
    body: Bytes,
) -> Result<StatusCode, BadRequest> {
    let command = tightwire_json::from_slice(&body).map_err(bad_request)?;
    let Some(commands) = service.streams().get(&id).cloned() else { return Ok(StatusCode::NOT_FOUND) };
    // The error is ignored: the stream may have ended.
    let _ = commands.send(command);
    Ok(StatusCode::ACCEPTED)
}

async fn close(State(service): State<Arc<Service>>, Path(id): Path<u64>) -> StatusCode {
    match service.streams().remove(&id) {
        Some(_) => StatusCode::NO_CONTENT,
        None => StatusCode::NOT_FOUND,
    }
}

/// Response to an invalid request: the error as text.
type BadRequest = (StatusCode, String);

fn bad_request(error: impl std::error::Error) -> BadRequest {
    (StatusCode::BAD_REQUEST, error.to_string())
}

fn source(parameters: Parameters) -> tightwire_sse::Result<EventSource> {
    let mut builder = EventSource::builder(parameters.stream_url).report_comments();
    if let Some(delay) = parameters.initial_delay_ms {
        let delay = Duration::from_millis(delay);
        builder = builder.backoff(Backoff::new().base(delay).floor(Duration::from_millis(1)));
    }
    if let Some(timeout) = parameters.read_timeout_ms {
        builder = builder.read_timeout(Duration::from_millis(timeout));
    }
    if let Some(id) = parameters.last_event_id {
        builder = builder.last_event_id(id);
    }
    if let Some(method) = parameters.method.and_then(|method| method.parse().ok()) {
        builder = builder.method(method);
    }
    if let Some(body) = parameters.body {
        builder = builder.body(body);
    }
    for (name, value) in parameters.headers {
        builder = builder.header(name, value);
    }
    builder.build()
}

/// Reports the messages of a stream until it fails or is closed.
async fn run(
    mut source: EventSource,
    mut callbacks: Callbacks,
    mut commands: mpsc::UnboundedReceiver<Command>,
) {
    loop {
        tokio::select! {
            command = commands.recv() => match command {
                Some(Command::Restart) => source.restart(),
                Some(Command::Listen) => {}
                None => return,
            },
            message = source.next() => match message {
                Some(message) => callbacks.report(message).await,
                None => return,
            },
        }
    }
}

/// Sends the numbered callbacks of a stream one after the other.
struct Callbacks {
    client: reqwest::Client,
    url: String,
    sent: u64,
}

impl Callbacks {
    async fn report(&mut self, message: tightwire_sse::Result<Message>) {
        let report = match message {
            Ok(Message::Event(event)) => json!({
                "kind": "event",
                "event": {
                    "type": event.event_type(),
                    "data": event.data(),
                    "id": event.last_event_id(),
                },
            }),
            Ok(Message::Comment(text)) => json!({ "kind": "comment", "comment": text }),
            Ok(Message::Reconnecting { error, .. }) | Err(error) => {
                json!({ "kind": "error", "error": error.to_string() })
            }
            Ok(_) => return,
        };
        self.sent += 1;
        let url = format!("{}/{}", self.url, self.sent);
        // The error is ignored: the harness may have stopped listening.
        let _ = self.client.post(url).body(report.to_string()).send().await;
    }
}
