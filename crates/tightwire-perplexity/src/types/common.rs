//! What several resources share.

use super::wire::{by_shape, object, open_enum};

open_enum! {
    /// What an object is: the member `object` of answers.
    pub enum ObjectKind {
        /// A page of other objects.
        List = "list",
        /// A file.
        File = "file",
        /// A batch of requests.
        Batch = "batch",
        /// A model.
        Model = "model",
        /// An answer of the agent API.
        Response = "response",
        /// An embedding.
        Embedding = "embedding",
        /// The embeddings of the chunks of one document.
        ContextualizedEmbedding = "contextualized_embedding",
        /// A completion.
        Completion = "chat.completion",
        /// A part of a streamed completion.
        CompletionChunk = "chat.completion.chunk",
        /// The end of a streamed completion in concise mode.
        CompletionDone = "chat.completion.done",
        /// A part of streamed reasoning in concise mode.
        Reasoning = "chat.reasoning",
        /// The end of streamed reasoning in concise mode.
        ReasoningDone = "chat.reasoning.done",
    }
}

open_enum! {
    /// How much text of the results a model gets to see.
    pub enum SearchContextSize {
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
    }
}

open_enum! {
    /// Where a search looks.
    pub enum SearchMode {
        /// In the whole web.
        Web = "web",
        /// In scholarly sources.
        Academic = "academic",
        /// In filings with the SEC.
        Sec = "sec",
    }
}

open_enum! {
    /// How old results may be.
    pub enum Recency {
        /// One hour.
        Hour = "hour",
        /// One day.
        Day = "day",
        /// One week.
        Week = "week",
        /// One month.
        Month = "month",
        /// One year.
        Year = "year",
    }
}

by_shape! {
    /// One text or several.
    pub enum TextOrList {
        /// One text.
        Text = text String,
        /// Several texts.
        List = list String,
    }
}

impl TextOrList {
    /// The texts.
    pub fn texts(&self) -> &[String] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(list) => list,
            Self::Unknown(_) => &[],
        }
    }

    /// Whether there is no text, or an empty one.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Unknown(value) => value.is_null(),
            _ => self.texts().is_empty() || self.texts().iter().any(String::is_empty),
        }
    }
}

by_shape! {
    /// A number, or a text in its place.
    pub enum NumberOrText {
        /// A number.
        Number = integer i64,
        /// A text.
        Text = text String,
    }
}

impl std::fmt::Display for NumberOrText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Unknown(value) => value.fmt(f),
        }
    }
}

object! {
    /// The answer to a deletion.
    pub struct Deleted: answer {
        /// What is deleted.
        id: must String,
        /// What kind of object it was.
        object: must ObjectKind,
        /// Whether it is gone.
        deleted: must bool,
    }
}
