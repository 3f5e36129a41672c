//! Stream events of the Agent API.

use super::common::Status;
use super::output::{FetchedPage, FinanceResult, OutputItem, SearchResult};
use super::response::{Response, ResponseError, Usage};
use crate::types::chat::Image;
use crate::types::wire::{object, tagged};

tagged! {
    /// An event of a streamed response.
    pub enum Event by "type" {
        /// The response was created.
        "response.created" => Created(ResponseEvent),
        /// The response is being generated.
        "response.in_progress" => InProgress(ResponseEvent),
        /// The response is complete.
        "response.completed" => Completed(ResponseEvent),
        /// The response ended early, for example at its maximum number of tokens.
        "response.incomplete" => Incomplete(ResponseEvent),
        /// The response was cancelled.
        "response.cancelled" => Cancelled(ResponseEvent),
        /// The response failed.
        "response.failed" => Failed(FailedEvent),
        /// An output item was added.
        "response.output_item.added" => OutputItemAdded(ItemEvent),
        /// An output item is complete.
        "response.output_item.done" => OutputItemDone(ItemEvent),
        /// Addition to the text of a content part.
        "response.output_text.delta" => OutputTextDelta(TextDeltaEvent),
        /// The text of a content part is complete.
        "response.output_text.done" => OutputTextDone(TextDoneEvent),
        /// Reasoning started.
        "response.reasoning.started" => ReasoningStarted(ReasoningEvent),
        /// Reasoning stopped.
        "response.reasoning.stopped" => ReasoningStopped(ReasoningEvent),
        /// Web search started.
        "response.reasoning.search_queries" => SearchQueries(SearchQueriesEvent),
        /// Web search finished.
        "response.reasoning.search_results" => SearchResults(SearchResultsEvent),
        /// Page fetching started.
        "response.reasoning.fetch_url_queries" => FetchUrlQueries(FetchQueriesEvent),
        /// Page fetching finished.
        "response.reasoning.fetch_url_results" => FetchUrlResults(FetchResultsEvent),
        /// Image search started.
        "response.reasoning.image_search_queries" => ImageSearchQueries(ImageQueriesEvent),
        /// Image search finished.
        "response.reasoning.image_search_results" => ImageSearchResults(ImageResultsEvent),
        /// Search for financial data started.
        "response.reasoning.finance_search_queries" => FinanceSearchQueries(FinanceQueriesEvent),
        /// Search for financial data finished.
        "response.reasoning.finance_search_results" => FinanceSearchResults(FinanceResultsEvent),
        /// A skill was loaded.
        "response.skill.loaded" => SkillLoaded(SkillLoadedEvent),
    }
}

/// Reads the sequence number, which all variants have.
macro_rules! sequence_number {
    ($event:expr; $($variant:ident)*) => {
        match $event {
            $(Event::$variant(event) => Some(event.sequence_number),)*
            Event::Unknown(value) => value.get("sequence_number").and_then(tightwire_json::Value::as_u64),
        }
    };
}

impl Event {
    /// Returns the sequence number, from 0. Unknown events may have none.
    pub fn sequence_number(&self) -> Option<u64> {
        sequence_number! {
            self;
            Created InProgress Completed Incomplete Cancelled Failed OutputItemAdded OutputItemDone OutputTextDelta OutputTextDone
            ReasoningStarted ReasoningStopped SearchQueries SearchResults FetchUrlQueries FetchUrlResults
            ImageSearchQueries ImageSearchResults FinanceSearchQueries FinanceSearchResults SkillLoaded
        }
    }

    /// Returns the text that this event adds to the response.
    pub fn delta_text(&self) -> Option<&str> {
        match self {
            Self::OutputTextDelta(event) => Some(&event.delta),
            _ => None,
        }
    }

    /// Returns the event that ends the stream of this response; `None` if it has not ended.
    pub fn of(response: Response) -> Option<Self> {
        let variant = match response.status {
            Status::Completed | Status::RequiresAction => Self::Completed,
            Status::Incomplete => Self::Incomplete,
            Status::Cancelled => Self::Cancelled,
            Status::Failed => {
                let error = response.error.clone();
                let response = Some(Box::new(response));
                return Some(Self::Failed(FailedEvent { error, response, ..FailedEvent::default() }));
            }
            _ => return None,
        };
        Some(variant(ResponseEvent { response: Some(Box::new(response)), ..ResponseEvent::default() }))
    }

    /// Returns the snapshot of the response that the event contains.
    pub fn response(&self) -> Option<&Response> {
        match self {
            Self::Created(event)
            | Self::InProgress(event)
            | Self::Completed(event)
            | Self::Incomplete(event)
            | Self::Cancelled(event) => event.response.as_deref(),
            Self::Failed(event) => event.response.as_deref(),
            _ => None,
        }
    }

