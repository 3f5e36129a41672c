//! Request of a row, and the expected response.

use http::Method;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::server::{CHUNK, CHUNKS, POSTED, STATUS, ServerResponse};

/// API key of the published rows.
pub const KEY: &str = "test-key";
/// `User-Agent` of the published rows.
pub const AGENT: &str = "test-agent";

/// Request of a row, and the server's response.
#[derive(Debug, Clone)]
pub struct Workload {
    /// Name of the row.
    pub row: &'static str,
    /// HTTP method.
    pub method: Method,
    /// Path.
    pub path: &'static str,
    /// Additional headers of the row, set for each operation.
    pub headers: &'static [(&'static str, &'static str)],
    /// Whether a chat request is encoded and sent.
    pub posts: bool,
    /// Response of the server.
    pub answer: ServerResponse,
    /// Number of retries.
    pub retries: u32,
    /// Whether many tasks send the request at the same time.
    pub is_concurrent: bool,
}

impl Workload {
    fn get(row: &'static str, answer: ServerResponse) -> Self {
        Self {
            row,
            method: Method::GET,
            path: "/test",
            headers: &[],
            posts: false,
            answer,
            retries: 0,
            is_concurrent: false,
        }
    }

    /// A request without a body, and a small response.
    pub fn simple(row: &'static str) -> Self {
        Self::get(row, ServerResponse::Status)
    }

    /// Small JSON bodies in both directions.
    pub fn with_json_body() -> Self {
        Self {
            method: Method::POST,
            path: "/chat/completions",
            posts: true,
            ..Self::get("client_do_with_json_body", ServerResponse::Posted)
        }
    }

    /// A request like the simple one, of many tasks that share one client.
    pub fn concurrent() -> Self {
        Self { is_concurrent: true, ..Self::simple("client_do_concurrent") }
    }

    /// A response of 18,432 bytes without `Content-Length`.
    pub fn large_response() -> Self {
        Self::get("client_do_large_response", ServerResponse::Large)
    }

    /// Creates a workload with two additional headers, one of which the server requires.
    pub fn with_headers() -> Self {
        Self {
            headers: &[("x-custom-header", "test-value"), ("x-request-id", "req-123")],
            ..Self::get("client_do_with_headers", ServerResponse::RequiresHeader)
        }
    }

    /// Creates a workload in which the server sends a 429 before every successful response.
    pub fn with_retry(row: &'static str) -> Self {
        Self { retries: 1, ..Self::get(row, ServerResponse::every_second()) }
    }

    /// Returns the size of the response body, which is the check value of every operation.
    pub fn expected(&self) -> u64 {
        self.body().len() as u64
    }

    fn body(&self) -> &'static str {
        static LARGE: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| CHUNK.repeat(CHUNKS));
        match self.answer {
            ServerResponse::Posted => POSTED,
            ServerResponse::Large => &LARGE,
            _ => STATUS,
        }
    }

    /// Checks a response and returns the value of the operation.
    ///
    /// # Panics
    ///
    /// Panics if the response is not the expected one.
    pub fn check(&self, status: u16, body: &[u8]) -> u64 {
        assert_eq!(status, 200, "the row {} has another status", self.row);
        assert!(body == self.body().as_bytes(), "the row {} has a body of {} bytes", self.row, body.len());
        body.len() as u64
    }
}

/// Returns the headers of every request. As in the Go benchmark, GET requests also have `Content-Type` and
/// `Accept-Encoding`.
pub fn headers() -> HeaderMap {
    let json = HeaderValue::from_static("application/json");
    let key = format!("Bearer {KEY}").try_into().expect("the key is valid in a header");
    let pairs: [(HeaderName, HeaderValue); 5] = [
        (AUTHORIZATION, key),
        (ACCEPT, json.clone()),
        (CONTENT_TYPE, json),
        (ACCEPT_ENCODING, HeaderValue::from_static("gzip")),
        (USER_AGENT, HeaderValue::from_static(AGENT)),
    ];
    pairs.into_iter().collect()
}
