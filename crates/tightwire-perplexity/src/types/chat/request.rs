//! Request body of a chat completion.

use std::collections::BTreeMap;

use tightwire_json::Value;

use super::format::ResponseFormat;
use super::message::Message;
use super::tool::{Tool, ToolChoice};
use crate::types::invalid::{Invalid, present, within};
use crate::types::wire::{object, open_enum};
use crate::types::{Recency, SearchContextSize, SearchMode, TextOrList};

/// Documented maximum of `max_tokens`.
const MAX_TOKENS: u32 = 128_000;

object! {
    /// Request body of `POST /chat/completions`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::chat::{ReasoningEffort, Request};
    ///
    /// let request = Request::new("sonar-reasoning-pro", "How many primes are there?")
    ///     .max_tokens(400)
    ///     .reasoning_effort(ReasoningEffort::Low);
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: request {
        /// The conversation so far.
        messages: required Vec<Message>,
        /// Name of the model, such as `sonar-pro`.
        model: required String,
        /// Whether to stream the response.
        stream: scalar bool,
        /// Contents of the stream chunks.
        stream_mode: optional StreamMode,
        /// Maximum tokens of the completion, at most 128,000.
        max_tokens: scalar u32,
        /// Sampling temperature, from 0 to 2.
        temperature: scalar f64,
        /// Nucleus sampling: cumulative probability of the candidate tokens, from 0 to 1.
        top_p: scalar f64,
        /// Maximum candidate tokens for sampling.
        top_k: scalar u32,
        /// Number of choices to return.
        n: scalar u32,
        /// Number of completions to generate and choose from.
        best_of: scalar u32,
        /// Penalty for tokens in proportion to their frequency so far.
        frequency_penalty: scalar f64,
        /// Penalty for tokens that occurred before.
        presence_penalty: scalar f64,
        /// Strings that stop generation.
        stop: optional TextOrList,
        /// Whether to return log probabilities of the tokens.
        logprobs: scalar bool,
        /// Number of alternatives per token for which to return log probabilities.
        top_logprobs: scalar u32,
        /// Whether to return cumulative log probabilities.
        cum_logprobs: scalar bool,
        /// Whether the choices start with different tokens.
        diverse_first_token: scalar bool,
        /// Functions that the model may call.
        tools: list Tool,
        /// Whether the model may or must call functions.
        tool_choice: optional ToolChoice,
        /// Whether the model may call several functions in parallel.
        parallel_tool_calls: scalar bool,
        /// Options of the web search.
        web_search_options: optional WebSearchOptions,
        /// Collection of sources to search.
        search_mode: optional SearchMode,
        /// Maximum age of the search results.
        search_recency_filter: optional Recency,
        /// Domains to search in; a leading `-` excludes a domain. [`DomainFilter`](crate::types::DomainFilter) has the
        /// limits of the API.
        search_domain_filter: list String,
        /// Languages of the search results, as lower-case ISO 639-1 codes.
        search_language_filter: list String,
        /// Earliest publication date, as `M/D/YYYY`.
        search_after_date_filter: optional String,
        /// Latest publication date, as `M/D/YYYY`.
        search_before_date_filter: optional String,
        /// Earliest date of the last update, as `M/D/YYYY`.
        last_updated_after_filter: optional String,
        /// Latest date of the last update, as `M/D/YYYY`.
        last_updated_before_filter: optional String,
        /// Earliest time of the last update, in Unix seconds.
        updated_after_timestamp: scalar i64,
        /// Latest time of the last update, in Unix seconds.
        updated_before_timestamp: scalar i64,
        /// Number of search results.
        num_search_results: scalar u32,
        /// Whether to disable the web search.
        disable_search: scalar bool,
        /// Whether the service decides if a search is needed.
        enable_search_classifier: scalar bool,
        /// Whether to exclude adult content.
        safe_search: scalar bool,
        /// Country of the user, as an ISO 3166-1 code.
        country: optional String,
        /// Latitude of the user in degrees, from -90 to 90.
        latitude: scalar f64,
        /// Longitude of the user in degrees, from -180 to 180.
        longitude: scalar f64,
        /// Language of the response.
        language_preference: optional String,
        /// Locale of numbers and dates in the response, such as `en-US`.
        response_formatting_locale: optional String,
        /// Whether to return images.
        return_images: scalar bool,
        /// Whether to return follow-up questions.
        return_related_questions: scalar bool,
        /// Number of images to return.
        num_images: scalar u32,
        /// Domains of the images; a leading `-` excludes a domain.
        image_domain_filter: list String,
        /// File types of the images.
        image_format_filter: list String,
        /// Whether a message contains an image URL.
        has_image_url: scalar bool,
        /// Amount of reasoning before the response.
        reasoning_effort: optional ReasoningEffort,
        /// Output format.
        response_format: optional ResponseFormat,
        /// Metadata to attach to the response.
        response_metadata: optional BTreeMap<String, Value>,
        /// Identifier of the thread that the conversation belongs to.
        thread_id: optional String,
        /// Whether to store the conversation in a thread.
        use_threads: scalar bool,
        /// The question as the user entered it.
        user_original_query: optional String,
        /// Identifier of the workspace whose files may be searched.
        file_workspace_id: optional String,
        /// Name of the model that ranks search results.
        ranking_model: optional String,
        /// Search tenant.
        search_tenant: optional String,
        /// Media to return; only understood by some gateways.
        media_response: optional MediaResponse,
        /// Internal setting of the service, without documentation.
        search_internal_properties: optional BTreeMap<String, Value>,
        /// Internal setting of the service, without documentation.
        debug_pro_search as "_debug_pro_search": scalar bool,
        /// Internal setting of the service, without documentation.
        force_new_agent as "_force_new_agent": scalar bool,
        /// Internal setting of the service, without documentation.
        inputs as "_inputs": list i64,
        /// Internal setting of the service, without documentation.
        prompt_token_length as "_prompt_token_length": scalar u32,
    }
}

