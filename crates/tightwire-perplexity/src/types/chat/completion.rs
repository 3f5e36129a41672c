//! Completions, whole or as parts of a stream.

use tightwire_json::Value;

use super::message::{Delta, Message};
use super::reasoning::PublicResult;
use crate::types::wire::{object, open_enum};
use crate::types::{ObjectKind, SearchContextSize};

object! {
    /// A completion, or a part of a streamed one.
    pub struct Completion: answer {
        /// Its identifier.
        id: must String,
        /// The answers.
        choices: must Vec<Choice>,
        /// When it was made, in Unix seconds.
        created: must i64,
        /// The model that answered.
        model: must String,
        /// The addresses that the text refers to by number.
        citations: many String,
        /// What it is.
        object: may ObjectKind,
        /// The pages that the model saw.
        search_results: many PublicResult,
        /// Whether more follows.
        status: may CompletionStatus,
        /// What a part of a stream is.
        kind as "type": may ChunkKind,
        /// What it costs.
        usage: may Usage,
        /// Images that were asked for.
        images: many Image,
        /// Questions that may follow.
        related_questions: many String,
        /// Videos that were asked for.
        videos: many Value,
    }
}

impl Completion {
    /// The text of the first choice: its message, or of a part of a stream what it adds.
    pub fn text(&self) -> Option<&str> {
        let choice = self.choices.first()?;
        let delta = choice.delta.as_ref().and_then(Delta::text);
        let message = choice.message.as_ref().and_then(Message::text);
        match (message, delta) {
            (Some(""), Some(delta)) => Some(delta),
            (message, delta) => message.or(delta),
        }
    }

    /// What this part of a stream adds to the text of the first choice.
    pub fn delta(&self) -> Option<&str> {
        self.choices.first()?.delta.as_ref()?.text()
    }

    /// Whether this part of a stream says that it is the last one, or that an answer ends with it.
    pub fn is_last(&self) -> bool {
        self.choices.iter().any(|choice| choice.finish_reason.is_some())
            || ends_stream(self.object.as_ref(), self.kind.as_ref(), self.status.as_ref())
    }

    /// The message of the first choice.
    pub fn message(&self) -> Option<&Message> {
        self.choices.first()?.message.as_ref()
    }
}

/// Whether one of the members of a part says that it is the last one.
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
    /// Whether more follows.
    pub enum CompletionStatus {
        /// It does.
        Pending = "PENDING",
        /// It does not.
        Completed = "COMPLETED",
    }
}

open_enum! {
    /// What a part of a stream is.
    pub enum ChunkKind {
        /// A part of the message.
        Message = "message",
        /// Something about it.
        Info = "info",
        /// The last part.
        EndOfStream = "end_of_stream",
    }
}

object! {
    /// One of the answers.
    pub struct Choice: answer {
        /// What a part of a stream adds to the message.
        delta: may Delta,
        /// Which of the answers it is, from 0.
        index: must u32,
        /// The message; in some streams all of it so far.
        message: may Message,
        /// Why it ended, once it has.
        finish_reason: may FinishReason,
    }
}

open_enum! {
    /// Why an answer ended.
    pub enum FinishReason {
        /// It was complete.
        Stop = "stop",
        /// It had as many tokens as allowed.
        Length = "length",
    }
}

object! {
    /// An image of an answer.
    pub struct Image: answer {
        /// Where it is.
        image_url: must String,
        /// Where the page is that shows it.
        origin_url: must String,
        /// The title of that page.
        title: may String,
        /// Width in pixels.
        width: must u32,
        /// Height in pixels.
        height: must u32,
    }
}

object! {
    /// What a completion took.
    pub struct Usage: answer {
        /// Tokens of the answer.
        completion_tokens: must u64,
        /// What it costs. Before the end of a stream the figures are preliminary.
        cost: may Cost,
        /// Tokens of the question.
        prompt_tokens: must u64,
        /// Tokens of both.
        total_tokens: must u64,
        /// Tokens of citations.
        citation_tokens: copy u64,
        /// How many searches were made.
        num_search_queries: copy u64,
        /// Tokens of the reasoning.
        reasoning_tokens: copy u64,
        /// How much text of the results the model saw.
        search_context_size: may SearchContextSize,
        /// Details that gateways add.
        prompt_tokens_details: may Value,
        /// Details that gateways add.
        completion_tokens_details: may Value,
    }
}

object! {
    /// Costs in US dollars.
    pub struct Cost: answer {
        /// Of the tokens of the question.
        input_tokens_cost: must f64,
        /// Of the tokens of the answer.
        output_tokens_cost: must f64,
        /// Of everything.
        total_cost: must f64,
        /// Of the tokens of citations.
        citation_tokens_cost: copy f64,
        /// Of the tokens of the reasoning.
        reasoning_tokens_cost: copy f64,
        /// Of the request itself.
        request_cost: copy f64,
        /// Of the searches.
        search_queries_cost: copy f64,
    }
}
