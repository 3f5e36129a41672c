//! The body of a request for a completion.

use std::collections::BTreeMap;

use tightwire_json::Value;

use super::format::ResponseFormat;
use super::message::Message;
use super::tool::{Tool, ToolChoice};
use crate::types::invalid::{Invalid, present, within};
use crate::types::wire::{object, open_enum};
use crate::types::{Recency, SearchContextSize, SearchMode, TextOrList};

/// The largest `max_tokens` that the service documents.
const MAX_TOKENS: u32 = 128_000;

object! {
    /// The body of a request for a completion.
    ///
    /// # Examples
    /// ```
    /// use tightwire_perplexity::types::chat::{ReasoningEffort, Request};
    ///
    /// let request = Request::new("sonar-reasoning-pro", "How many primes are there?")
    ///     .max_tokens(400)
    ///     .reasoning_effort(ReasoningEffort::Low);
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: body {
        /// The conversation so far.
        messages: must Vec<Message>,
        /// The name of the model, such as `sonar-pro`.
        model: must String,
        /// Whether the answer comes in parts.
        stream: copy bool,
        /// What the parts of a streamed answer hold.
        stream_mode: may StreamMode,
        /// Upper bound of the tokens of the answer, at most 128,000.
        max_tokens: copy u32,
        /// How varied the words of the answer are, from 0 to 2.
        temperature: copy f64,
        /// Restricts words to the likely ones with this total probability, from 0 to 1.
        top_p: copy f64,
        /// Restricts words to this many likely ones.
        top_k: copy u32,
        /// How many answers to give.
        n: copy u32,
        /// How many answers to choose from.
        best_of: copy u32,
        /// Penalty for words by how often they occurred.
        frequency_penalty: copy f64,
        /// Penalty for words that occurred.
        presence_penalty: copy f64,
        /// Texts at which the answer ends.
        stop: may TextOrList,
        /// Whether to report the probabilities of tokens.
        logprobs: copy bool,
        /// How many alternatives per token to report.
        top_logprobs: copy u32,
        /// Whether to report cumulated probabilities.
        cum_logprobs: copy bool,
        /// Whether alternative answers begin with different tokens.
        diverse_first_token: copy bool,
        /// Functions that the model may call.
        tools: many Tool,
        /// Whether the model calls functions.
        tool_choice: may ToolChoice,
        /// Whether the model may call several functions at once.
        parallel_tool_calls: copy bool,
        /// How the model searches the web.
        web_search_options: may WebSearchOptions,
        /// Where to search.
        search_mode: may SearchMode,
        /// How old results may be.
        search_recency_filter: may Recency,
        /// Domains to search in; a leading `-` excludes one.
        search_domain_filter: many String,
        /// Languages of the results, as lower-case ISO 639-1 codes.
        search_language_filter: many String,
        /// Earliest day of publication, as `M/D/YYYY`.
        search_after_date_filter: may String,
        /// Latest day of publication, as `M/D/YYYY`.
        search_before_date_filter: may String,
        /// Earliest day of the last change, as `M/D/YYYY`.
        last_updated_after_filter: may String,
        /// Latest day of the last change, as `M/D/YYYY`.
        last_updated_before_filter: may String,
        /// Earliest time of the last change, in Unix seconds.
        updated_after_timestamp: copy i64,
        /// Latest time of the last change, in Unix seconds.
        updated_before_timestamp: copy i64,
        /// How many results to search for.
        num_search_results: copy u32,
        /// Whether to answer without a search.
        disable_search: copy bool,
        /// Whether to let the service decide if a search is needed.
        enable_search_classifier: copy bool,
        /// Whether to leave out results for adults.
        safe_search: copy bool,
        /// Country of the user, as ISO 3166-1 code.
        country: may String,
        /// Latitude of the user in degrees.
        latitude: copy f64,
        /// Longitude of the user in degrees.
        longitude: copy f64,
        /// Language of the answer.
        language_preference: may String,
        /// Locale for numbers and dates of the answer, such as `en-US`.
        response_formatting_locale: may String,
        /// Whether to return images.
        return_images: copy bool,
        /// Whether to return questions that may follow.
        return_related_questions: copy bool,
        /// How many images to return.
        num_images: copy u32,
        /// Domains of images; a leading `-` excludes one.
        image_domain_filter: many String,
        /// File types of images.
        image_format_filter: many String,
        /// Whether a message has the URL of an image.
        has_image_url: copy bool,
        /// How much the model thinks before it answers.
        reasoning_effort: may ReasoningEffort,
        /// The form of the answer.
        response_format: may ResponseFormat,
        /// Metadata for the answer.
        response_metadata: may BTreeMap<String, Value>,
        /// The thread that the conversation belongs to.
        thread_id: may String,
        /// Whether to keep the conversation in a thread.
        use_threads: copy bool,
        /// The question as the user put it.
        user_original_query: may String,
        /// The workspace whose files may be searched.
        file_workspace_id: may String,
        /// The model that ranks results.
        ranking_model: may String,
        /// The tenant that searches are made for.
        search_tenant: may String,
        /// Internal settings of the search.
        search_internal_properties: may BTreeMap<String, Value>,
        /// Which media to return, for gateways that understand it.
        media_response: may MediaResponse,
        /// Internal.
        debug_pro_search as "_debug_pro_search": copy bool,
        /// Internal.
        force_new_agent as "_force_new_agent": copy bool,
        /// Internal.
        inputs as "_inputs": many i64,
        /// Internal.
        is_browser_agent as "_is_browser_agent": copy bool,
        /// Internal.
        prompt_token_length as "_prompt_token_length": copy u32,
    }
}

