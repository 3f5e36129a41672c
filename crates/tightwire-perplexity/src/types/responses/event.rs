//! Events of a streamed answer of the agent API.

use super::output::{FetchedPage, OutputItem, SearchResult};
use super::response::{Response, ResponseError, Usage};
use crate::types::chat::Image;
use crate::types::wire::{object, tagged};

tagged! {
    /// An event of a streamed answer.
    pub enum Event by "type" {
        /// The answer was begun.
        "response.created" => Created(ResponseEvent),
        /// The answer is being made.
        "response.in_progress" => InProgress(ResponseEvent),
        /// The answer is complete.
        "response.completed" => Completed(ResponseEvent),
        /// Something went wrong.
        "response.failed" => Failed(FailedEvent),
        /// There is a further item.
        "response.output_item.added" => OutputItemAdded(ItemEvent),
        /// An item is complete.
        "response.output_item.done" => OutputItemDone(ItemEvent),
        /// A text goes on.
        "response.output_text.delta" => OutputTextDelta(TextDeltaEvent),
        /// A text is complete.
        "response.output_text.done" => OutputTextDone(TextDoneEvent),
        /// The model begins to think.
        "response.reasoning.started" => ReasoningStarted(ReasoningEvent),
        /// The model ends to think.
        "response.reasoning.stopped" => ReasoningStopped(ReasoningEvent),
        /// The model searches the web.
        "response.reasoning.search_queries" => SearchQueries(SearchQueriesEvent),
        /// The model found pages.
        "response.reasoning.search_results" => SearchResults(SearchResultsEvent),
        /// The model fetches pages.
        "response.reasoning.fetch_url_queries" => FetchUrlQueries(FetchQueriesEvent),
        /// The model has fetched pages.
        "response.reasoning.fetch_url_results" => FetchUrlResults(FetchResultsEvent),
        /// The model searches for images.
        "response.reasoning.image_search_queries" => ImageSearchQueries(ImageQueriesEvent),
        /// The model found images.
        "response.reasoning.image_search_results" => ImageSearchResults(ImageResultsEvent),
        /// The model read up a skill.
        "response.skill.loaded" => SkillLoaded(SkillLoadedEvent),
    }
}

/// Reads a member that all events have.
macro_rules! sequence_number {
    ($event:expr; $($variant:ident)*) => {
        match $event {
            $(Event::$variant(event) => Some(event.sequence_number),)*
            Event::Unknown(value) => value.get("sequence_number").and_then(tightwire_json::Value::as_u64),
        }
    };
}

impl Event {
    /// The number of the event, from 0. Unknown events may have none.
    pub fn sequence_number(&self) -> Option<u64> {
        sequence_number! {
            self;
            Created InProgress Completed Failed OutputItemAdded OutputItemDone OutputTextDelta OutputTextDone
            ReasoningStarted ReasoningStopped SearchQueries SearchResults FetchUrlQueries FetchUrlResults
            ImageSearchQueries ImageSearchResults SkillLoaded
        }
    }

    /// The text that is added to the answer.
    pub fn text_delta(&self) -> Option<&str> {
        match self {
            Self::OutputTextDelta(event) => Some(&event.delta),
            _ => None,
        }
    }

    /// Whether no event follows.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed(_))
    }
}

object! {
    /// The answer as far as it is.
    pub struct ResponseEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// The answer.
        response: may Box<Response>,
    }
}

object! {
    /// Something went wrong.
    pub struct FailedEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// What went wrong.
        error: may ResponseError,
        /// The answer as far as it is.
        response: may Box<Response>,
    }
}

object! {
    /// An item of the answer.
    pub struct ItemEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// Which of the items it is, from 0.
        output_index: must u32,
        /// The item.
        item: must OutputItem,
    }
}

object! {
    /// A text goes on.
    pub struct TextDeltaEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// The item.
        item_id: must String,
        /// Which of the items it is, from 0.
        output_index: must u32,
        /// Which part of the item it is, from 0.
        content_index: must u32,
        /// The text that is added.
        delta: must String,
    }
}

object! {
    /// A text is complete.
    pub struct TextDoneEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// The item.
        item_id: must String,
        /// Which of the items it is, from 0.
        output_index: must u32,
        /// Which part of the item it is, from 0.
        content_index: must u32,
        /// All of the text.
        text: must String,
    }
}

object! {
    /// The model begins or ends to think.
    pub struct ReasoningEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// What it thought.
        thought: may String,
    }
}

object! {
    /// The model searches the web.
    pub struct SearchQueriesEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// What it searches for.
        queries: must Vec<String>,
        /// What it thought.
        thought: may String,
    }
}

object! {
    /// The model found pages.
    pub struct SearchResultsEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// The pages.
        results: must Vec<SearchResult>,
        /// What it thought.
        thought: may String,
        /// What it took so far.
        usage: may Usage,
    }
}

object! {
    /// The model fetches pages.
    pub struct FetchQueriesEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// The addresses of the pages.
        urls: must Vec<String>,
        /// What it thought.
        thought: may String,
    }
}

object! {
    /// The model has fetched pages.
    pub struct FetchResultsEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// The pages.
        contents: must Vec<FetchedPage>,
        /// What it thought.
        thought: may String,
    }
}

object! {
    /// The model searches for images.
    pub struct ImageQueriesEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// The identifier of the call.
        call_id: must String,
        /// What it searches for.
        queries: must Vec<String>,
        /// What it thought.
        thought: may String,
    }
}

object! {
    /// The model found images.
    pub struct ImageResultsEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// The identifier of the call.
        call_id: must String,
        /// The images.
        results: must Vec<Image>,
        /// What it thought.
        thought: may String,
        /// What it took so far.
        usage: may Usage,
    }
}

object! {
    /// The model read up a skill.
    pub struct SkillLoadedEvent: answer {
        /// The number of the event.
        sequence_number: must u64,
        /// The skill.
        name: must String,
    }
}
