//! Response metadata.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::error::{self, Error, Origin, Result};
use crate::types::async_chat::{self, AsyncCompletion};
use crate::types::chat::{Completion, Usage};
use crate::types::responses::Status;
use crate::types::{
    Deleted, auth_tokens, batches, browser, decisions, embeddings, files, models, responses, search, skills,
};

/// Status and headers of a response, and metadata of the call.
#[derive(Clone)]
pub struct ResponseHead {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) attempts: u32,
    pub(super) elapsed: Duration,
}

impl ResponseHead {
    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the request ID assigned by the server, for support requests.
    pub fn request_id(&self) -> Option<&str> {
        error::request_id(&self.headers)
    }

    /// Returns the number of retries.
    pub fn retries(&self) -> u32 {
        self.attempts - 1
    }

    /// Returns the duration of the call including all attempts and delays. For streams and downloads, the
    /// time until the response headers arrived.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin::of(self.status, &self.headers, self.attempts)
    }
}

/// A decoded response with its metadata and raw body; see [`Call::raw`](crate::Call::raw).
#[derive(Clone)]
pub struct Response<T> {
    pub(super) head: ResponseHead,
    pub(super) body: Bytes,
    pub(super) value: T,
}

impl<T> Response<T> {
    /// Returns status, headers and metadata of the call.
    pub fn head(&self) -> &ResponseHead {
        &self.head
    }

    /// Returns the raw body, after decompression.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Returns the decoded body.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Returns the decoded body by value.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Returns all parts by value.
    pub fn into_parts(self) -> (ResponseHead, Bytes, T) {
        (self.head, self.body, self.value)
    }
}

impl fmt::Debug for ResponseHead {
    /// Omits the headers except the request ID, because cookies are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseHead")
            .field("status", &self.status)
            .field("request_id", &self.request_id())
            .field("attempts", &self.attempts)
            .field("elapsed", &self.elapsed)
            .finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for Response<T> {
    /// Shows the length of the body instead of its content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("head", &self.head)
            .field("body_len", &self.body.len())
            .field("value", &self.value)
            .finish()
    }
}

/// Tokens used by a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
}

/// Returns the tokens used by a decoded response, for tracing.
pub(crate) fn usage(response: &dyn Any) -> Option<TokenUsage> {
    match response.downcast_ref::<responses::Response>() {
        Some(response) => response.token_usage(),
        None => response.downcast_ref::<Completion>()?.usage.as_ref().map(Usage::tokens),
    }
}

impl Usage {
    pub(crate) fn tokens(&self) -> TokenUsage {
        TokenUsage { input: self.prompt_tokens, output: self.completion_tokens }
    }
}

/// Returns whether a decoded response is another object than expected: none of the fields that every response of its
/// type has.
pub(crate) fn is_unexpected(response: &dyn Any, body: &[u8]) -> bool {
    fn is<T: 'static>(response: &dyn Any, is_blank: fn(&T) -> bool) -> bool {
        response.downcast_ref::<T>().is_some_and(is_blank)
    }
    // An empty list has its field.
    let lacks = |field| {
        tightwire_json::from_slice::<tightwire_json::Value>(body).is_ok_and(|body| body.get(field).is_none())
    };
    // Types without a field `error`, which reports an error beside their other fields.
    let has_no_error = is::<Completion>(response, |_| true)
        || is::<search::Response>(response, |_| true)
        || is::<embeddings::Response>(response, |_| true)
        || is::<embeddings::ContextualizedResponse>(response, |_| true);
    has_no_error && error::is_failure(body)
        || is::<responses::Response>(response, responses::Response::is_unexpected)
        || is::<responses::Cancelled>(response, |it| it.response_id.is_empty())
        || is::<Completion>(response, |it| it.id.is_empty() && it.choices.is_empty())
        || is::<AsyncCompletion>(response, |it| it.id.is_empty())
        || is::<search::Response>(response, |it| it.id.is_empty() && it.results == Default::default())
        || is::<embeddings::Response>(response, |it| it.data.is_none())
        || is::<embeddings::ContextualizedResponse>(response, |it| it.data.is_none())
        || is::<batches::Batch>(response, |it| it.id.is_empty())
        || is::<files::FileObject>(response, |it| it.id.is_empty())
        || is::<skills::ManagedSkill>(response, |it| it.skill_id.is_empty())
        || is::<skills::Download>(response, |it| it.download_url.expose().is_empty())
        || is::<auth_tokens::AuthToken>(response, |it| it.auth_token.expose().is_empty())
        || is::<browser::Session>(response, |it| it.session_id.is_none())
        || is::<Deleted>(response, |it| it.id.is_empty())
        || is::<responses::FileList>(response, |it| it.data.is_empty()) && lacks("data")
        || is::<files::List>(response, |it| it.data.is_empty()) && lacks("data")
        || is::<batches::List>(response, |it| it.data.is_empty()) && lacks("data")
        || is::<models::List>(response, |it| it.data.is_empty()) && lacks("data")
        || is::<skills::List>(response, |it| it.skills.is_empty()) && lacks("skills")
        || is::<skills::Revisions>(response, |it| it.revisions.is_empty()) && lacks("revisions")
        || is::<async_chat::List>(response, |it| it.requests.is_empty()) && lacks("requests")
        || is::<decisions::Response>(response, |it| it.answers.is_empty())
}

impl responses::Response {
    /// Returns the response, unless it failed or was cancelled. The server reports this with status 200.
    ///
    /// # Errors
    ///
    /// [`Error::is_stream`] with message, type and code of the server.
    pub fn into_result(self) -> Result<Self> {
        match self.status {
            Status::Failed | Status::Cancelled => {
                let without =
                    || responses::ResponseError { message: self.status.to_string(), ..Default::default() };
                let error = self.error.clone().unwrap_or_else(without);
                Err(Error::stream(&tightwire_json::to_string(&error).unwrap_or_default()))
            }
            _ => Ok(self),
        }
    }

    /// Returns whether this is another object: without identifier or status, or with an error and no known status.
    fn is_unexpected(&self) -> bool {
        let is_running = matches!(self.status, Status::Queued | Status::InProgress | Status::Cancelling);
        let is_blank = self.id.is_empty() || self.status.as_str().is_empty();
        (self.output.is_empty() && is_blank)
            || (self.error.is_some() && !is_running && !self.status.is_final())
    }

    pub(crate) fn token_usage(&self) -> Option<TokenUsage> {
        let usage = self.usage.as_ref()?;
        Some(TokenUsage { input: usage.input_tokens, output: usage.output_tokens })
    }
}