impl Request {
    /// A request to `model`. A text is one message of the user.
    pub fn new(model: impl Into<String>, messages: impl Into<Messages>) -> Self {
        Self { model: model.into(), messages: messages.into().0, ..Self::default() }
    }

    /// Checks what the server would refuse.
    ///
    /// # Errors
    /// There are no messages or no model, or a number is outside of the documented range.
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

/// The messages of a new [`Request`]: any list of messages, or the text of one by the user.
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
    /// What the parts of a streamed answer hold.
    pub enum StreamMode {
        /// Every part repeats the text so far.
        Full = "full",
        /// Parts of several kinds, without repetition.
        Concise = "concise",
    }
}

open_enum! {
    /// How much a model thinks before it answers.
    pub enum ReasoningEffort {
        /// Hardly.
        Minimal = "minimal",
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
    }
}

open_enum! {
    /// How thorough the search for a completion is.
    pub enum SearchType {
        /// One quick search.
        Fast = "fast",
        /// Several searches.
        Pro = "pro",
        /// As the question needs it.
        Auto = "auto",
    }
}

object! {
    /// How a model searches the web.
    pub struct WebSearchOptions: part {
        /// How much text of the results the model sees. The server's default is `low`.
        search_context_size: may SearchContextSize,
        /// How thorough the search is.
        search_type: may SearchType,
        /// Whether to search longer for images that fit.
        image_results_enhanced_relevance: copy bool,
        /// Where the user is.
        user_location: may UserLocation,
    }
}

object! {
    /// Where a user is.
    pub struct UserLocation: part {
        /// Latitude in degrees.
        latitude: copy f64,
        /// Longitude in degrees.
        longitude: copy f64,
        /// ISO 3166-1 code.
        country: may String,
        /// Region or state.
        region: may String,
        /// City.
        city: may String,
    }
}

object! {
    /// Which media to return.
    pub struct MediaResponse: part {
        /// What deviates from the defaults.
        overrides: may MediaOverrides,
    }
}

object! {
    /// Media to return or not.
    pub struct MediaOverrides: part {
        /// Whether to return videos.
        return_videos: copy bool,
        /// Whether to return images.
        return_images: copy bool,
    }
}