    /// Decodes the response of an unknown event that ends the stream.
    pub(crate) fn unknown_end(&self) -> Option<Response> {
        let Self::Unknown(event) = self else { return None };
        let response = event.get("response").filter(|_| self.is_final())?;
        tightwire_json::from_value(response.clone()).ok()
    }

    /// Returns the error of a failed response, also if the event is called `response.completed`.
    pub fn error(&self) -> Option<&ResponseError> {
        match self {
            Self::Failed(event) => event.error.as_ref().or_else(|| event.response.as_ref()?.error.as_ref()),
            event if event.is_last() => {
                event.response().filter(|it| it.status == Status::Failed)?.error.as_ref()
            }
            _ => None,
        }
    }

    /// Returns whether the event is the last of a stream: `Completed`, `Incomplete`, `Cancelled` or `Failed`, and an unknown
    /// event with a response that has ended.
    pub fn is_final(&self) -> bool {
        let Self::Unknown(event) = self else { return self.is_last() };
        let status = event.get("response").and_then(|response| response.get("status")?.as_str());
        matches!(status, Some("completed" | "incomplete" | "cancelled" | "failed" | "requires_action"))
    }

    /// Returns whether the server sends no other event after it.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Incomplete(_) | Self::Cancelled(_) | Self::Failed(_))
    }
}

object! {
    /// Snapshot of the response.
    pub struct ResponseEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// The response so far.
        response: Option<Box<Response>>,
    }

    /// The response failed.
    pub struct FailedEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Cause of the failure.
        error: Option<ResponseError>,
        /// The response so far.
        response: Option<Box<Response>>,
    }

    /// An output item was added or completed.
    pub struct ItemEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Index of the output item, from 0.
        output_index: u32,
        /// Added or completed output item.
        item: OutputItem,
    }

    /// Addition to the text of a content part.
    pub struct TextDeltaEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Identifier of the output item.
        item_id: String,
        /// Index of the output item, from 0.
        output_index: u32,
        /// Index of the content part in the item, from 0.
        content_index: u32,
        /// Text to append to that of the part.
        delta: String,
    }

    /// The text of a content part is complete.
    pub struct TextDoneEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Identifier of the output item.
        item_id: String,
        /// Index of the output item, from 0.
        output_index: u32,
        /// Index of the content part in the item, from 0.
        content_index: u32,
        /// Complete text of the part.
        text: String,
    }

    /// Reasoning started or stopped.
    pub struct ReasoningEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// The model's thought.
        thought: Option<String>,
    }

    /// Web search started.
    pub struct SearchQueriesEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Identifier of the tool call.
        call_id: Option<String>,
        /// Search queries.
        queries: Vec<String>,
        /// The model's thought.
        thought: Option<String>,
    }

    /// Web search finished.
    pub struct SearchResultsEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Identifier of the tool call.
        call_id: Option<String>,
        /// Search results.
        results: Vec<SearchResult>,
        /// The model's thought.
        thought: Option<String>,
        /// Tokens used so far.
        usage: Option<Usage>,
    }

    /// Page fetching started.
    pub struct FetchQueriesEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// URLs of the pages.
        urls: Vec<String>,
        /// The model's thought.
        thought: Option<String>,
    }

    /// Page fetching finished.
    pub struct FetchResultsEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Fetched pages.
        contents: Vec<FetchedPage>,
        /// The model's thought.
        thought: Option<String>,
    }

    /// Image search started.
    pub struct ImageQueriesEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Identifier of the tool call.
        call_id: String,
        /// Search queries.
        queries: Vec<String>,
        /// The model's thought.
        thought: Option<String>,
    }

    /// Image search finished.
    pub struct ImageResultsEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Identifier of the tool call.
        call_id: String,
        /// Images found.
        results: Vec<Image>,
        /// The model's thought.
        thought: Option<String>,
        /// Tokens used so far.
        usage: Option<Usage>,
    }

    /// Search for financial data started.
    pub struct FinanceQueriesEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Identifier of the tool call.
        call_id: Option<String>,
        /// Ticker symbols.
        tickers: Vec<String>,
        /// Categories of the data.
        categories: Vec<String>,
        /// The model's thought.
        thought: Option<String>,
    }

    /// Search for financial data finished.
    pub struct FinanceResultsEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Identifier of the tool call.
        call_id: Option<String>,
        /// Data found, with categories and sources.
        results: Vec<FinanceResult>,
        /// The model's thought.
        thought: Option<String>,
        /// Tokens used so far.
        usage: Option<Usage>,
    }

    /// A skill was loaded.
    pub struct SkillLoadedEvent: response {
        /// Sequence number of the event.
        sequence_number: u64,
        /// Name of the skill.
        name: String,
    }
}
