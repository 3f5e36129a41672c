//! Answers of the agent API.

use std::collections::BTreeMap;

use super::output::OutputItem;
use super::request::{Effort, ServiceTier};
use crate::types::wire::{object, open_enum};
use crate::types::{NumberOrText, ObjectKind};

object! {
    /// An answer of the agent API.
    ///
    /// # Examples
    /// ```
    /// use tightwire_perplexity::types::responses::Response;
    ///
    /// let response: Response = tightwire_json::from_str(
    ///     r#"{"id": "r", "status": "completed", "output": [
    ///         {"type": "search_results", "results": []},
    ///         {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Hi"}]},
    ///         {"type": "of_the_future", "payload": 1}
    ///     ]}"#,
    /// )?;
    /// assert_eq!(response.output_text(), "Hi");
    /// assert_eq!(response.output[2].tag(), Some("of_the_future"));
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub struct Response: answer {
        /// Its identifier.
        id: must String,
        /// When it was begun, in Unix seconds.
        created_at: must i64,
        /// The model that answers.
        model: must String,
        /// What it is.
        object: must ObjectKind,
        /// How far it is.
        status: must Status,
        /// What the model did and said.
        output: must Vec<OutputItem>,
        /// What went wrong.
        error: may ResponseError,
        /// What it took.
        usage: may Usage,
        /// Whether it is made in the background.
        background: copy bool,
        /// The answer before it.
        previous_response_id: may String,
        /// Whether it is kept.
        store: copy bool,
        /// How much work was put into it.
        effort: may Effort,
        /// The settings that were asked for.
        preset: may String,
        /// Requests with the same key are likely to share what is cached.
        prompt_cache_key: may String,
        /// How urgent it was.
        service_tier: may ServiceTier,
    }
}

impl Response {
    /// The text of all messages.
    pub fn output_text(&self) -> String {
        self.texts().collect()
    }

    /// The texts of all messages, part by part.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let messages = self.output.iter().filter_map(|item| match item {
            OutputItem::Message(message) => Some(message),
            _ => None,
        });
        messages.flat_map(|message| message.texts())
    }
}

open_enum! {
    /// How far an answer, or an item of one, is.
    pub enum Status {
        /// It is complete.
        Completed = "completed",
        /// Something went wrong.
        Failed = "failed",
        /// It is being made.
        InProgress = "in_progress",
        /// It ended too early.
        Incomplete = "incomplete",
        /// It waits.
        Queued = "queued",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// It is being cancelled.
        Cancelling = "cancelling",
        /// The caller has to answer the model.
        RequiresAction = "requires_action",
    }
}

impl Status {
    /// Whether nothing more happens without the caller.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Incomplete | Self::Cancelled | Self::RequiresAction
        )
    }
}

object! {
    /// What went wrong with an answer.
    pub struct ResponseError: answer {
        /// What went wrong.
        message: must String,
        /// The code of the error.
        code: may NumberOrText,
        /// The kind of error.
        kind as "type": may String,
    }
}

object! {
    /// What an answer took.
    pub struct Usage: answer {
        /// Tokens of the request.
        input_tokens: must u64,
        /// Tokens of the answer.
        output_tokens: must u64,
        /// Tokens of both.
        total_tokens: must u64,
        /// What it costs.
        cost: may Cost,
        /// What kind of tokens those of the request were.
        input_tokens_details: may InputTokens,
        /// What each tool took, by its name.
        tool_calls_details: may BTreeMap<String, ToolCallDetails>,
    }
}

object! {
    /// What an answer costs.
    pub struct Cost: answer {
        /// The currency, `USD`.
        currency: must String,
        /// Of the tokens of the request.
        input_cost: must f64,
        /// Of the tokens of the answer.
        output_cost: must f64,
        /// Of everything.
        total_cost: must f64,
        /// Of filling the cache.
        cache_creation_cost: copy f64,
        /// Of reading the cache.
        cache_read_cost: copy f64,
        /// Of the tools.
        tool_calls_cost: copy f64,
    }
}

object! {
    /// Kinds of tokens of a request.
    pub struct InputTokens: answer {
        /// Tokens that filled the cache.
        cache_creation_input_tokens: copy u64,
        /// Tokens that came from the cache.
        cache_read_input_tokens: copy u64,
        /// Tokens that did not have to be read again.
        cached_tokens: copy u64,
    }
}

object! {
    /// What a tool took.
    pub struct ToolCallDetails: answer {
        /// How often it was used.
        invocation: copy u64,
        /// What it costs in US dollars.
        cost_usd: copy f64,
        /// The tokens of models that it used.
        token_usage: many TokenUsage,
    }
}

object! {
    /// The tokens of a model that a tool used.
    pub struct TokenUsage: answer {
        /// Tokens of the request.
        input_tokens: must u64,
        /// What kind of tokens they were.
        input_tokens_details: may InputTokens,
        /// The model.
        model: may String,
        /// Tokens of the answer.
        output_tokens: must u64,
        /// What kind of tokens they were.
        output_tokens_details: may OutputTokens,
    }
}

object! {
    /// Kinds of tokens of an answer.
    pub struct OutputTokens: answer {
        /// Tokens of the reasoning.
        reasoning_tokens: must u64,
    }
}

object! {
    /// The answer to a cancellation.
    pub struct Cancelled: answer {
        /// The answer that is being cancelled.
        response_id: must String,
        /// How far the cancellation is.
        status: must Status,
    }
}

object! {
    /// A file that a model made.
    pub struct ResponseFile: answer {
        /// Its identifier for the service.
        id: must String,
        /// What it is.
        object: must ObjectKind,
        /// Its length in bytes.
        bytes: must u64,
        /// When it was made, in Unix seconds.
        created_at: must i64,
        /// Its name.
        filename: must String,
    }
}

object! {
    /// The files that a model made.
    pub struct FileList: answer {
        /// What it is.
        object: must ObjectKind,
        /// The files.
        data: must Vec<ResponseFile>,
    }
}
