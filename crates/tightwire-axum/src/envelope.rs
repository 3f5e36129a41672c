//! Response envelope of an HTTP API, and the data of a page.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Response body of an HTTP API: one JSON object with a status, a message and optional data, the same for success and
/// failure. Fields are written in the order of their declaration.
///
/// ```
/// use tightwire_axum::Envelope;
///
/// let found = Envelope::success("Ada").with_request_id("req-1").with_timestamp(1_703_001_234_567);
/// assert_eq!(
///     tightwire_json::to_string(&found)?,
///     r#"{"code":0,"http_code":200,"message":"success","data":"Ada","request_id":"req-1","timestamp":1703001234567}"#
/// );
///
/// let missing = Envelope::error(404, 4001, "user not found");
/// assert_eq!(tightwire_json::to_string(&missing)?, r#"{"code":4001,"http_code":404,"message":"user not found"}"#);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
///
/// [`error`](Self::error) has no data to infer a type from and returns an `Envelope<()>`; a handler returns
/// `Result<Envelope<T>, Envelope<()>>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// Application error code, 0 for success.
    pub code: i64,
    /// HTTP status, omitted if 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub http_code: u16,
    /// Human-readable description of the outcome.
    pub message: Cow<'static, str>,
    /// Payload, omitted if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<T>,
    /// Request id, omitted if empty.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub request_id: Cow<'static, str>,
    /// Time of the response in milliseconds since the Unix epoch, omitted if 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timestamp: i64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl<T> Envelope<T> {
    /// Returns a success: code 0, status 200, message `success`.
    pub fn success(data: T) -> Self {
        Self::new(200, 0, "success", Some(data))
    }

    /// Returns an error with data, such as a list of rejected fields.
    pub fn error_with_data(
        http_code: u16,
        code: i64,
        message: impl Into<Cow<'static, str>>,
        data: T,
    ) -> Self {
        Self::new(http_code, code, message, Some(data))
    }

    fn new(http_code: u16, code: i64, message: impl Into<Cow<'static, str>>, data: Option<T>) -> Self {
        Self { code, http_code, message: message.into(), data, request_id: Cow::Borrowed(""), timestamp: 0 }
    }

    /// Sets the message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.message = message.into();
        self
    }

    /// Sets the request id. An empty id is omitted.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<Cow<'static, str>>) -> Self {
        self.request_id = id.into();
        self
    }

    /// Sets the time, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn with_timestamp(mut self, milliseconds: i64) -> Self {
        self.timestamp = milliseconds;
        self
    }

    /// Sets the time to the current time of the system clock.
    #[must_use]
    pub fn with_current_timestamp(self) -> Self {
        let milliseconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(elapsed) => i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX),
            Err(error) => i64::try_from(error.duration().as_millis()).map_or(i64::MIN, |before| -before),
        };
        self.with_timestamp(milliseconds)
    }

    /// Returns whether the code is 0.
    pub fn is_success(&self) -> bool {
        self.code == 0
    }

    /// Returns [`http_code`](Self::http_code) if it is set, otherwise 200 for success and 500 for an error.
    pub fn http_status(&self) -> u16 {
        match self.http_code {
            0 if self.is_success() => 200,
            0 => 500,
            status => status,
        }
    }
}

impl Envelope<()> {
    /// Returns a success without data.
    pub fn empty() -> Self {
        Self::new(200, 0, "success", None)
    }

    /// Returns an error without data.
    pub fn error(http_code: u16, code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(http_code, code, message, None)
    }
}

/// Data of a paginated response. `L` is any type that serializes as an array: a `Vec`, a slice, an array.
///
/// ```
/// use tightwire_axum::Page;
/// let page = Page::new(["Ada", "Alan"], 41, 1, 20);
/// assert_eq!(page.total_pages, 3);
/// assert_eq!(
///     tightwire_json::to_string(&page)?,
///     r#"{"list":["Ada","Alan"],"total":41,"page":1,"page_size":20,"total_pages":3}"#
/// );
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<L> {
    /// Elements of this page.
    pub list: L,
    /// Number of elements on all pages.
    pub total: u64,
    /// Number of this page; the first page is 1.
    pub page: u64,
    /// Maximum number of elements per page.
    pub page_size: u64,
    /// Number of pages.
    pub total_pages: u64,
}

impl<L> Page<L> {
    /// Returns a page and computes the number of pages: `total / page_size` rounded up, 0 if `page_size` is 0.
    pub fn new(list: L, total: u64, page: u64, page_size: u64) -> Self {
        let total_pages = if page_size == 0 { 0 } else { total.div_ceil(page_size) };
        Self { list, total, page, page_size, total_pages }
    }
}
