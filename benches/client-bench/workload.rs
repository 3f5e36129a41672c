//! Request of a row, and the expected response.

use std::sync::Arc;

use benches::event_stream::{Input, Stop};
use http::Method;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::server::Answer;

/// API key of the published rows.
pub(crate) const KEY: &str = "test-key";
/// `User-Agent` of the published rows.
pub(crate) const AGENT: &str = "test-agent";

/// Request of a row, and the server's response.
#[derive(Clone)]
pub(crate) struct Workload {
    /// Name of the row.
    pub(crate) row: &'static str,
    /// Additional headers of the row, set for each operation.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// Chat request, which is encoded for each operation. A request without a body is sent with GET to `/test`.
    pub(crate) body: Option<Arc<Value>>,
    /// Response of the server.
    pub(crate) answer: Answer,
    /// Number of retries.
    pub(crate) retries: u32,
    /// Whether many tasks that share one client send the request at the same time.
    pub(crate) is_concurrent: bool,
}

impl Workload {
    /// A request without a body, and a small response.
    pub(crate) fn simple(row: &'static str) -> Self {
        let body = Input::whole(*br#"{"status": "ok"}"#, Stop::End);
        let answer = Answer { content_type: "application/json", is_chunked: false, ..Answer::stream(body) };
        Self { row, headers: &[], body: None, answer, retries: 0, is_concurrent: false }
    }

    /// Returns the workloads of the rows that nothing else is said about.
    pub(crate) fn all() -> [Self; 5] {
        let [mut posted, mut large, mut headers, mut concurrent] = [
            "client_do_with_json_body",
            "client_do_large_response",
            "client_do_with_headers",
            "client_do_concurrent",
        ]
        .map(Self::simple);
        let chat = json!({"messages": [{"content": "Hello", "role": "user"}], "model": "sonar"});
        posted.body = Some(Arc::new(chat));
        posted.answer.body = Input::whole(*br#"{"id": "test-123", "status": "completed"}"#, Stop::End);
        // The 18 KB of its published name.
        large.answer.body = Input::whole("{\"chunk\": \"data\"}\n".repeat(1024), Stop::End);
        large.answer.is_chunked = true;
        headers.headers = &[("x-custom-header", "test-value"), ("x-request-id", "req-123")];
        headers.answer.required_header = Some("x-custom-header");
        concurrent.is_concurrent = true;
        [Self::simple("client_do_simple"), posted, large, headers, concurrent]
    }

    /// The server sends a 429 before every successful response.
    pub(crate) fn with_retry(row: &'static str) -> Self {
        let mut workload = Self { retries: 1, ..Self::simple(row) };
        workload.answer.is_limited = true;
        workload
    }

    pub(crate) fn method(&self) -> Method {
        if self.body.is_some() { Method::POST } else { Method::GET }
    }

    pub(crate) fn path(&self) -> &'static str {
        if self.body.is_some() { "/chat/completions" } else { "/test" }
    }

    /// Returns the size of the response body, which is the check value of every operation.
    pub(crate) fn expected(&self) -> u64 {
        self.answer.body.bytes.len() as u64
    }

    /// Checks a response and returns the value of the operation.
    ///
    /// # Panics
    ///
    /// Panics if the response is not the expected one.
    pub(crate) fn check(&self, status: u16, body: &[u8]) -> u64 {
        assert_eq!(status, 200, "the row {} has another status", self.row);
        assert!(body == self.answer.body.bytes, "the row {} has a body of {} bytes", self.row, body.len());
        body.len() as u64
    }
}

/// Returns the headers of every request. As in the Go benchmark, GET requests also have `Content-Type` and
/// `Accept-Encoding`.
pub(crate) fn headers() -> HeaderMap {
    let key = format!("Bearer {KEY}").try_into().expect("the key is valid in a header");
    let others = [
        (ACCEPT, "application/json"),
        (CONTENT_TYPE, "application/json"),
        (ACCEPT_ENCODING, "gzip"),
        (USER_AGENT, AGENT),
    ];
    let others = others.map(|(name, value)| (name, HeaderValue::from_static(value)));
    others.into_iter().chain([(AUTHORIZATION, key)]).collect()
}
