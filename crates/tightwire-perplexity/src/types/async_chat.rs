//! Asynchronous chat completions: `/async/chat/completions`. They have ended like those of [`chat`]; use
//! [`responses`](super::responses) with [`background`](super::responses::Request#structfield.background).

use super::chat::{self, Completion, Messages};
use super::invalid::Invalid;
use super::wire::{object, open_enum};

object! {
    /// Request body of `POST /async/chat/completions`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::{async_chat, chat};
    ///
    /// let request = async_chat::Request::new(chat::Request::new("sonar-deep-research", "What is known about tea?"))
    ///     .idempotency_key("tea-1");
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: request, new {
        /// The chat completion request to run.
        request: required chat::Request,
        /// Idempotency key: the server runs requests with the same key only once.
        idempotency_key: optional String,
    }
}

impl Request {
    /// Creates an asynchronous request from a model and messages.
    pub fn ask(model: impl Into<String>, messages: impl Into<Messages>) -> Self {
        Self::new(chat::Request::new(model, messages))
    }

    /// Validates the request locally.
    ///
    /// # Errors
    ///
    /// Same as [`chat::Request::validate`].
    pub fn validate(&self) -> Result<(), Invalid> {
        self.request.validate().map_err(|invalid| invalid.inside("request"))
    }
}

open_enum! {
    /// Status of an asynchronous completion.
    pub enum Status {
        /// Queued.
        Created = "CREATED",
        InProgress = "IN_PROGRESS",
        Completed = "COMPLETED",
        Failed = "FAILED",
    }
}

impl Status {
    /// Returns whether the status is `Completed` or `Failed`.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

object! {
    /// An asynchronous completion, including the response once it is completed.
    pub struct AsyncCompletion: response {
        /// Identifier of the asynchronous completion.
        id: String,
        /// Creation time, in Unix seconds.
        created_at: i64,
        /// Name of the model.
        model: String,
        /// Current status.
        status: Status,
        /// Completion time, in Unix seconds.
        completed_at: Option<i64>,
        /// Error message if the status is `Failed`.
        error_message: Option<String>,
        /// Failure time, in Unix seconds.
        failed_at: Option<i64>,
        /// The completion, present once the status is `Completed`.
        response: Option<Completion>,
        /// Start time of processing, in Unix seconds.
        started_at: Option<i64>,
    }

    /// One page of asynchronous completions.
    pub struct List: response {
        /// The completions of this page, without their responses.
        requests: Vec<AsyncCompletion>,
        /// Token of the next page; absent on the last page.
        next_token: Option<String>,
    }

    /// Query parameters of the list.
    pub struct ListParams: nested {
        /// Page token: [`List::next_token`] of the previous page.
        next_token: optional String,
    }

    /// Query parameters for retrieving one completion.
    pub struct GetParams: nested {
        /// Whether to look only at the server instance that handles the request.
        local_mode: scalar bool,
    }
}
