//! What is asked of the agent API.

use super::mcp::{ApprovalRequest, ApprovalResponse, McpCall, McpTools};
use super::output::{FunctionCall, FunctionCallOutput};
use super::response::Status;
use crate::types::wire::{by_shape, object, open_enum, tagged};

by_shape! {
    /// What is asked: a text, or the items of a conversation.
    pub enum Input {
        /// A text of the user.
        Text = text String,
        /// The items of a conversation.
        Items = list InputItem,
    }
}

impl Input {
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Items(items) => items.is_empty(),
            Self::Unknown(value) => value.is_null(),
        }
    }
}

tagged! {
    /// An item of a conversation. One without a type is a message.
    pub enum InputItem by "type" from {
        /// A message.
        "message" => Message(InputMessage),
        /// A call of a function by the model.
        "function_call" => FunctionCall(FunctionCall),
        /// The result of such a call.
        "function_call_output" => FunctionCallOutput(FunctionCallOutput),
        /// What the model thought.
        "reasoning" => Reasoning(InputReasoning),
        /// The answer to a request for approval.
        "mcp_approval_response" => McpApprovalResponse(ApprovalResponse),
        /// A request for approval by the model.
        "mcp_approval_request" => McpApprovalRequest(ApprovalRequest),
        /// A call of a tool of an MCP server by the model.
        "mcp_call" => McpCall(McpCall),
        /// The tools of an MCP server.
        "mcp_list_tools" => McpListTools(McpTools),
    }
    or Message
}

impl InputItem {
    /// A message of the user.
    pub fn user(content: impl Into<InputContent>) -> Self {
        InputMessage::new(Role::User, content).into()
    }

    /// A message of the model.
    pub fn assistant(content: impl Into<InputContent>) -> Self {
        InputMessage::new(Role::Assistant, content).into()
    }

    /// Instructions to the model.
    pub fn system(content: impl Into<InputContent>) -> Self {
        InputMessage::new(Role::System, content).into()
    }

    /// The result of the function call `call_id`.
    pub fn function_output(call_id: impl Into<String>, output: impl Into<CallOutput>) -> Self {
        FunctionCallOutput::new(call_id, output).into()
    }
}

open_enum! {
    /// Whose a message is.
    pub enum Role {
        /// The user's.
        User = "user",
        /// The model's.
        Assistant = "assistant",
        /// Instructions to the model.
        System = "system",
        /// Instructions to the model by the program.
        Developer = "developer",
    }
}

object! {
    /// A message.
    pub struct InputMessage: part {
        /// Whose it is.
        role: must Role,
        /// What it says.
        content: must InputContent,
    }
}

impl InputMessage {
    /// A message.
    pub fn new(role: impl Into<Role>, content: impl Into<InputContent>) -> Self {
        Self { role: role.into(), content: content.into(), ..Self::default() }
    }
}

by_shape! {
    /// What a message says.
    pub enum InputContent {
        /// A text.
        Text = text String,
        /// Texts, images and files.
        Parts = list InputPart,
    }
}

by_shape! {
    /// The result of a function.
    pub enum CallOutput {
        /// A text.
        Text = text String,
        /// Texts and images.
        Parts = list InputPart,
    }
}

tagged! {
    /// One part of a message.
    pub enum InputPart by "type" from {
        /// A text.
        "input_text" => Text(InputText),
        /// An image.
        "input_image" => Image(InputImage),
        /// A file.
        "input_file" => File(InputFile),
    }
}

impl InputPart {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        InputText { text: text.into(), ..InputText::default() }.into()
    }

    /// An image at an `https` or `data` URL.
    pub fn image(url: impl Into<String>) -> Self {
        InputImage { image_url: Some(url.into()), ..InputImage::default() }.into()
    }

    /// A file at an `https` URL.
    pub fn file(url: impl Into<String>) -> Self {
        InputFile { file_url: Some(url.into()), ..InputFile::default() }.into()
    }
}

object! {
    /// A text.
    pub struct InputText: part {
        /// The text.
        text: must String,
    }
}

object! {
    /// An image.
    pub struct InputImage: part {
        /// Where it is.
        image_url: may String,
        /// How closely to look at it.
        detail: may ImageDetail,
    }
}

open_enum! {
    /// How closely to look at an image.
    pub enum ImageDetail {
        /// From afar.
        Low = "low",
        /// Closely.
        High = "high",
        /// As the model decides.
        Auto = "auto",
    }
}

object! {
    /// A file.
    pub struct InputFile: part {
        /// Its content in base64.
        file_data: may String,
        /// Where it is.
        file_url: may String,
        /// What it is called.
        filename: may String,
    }
}

object! {
    /// What the model thought, as it said before.
    pub struct InputReasoning: part {
        /// Its identifier.
        id: may String,
        /// The short form.
        summary: must Vec<ReasoningText>,
        /// The long form.
        content: many ReasoningText,
        /// The long form, for the model alone.
        encrypted_content: may String,
        /// How far it is.
        status: may Status,
    }
}

object! {
    /// A text of reasoning.
    pub struct ReasoningText: part {
        /// Which form it has.
        kind as "type": must ReasoningKind,
        /// The text.
        text: must String,
    }
}

open_enum! {
    /// Which form a text of reasoning has.
    pub enum ReasoningKind {
        /// The short one.
        Summary = "summary_text",
        /// The long one.
        Full = "reasoning_text",
    }
}
