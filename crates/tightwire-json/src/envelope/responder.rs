//! What the answers to one request have in common.

use std::borrow::Cow;
use std::error::Error;

use super::{PageData, Response};
use crate::errno::{Code, Errno, Language};

/// Makes the answers to one request: all carry its id, and messages are in its language.
///
/// ```
/// use tightwire_json::envelope::Responder;
/// use tightwire_json::errno::{Language, codes};
///
/// let responder = Responder::new().request_id("req-1").language(Language::Chinese);
/// assert_eq!(
///     tightwire_json::to_string(&responder.fail(codes::NOT_FOUND))?,
///     r#"{"code":4000,"http_code":404,"message":"资源不存在","request_id":"req-1"}"#
/// );
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a responder only answers when asked to"]
pub struct Responder {
    request_id: Cow<'static, str>,
    language: Language,
    timestamps: bool,
}

impl Responder {
    /// No request id, English, no timestamps.
    pub const fn new() -> Self {
        Self { request_id: Cow::Borrowed(""), language: Language::English, timestamps: false }
    }

    /// Puts this id on every answer. Default: none, which an empty id means as well.
    pub fn request_id(mut self, id: impl Into<Cow<'static, str>>) -> Self {
        self.request_id = id.into();
        self
    }

    /// Puts the time of the system clock on every answer. Default: no time.
    pub fn timestamps(mut self) -> Self {
        self.timestamps = true;
        self
    }

    /// Chooses the language of messages. Default: English.
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Success with data.
    pub fn ok<T>(&self, data: T) -> Response<T> {
        self.send(Response::success(data))
    }

    /// Success with data and a message other than `success`.
    pub fn ok_with_message<T>(&self, message: impl Into<Cow<'static, str>>, data: T) -> Response<T> {
        self.send(Response::success_with_message(message, data))
    }

    /// Success with one page of a list.
    pub fn page_ok<L>(&self, list: L, total: u64, page: u64, page_size: u64) -> Response<PageData<L>> {
        self.send(Response::page(PageData::new(list, total, page, page_size)))
    }

    /// An error in the language of the request.
    pub fn fail(&self, errno: &Errno) -> Response<()> {
        self.fail_in(errno, self.language)
    }

    /// An error in another language.
    pub fn fail_in(&self, errno: &Errno, language: Language) -> Response<()> {
        self.send(Response::error_in(errno, language))
    }

    /// A bare code with a message.
    pub fn fail_with_code(
        &self,
        code: impl Into<Code>,
        message: impl Into<Cow<'static, str>>,
    ) -> Response<()> {
        self.send(Response::with_code(code, message))
    }

    /// Any error: an [`Errno`] as it is, everything else as an internal error whose text stays in the service.
    pub fn fail_with_error(&self, error: impl Into<Box<dyn Error + Send + Sync>>) -> Response<()> {
        self.fail(&Errno::from_error(error))
    }

    /// `Ok` as success with data, `Err` as [`fail_with_error`](Self::fail_with_error) answers it.
    pub fn result<T, E>(&self, result: Result<T, E>) -> Response<T>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        match result {
            Ok(data) => self.ok(data),
            Err(error) => self.fail_with_error(error).without_data(),
        }
    }

    /// Rejected fields: code 1004, the first message, and all of them as data.
    #[cfg(feature = "validation")]
    pub fn fail_with_validation(
        &self,
        errors: crate::validation::ValidationErrors,
    ) -> Response<crate::validation::ValidationSummary> {
        let message = errors.first().map_or_else(
            || crate::errno::codes::VALIDATION_FAILED.text(self.language).clone(),
            |first| first.message.clone(),
        );
        self.send(Response::with_code_and_data(
            crate::errno::codes::VALIDATION_FAILED.code(),
            message,
            errors.into_summary(),
        ))
    }

    /// A response made elsewhere, with the id and the time of this responder.
    pub fn send<T>(&self, response: Response<T>) -> Response<T> {
        let response = match self.request_id.is_empty() {
            true => response,
            false => response.with_request_id(self.request_id.clone()),
        };
        match self.timestamps {
            true => response.with_current_timestamp(),
            false => response,
        }
    }
}
