//! Input of the Agent API.

use super::common::{Role, Status};
use super::mcp::{ApprovalRequest, ApprovalResponse, McpCall, McpTools};
use super::output::{FunctionCall, FunctionCallOutput, OutputItem};
use super::tool::is_reserved;
use crate::types::wire::{object, open_enum, tagged, untagged};

untagged! {
    /// Input of a request: a string, or the items of a conversation.
    pub enum Input {
        /// A single user message.
        Text = text String,
        /// Conversation items.
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
    /// An item of a conversation. An item without a type is a message.
    pub enum InputItem by "type" from {
        /// A message.
        "message" => Message(InputMessage),
        /// A function call by the model.
        "function_call" => FunctionCall(FunctionCall),
        /// The result of a function call.
        "function_call_output" => FunctionCallOutput(FunctionCallOutput),
        /// Reasoning of the model.
        "reasoning" => Reasoning(InputReasoning),
        /// The response to an approval request.
        "mcp_approval_response" => McpApprovalResponse(ApprovalResponse),
        /// An approval request by the model.
        "mcp_approval_request" => McpApprovalRequest(ApprovalRequest),
        /// An MCP tool call by the model.
        "mcp_call" => McpCall(McpCall),
        /// The tools of an MCP server.
        "mcp_list_tools" => McpListTools(McpTools),
    }
    or Message
}

impl InputItem {
    /// Creates a user message.
    pub fn user(content: impl Into<InputContent>) -> Self {
        InputMessage::new(Role::User, content).into()
    }

    /// Creates an assistant message.
    pub fn assistant(content: impl Into<InputContent>) -> Self {
        InputMessage::new(Role::Assistant, content).into()
    }

    /// Creates a system message.
    pub fn system(content: impl Into<InputContent>) -> Self {
        InputMessage::new(Role::System, content).into()
    }

    /// Converts an output item, so that the conversation continues with it: a message becomes its text, calls of functions
    /// and MCP tools stay as they are. Other items, such as search results, cannot be sent back.
    pub fn from_output(item: &OutputItem) -> Option<Self> {
        Some(match item {
            OutputItem::Message(message) => Self::assistant(message.texts().collect::<String>()),
            OutputItem::FunctionCall(call) if !is_reserved(&call.name) => Self::FunctionCall(call.clone()),
            OutputItem::McpListTools(tools) => Self::McpListTools(tools.clone()),
            OutputItem::McpCall(call) => Self::McpCall(call.clone()),
            OutputItem::McpApprovalRequest(request) => Self::McpApprovalRequest(request.clone()),
            _ => return None,
        })
    }

    /// Creates the result of the function call `call_id`; see also [`FunctionCall::output`].
    pub fn function_output(call_id: impl Into<String>, output: impl Into<InputContent>) -> Self {
        FunctionCallOutput::new(call_id, output).into()
    }
}

object! {
    /// A message.
    pub struct InputMessage: nested, new {
        /// Author of the message.
        role: required Role,
        /// Content of the message.
        content: required InputContent,
    }
}

untagged! {
    /// Content of a message, or result of a function call.
    pub enum InputContent {
        /// Plain text.
        Text = text String,
        /// Text, images and files.
        Parts = list InputPart,
    }
}

tagged! {
    /// One part of a message's content.
    pub enum InputPart by "type" from {
        /// Text.
        "input_text" => Text(InputText),
        /// Image.
        "input_image" => Image(InputImage),
        /// File.
        "input_file" => File(InputFile),
    }
}

impl InputPart {
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        InputText { text: text.into(), ..InputText::default() }.into()
    }

    /// Creates an image part from an `https` or `data` URL.
    pub fn image(url: impl Into<String>) -> Self {
        InputImage { image_url: Some(url.into()), ..InputImage::default() }.into()
    }

    /// Creates a file part from an `https` URL.
    pub fn file(url: impl Into<String>) -> Self {
        InputFile { file_url: Some(url.into()), ..InputFile::default() }.into()
    }
}

object! {
    /// A text part.
    pub struct InputText: nested {
        /// Text of this part.
        text: required String,
    }

    /// An image part.
    pub struct InputImage: nested {
        /// URL of the image.
        image_url: optional String,
        /// Resolution at which the model sees the image.
        detail: optional ImageDetail,
    }
}

open_enum! {
    /// Resolution at which the model sees an image.
    pub enum ImageDetail {
        Low = "low",
        High = "high",
        /// The model decides.
        Auto = "auto",
    }
}

object! {
    /// A file part: either `file_data` or `file_url`.
    pub struct InputFile: nested {
        /// Content of the file, in base64.
        file_data: optional String,
        /// URL of the file.
        file_url: optional String,
        /// File name.
        filename: optional String,
    }

    /// Reasoning of the model from an earlier response.
    pub struct InputReasoning: nested {
        /// Identifier of the item.
        id: optional String,
        /// Summary of the reasoning.
        summary: required Vec<ReasoningText>,
        /// Full text of the reasoning.
        content: list ReasoningText,
        /// Full text of the reasoning, encrypted by the service.
        encrypted_content: optional String,
        /// Status of the item.
        status: optional Status,
    }

    /// A text of a reasoning item.
    pub struct ReasoningText: nested {
        /// Type of the text.
        kind as "type": required ReasoningKind,
        /// Text of this part.
        text: required String,
    }
}

open_enum! {
    /// Type of a reasoning text.
    pub enum ReasoningKind {
        /// Part of the summary.
        Summary = "summary_text",
        /// Part of the full text.
        Full = "reasoning_text",
    }
}
