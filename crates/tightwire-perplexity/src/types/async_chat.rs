//! Chat completions in the background: `/async/chat/completions`.

use super::chat::{self, Completion, Messages};
use super::invalid::Invalid;
use super::wire::{object, open_enum};

object! {
    /// The body of a request for a completion in the background.
    ///
    /// # Examples
    /// ```
    /// use tightwire_perplexity::types::{async_chat, chat};
    ///
    /// let request = async_chat::Request::new(chat::Request::new("sonar-deep-research", "What is known about tea?"))
    ///     .idempotency_key("tea-1");
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: body {
        /// The request itself.
        request: must chat::Request,
        /// Requests with the same key are carried out once.
        idempotency_key: null String,
    }
}

impl Request {
    /// Asks for `request` in the background.
    pub fn new(request: chat::Request) -> Self {
        Self { request, ..Self::default() }
    }

    /// Asks `model` in the background.
    pub fn ask(model: impl Into<String>, messages: impl Into<Messages>) -> Self {
        Self::new(chat::Request::new(model, messages))
    }

    /// Checks what the server would refuse.
    ///
    /// # Errors
    /// As [`chat::Request::validate`].
    pub fn validate(&self) -> Result<(), Invalid> {
        self.request.validate().map_err(|invalid| invalid.inside("request"))
    }
}

open_enum! {
    /// How far a request is.
    pub enum Status {
        /// It waits.
        Created = "CREATED",
        /// It is being answered.
        InProgress = "IN_PROGRESS",
        /// It is answered.
        Completed = "COMPLETED",
        /// It failed.
        Failed = "FAILED",
    }
}

impl Status {
    /// Whether nothing more happens to the request.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

object! {
    /// A request in the background, with its answer once there is one.
    pub struct AsyncCompletion: answer {
        /// Its identifier.
        id: must String,
        /// When it was made, in Unix seconds.
        created_at: must i64,
        /// The model that answers.
        model: must String,
        /// How far it is.
        status: must Status,
        /// When it was answered, in Unix seconds.
        completed_at: copy i64,
        /// What went wrong.
        error_message: may String,
        /// When it failed, in Unix seconds.
        failed_at: copy i64,
        /// The answer.
        response: may Completion,
        /// When the answer was begun, in Unix seconds.
        started_at: copy i64,
    }
}

object! {
    /// A request in the background without its answer.
    pub struct Summary: answer {
        /// Its identifier.
        id: must String,
        /// When it was made, in Unix seconds.
        created_at: must i64,
        /// The model that answers.
        model: must String,
        /// How far it is.
        status: must Status,
        /// When it was answered, in Unix seconds.
        completed_at: copy i64,
        /// When it failed, in Unix seconds.
        failed_at: copy i64,
        /// When the answer was begun, in Unix seconds.
        started_at: copy i64,
    }
}

object! {
    /// A page of requests in the background.
    pub struct List: answer {
        /// The requests.
        requests: must Vec<Summary>,
        /// Where the next page begins, if there is one.
        next_token: may String,
    }
}

object! {
    /// The query of a list of requests.
    pub struct ListParams: part {
        /// Where the page begins: [`List::next_token`] of the one before.
        next_token: may String,
    }
}

object! {
    /// The query of one request.
    pub struct GetParams: part {
        /// Whether to look at the server that answers alone.
        local_mode: copy bool,
    }
}
