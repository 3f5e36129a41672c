//! Tests of the example `sse_mcp_server`, and of both sides of MCP with the official SDKs.
//!
//! `SSE_MCP_PYTHON` is a Python interpreter with the packages of `crates/tightwire-sse/tests/mcp/python/requirements.txt`,
//! `SSE_MCP_NODE_MODULES` a directory with the packages of `node/package.json` there. A test skips an SDK whose variable
//! is unset.

#[path = "../../sse_mcp_server.rs"]
#[allow(dead_code, reason = "`main` is not called")]
mod sse_mcp_server;

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::{Method, StatusCode};
use test_support::optional::variable;
use tightwire_json::{Value, json};
use tightwire_sse::{Error, EventSource, McpReply, McpSession, Message};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

const VERSION: &str = "2025-11-25";

/// Limit for tests that hang.
const LIMIT: Duration = Duration::from_secs(60);

/// Client of this project.
struct Client {
    http: reqwest::Client,
    url: String,
    session: McpSession,
    /// Id of the latest request.
    id: u64,
}

/// Messages of a stream.
#[derive(Default)]
struct Received {
    messages: Vec<Value>,
    /// Number of lost connections.
    lost: usize,
}

impl Client {
    async fn initialize(url: String) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut client = Self { http, url, session: McpSession::new(), id: 0 };
        let info = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": info});
        let response = client.request("initialize", params).await;
        assert_eq!(response["result"]["protocolVersion"], VERSION);
        let reply = client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        assert!(matches!(reply.unwrap(), McpReply::Accepted));
        client
    }

    async fn send(&mut self, message: &Value) -> Result<McpReply, Error> {
        let request = self.http.post(&self.url).header("mcp-protocol-version", VERSION);
        EventSource::from_request(request.body(message.to_string())).send_mcp(&mut self.session).await
    }

    async fn start(&mut self, method: &str, params: Value) -> McpReply {
        self.id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.send(&message).await.unwrap()
    }

    /// Returns the response to a request.
    async fn request(&mut self, method: &str, params: Value) -> Value {
        match self.start(method, params).await {
            McpReply::Json(body) => tightwire_json::from_slice(&body).unwrap(),
            McpReply::Events(mut source) => {
                let mut received = Received::default();
                received.receive(&mut source, |message| message.get("id").is_some()).await
            }
            reply => panic!("{reply:?} to {method}"),
        }
    }

    /// Calls a tool and returns its text.
    async fn call(&mut self, name: &str, arguments: Value) -> String {
        let response = self.request("tools/call", json!({"name": name, "arguments": arguments})).await;
        text(&response)
    }

    /// Ends the session, and expects that the server does not know it any longer.
    async fn end(mut self) {
        let id = self.session.id().expect("the session has an id");
        let request = self.http.delete(&self.url).header("mcp-protocol-version", VERSION);
        assert!(request.header("mcp-session-id", id).send().await.unwrap().status().is_success());
        let error = self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).await.unwrap_err();
        assert_eq!((error.status(), self.session.id()), (Some(404), None));
    }
}

impl Received {
    /// Receives messages up to the first that matches, and returns it.
    async fn receive(&mut self, source: &mut EventSource, is_last: impl Fn(&Value) -> bool) -> Value {
        while let Some(message) = source.next().await {
            match message.unwrap() {
                Message::Event(event) if !event.data().is_empty() => {
                    let message: Value = tightwire_json::from_str(event.data()).unwrap();
                    self.messages.push(message.clone());
                    if is_last(&message) {
                        return message;
                    }
                }
                Message::Reconnecting { error, .. } => {
                    assert!(error.is_ended(), "{error}");
                    self.lost += 1;
                }
                _ => {}
            }
        }
        panic!("the stream ended after {:?}", self.messages)
    }

    fn progress(&self) -> Vec<u64> {
        self.messages
            .iter()
            .filter_map(|message| message["params"]["progress"].as_f64())
            .map(|p| p as u64)
            .collect()
    }
}

