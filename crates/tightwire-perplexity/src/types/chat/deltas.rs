//! Stream chunks decoded without the repeated message.

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, IgnoredAny};

use super::completion::{
    Choice, ChunkKind, Completion, CompletionStatus, FinishReason, Image, Usage, ends_stream,
};
use super::message::Delta;
use super::reasoning::PublicResult;
use crate::types::ObjectKind;
#[cfg(test)]
use crate::types::arbitrary::{Arbitrary, Source};
use crate::types::wire::field::FieldValue;
use crate::types::wire::object;

object! {
    /// A stream chunk decoded without the message that it repeats.
    ///
    /// In the stream mode `full`, every chunk contains the whole text so far, which makes decoding a stream
    /// quadratic in memory traffic. This type skips that text without storing it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::chat::DeltaChunk;
    ///
    /// let chunk: DeltaChunk = tightwire_json::from_str(
    ///     r#"{"choices": [{"index": 0, "delta": {"content": "c"}, "message": {"content": "abc"}}]}"#,
    /// )?;
    /// assert_eq!(chunk.delta_text(), Some("c"));
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub struct DeltaChunk: response {
        /// See [`Completion::id`].
        id: String,
        /// Additions to the choices.
        choices: Vec<DeltaChoice>,
        /// See [`Completion::created`].
        created: i64,
        /// See [`Completion::model`].
        model: String,
        /// See [`Completion::citations`].
        citations: Option<Vec<String>>,
        /// See [`Completion::object`].
        object: Option<ObjectKind>,
        /// See [`Completion::search_results`].
        search_results: Option<Vec<PublicResult>>,
        /// See [`Completion::status`].
        status: Option<CompletionStatus>,
        /// See [`Completion::kind`].
        kind as "type": Option<ChunkKind>,
        /// See [`Completion::usage`].
        usage: Option<Usage>,
        /// See [`Completion::images`].
        images: Option<Vec<Image>>,
        /// See [`Completion::related_questions`].
        related_questions: Option<Vec<String>>,
    }
}

impl DeltaChunk {
    /// Returns the text that this chunk adds to the first choice.
    pub fn delta_text(&self) -> Option<&str> {
        self.choices.first()?.delta.as_ref()?.text()
    }

    /// See [`Completion::is_last`].
    pub fn is_last(&self) -> bool {
        self.choices.iter().any(|choice| choice.finish_reason.is_some())
            || ends_stream(self.object.as_ref(), self.kind.as_ref(), self.status.as_ref())
    }
}

/// The messages of the chunk are `None`.
impl From<DeltaChunk> for Completion {
    fn from(chunk: DeltaChunk) -> Self {
        Self {
            id: chunk.id,
            choices: chunk.choices.into_iter().map(Choice::from).collect(),
            created: chunk.created,
            model: chunk.model,
            citations: chunk.citations,
            object: chunk.object,
            search_results: chunk.search_results,
            status: chunk.status,
            kind: chunk.kind,
            usage: chunk.usage,
            images: chunk.images,
            related_questions: chunk.related_questions,
            videos: None,
            extra: chunk.extra,
        }
    }
}

object! {
    /// Addition to one choice.
    pub struct DeltaChoice: response {
        /// Addition to the message.
        delta: Option<Delta>,
        /// Index of the choice, from 0.
        index: u32,
        /// The whole message so far; skipped.
        message: Ignored,
        /// Reason why generation stopped.
        finish_reason: Option<FinishReason>,
    }
}

impl From<DeltaChoice> for Choice {
    fn from(choice: DeltaChoice) -> Self {
        Self {
            delta: choice.delta,
            index: choice.index,
            message: None,
            finish_reason: choice.finish_reason,
            extra: choice.extra,
        }
    }
}

/// A value of any type that is skipped during decoding. Encodes as `null`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Ignored;

impl<'de> Deserialize<'de> for Ignored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl FieldValue for Ignored {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Self::deserialize(deserializer).map(Some)
    }

    fn missing() -> Self {
        Self
    }

    fn is_written(&self) -> bool {
        false
    }
}

#[cfg(test)]
impl Arbitrary for Ignored {
    fn arbitrary(_source: &mut Source) -> Self {
        Self
    }
}
