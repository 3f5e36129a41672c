//! Stream items of this API.

use std::borrow::Cow;

use super::{Accumulate, EventStream, StreamItem};
use crate::client::TokenUsage;
use crate::types::chat::{self, Completion, Content, Delta, DeltaChunk, Usage};
use crate::types::responses::{self, Event};

fn tokens(usage: Option<&Usage>) -> Option<TokenUsage> {
    usage.map(|usage| TokenUsage { input: usage.prompt_tokens, output: usage.completion_tokens })
}

fn text(delta: Option<Delta>) -> Option<String> {
    match delta?.content? {
        Content::Text(text) => Some(text),
        other => Some(other.texts().collect()),
    }
}

impl StreamItem for Completion {
    fn is_last(&self) -> bool {
        self.is_last()
    }

    fn into_text(self) -> Option<String> {
        text(self.choices.into_iter().find(|choice| choice.index == 0)?.delta)
    }

    fn full_text(&self) -> Option<Cow<'_, str>> {
        self.choices.iter().find(|choice| choice.index == 0)?.message.as_ref()?.text().map(Cow::Borrowed)
    }

    fn usage(&self) -> Option<TokenUsage> {
        tokens(self.usage.as_ref())
    }
}

impl StreamItem for DeltaChunk {
    fn is_last(&self) -> bool {
        self.is_last()
    }

    fn into_text(self) -> Option<String> {
        text(self.choices.into_iter().find(|choice| choice.index == 0)?.delta)
    }

    fn usage(&self) -> Option<TokenUsage> {
        tokens(self.usage.as_ref())
    }
}

impl StreamItem for Event {
    fn is_last(&self) -> bool {
        self.is_final()
    }

    fn sequence_number(&self) -> Option<u64> {
        self.sequence_number()
    }

    fn response_id(&self) -> Option<&str> {
        match self {
            Self::Created(event) | Self::InProgress(event) => event.response.as_deref(),
            _ => None,
        }
        .map(|response| response.id.as_str())
        .filter(|id| !id.is_empty())
    }

    fn into_text(self) -> Option<String> {
        match self {
            Self::OutputTextDelta(event) => Some(event.delta),
            _ => None,
        }
    }

    fn full_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Completed(event) => Some(event.response.as_deref()?.output_text().into()),
            _ => None,
        }
    }

    fn usage(&self) -> Option<TokenUsage> {
        let Self::Completed(event) = self else { return None };
        event.response.as_deref()?.token_usage()
    }
}

impl Accumulate for Completion {
    type Accumulator = chat::Accumulator;
    type Whole = Self;

    fn add_to(&self, accumulator: &mut chat::Accumulator) {
        accumulator.push(self);
    }

    fn finish(accumulator: chat::Accumulator) -> Self {
        accumulator.finish()
    }
}

impl Accumulate for DeltaChunk {
    type Accumulator = chat::Accumulator;
    type Whole = Completion;

    fn add_to(&self, accumulator: &mut chat::Accumulator) {
        self.clone().move_to(accumulator);
    }

    fn move_to(self, accumulator: &mut chat::Accumulator) {
        accumulator.push(&Completion::from(self));
    }

    fn finish(accumulator: chat::Accumulator) -> Completion {
        accumulator.finish()
    }
}

impl Accumulate for Event {
    type Accumulator = responses::Accumulator;
    type Whole = responses::Response;

    fn add_to(&self, accumulator: &mut responses::Accumulator) {
        accumulator.push(self);
    }

    fn finish(accumulator: responses::Accumulator) -> responses::Response {
        accumulator.finish()
    }
}

impl EventStream<Completion> {
    /// Skips the text that each chunk repeats, without storing it; see [`DeltaChunk`].
    ///
    /// If a server sends only the repeated text and no deltas, as some gateways do, the text is lost.
    pub fn deltas_only(self) -> EventStream<DeltaChunk> {
        self.decode_as()
    }
}
