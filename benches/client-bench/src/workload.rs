//! What one operation of a row asks for, and what it must get.

use http::Method;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, USER_AGENT};
use http::header::{HeaderValue, InvalidHeaderValue};

use crate::server::{Answer, CHUNK, CHUNKS, POSTED, STATUS};

/// The key of the published rows.
pub const KEY: &str = "test-key";
/// Their name of the client.
pub const AGENT: &str = "test-agent";

/// The request of one row, and the server's answer.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The row, as in the seed rows' keys.
    pub row: &'static str,
    /// The method.
    pub method: Method,
    /// The path.
    pub path: &'static str,
    /// Headers of the row besides those that every request has; they are set for each operation anew.
    pub headers: &'static [(&'static str, &'static str)],
    /// Whether a chat request is encoded and sent.
    pub posts: bool,
    /// How the server answers.
    pub answer: Answer,
    /// How often a request is sent again.
    pub retries: u32,
}

impl Workload {
    fn get(row: &'static str, answer: Answer) -> Self {
        Self { row, method: Method::GET, path: "/test", headers: &[], posts: false, answer, retries: 0 }
    }

    /// A small answer to a request without a body.
    pub fn simple(row: &'static str) -> Self {
        Self::get(row, Answer::Status)
    }

    /// A small body out, a small body in.
    pub fn with_json_body() -> Self {
        Self {
            method: Method::POST,
            path: "/chat/completions",
            posts: true,
            ..Self::get("client_do_with_json_body", Answer::Posted)
        }
    }

    /// An answer of 17,000 bytes without an announced length.
    pub fn large_response() -> Self {
        Self::get("client_do_large_response", Answer::Large)
    }

    /// Two more headers, one of which the server insists on.
    pub fn with_headers() -> Self {
        Self {
            headers: &[("x-custom-header", "test-value"), ("x-request-id", "req-123")],
            ..Self::get("client_do_with_headers", Answer::Demanding)
        }
    }

    /// A refusal before every answer.
    pub fn with_retry(row: &'static str) -> Self {
        Self { retries: 1, ..Self::get(row, Answer::every_second()) }
    }

    /// The length of the answer's body; the value of every operation.
    pub fn expected(&self) -> u64 {
        self.body().len() as u64
    }

    fn body(&self) -> &'static str {
        static LARGE: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| CHUNK.repeat(CHUNKS));
        match self.answer {
            Answer::Posted => POSTED,
            Answer::Large => &LARGE,
            _ => STATUS,
        }
    }

    /// Checks an answer and gives the value of the operation.
    ///
    /// # Panics
    ///
    /// Panics when it is not the one that the row is about.
    pub fn check(&self, status: u16, body: &[u8]) -> u64 {
        assert_eq!(status, 200, "the row {} has another status", self.row);
        assert!(body == self.body().as_bytes(), "the row {} has a body of {} bytes", self.row, body.len());
        body.len() as u64
    }
}

/// The headers of every request, `Content-Type` on GET and the wish for compression included: so the original does it.
///
/// # Errors
///
/// None in practice: the texts are constant.
pub fn headers() -> Result<HeaderMap, InvalidHeaderValue> {
    let json = HeaderValue::from_static("application/json");
    let pairs: [(HeaderName, HeaderValue); 5] = [
        (AUTHORIZATION, format!("Bearer {KEY}").try_into()?),
        (ACCEPT, json.clone()),
        (CONTENT_TYPE, json),
        (ACCEPT_ENCODING, HeaderValue::from_static("gzip")),
        (USER_AGENT, HeaderValue::from_static(AGENT)),
    ];
    Ok(pairs.into_iter().collect())
}
