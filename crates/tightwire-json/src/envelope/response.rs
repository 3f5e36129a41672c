//! The envelope itself.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::PageData;
use crate::errno::{Code, Errno, Language, Registry};

/// One answer of a service. The order of the fields is their order on the wire.
///
/// A failure has no data to name a type for, so its constructors make a `Response<()>`, which
/// [`without_data`](Self::without_data) turns into a response of any type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response<T> {
    /// The business code, 0 for success.
    pub code: Code,
    /// The HTTP status; left out on the wire when 0, which means that it follows from the code.
    #[serde(default, skip_serializing_if = "is_zero_status")]
    pub http_code: u16,
    /// What happened, for people.
    pub message: Cow<'static, str>,
    /// The payload; left out when `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<T>,
    /// The id of the request; left out when empty.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub request_id: Cow<'static, str>,
    /// When the answer was made, in milliseconds since the Unix epoch; left out when 0.
    #[serde(default, skip_serializing_if = "is_zero_timestamp")]
    pub timestamp: i64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero_status(status: &u16) -> bool {
    *status == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero_timestamp(timestamp: &i64) -> bool {
    *timestamp == 0
}

impl<T> Response<T> {
    fn new(code: Code, http_code: u16, message: impl Into<Cow<'static, str>>, data: Option<T>) -> Self {
        Self { code, http_code, message: message.into(), data, request_id: Cow::Borrowed(""), timestamp: 0 }
    }

    /// Success with data.
    pub fn success(data: T) -> Self {
        Self::success_with_message("success", data)
    }

    /// Success with data and a message other than `success`.
    pub fn success_with_message(message: impl Into<Cow<'static, str>>, data: T) -> Self {
        Self::new(Code::SUCCESS, 200, message, Some(data))
    }

    /// A code with data that tells more about it, such as the list of rejected fields. The HTTP status is derived
    /// from the code.
    pub fn with_code_and_data(code: impl Into<Code>, message: impl Into<Cow<'static, str>>, data: T) -> Self {
        let code = code.into();
        Self::new(code, Registry::global().http_status(code), message, Some(data))
    }

    /// `Ok` as success with data, `Err` as that error in English.
    ///
    /// ```
    /// use tightwire_json::envelope::Response;
    /// use tightwire_json::errno::{Errno, codes};
    ///
    /// let found: Result<u32, Errno> = None.ok_or_else(|| codes::USER_NOT_FOUND.clone());
    /// assert_eq!(Response::from_result(found).code.get(), 4001);
    /// ```
    pub fn from_result(result: Result<T, Errno>) -> Self {
        match result {
            Ok(data) => Self::success(data),
            Err(errno) => Response::error(&errno).without_data(),
        }
    }

    /// The same answer without its data, of any type.
    pub fn without_data<U>(self) -> Response<U> {
        Response {
            code: self.code,
            http_code: self.http_code,
            message: self.message,
            data: None,
            request_id: self.request_id,
            timestamp: self.timestamp,
        }
    }

    /// Sets the id of the request.
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

    /// Sets the time to that of the system clock.
    #[must_use]
    pub fn with_current_timestamp(self) -> Self {
        let milliseconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |before| -before),
        };
        self.with_timestamp(milliseconds)
    }

    /// Whether the code is that of success.
    pub fn is_success(&self) -> bool {
        self.code.is_success()
    }

    /// The status to answer with: [`http_code`](Self::http_code) where it is set, otherwise 200 for success, the
    /// status of the registered error, that of the code's category, or 500.
    pub fn http_status(&self) -> u16 {
        match self.http_code {
            0 => Registry::global().http_status(self.code),
            status => status,
        }
    }
}

impl Response<()> {
    /// Success without data.
    pub fn empty() -> Self {
        Self::new(Code::SUCCESS, 200, "success", None)
    }

    /// An error with its English text.
    pub fn error(errno: &Errno) -> Self {
        Self::error_in(errno, Language::English)
    }

    /// An error with its text in a language.
    pub fn error_in(errno: &Errno, language: Language) -> Self {
        Self::new(errno.code(), errno.http_status(), errno.text(language).clone(), None)
    }

    /// A bare code with a message. The HTTP status is derived from the code.
    pub fn with_code(code: impl Into<Code>, message: impl Into<Cow<'static, str>>) -> Self {
        let code = code.into();
        Self::new(code, Registry::global().http_status(code), message, None)
    }
}

impl<L> Response<PageData<L>> {
    /// Success with one page of a list.
    pub fn page(page: PageData<L>) -> Self {
        Self::success(page)
    }
}

impl From<&Errno> for Response<()> {
    fn from(errno: &Errno) -> Self {
        Self::error(errno)
    }
}

impl<T> From<Result<T, Errno>> for Response<T> {
    fn from(result: Result<T, Errno>) -> Self {
        Self::from_result(result)
    }
}
