//! Server of the Model Context Protocol (MCP 2025-11-25, section "Transports", Streamable HTTP) with one tool.
//!
//! | request to `/mcp` | response |
//! | --- | --- |
//! | `POST` of `initialize` | JSON, and the id of a new session |
//! | `POST` of `ping`, `tools/list`, or an unknown method | JSON |
//! | `POST` of `tools/call` | event stream: progress notifications and the result |
//! | `POST` of a notification or a response | 202 |
//! | `GET` with `Last-Event-ID` | the missed and the later events of a call |
//! | `GET` without it | 405: all messages of this server belong to a call |
//! | `DELETE` | 204; the session and its calls end |
//!
//! The events of a call are in a [`ReplayChannel`], so that the call does not depend on a connection. A connection ends
//! after [`EVENTS_PER_CONNECTION`] events, and the client resumes. A real server ends it after a time.
//!
//! Run it with `cargo run --example sse_mcp_server`, optionally with the address to listen on as argument. It prints its
//! URL. It does not authenticate clients, so it must only listen on a local address.
#![allow(clippy::print_stdout, reason = "prints the URL of the server")]

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::StreamExt;
use http::header::{ALLOW, CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, HeaderValue, StatusCode};
use tightwire_json::{Value, json};
use tightwire_sse::{ReplayChannel, SseBody, SseEvent, Subscription};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use uuid::Uuid;

const PROTOCOL_VERSION: &str = "2025-11-25";
const SESSION_ID: &str = "mcp-session-id";

/// Web pages that may send requests. Other pages could use the server of a user who visits them.
const ALLOWED_ORIGINS: [&str; 1] = ["https://example.org"];

/// A real server also ends sessions that are not used.
const MAX_SESSIONS: usize = 1000;
/// Calls of a session that are running or can be resumed. A new one ends the oldest.
const MAX_CALLS: usize = 16;
const MAX_STEPS: u64 = 100;

/// Events that a connection sends before it ends.
const EVENTS_PER_CONNECTION: usize = 2;
/// Time after which clients resume.
const RETRY: Duration = Duration::from_millis(100);
/// Duration of a step of the tool.
const STEP: Duration = Duration::from_millis(20);

/// Response to a request that the server does not accept.
type Refused = (StatusCode, &'static str);

/// The sessions by id.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<HashMap<HeaderValue, Session>>>);

/// The latest calls.
#[derive(Default)]
struct Session(VecDeque<Arc<Call>>);

/// Call of a tool. Its messages go to one connection after the other.
struct Call {
    request_id: Value,
    messages: ReplayChannel,
    /// Ends the current connection when it is dropped.
    connection: Mutex<Option<oneshot::Sender<()>>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router()).await?;
    Ok(())
}

pub(crate) fn router() -> Router {
    Router::new()
        .route("/mcp", post(receive_message).get(resume).delete(end_session))
        .layer(from_fn(check_headers))
        .with_state(Server::default())
}

async fn check_headers(request: Request, next: Next) -> Result<Response, Refused> {
    let headers = request.headers();
    if headers.get(ORIGIN).is_some_and(|origin| ALLOWED_ORIGINS.iter().all(|allowed| origin != allowed)) {
        return Err((StatusCode::FORBIDDEN, "requests of this web page are not allowed"));
    }
    if headers.get("mcp-protocol-version").is_some_and(|version| version != PROTOCOL_VERSION) {
        return Err((StatusCode::BAD_REQUEST, "unsupported protocol version"));
    }
    Ok(next.run(request).await)
}

