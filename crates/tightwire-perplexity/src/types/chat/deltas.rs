//! Parts of streams without the text that they repeat.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde::ser::{Serialize, Serializer};

use super::completion::{
    Choice, ChunkKind, Completion, CompletionStatus, FinishReason, Image, Usage, ends_stream,
};
use super::message::Delta;
use super::reasoning::PublicResult;
use crate::types::ObjectKind;
#[cfg(test)]
use crate::types::arbitrary::{Arbitrary, Source};
use crate::types::wire::member::Member;
use crate::types::wire::object;

object! {
    /// A part of a stream, read without the message that it repeats.
    ///
    /// In the stream mode `full` every part has all the text so far, so that reading a stream takes quadratic memory
    /// traffic. This type passes over that text without keeping it.
    ///
    /// # Examples
    /// ```
    /// use tightwire_perplexity::types::chat::DeltaChunk;
    ///
    /// let chunk: DeltaChunk = tightwire_json::from_str(
    ///     r#"{"choices": [{"index": 0, "delta": {"content": "c"}, "message": {"content": "abc"}}]}"#,
    /// )?;
    /// assert_eq!(chunk.text(), Some("c"));
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub struct DeltaChunk: answer {
        /// As [`Completion::id`].
        id: must String,
        /// What is added to the answers.
        choices: must Vec<DeltaChoice>,
        /// As [`Completion::created`].
        created: must i64,
        /// As [`Completion::model`].
        model: must String,
        /// As [`Completion::citations`].
        citations: many String,
        /// As [`Completion::object`].
        object: may ObjectKind,
        /// As [`Completion::search_results`].
        search_results: many PublicResult,
        /// As [`Completion::status`].
        status: may CompletionStatus,
        /// As [`Completion::kind`].
        kind as "type": may ChunkKind,
        /// As [`Completion::usage`].
        usage: may Usage,
        /// As [`Completion::images`].
        images: many Image,
        /// As [`Completion::related_questions`].
        related_questions: many String,
    }
}

impl DeltaChunk {
    /// What is added to the text of the first choice.
    pub fn text(&self) -> Option<&str> {
        self.choices.first()?.delta.as_ref()?.text()
    }

    /// As [`Completion::is_last`].
    pub fn is_last(&self) -> bool {
        self.choices.iter().any(|choice| choice.finish_reason.is_some())
            || ends_stream(self.object.as_ref(), self.kind.as_ref(), self.status.as_ref())
    }
}

/// A part of a stream whose messages are left out.
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
    /// What is added to one of the answers.
    pub struct DeltaChoice: answer {
        /// What is added.
        delta: may Delta,
        /// Which of the answers it is, from 0.
        index: must u32,
        /// All of the message so far, which is not kept.
        message: skip Ignored,
        /// Why the answer ended, once it has.
        finish_reason: may FinishReason,
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

/// Any value, passed over without keeping it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Ignored;

impl fmt::Debug for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ignored")
    }
}

/// Written as `null`, where it is written at all.
impl Serialize for Ignored {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Ignored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl Member for Ignored {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Self::deserialize(deserializer).map(Some)
    }

    fn missing() -> Self {
        Self
    }
}

#[cfg(test)]
impl Arbitrary for Ignored {
    fn arbitrary(_source: &mut Source) -> Self {
        Self
    }
}
