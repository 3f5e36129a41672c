//! Messages, and the parts of messages in streams.

use super::content::{Content, Part};
use super::reasoning::ReasoningStep;
use super::tool::ToolCall;
use crate::types::wire::{object, open_enum};

open_enum! {
    /// Whose a message is.
    pub enum Role {
        /// Instructions to the model.
        System = "system",
        /// The user's.
        User = "user",
        /// The model's.
        Assistant = "assistant",
        /// The result of a function.
        Tool = "tool",
    }
}

object! {
    /// A message of a conversation.
    ///
    /// # Examples
    /// ```
    /// use tightwire_perplexity::types::chat::{Message, Part};
    ///
    /// let message = Message::user([Part::text("What is this?"), Part::image("https://example.org/image.png")]);
    /// assert_eq!(
    ///     tightwire_json::to_string(&message)?,
    ///     r#"{"role":"user","content":[{"type":"text","text":"What is this?"},"#.to_owned()
    ///         + r#"{"type":"image_url","image_url":"https://example.org/image.png"}]}"#,
    /// );
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub struct Message: part {
        /// Whose message it is.
        role: must Role,
        /// Of the result of a function: the call that it answers.
        tool_call_id: may String,
        /// How the model came to its answer.
        reasoning_steps: many ReasoningStep,
        /// Functions that the model wants to be called.
        tool_calls: many ToolCall,
        /// What the message says; `null` on the wire if `None`, which is not the empty text.
        content: bare Content,
    }
}

impl Message {
    /// A message of any role.
    pub fn new(role: impl Into<Role>, content: impl Into<Content>) -> Self {
        Self { role: role.into(), content: Some(content.into()), ..Self::default() }
    }

    /// Instructions to the model.
    pub fn system(content: impl Into<Content>) -> Self {
        Self::new(Role::System, content)
    }

    /// A message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new(Role::User, content)
    }

    /// An answer of the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// The result of the function call `id`.
    pub fn tool(id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self::new(Role::Tool, content).tool_call_id(id)
    }

    /// The text, if the content is one. The texts of parts are in [`Content::texts`].
    pub fn text(&self) -> Option<&str> {
        self.content.as_ref()?.as_text()
    }

    /// The parts, if the content has some.
    pub fn parts(&self) -> &[Part] {
        self.content.as_ref().map_or(&[], Content::parts)
    }
}

object! {
    /// What a part of a stream adds to a message. Only the first one has a role, if any.
    pub struct Delta: answer {
        /// Whose message it is.
        role: may Role,
        /// Of the result of a function: the call that it answers.
        tool_call_id: may String,
        /// Further steps.
        reasoning_steps: many ReasoningStep,
        /// Further calls, or further parts of calls.
        tool_calls: many ToolCall,
        /// Further text.
        content: may Content,
    }
}

impl Delta {
    /// The text, if the content is one.
    pub fn text(&self) -> Option<&str> {
        self.content.as_ref()?.as_text()
    }
}
