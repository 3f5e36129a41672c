//! Batches of requests: `/v1/batches`.

use std::collections::BTreeMap;

use super::invalid::{Invalid, present};
use super::responses::{InputTokens, OutputTokens};
use super::wire::{object, open_enum};
use super::{NumberOrText, ObjectKind};

object! {
    /// Request body of `POST /v1/batches`.
    pub struct CreateRequest: request {
        /// Endpoint that every request of the batch is sent to.
        endpoint: required Endpoint,
        /// Identifier of the uploaded JSONL file of requests.
        input_file_id: required String,
        /// Deadline for the whole batch.
        completion_window: optional CompletionWindow,
        /// Key-value pairs stored with the batch.
        metadata: optional BTreeMap<String, String>,
    }
}

impl CreateRequest {
    /// Creates a batch from an uploaded file, for [`Endpoint::Responses`].
    pub fn new(input_file_id: impl Into<String>) -> Self {
        Self { endpoint: Endpoint::Responses, input_file_id: input_file_id.into(), ..Self::default() }
    }

    /// Validates the request locally.
    ///
    /// # Errors
    ///
    /// Returns [`Invalid`] if `endpoint` or `input_file_id` is empty.
    pub fn validate(&self) -> Result<(), Invalid> {
        present("endpoint", self.endpoint == "")?;
        present("input_file_id", self.input_file_id.is_empty())
    }
}

open_enum! {
    /// Endpoint that every request of a batch is sent to.
    pub enum Endpoint {
        /// Creation of responses (Agent API).
        Responses = "/v1/responses",
    }

    /// Deadline for a whole batch.
    pub enum CompletionWindow {
        /// 24 hours.
        Day = "24h",
    }

    /// Status of a batch.
    pub enum Status {
        /// The input file is being checked.
        Validating = "validating",
        InProgress = "in_progress",
        /// The output file is being written.
        Finalizing = "finalizing",
        Completed = "completed",
        /// The completion window elapsed.
        Expired = "expired",
        Cancelling = "cancelling",
        Cancelled = "cancelled",
        /// The input file failed validation.
        Failed = "failed",
    }
}

impl Status {
    /// Returns whether the status is `Completed`, `Expired`, `Cancelled` or `Failed`.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Expired | Self::Cancelled | Self::Failed)
    }
}

object! {
    /// A batch of requests. All times are in Unix seconds.
    pub struct Batch: response {
        /// Identifier of the batch.
        id: String,
        /// Object type, [`ObjectKind::Batch`].
        object: ObjectKind,
        /// Endpoint that the requests are sent to.
        endpoint: Endpoint,
        /// Identifier of the input file.
        input_file_id: String,
        /// Deadline for the whole batch.
        completion_window: CompletionWindow,
        /// Current status.
        status: Status,
        /// Creation time.
        created_at: i64,
        /// Time at which processing started.
        in_progress_at: Option<i64>,
        /// Time at which writing the output file started.
        finalizing_at: Option<i64>,
        /// Completion time.
        completed_at: Option<i64>,
        /// Failure time.
        failed_at: Option<i64>,
        /// Time at which the batch expired.
        expired_at: Option<i64>,
        /// Time at which the batch will expire.
        expires_at: Option<i64>,
        /// Time at which cancellation was requested.
        cancelling_at: Option<i64>,
        /// Time at which cancellation finished.
        cancelled_at: Option<i64>,
        /// Identifier of the file of responses.
        output_file_id: Option<String>,
        /// Identifier of the file of failed requests.
        error_file_id: Option<String>,
        /// Validation errors of the input file.
        errors: Option<Errors>,
        /// Number of requests by outcome.
        request_counts: Option<RequestCounts>,
        /// Key-value pairs stored with the batch.
        metadata: Option<BTreeMap<String, String>>,
        /// Tokens used so far.
        usage: Option<Usage>,
    }

    /// Validation errors of a batch.
    pub struct Errors: response {
        /// Object type, [`ObjectKind::List`].
        object: Option<ObjectKind>,
        /// Errors found by the validation.
        data: Vec<BatchError>,
    }

    /// A validation error of a batch.
    pub struct BatchError: response {
        /// Error code.
        code: Option<NumberOrText>,
        /// Error message.
        message: String,
        /// Line number in the input file, from 1.
        line: Option<u64>,
    }

    /// Number of requests of a batch by outcome.
    pub struct RequestCounts: response {
        /// Total number of requests.
        total: u64,
        /// Number of completed requests.
        completed: u64,
        /// Number of failed requests.
        failed: u64,
    }

    /// Tokens used by a batch.
    pub struct Usage: response {
        /// Input tokens.
        input_tokens: u64,
        /// Breakdown of the input tokens.
        input_tokens_details: Option<InputTokens>,
        /// Output tokens.
        output_tokens: u64,
        /// Breakdown of the output tokens.
        output_tokens_details: Option<OutputTokens>,
        /// Sum of input and output tokens.
        total_tokens: u64,
    }

    /// One page of batches.
    pub struct List: response {
        /// Object type, [`ObjectKind::List`].
        object: ObjectKind,
        /// The batches of this page.
        data: Vec<Batch>,
        /// Whether there are more pages.
        has_more: bool,
        /// Identifier of the first batch of the page.
        first_id: Option<String>,
        /// Identifier of the last batch of the page; the next page starts after it.
        last_id: Option<String>,
    }

    /// Query parameters of the list.
    pub struct ListParams: nested {
        /// Start after the batch with this identifier: [`List::last_id`] of the previous page.
        after: optional String,
        /// Maximum batches per page.
        limit: scalar u32,
    }
}
