//! Types shared by several resources.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::wire::{field_value, object, open_enum, untagged};

open_enum! {
    /// Object type: the field `object` of responses.
    pub enum ObjectKind {
        /// A page of other objects.
        List = "list",
        /// A file.
        File = "file",
        /// A batch of requests.
        Batch = "batch",
        /// A model.
        Model = "model",
        /// A response of the Agent API.
        Response = "response",
        /// An embedding.
        Embedding = "embedding",
        /// The embeddings of the chunks of one document.
        ContextualizedEmbedding = "contextualized_embedding",
        /// A chat completion.
        Completion = "chat.completion",
        /// A chunk of a streamed chat completion.
        CompletionChunk = "chat.completion.chunk",
        /// The last chunk of a streamed completion in concise mode.
        CompletionDone = "chat.completion.done",
        /// A chunk of streamed reasoning in concise mode.
        Reasoning = "chat.reasoning",
        /// The last chunk of streamed reasoning in concise mode.
        ReasoningDone = "chat.reasoning.done",
    }

    /// Amount of text from search results that is added to the model's context.
    pub enum SearchContextSize {
        Low = "low",
        Medium = "medium",
        High = "high",
    }

    /// Collection of sources to search.
    pub enum SearchMode {
        /// The whole web.
        Web = "web",
        /// Scholarly sources.
        Academic = "academic",
        /// Filings with the US Securities and Exchange Commission.
        Sec = "sec",
    }

    /// Maximum age of search results.
    pub enum Recency {
        Hour = "hour",
        Day = "day",
        Week = "week",
        Month = "month",
        Year = "year",
    }
}

untagged! {
    /// A string or a list of strings.
    pub enum TextOrList {
        /// A single string.
        Text = text String,
        /// A list of strings.
        List = list String,
    }
}

impl TextOrList {
    /// Returns the strings as a slice.
    pub fn texts(&self) -> &[String] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(list) => list,
            Self::Unknown(_) => &[],
        }
    }

    /// Returns whether the value is missing, the list is empty, or any string is empty.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Unknown(value) => value.is_null(),
            _ => self.texts().is_empty() || self.texts().iter().any(String::is_empty),
        }
    }
}

untagged! {
    /// An integer or a string.
    pub enum NumberOrText {
        /// An integer.
        Number = integer i64,
        /// A string.
        Text = text String,
    }
}

impl fmt::Display for NumberOrText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Unknown(value) => value.fmt(f),
        }
    }
}

object! {
    /// Response to a deletion.
    pub struct Deleted: response {
        /// Identifier of the deleted object.
        id: String,
        /// Type of the deleted object.
        object: ObjectKind,
        /// Whether the object was deleted.
        deleted: bool,
    }
}

/// A string that `Debug` does not print, such as the credentials of an MCP server.
///
/// # Examples
///
/// ```
/// let secret = tightwire_perplexity::types::Secret::from("sesame");
/// assert_eq!(format!("{secret:?}"), "[redacted]");
/// assert_eq!(secret.expose(), "sesame");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(Box<str>);

impl Secret {
    /// Returns the secret.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

field_value!(Secret);