fn text(response: &Value) -> String {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

fn count(arguments: &Value) -> Value {
    json!({"name": "count", "arguments": arguments, "_meta": {"progressToken": "p"}})
}

/// Requests of clients: method, whether it resumes, and status of the response.
type Log = Arc<Mutex<Vec<(Method, bool, StatusCode)>>>;

/// Starts the example. Returns its URL and the requests.
async fn start_server() -> (String, Log) {
    let log = Log::default();
    let requests = Arc::clone(&log);
    let record = from_fn(move |request: Request, next: Next| {
        let log = Arc::clone(&log);
        async move {
            let method = request.method().clone();
            let resumes = request.headers().contains_key("last-event-id");
            let response = next.run(request).await;
            log.lock().unwrap().push((method, resumes, response.status()));
            response
        }
    });
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, sse_mcp_server::router().layer(record)).into_future());
    (url, requests)
}

/// Returns the commands that run a program of each installed SDK.
fn sdk_commands(program: &str, argument: &str) -> Vec<Command> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/tightwire-sse/tests/mcp");
    let python = variable("SSE_MCP_PYTHON").map(|python| {
        let mut command = Command::new(python);
        command.arg(folder.join("python").join(program).with_extension("py"));
        command
    });
    let node = variable("SSE_MCP_NODE_MODULES").map(|modules| {
        let mut command = Command::new("node");
        command.env("SSE_MCP_NODE_MODULES", modules);
        command.arg(folder.join("node").join(program).with_extension("mjs"));
        command
    });
    let mut commands: Vec<Command> = python.into_iter().chain(node).collect();
    for command in &mut commands {
        // Bypass proxies of the environment, which cannot reach the loopback interface.
        command.arg(argument).env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1").kill_on_drop(true);
    }
    commands
}

/// Starts a server of an SDK. Returns its URL.
async fn start_sdk_server(mut command: Command) -> (Child, String) {
    let mut server = command.stdout(Stdio::piped()).spawn().expect("the server can be started");
    let stdout = server.stdout.take().expect("it is a pipe");
    let url = BufReader::new(stdout).lines().next_line().await.unwrap().expect("the server prints its URL");
    (server, url)
}

async fn bounded<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, test).await.expect("the test does not hang")
}

#[tokio::test]
async fn the_client_uses_an_sdk_server_with_event_streams() {
    for command in sdk_commands("server", "stream") {
        bounded(async {
            let (_server, url) = start_sdk_server(command).await;
            let mut client = Client::initialize(url).await;
            assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
            let tools = client.request("tools/list", json!({})).await;
            assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 3);

            // The server closes the connection after the first step, and the client resumes.
            let call = client.start("tools/call", count(&json!({"steps": 3, "close": true}))).await;
            let McpReply::Events(mut source) = call else { panic!("{call:?}") };
            let mut received = Received::default();
            received.receive(&mut source, |_| true).await;
            assert_eq!(client.call("proceed", json!({})).await, "ok");
            let response = received.receive(&mut source, |message| message.get("id").is_some()).await;
            assert_eq!((received.progress(), text(&response).as_str()), (vec![1, 2, 3], "3 steps"));
            assert!(received.lost > 0);
            source.close();

            check_notifications(&mut client).await;
            client.end().await;
        })
        .await;
    }
}

