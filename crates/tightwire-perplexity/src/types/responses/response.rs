//! Responses of the Agent API.

use std::collections::BTreeMap;

use super::common::{Effort, ServiceTier, Status};
use super::output::OutputItem;
use crate::types::wire::object;
use crate::types::{NumberOrText, ObjectKind};

object! {
    /// A response of the Agent API.
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
    pub struct Response: response {
        /// Identifier of the response.
        id: String,
        /// Creation time, in Unix seconds.
        created_at: i64,
        /// Name of the model.
        model: String,
        /// Object type, [`ObjectKind::Response`].
        object: ObjectKind,
        /// Current status.
        status: Status,
        /// Output items: messages, tool calls and tool results.
        output: Vec<OutputItem>,
        /// The error if the response failed.
        error: Option<ResponseError>,
        /// Tokens used and their cost.
        usage: Option<Usage>,
        /// Whether the response runs in the background.
        background: Option<bool>,
        /// Identifier of the response that this one continues.
        previous_response_id: Option<String>,
        /// Whether the response is stored.
        store: Option<bool>,
        /// Effort of the agent.
        effort: Option<Effort>,
        /// Preset of the request.
        preset: Option<String>,
        /// Prompt cache key of the request.
        prompt_cache_key: Option<String>,
        /// Processing priority.
        service_tier: Option<ServiceTier>,
    }
}

impl Response {
    /// Returns the concatenated text of all messages.
    pub fn output_text(&self) -> String {
        self.texts().collect()
    }

    /// Returns the texts of all messages, part by part.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let messages = self.output.iter().filter_map(|item| match item {
            OutputItem::Message(message) => Some(message),
            _ => None,
        });
        messages.flat_map(|message| message.texts())
    }
}

object! {
    /// Error of a failed response.
    pub struct ResponseError: response {
        /// Error message.
        message: String,
        /// Error code.
        code: Option<NumberOrText>,
        /// Error type.
        kind as "type": Option<String>,
    }

    /// Tokens used by a response.
    pub struct Usage: response {
        /// Tokens of the input.
        input_tokens: u64,
        /// Tokens of the output.
        output_tokens: u64,
        /// Sum of input and output tokens.
        total_tokens: u64,
        /// Cost of the response.
        cost: Option<Cost>,
        /// Breakdown of the input tokens.
        input_tokens_details: Option<InputTokens>,
        /// Usage of each tool, by tool name.
        tool_calls_details: Option<BTreeMap<String, ToolCallDetails>>,
    }

    /// Cost of a response.
    pub struct Cost: response {
        /// Currency, `USD`.
        currency: String,
        /// Cost of the input tokens.
        input_cost: f64,
        /// Cost of the output tokens.
        output_cost: f64,
        /// Total cost.
        total_cost: f64,
        /// Cost of writing to the prompt cache.
        cache_creation_cost: Option<f64>,
        /// Cost of reading from the prompt cache.
        cache_read_cost: Option<f64>,
        /// Cost of tool calls.
        tool_calls_cost: Option<f64>,
    }

    /// Breakdown of input tokens.
    pub struct InputTokens: response {
        /// Tokens written to the prompt cache.
        cache_creation_input_tokens: Option<u64>,
        /// Tokens read from the prompt cache.
        cache_read_input_tokens: Option<u64>,
        /// Tokens served from a cache.
        cached_tokens: Option<u64>,
    }

    /// Usage of a tool.
    pub struct ToolCallDetails: response {
        /// Number of invocations.
        invocation: Option<u64>,
        /// Cost, in US dollars.
        cost_usd: Option<f64>,
        /// Tokens used by the models that the tool called.
        token_usage: Option<Vec<TokenUsage>>,
    }

    /// Tokens that a tool used on a model.
    pub struct TokenUsage: response {
        /// Tokens of the input.
        input_tokens: u64,
        /// Breakdown of the input tokens.
        input_tokens_details: Option<InputTokens>,
        /// Name of the model.
        model: Option<String>,
        /// Tokens of the output.
        output_tokens: u64,
        /// Breakdown of the output tokens.
        output_tokens_details: Option<OutputTokens>,
    }

    /// Breakdown of output tokens.
    pub struct OutputTokens: response {
        /// Tokens used for reasoning.
        reasoning_tokens: u64,
    }

    /// Response to a cancellation.
    pub struct Cancelled: response {
        /// Identifier of the response.
        response_id: String,
        /// Status of the response.
        status: Status,
    }

    /// A file that the model created.
    pub struct ResponseFile: response {
        /// Identifier of the file.
        id: String,
        /// Object type, [`ObjectKind::File`].
        object: ObjectKind,
        /// Size in bytes.
        bytes: u64,
        /// Creation time, in Unix seconds.
        created_at: i64,
        /// File name.
        filename: String,
    }

    /// Files that the model created.
    pub struct FileList: response {
        /// Object type, [`ObjectKind::List`].
        object: ObjectKind,
        /// The files.
        data: Vec<ResponseFile>,
    }
}
