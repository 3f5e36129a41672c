//! Test service for contract test harnesses of SSE clients.
//!
//! A harness requests this program over HTTP to open event streams, and the program reports the received messages with
//! requests to a callback URL.
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
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::header::LOCATION;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::{Value, json};
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
    streams: Mutex<HashMap<String, mpsc::UnboundedSender<Command>>>,
    opened: AtomicU64,
    callbacks: reqwest::Client,
    stop: Notify,
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
    loop {
        tokio::select! {
            // Does not wait for the response to that request.
            () = service.stop.notified() => return Ok(()),
            accepted = listener.accept() => {
                let io = TokioIo::new(accepted?.0);
                let service = Arc::clone(&service);
                let respond = service_fn(move |request| {
                    let service = Arc::clone(&service);
                    async move { service.respond(request).await }
                });
                // Errors are ignored: the harness may close its connections at any time.
                tokio::spawn(async move { http1::Builder::new().serve_connection(io, respond).await });
            }
        }
    }
}

impl Service {
    async fn respond(&self, request: Request<Incoming>) -> anyhow::Result<Response<Full<Bytes>>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let response = match (&head.method, head.uri.path()) {
            (&Method::GET, "/") => json_response(&json!({ "name": "sse", "capabilities": CAPABILITIES })),
            (&Method::DELETE, "/") => {
                self.stop.notify_one();
                empty(StatusCode::NO_CONTENT)
            }
            (&Method::POST, "/") => {
                match serde_json::from_slice(&body).map(|parameters| self.open(parameters)) {
                    Ok(Ok(location)) => Response::builder()
                        .status(StatusCode::CREATED)
                        .header(LOCATION, location)
                        .body(Full::default())?,
                    Ok(Err(error)) => bad_request(&error),
                    Err(error) => bad_request(&error),
                }
            }
            (&Method::POST, path) => match serde_json::from_slice(&body) {
                Ok(command) => self.command(path, command),
                Err(error) => bad_request(&error),
            },
            (&Method::DELETE, path) => self.close(path),
            _ => empty(StatusCode::METHOD_NOT_ALLOWED),
        };
        Ok(response)
    }

    /// Opens a stream and returns the path of its control URL.
    fn open(&self, parameters: Parameters) -> tightwire_sse::Result<String> {
        let callbacks =
            Callbacks { client: self.callbacks.clone(), url: parameters.callback_url.clone(), sent: 0 };
        let source = source(parameters)?;
        let (commands, received) = mpsc::unbounded_channel();
        tokio::spawn(run(source, callbacks, received));
        let path = format!("/streams/{}", self.opened.fetch_add(1, Ordering::Relaxed));
        self.lock().insert(path.clone(), commands);
        Ok(path)
    }

    fn command(&self, path: &str, command: Command) -> Response<Full<Bytes>> {
        match self.lock().get(path) {
            // The error is ignored: the stream may have ended.
            Some(commands) => {
                let _ = commands.send(command);
                empty(StatusCode::ACCEPTED)
            }
            None => empty(StatusCode::NOT_FOUND),
        }
    }

    fn close(&self, path: &str) -> Response<Full<Bytes>> {
        match self.lock().remove(path) {
            Some(_) => empty(StatusCode::NO_CONTENT),
            None => empty(StatusCode::NOT_FOUND),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, mpsc::UnboundedSender<Command>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

/// Sends the callbacks of a stream, which are numbered, one after the other.
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

fn json_response(value: &Value) -> Response<Full<Bytes>> {
    Response::new(Full::from(value.to_string()))
}

fn bad_request(error: &dyn std::error::Error) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(error.to_string()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