/// The stream of a GET request has the messages that belong to no request.
async fn check_notifications(client: &mut Client) {
    let id = client.session.id().expect("the session has an id");
    let request = client.http.get(&client.url).header("mcp-protocol-version", VERSION);
    let mut source = EventSource::from_request(request).header("mcp-session-id", id).build().unwrap();
    assert!(matches!(source.next().await, Some(Ok(Message::Open { .. }))));
    assert_eq!(client.call("notify", json!({})).await, "ok");
    let notification = Received::default().receive(&mut source, |_| true).await;
    assert_eq!(notification["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn the_client_uses_an_sdk_server_with_json_responses() {
    for command in sdk_commands("server", "json") {
        bounded(async {
            let (_server, url) = start_sdk_server(command).await;
            let mut client = Client::initialize(url).await;
            let call = client.start("tools/call", count(&json!({"steps": 3, "close": false}))).await;
            let McpReply::Json(body) = call else { panic!("{call:?}") };
            assert_eq!(text(&tightwire_json::from_slice(&body).unwrap()), "3 steps");
            check_notifications(&mut client).await;
            client.end().await;
        })
        .await;
    }
}

/// Both SDKs resume by themselves.
#[tokio::test]
async fn sdk_clients_use_the_server() {
    let (url, requests) = start_server().await;
    for mut command in sdk_commands("client", &url) {
        let output = bounded(command.output()).await.expect("the client can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let requests = std::mem::take(&mut *requests.lock().unwrap());
        assert_eq!(requests.iter().filter(|(_, resumes, _)| *resumes).count(), 2, "{requests:?}");
        for expected in [
            (Method::POST, false, StatusCode::ACCEPTED),
            (Method::GET, false, StatusCode::METHOD_NOT_ALLOWED),
            (Method::DELETE, false, StatusCode::NO_CONTENT),
        ] {
            assert!(requests.contains(&expected), "{requests:?}");
        }
    }
}

#[tokio::test]
async fn the_client_uses_the_server() {
    let (url, _) = start_server().await;
    let mut client = bounded(Client::initialize(url)).await;
    let call = client.start("tools/call", count(&json!({"steps": 3}))).await;
    let McpReply::Events(mut source) = call else { panic!("{call:?}") };
    let mut received = Received::default();
    let response = bounded(received.receive(&mut source, |message| message.get("id").is_some())).await;
    assert_eq!((received.progress(), text(&response).as_str()), (vec![1, 2, 3], "3 steps"));
    // Three connections: the event without data and a step, two steps, the result.
    assert_eq!(received.lost, 2);
    source.close();
    bounded(client.end()).await;
}

#[tokio::test]
async fn a_cancelled_call_ends() {
    let (url, _) = start_server().await;
    let mut client = bounded(Client::initialize(url)).await;
    let call = client.start("tools/call", count(&json!({"steps": 100}))).await;
    let McpReply::Events(mut source) = call else { panic!("{call:?}") };
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": client.id}});
    assert!(matches!(client.send(&cancel).await.unwrap(), McpReply::Accepted));
    let error = bounded(source.events().try_for_each(async |_| Ok(()))).await.unwrap_err();
    assert_eq!(error.status(), Some(400));
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let (url, _) = start_server().await;
    let client = bounded(Client::initialize(url)).await;
    let id = client.session.id().unwrap();
    let id = id.to_str().unwrap();
    let (session, ping) = (("mcp-session-id", id), r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    for (method, headers, body, expected) in [
        ("POST", vec![session], ping, 200),
        ("POST", vec![session, ("origin", "https://example.org")], ping, 200),
        ("POST", vec![session, ("origin", "https://evil.example.org")], ping, 403),
        ("POST", vec![session, ("mcp-protocol-version", "2024-11-05")], ping, 400),
        ("POST", vec![session], "[", 400),
        ("POST", vec![], ping, 400),
        ("POST", vec![("mcp-session-id", "other")], ping, 404),
        ("GET", vec![session], "", 405),
        ("GET", vec![session, ("last-event-id", "1")], "", 400),
        ("GET", vec![("last-event-id", "1")], "", 400),
        ("DELETE", vec![], "", 400),
        ("DELETE", vec![("mcp-session-id", "other")], "", 404),
        ("DELETE", vec![session], "", 204),
        ("POST", vec![session], ping, 404),
    ] {
        let mut request = client.http.request(method.parse().unwrap(), &client.url);
        for (name, value) in &headers {
            request = request.header(*name, *value);
        }
        let response = bounded(request.body(body).send()).await.unwrap();
        assert_eq!(response.status(), expected, "{method} {headers:?} {body}");
    }
}
