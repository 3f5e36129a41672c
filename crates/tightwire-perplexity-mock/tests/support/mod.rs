//! HTTP client of the tests, with a connection pool and buffered responses.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of this module")]

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tightwire_json::Value;
use tightwire_perplexity_mock::{Mock, Scenario};

/// Limit for requests that hang; no test depends on its value.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A client with an API key.
pub struct Client {
    pool: Pool<HttpConnector, Full<Bytes>>,
    base: String,
}

/// A buffered response.
#[derive(Debug)]
pub struct ReceivedResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl ReceivedResponse {
    pub fn json(&self) -> Value {
        tightwire_json::from_slice(&self.body).expect("the body is JSON")
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is text")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("headers are ASCII"))
    }

    /// Returns the JSON data of the events.
    pub fn event_values(&self) -> Vec<Value> {
        let data = self.text().lines().filter_map(|line| line.strip_prefix("data: "));
        let data = data.filter(|data| *data != "[DONE]");
        data.map(|data| tightwire_json::from_str(data).expect("data is JSON")).collect()
    }
}

impl Client {
    pub fn new(mock: &Mock) -> Self {
        Self { pool: Pool::builder(TokioExecutor::new()).build_http(), base: mock.url() }
    }

    pub async fn send(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Result<ReceivedResponse, Box<dyn std::error::Error + Send + Sync>> {
        let mut request = Request::builder().method(method).uri(format!("{}{target}", self.base));
        if !headers.iter().any(|(name, _)| *name == "authorization") {
            request = request.header("authorization", "Bearer test-key");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let exchange = async {
            let response = self.pool.request(request.body(Full::new(body.into()))?).await?;
            let (head, body) = response.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok(ReceivedResponse { status: head.status, headers: head.headers, body })
        };
        tokio::time::timeout(TIMEOUT, exchange).await.expect("it answers in time")
    }

    pub async fn get(&self, target: &str) -> ReceivedResponse {
        self.send("GET", target, &[], "").await.expect("it answers")
    }

    pub async fn delete(&self, target: &str) -> ReceivedResponse {
        self.send("DELETE", target, &[], "").await.expect("it answers")
    }

    pub async fn post(&self, target: &str, body: &Value) -> ReceivedResponse {
        self.send("POST", target, &[("content-type", "application/json")], body.to_string())
            .await
            .expect("it answers")
    }

    /// Sends a chat request that selects a case of the default scenario.
    pub async fn case(
        &self,
        case: &str,
        body: &Value,
    ) -> Result<ReceivedResponse, Box<dyn std::error::Error + Send + Sync>> {
        self.send("POST", "/chat/completions", &[("x-mock-case", case)], body.to_string()).await
    }

    /// Sends a form with a file, as `POST` or `PUT`.
    pub async fn upload(
        &self,
        method: &str,
        target: &str,
        fields: &[(&str, &str)],
        file: (&str, &str),
    ) -> ReceivedResponse {
        let mut body = String::new();
        for (name, value) in fields {
            body += &format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        }
        let (name, content) = file;
        body += &format!(
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n{content}\r\n--b--\r\n"
        );
        self.send(method, target, &[("content-type", "multipart/form-data; boundary=b")], body)
            .await
            .expect("it answers")
    }
}

/// Starts the built-in API, including chat completions, without rules.
pub async fn api() -> (Mock, Client) {
    start(Scenario::api().chat(true)).await
}

pub async fn start(scenario: Scenario) -> (Mock, Client) {
    let mock = Mock::start(scenario).await.expect("it starts");
    let client = Client::new(&mock);
    (mock, client)
}

/// Returns a minimal chat request.
pub fn hello() -> Value {
    tightwire_json::json!({"model": "sonar", "messages": [{"role": "user", "content": "Hello there"}]})
}
