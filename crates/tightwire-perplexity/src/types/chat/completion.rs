//! Chat completions: complete responses and stream chunks.

use serde::de::DeserializeOwned;
use tightwire_json::Value;

use super::message::{Delta, Message};
use super::reasoning::PublicResult;
use crate::types::wire::{object, open_enum};
use crate::types::{ObjectKind, SearchContextSize};

object! {
    /// A chat completion, or one chunk of a streamed completion.
    pub struct Completion: response {
        /// Identifier of the completion.
        id: String,
        /// Alternative completions; usually one.
        choices: Vec<Choice>,
        /// Creation time, in Unix seconds.
        created: i64,
        /// Name of the model.
        model: String,
        /// URLs that the text cites by number.
        citations: Option<Vec<String>>,
        /// Object type.
        object: Option<ObjectKind>,
        /// Search results that the model was given.
        search_results: Option<Vec<PublicResult>>,
        /// Whether the stream continues.
        status: Option<CompletionStatus>,
        /// Type of the stream chunk.
        kind as "type": Option<ChunkKind>,
        /// Tokens used and their cost.
        usage: Option<Usage>,
        /// Images, if requested.
        images: Option<Vec<Image>>,
        /// Suggested follow-up questions, if requested.
        related_questions: Option<Vec<String>>,
        /// Videos, if requested.
        videos: Option<Vec<Value>>,
    }
}

impl Completion {
    /// Returns the text of the first choice: the message's, or in a stream chunk the delta's.
    pub fn text(&self) -> Option<&str> {
        let choice = self.choices.first()?;
        let delta = choice.delta.as_ref().and_then(Delta::text);
        let message = choice.message.as_ref().and_then(Message::text);
        match (message, delta) {
            (Some(""), Some(delta)) => Some(delta),
            (message, delta) => message.or(delta),
        }
    }

    /// Returns the text that this stream chunk adds to the first choice.
    pub fn delta_text(&self) -> Option<&str> {
        self.choices.first()?.delta.as_ref()?.text()
    }

    /// Decodes the text of the first choice, which must be one JSON value, as requested by
    /// [`Request::response_format`](super::Request#structfield.response_format). Skips the reasoning that some models
    /// write before the value, between `<think>` and `</think>`.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is missing, is not valid JSON, or does not match `T`. The error has the path of the
    /// unexpected value, such as `moons[0].name`. Lines and columns are counted after the reasoning.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_json::ErrorDetails;
    /// use tightwire_perplexity::types::chat::Completion;
    ///
    /// let completion: Completion = tightwire_json::from_str(
    ///     r#"{"choices": [{"message": {"role": "assistant", "content": "{\"moons\": [\"Io\", 4]}"}}]}"#,
    /// )?;
    /// let error = completion.parse::<std::collections::BTreeMap<String, Vec<String>>>().unwrap_err();
    /// assert_eq!(error.path().unwrap().to_string(), "moons[1]");
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub fn parse<T: DeserializeOwned>(&self) -> tightwire_json::Result<T> {
        let text = self.text().unwrap_or_default();
        let reasoning = text.trim_start().strip_prefix("<think>");
        let json = reasoning.and_then(|text| text.split_once("</think>")).map_or(text, |(_, json)| json);
        tightwire_json::from_str(json)
    }

    /// Returns whether the stream ends with this chunk: it is marked as the last one, or a choice has a
    /// finish reason.
    pub fn is_last(&self) -> bool {
        self.choices.iter().any(|choice| choice.finish_reason.is_some())
            || ends_stream(self.object.as_ref(), self.kind.as_ref(), self.status.as_ref())
    }

    /// Returns the message of the first choice.
    pub fn message(&self) -> Option<&Message> {
        self.choices.first()?.message.as_ref()
    }
}

/// A completion and the value decoded from its text; see [`Chat::parse`](crate::resources::Chat::parse).
#[cfg(all(feature = "client", feature = "schemars"))]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parsed<T> {
    /// Value decoded from the text.
    pub value: T,
    /// The whole completion, with the citations and the cost.
    pub completion: Completion,
}

/// Returns whether a stream chunk is marked as the last one.
pub(super) fn ends_stream(
    object: Option<&ObjectKind>,
    kind: Option<&ChunkKind>,
    status: Option<&CompletionStatus>,
) -> bool {
    matches!(object, Some(ObjectKind::CompletionDone))
        || matches!(kind, Some(ChunkKind::EndOfStream))
        || matches!(status, Some(CompletionStatus::Completed))
}

open_enum! {
    /// Whether a streamed completion continues.
    pub enum CompletionStatus {
        /// More chunks follow.
        Pending = "PENDING",
        /// This is the last chunk.
        Completed = "COMPLETED",
    }

    /// Type of a stream chunk.
    pub enum ChunkKind {
        /// A part of the message.
        Message = "message",
        /// Metadata such as citations and usage.
        Info = "info",
        /// The last chunk.
        EndOfStream = "end_of_stream",
    }
}

object! {
    /// One of the alternative completions.
    pub struct Choice: response {
        /// Addition to the message; only in stream chunks.
        delta: Option<Delta>,
        /// Index of the choice, from 0.
        index: u32,
        /// The message. In some stream modes every chunk has the whole message so far.
        message: Option<Message>,
        /// Reason why generation stopped.
        finish_reason: Option<FinishReason>,
    }
}

open_enum! {
    /// Reason why generation stopped.
    pub enum FinishReason {
        /// The completion is complete.
        Stop = "stop",
        /// The token limit was reached.
        Length = "length",
    }
}

object! {
    /// An image related to the completion.
    pub struct Image: response {
        /// URL of the image.
        image_url: String,
        /// URL of the page that contains the image.
        origin_url: String,
        /// Title of that page.
        title: Option<String>,
        /// Width, in pixels.
        width: u32,
        /// Height, in pixels.
        height: u32,
    }

    /// Tokens used by a completion.
    pub struct Usage: response {
        /// Tokens of the completion.
        completion_tokens: u64,
        /// Cost. The amounts are preliminary until the last chunk of a stream.
        cost: Option<Cost>,
        /// Tokens of the prompt.
        prompt_tokens: u64,
        /// Sum of prompt and completion tokens.
        total_tokens: u64,
        /// Tokens of citations.
        citation_tokens: Option<u64>,
        /// Number of search queries.
        num_search_queries: Option<u64>,
        /// Tokens used for reasoning.
        reasoning_tokens: Option<u64>,
        /// Amount of search context that the model was given.
        search_context_size: Option<SearchContextSize>,
        /// Breakdown of the prompt tokens, added by some gateways.
        prompt_tokens_details: Option<Value>,
        /// Breakdown of the completion tokens, added by some gateways.
        completion_tokens_details: Option<Value>,
    }

    /// Cost of a completion, in US dollars.
    pub struct Cost: response {
        /// Cost of the prompt tokens.
        input_tokens_cost: f64,
        /// Cost of the completion tokens.
        output_tokens_cost: f64,
        /// Total cost.
        total_cost: f64,
        /// Cost of the citation tokens.
        citation_tokens_cost: Option<f64>,
        /// Cost of the reasoning tokens.
        reasoning_tokens_cost: Option<f64>,
        /// Flat fee per request.
        request_cost: Option<f64>,
        /// Cost of the search queries.
        search_queries_cost: Option<f64>,
    }
}
