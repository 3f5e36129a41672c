//! Stream items of this API.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Accumulate, EventStream, StreamItem};
use crate::client::{TokenUsage, is_unexpected};
use crate::types::chat::{self, Completion, Content, Delta, DeltaChunk, Usage};
use crate::types::codec;
use crate::types::responses::{self, Event, Status};

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

    fn whole_texts(&self, visit: &mut dyn FnMut([u64; 2], &str)) {
        let first = self.choices.iter().find(|choice| choice.index == 0);
        if let Some(text) = first.and_then(|choice| choice.message.as_ref()?.text()) {
            visit([0, 0], text);
        }
    }

    fn is_unexpected(&self) -> bool {
        self.choices.is_empty()
    }

    fn from_document(document: &[u8]) -> Option<Self> {
        let completion: Self = codec().from_slice(document).ok()?;
        (!completion.choices.is_empty() && !is_unexpected(&completion, document)).then_some(completion)
    }

    fn usage(&self) -> Option<TokenUsage> {
        self.usage.as_ref().map(Usage::tokens)
    }
}

impl StreamItem for DeltaChunk {
    fn is_last(&self) -> bool {
        self.is_last()
    }

    fn is_unexpected(&self) -> bool {
        self.choices.is_empty()
    }

    fn into_text(self) -> Option<String> {
        text(self.choices.into_iter().find(|choice| choice.index == 0)?.delta)
    }

    fn usage(&self) -> Option<TokenUsage> {
        self.usage.as_ref().map(Usage::tokens)
    }
}

impl StreamItem for Event {
    /// Gateways add `[DONE]`, also after a response that was cut off.
    const ENDS_WITH_DONE: bool = false;

    fn is_last(&self) -> bool {
        self.is_final()
    }

    fn ends_stream(&self) -> bool {
        Self::is_last(self)
    }

    fn is_unexpected(&self) -> bool {
        match self {
            Self::Unknown(_) => true,
            Self::Failed(event) => event.error.is_none() && event.response.is_none(),
            _ => false,
        }
    }

    fn failure(&self) -> Option<String> {
        let unknown = self.unknown_end();
        let response = self.response().or(unknown.as_ref()).filter(|it| it.status == Status::Failed);
        let error = self.error().or_else(|| response?.error.as_ref());
        let is_failed = response.is_some() || matches!(self, Self::Failed(_));
        is_failed.then(|| format!("{{\"error\":{}}}", tightwire_json::to_string(&error).unwrap_or_default()))
    }

    fn from_document(document: &[u8]) -> Option<Self> {
        let response: responses::Response = codec().from_slice(document).ok()?;
        if is_unexpected(&response, document) { None } else { Self::of(response) }
    }

    fn sequence_number(&self) -> Option<u64> {
        self.sequence_number()
    }

    fn response_id(&self) -> Option<&str> {
        self.response().map(|response| response.id.as_str()).filter(|id| !id.is_empty())
    }

    fn into_text(self) -> Option<String> {
        match self {
            Self::OutputTextDelta(event) => Some(event.delta),
            _ => None,
        }
    }

    fn text_part(&self) -> [u64; 2] {
        match self {
            Self::OutputTextDelta(event) => part(&event.item_id, event.output_index, event.content_index),
            _ => [0, 0],
        }
    }

    fn whole_texts(&self, visit: &mut dyn FnMut([u64; 2], &str)) {
        let mut visit_item = |output_index, item: &responses::OutputItem| {
            let responses::OutputItem::Message(message) = item else { return };
            for (index, text) in (0..).zip(message.texts()) {
                visit(part(&message.id, output_index, index), text);
            }
        };
        match self {
            Self::OutputTextDone(event) => {
                visit(part(&event.item_id, event.output_index, event.content_index), &event.text);
            }
            Self::OutputItemAdded(event) | Self::OutputItemDone(event) => {
                visit_item(event.output_index, &event.item);
            }
            event if event.is_final() => {
                let unknown = event.unknown_end();
                let output = event.response().or(unknown.as_ref()).map(|response| &*response.output);
                (0..).zip(output.unwrap_or_default()).for_each(|(index, item)| visit_item(index, item));
            }
            _ => {}
        }
    }

    fn usage(&self) -> Option<TokenUsage> {
        if Self::is_last(self) { self.response()?.token_usage() } else { None }
    }
}

/// Names a text by its message, 0 if that has no identifier, and by its position.
fn part(item_id: &str, output_index: u32, content_index: u32) -> [u64; 2] {
    let mut id = 0;
    if !item_id.is_empty() {
        let mut hasher = DefaultHasher::new();
        (item_id, content_index).hash(&mut hasher);
        id = hasher.finish();
    }
    [id, u64::from(output_index) << 32 | u64::from(content_index)]
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
