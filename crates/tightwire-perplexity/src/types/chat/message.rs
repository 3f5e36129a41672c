//! Messages and the message deltas of streams.

use super::content::{Content, Part};
use super::reasoning::ReasoningStep;
use super::tool::ToolCall;
use crate::types::wire::{object, open_enum};

open_enum! {
    /// Author of a message.
    pub enum Role {
        /// Instructions to the model.
        System = "system",
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The result of a function call.
        Tool = "tool",
    }
}

object! {
    /// A message of a conversation.
    ///
    /// # Examples
    ///
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
    pub struct Message: nested {
        /// Author of the message.
        role: required Role,
        /// For [`Role::Tool`]: identifier of the call that this message answers.
        tool_call_id: optional String,
        /// Reasoning steps of the model.
        reasoning_steps: list ReasoningStep,
        /// Function calls requested by the model.
        tool_calls: list ToolCall,
        /// Content of the message. `None` is written as `null`, which differs from the empty string.
        content: optional_or_null Content,
    }
}

impl Message {
    /// Creates a message.
    pub fn new(role: impl Into<Role>, content: impl Into<Content>) -> Self {
        Self { role: role.into(), content: Some(content.into()), ..Self::default() }
    }

    /// Creates a system message.
    pub fn system(content: impl Into<Content>) -> Self {
        Self::new(Role::System, content)
    }

    /// Creates a user message.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new(Role::User, content)
    }

    /// Creates an assistant message.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// Creates the result of the function call `id`.
    pub fn tool(id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self::new(Role::Tool, content).tool_call_id(id)
    }

    /// Returns the text if the content is a string. For a list of parts use [`Content::texts`].
    pub fn text(&self) -> Option<&str> {
        self.content.as_ref()?.as_text()
    }

    /// Returns the parts if the content is a list of parts.
    pub fn parts(&self) -> &[Part] {
        self.content.as_ref().map_or(&[], Content::parts)
    }
}

object! {
    /// Addition to a message in a stream chunk. At most the first delta of a message has a role.
    pub struct Delta: response {
        /// Author of the message.
        role: Option<Role>,
        /// For [`Role::Tool`]: identifier of the call that this message answers.
        tool_call_id: Option<String>,
        /// New reasoning steps.
        reasoning_steps: Option<Vec<ReasoningStep>>,
        /// New function calls, or fragments of calls.
        tool_calls: Option<Vec<ToolCall>>,
        /// New text.
        content: Option<Content>,
    }
}

impl Delta {
    /// Returns the text if the content is a string.
    pub fn text(&self) -> Option<&str> {
        self.content.as_ref()?.as_text()
    }
}