async fn receive_message(
    State(server): State<Server>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refused> {
    let message: Value = tightwire_json::from_slice(&body)
        .map_err(|_| (StatusCode::BAD_REQUEST, "the body is not one JSON-RPC message"))?;
    let (method, params) = (message["method"].as_str().unwrap_or_default(), &message["params"]);
    // A notification has no id, and a response has no method.
    let Some(id) = message.get("id").filter(|_| !method.is_empty()) else {
        return server.session(&headers, |session| {
            if method == "notifications/cancelled" {
                session.0.retain(|call| call.request_id != params["requestId"]);
            }
            StatusCode::ACCEPTED.into_response()
        });
    };
    if method == "initialize" {
        return server.initialize(id);
    }
    server.session(&headers, |session| match method {
        "ping" => json_response(&result(id, &json!({}))),
        "tools/list" => json_response(&result(id, &tools())),
        "tools/call" => match (params["name"].as_str(), params["arguments"]["steps"].as_u64()) {
            (Some("count"), Some(steps @ 1..=MAX_STEPS)) => {
                session.call(id, steps, params["_meta"].get("progressToken"))
            }
            _ => json_response(&error(id, -32602, "unknown tool or invalid arguments")),
        },
        _ => json_response(&error(id, -32601, "unknown method")),
    })
}

async fn resume(State(server): State<Server>, headers: HeaderMap) -> Result<Response, Refused> {
    let Some(last_event_id) = headers.get("last-event-id") else {
        return Ok((StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST, DELETE")]).into_response());
    };
    // The event ids of each channel have a random prefix.
    let resume = |call: &Arc<Call>| Some(call.respond(call.messages.resume(last_event_id).ok()?));
    server
        .session(&headers, |session| session.0.iter().find_map(resume))?
        .ok_or((StatusCode::BAD_REQUEST, "the events after this id are no longer available"))
}

async fn end_session(State(server): State<Server>, headers: HeaderMap) -> Result<StatusCode, Refused> {
    server.session(&headers, |_| ())?;
    server.lock().retain(|id, _| headers.get(SESSION_ID) != Some(id));
    Ok(StatusCode::NO_CONTENT)
}

impl Server {
    fn lock(&self) -> MutexGuard<'_, HashMap<HeaderValue, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a function with the session of a request.
    fn session<T>(&self, headers: &HeaderMap, run: impl FnOnce(&mut Session) -> T) -> Result<T, Refused> {
        let id = headers.get(SESSION_ID).ok_or((StatusCode::BAD_REQUEST, "the session id is missing"))?;
        let mut sessions = self.lock();
        let session = sessions.get_mut(id).ok_or((StatusCode::NOT_FOUND, "unknown session"))?;
        Ok(run(session))
    }

    fn initialize(&self, request_id: &Value) -> Result<Response, Refused> {
        let id = HeaderValue::try_from(Uuid::new_v4().to_string())
            .map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "no session id"))?;
        let mut sessions = self.lock();
        if sessions.len() == MAX_SESSIONS {
            return Err((StatusCode::SERVICE_UNAVAILABLE, "too many sessions"));
        }
        sessions.insert(id.clone(), Session::default());
        // A client that does not support this version disconnects.
        let mut response = json_response(&result(request_id, &server_info()));
        response.headers_mut().insert(SESSION_ID, id);
        Ok(response)
    }
}

impl Session {
    fn call(&mut self, request_id: &Value, steps: u64, progress_token: Option<&Value>) -> Response {
        let call = Arc::new(Call {
            request_id: request_id.clone(),
            messages: ReplayChannel::default(),
            connection: Mutex::default(),
        });
        // Without data, so that a client can resume before the first message.
        let primed = call.messages.publish(SseEvent::new().data("").retry(RETRY));
        let response = call.respond(call.messages.subscribe_from_start());
        tokio::spawn(count(Arc::downgrade(&call), steps, progress_token.cloned()));
        self.0.truncate(MAX_CALLS - 1);
        self.0.push_front(call);
        primed.map_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response(), |_| response)
    }
}

impl Call {
    fn send(&self, message: &Value) -> tightwire_sse::Result<String> {
        self.messages.publish(SseEvent::new().data(message.to_string()))
    }

    /// Returns the response of a connection. Ends the previous one, because a message may be sent on only one.
    fn respond(&self, messages: Subscription) -> Response {
        let (current, replaced) = oneshot::channel::<()>();
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = Some(current);
        SseBody::new(messages.take(EVENTS_PER_CONNECTION))
            .with_shutdown(async { _ = replaced.await })
            .into_response()
            .map(Body::new)
    }
}

/// The tool. Ends early when the call is cancelled or its session ends.
async fn count(call: Weak<Call>, steps: u64, token: Option<Value>) -> tightwire_sse::Result<()> {
    for step in 1..=steps {
        tokio::time::sleep(STEP).await;
        let Some(call) = call.upgrade() else { return Ok(()) };
        if let Some(token) = &token {
            let params = json!({"progressToken": token, "progress": step, "total": steps});
            call.send(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))?;
        }
    }
    if let Some(call) = call.upgrade() {
        let content = json!([{"type": "text", "text": format!("{steps} steps")}]);
        call.send(&result(&call.request_id, &json!({"content": content})))?;
        call.messages.close();
    }
    Ok(())
}

fn server_info() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "sse_mcp_server", "version": env!("CARGO_PKG_VERSION")},
    })
}

fn tools() -> Value {
    let steps = json!({"type": "integer", "minimum": 1, "maximum": MAX_STEPS});
    let schema = json!({"type": "object", "properties": {"steps": steps}, "required": ["steps"]});
    json!({"tools": [{"name": "count", "description": "Counts and reports each step", "inputSchema": schema}]})
}

fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

fn json_response(message: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], message.to_string()).into_response()
}
