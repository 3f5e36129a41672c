//! Responses of the Agent API.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::common::{Effort, IncompleteReason, ServiceTier, Status, Truncation};
use super::input::InputItem;
use super::output::{FunctionCall, OutputItem};
use super::request::Reasoning;
use super::tool::{Tool, ToolChoice, is_reserved};
use crate::types::chat::ResponseFormat;
use crate::types::wire::object;
use crate::types::{NumberOrText, ObjectKind};

object! {
    /// A response of the Agent API.
    ///
    /// # Examples
    ///
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
        /// Time at which the response ended, in Unix seconds.
        completed_at: Option<i64>,
        /// Why the response is incomplete.
        incomplete_details: Option<IncompleteDetails>,
        /// System instructions.
        instructions: Option<String>,
        /// Maximum tokens of the output.
        max_output_tokens: Option<u64>,
        /// Maximum number of tool calls.
        max_tool_calls: Option<u64>,
        /// Entries of the request.
        metadata: Option<BTreeMap<String, String>>,
        /// Whether the model may call several tools at the same time.
        parallel_tool_calls: Option<bool>,
        /// Reasoning options.
        reasoning: Option<Reasoning>,
        /// Format of the text. The server reports `text` also for structured output.
        text: Option<TextConfig>,
        /// Sampling temperature.
        temperature: Option<f64>,
        /// Nucleus sampling.
        top_p: Option<f64>,
        /// Penalty for tokens that occurred before.
        presence_penalty: Option<f64>,
        /// Penalty for tokens in proportion to their frequency so far.
        frequency_penalty: Option<f64>,
        /// Number of alternatives per token with log probabilities.
        top_logprobs: Option<u64>,
        /// Identifier of the end user.
        user: Option<String>,
        /// Identifier of the end user for the detection of abuse.
        safety_identifier: Option<String>,
        /// Whether the model may or must use tools.
        tool_choice: Option<ToolChoice>,
        /// Tools that the model may use.
        tools: Option<Vec<Tool>>,
        /// Handling of an input that is too large; empty if unset.
        truncation: Option<Truncation>,
    }
}

impl Response {
    /// Returns the concatenated text of all messages.
    pub fn output_text(&self) -> String {
        self.texts().collect()
    }

    /// Returns the texts of all messages, part by part.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.output.iter().flat_map(OutputItem::texts)
    }

    /// Decodes the text, which must be one JSON value, as requested by
    /// [`Request::response_format`](super::Request#structfield.response_format).
    ///
    /// # Errors
    ///
    /// Returns an error if the text is missing, is not valid JSON, or does not match `T`. The error has the path of the
    /// unexpected value, such as `moons[0].name`. If the response has not completed, the error says so.
    pub fn parse<T: DeserializeOwned>(&self) -> tightwire_json::Result<T> {
        tightwire_json::from_str(&self.output_text()).map_err(|error| {
            let reason = self.incomplete_details.as_ref().and_then(|details| details.reason.as_ref());
            match (&self.status, reason) {
                (Status::Incomplete, Some(reason)) => {
                    serde::de::Error::custom(format_args!("response is incomplete, {reason}: {error}"))
                }
                _ => error,
            }
        })
    }

    /// Returns the function calls for the caller to run, without those of the service's own tools.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::responses::{InputItem, Response};
    ///
    /// /// Runs the calls, and adds them with their results to the conversation.
    /// fn answer(response: &Response, conversation: &mut Vec<InputItem>) {
    ///     conversation.extend(response.to_input());
    ///     conversation.extend(response.function_calls().map(|call| call.output("22 degrees")));
    /// }
    /// ```
    pub fn function_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.output.iter().filter_map(|item| match item {
            OutputItem::FunctionCall(call) if !is_reserved(&call.name) => Some(call),
            _ => None,
        })
    }

    /// Returns the output as input items; see [`InputItem::from_output`].
    pub fn to_input(&self) -> impl Iterator<Item = InputItem> {
        self.output.iter().filter_map(InputItem::from_output)
    }
}

/// A response and the value decoded from its text; see [`Responses::parse`](crate::resources::Responses::parse).
#[cfg(all(feature = "client", feature = "schemars"))]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parsed<T> {
    /// Value decoded from the text.
    pub value: T,
    /// The whole response, with the sources and the cost.
    pub response: Response,
}

object! {
    /// Format of the text of a response.
    pub struct TextConfig: response {
        /// Plain text, JSON with a schema, or text that matches a pattern.
        format: Option<ResponseFormat>,
    }

    /// Why a response is incomplete.
    pub struct IncompleteDetails: response {
        /// Cause: a limit, a filter or a cancellation.
        reason: Option<IncompleteReason>,
    }

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
        /// Breakdown of the output tokens.
        output_tokens_details: Option<OutputTokens>,
        /// Usage of each tool, by tool name.
        tool_calls_details: Option<BTreeMap<String, ToolCallDetails>>,
    }

    /// Cost of a response. A number, which gateways send, is the total.
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
        /// Cost of the calls of each tool, by tool name.
        tool_calls_cost_details: Option<BTreeMap<String, f64>>,
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
        /// Created files.
        data: Vec<ResponseFile>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_recorded_responses_are_typed() {
        let response: Response = tightwire_json::from_str(
            r#"{"completed_at": null, "error": {"code": "cancelled", "message": "cancelled", "type": "cancelled"},
                "id": "r", "incomplete_details": {"reason": "max_output_tokens"}, "max_tool_calls": 0,
                "metadata": {"a": "b"}, "frequency_penalty": 0, "presence_penalty": 0.5, "safety_identifier": null,
                "text": {"format": {"type": "text"}}, "top_logprobs": 0, "user": "u", "output": [
                    {"results": [{"id": 1, "url": "u"}], "type": "people_search_results"},
                    {"results": [{"content": "c"}], "tickers": null, "type": "finance_results"}],
                "parallel_tool_calls": true, "status": "incomplete", "temperature": 1, "tool_choice": "auto",
                "tools": [{"type": "web_search", "max_results": 3}, {"type": "x"}], "top_p": 1, "truncation": "",
                "usage": {"output_tokens_details": {"reasoning_tokens": 4}}}"#,
        )
        .unwrap();
        assert_eq!(response.incomplete_details.unwrap().reason, Some(IncompleteReason::MaxOutputTokens));
        assert_eq!((response.completed_at, response.max_tool_calls), (None, Some(0)));
        assert_eq!((response.temperature, response.parallel_tool_calls), (Some(1.0), Some(true)));
        assert_eq!((response.truncation.unwrap().as_str(), &*response.metadata.unwrap()["a"]), ("", "b"));
        assert!(matches!(&response.output[0], OutputItem::PeopleSearchResults(it) if it.results[0].id == 1));
        assert!(
            matches!(&response.output[1], OutputItem::FinanceResults(it) if it.results[0].content == "c")
        );
        assert_eq!(response.usage.unwrap().output_tokens_details.unwrap().reasoning_tokens, 4);
        assert_eq!(response.tools.unwrap().len(), 2);
        assert_eq!((response.frequency_penalty, response.presence_penalty), (Some(0.0), Some(0.5)));
        assert_eq!((response.top_logprobs, response.user.as_deref()), (Some(0), Some("u")));
        assert!(matches!(response.text.unwrap().format, Some(ResponseFormat::Text(_))));
    }
}
