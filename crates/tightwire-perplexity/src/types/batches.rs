//! Batches of requests: `/v1/batches`.

use std::collections::BTreeMap;

use super::invalid::{Invalid, present};
use super::wire::{object, open_enum};
use super::{NumberOrText, ObjectKind};

object! {
    /// The body of a request for a batch.
    pub struct CreateRequest: body {
        /// Where the requests of the batch go.
        endpoint: must Endpoint,
        /// The file with the requests.
        input_file_id: must String,
        /// How long the batch may take.
        completion_window: may CompletionWindow,
        /// Texts that stay with the batch.
        metadata: null BTreeMap<String, String>,
    }
}

impl CreateRequest {
    /// A batch of the requests in a file, for `/v1/responses`.
    pub fn new(input_file_id: impl Into<String>) -> Self {
        Self { endpoint: Endpoint::Responses, input_file_id: input_file_id.into(), ..Self::default() }
    }

    /// Checks what the server would refuse.
    ///
    /// # Errors
    /// The endpoint or the file is missing.
    pub fn validate(&self) -> Result<(), Invalid> {
        present("endpoint", self.endpoint == "")?;
        present("input_file_id", self.input_file_id.is_empty())
    }
}

open_enum! {
    /// Where the requests of a batch go.
    pub enum Endpoint {
        /// The agent API.
        Responses = "/v1/responses",
    }
}

open_enum! {
    /// How long a batch may take.
    pub enum CompletionWindow {
        /// One day.
        Day = "24h",
    }
}

open_enum! {
    /// How far a batch is.
    pub enum Status {
        /// Its requests are checked.
        Validating = "validating",
        /// Its requests are answered.
        InProgress = "in_progress",
        /// Its answers are written.
        Finalizing = "finalizing",
        /// It is done.
        Completed = "completed",
        /// It took too long.
        Expired = "expired",
        /// It is being cancelled.
        Cancelling = "cancelling",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// It could not be begun.
        Failed = "failed",
    }
}

impl Status {
    /// Whether nothing more happens to the batch.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Expired | Self::Cancelled | Self::Failed)
    }
}

object! {
    /// A batch of requests. All times are in Unix seconds.
    pub struct Batch: answer {
        /// Its identifier.
        id: must String,
        /// What it is.
        object: must ObjectKind,
        /// Where its requests go.
        endpoint: must Endpoint,
        /// The file with its requests.
        input_file_id: must String,
        /// How long it may take.
        completion_window: must CompletionWindow,
        /// How far it is.
        status: must Status,
        /// When it was made.
        created_at: must i64,
        /// When its first request was begun.
        in_progress_at: copy i64,
        /// When the writing of its answers was begun.
        finalizing_at: copy i64,
        /// When it was done.
        completed_at: copy i64,
        /// When it failed.
        failed_at: copy i64,
        /// When it had taken too long.
        expired_at: copy i64,
        /// When it will have taken too long.
        expires_at: copy i64,
        /// When it was asked to stop.
        cancelling_at: copy i64,
        /// When it had stopped.
        cancelled_at: copy i64,
        /// The file with its answers.
        output_file_id: may String,
        /// The file with what went wrong.
        error_file_id: may String,
        /// Why it could not be begun.
        errors: may Errors,
        /// How many of its requests are done.
        request_counts: may RequestCounts,
        /// Texts that stay with it.
        metadata: may BTreeMap<String, String>,
        /// What it took so far.
        usage: may Usage,
    }
}

object! {
    /// Why a batch could not be begun.
    pub struct Errors: answer {
        /// What it is.
        object: may ObjectKind,
        /// The errors.
        data: must Vec<BatchError>,
    }
}

object! {
    /// What is wrong with a batch.
    pub struct BatchError: answer {
        /// The kind of error.
        code: may NumberOrText,
        /// What is wrong.
        message: must String,
        /// The line of the file, from 1.
        line: copy u64,
    }
}

object! {
    /// How many requests of a batch are done.
    pub struct RequestCounts: answer {
        /// How many there are.
        total: must u64,
        /// How many are answered.
        completed: must u64,
        /// How many failed.
        failed: must u64,
    }
}

object! {
    /// What a batch took.
    pub struct Usage: answer {
        /// Tokens of the requests.
        input_tokens: must u64,
        /// What kind of tokens they were.
        input_tokens_details: may InputTokens,
        /// Tokens of the answers.
        output_tokens: must u64,
        /// What kind of tokens they were.
        output_tokens_details: may OutputTokens,
        /// Tokens of both.
        total_tokens: must u64,
    }
}

object! {
    /// Kinds of tokens of requests.
    pub struct InputTokens: answer {
        /// Tokens that did not have to be read again.
        cached_tokens: must u64,
    }
}

object! {
    /// Kinds of tokens of answers.
    pub struct OutputTokens: answer {
        /// Tokens of the reasoning.
        reasoning_tokens: must u64,
    }
}

object! {
    /// A page of batches.
    pub struct List: answer {
        /// What it is.
        object: must ObjectKind,
        /// The batches.
        data: must Vec<Batch>,
        /// Whether there are further pages.
        has_more: must bool,
        /// The first batch of the page.
        first_id: may String,
        /// The last batch of the page, after which the next page begins.
        last_id: may String,
    }
}

object! {
    /// The query of a list of batches.
    pub struct ListParams: part {
        /// The batch after which the page begins: [`List::last_id`] of the one before.
        after: may String,
        /// How many batches a page has.
        limit: copy u32,
    }
}