impl Request {
    /// Creates a request. A string becomes a single user message.
    pub fn new(model: impl Into<String>, messages: impl Into<Messages>) -> Self {
        Self { model: model.into(), messages: messages.into().0, ..Self::default() }
    }

    /// Validates the request locally.
    ///
    /// # Errors
    ///
    /// Returns [`Invalid`] if the messages or the model are missing, or if a number is out of its documented
    /// range.
    pub fn validate(&self) -> Result<(), Invalid> {
        present("messages", self.messages.is_empty())?;
        present("model", self.model.is_empty())?;
        within("max_tokens", self.max_tokens, 1, MAX_TOKENS)?;
        within("temperature", self.temperature, 0.0, 2.0)?;
        within("top_p", self.top_p, 0.0, 1.0)?;
        within("latitude", self.latitude, -90.0, 90.0)?;
        within("longitude", self.longitude, -180.0, 180.0)
    }
}

/// Messages of a new [`Request`], converted from a string (one user message), a message or a list of
/// messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Messages(Vec<Message>);

impl From<&str> for Messages {
    fn from(text: &str) -> Self {
        Self(vec![Message::user(text)])
    }
}

impl From<String> for Messages {
    fn from(text: String) -> Self {
        Self(vec![Message::user(text)])
    }
}

impl From<Message> for Messages {
    fn from(message: Message) -> Self {
        Self(vec![message])
    }
}

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Self {
        Self(messages)
    }
}

impl From<&[Message]> for Messages {
    fn from(messages: &[Message]) -> Self {
        Self(messages.to_vec())
    }
}

impl<const N: usize> From<[Message; N]> for Messages {
    fn from(messages: [Message; N]) -> Self {
        Self(messages.into())
    }
}

open_enum! {
    /// Contents of the chunks of a streamed completion.
    pub enum StreamMode {
        /// Every chunk repeats the whole text so far.
        Full = "full",
        /// Chunks of several types without repetition.
        Concise = "concise",
    }

    /// Amount of reasoning before the response.
    pub enum ReasoningEffort {
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
    }

    /// Depth of the web search of a completion.
    pub enum SearchType {
        /// One quick search.
        Fast = "fast",
        /// Several searches.
        Pro = "pro",
        /// The service decides.
        Auto = "auto",
    }
}

object! {
    /// Options of the web search.
    pub struct WebSearchOptions: nested {
        /// Amount of search context for the model [server default: `low`].
        search_context_size: optional SearchContextSize,
        /// Depth of the search.
        search_type: optional SearchType,
        /// Whether to improve the relevance of image results, at the cost of latency.
        image_results_enhanced_relevance: scalar bool,
        /// Location of the user.
        user_location: optional UserLocation,
    }

    /// Location of a user.
    pub struct UserLocation: nested {
        /// Latitude in degrees.
        latitude: scalar f64,
        /// Longitude in degrees.
        longitude: scalar f64,
        /// Country, as an ISO 3166-1 code.
        country: optional String,
        /// Region or state.
        region: optional String,
        /// City.
        city: optional String,
    }

    /// Media to return.
    pub struct MediaResponse: nested {
        /// Settings that differ from the defaults.
        overrides: optional MediaOverrides,
    }

    /// Media settings that differ from the defaults.
    pub struct MediaOverrides: nested {
        /// Whether to return videos.
        return_videos: scalar bool,
        /// Whether to return images.
        return_images: scalar bool,
    }
}
