//! What a model of the agent API did and said.

use tightwire_json::{Map, Value};

use super::input::{CallOutput, Role};
use super::mcp::{ApprovalRequest, McpCall, McpTools};
use super::response::Status;
use super::sandbox::{SandboxOperation, SandboxResults};
use crate::types::NumberOrText;
use crate::types::chat::{Image, ToolKind};
use crate::types::wire::{object, tagged};

tagged! {
    /// What a model did or said.
    pub enum OutputItem by "type" {
        /// It said something.
        "message" => Message(OutputMessage),
        /// It searched the web.
        "search_results" => SearchResults(SearchResults),
        /// It searched for images.
        "image_search_results" => ImageSearchResults(ImageResults),
        /// It fetched pages.
        "fetch_url_results" => FetchUrlResults(FetchResults),
        /// It wants a function to be called.
        "function_call" => FunctionCall(FunctionCall),
        /// It asked an MCP server for its tools.
        "mcp_list_tools" => McpListTools(McpTools),
        /// It called a tool of an MCP server.
        "mcp_call" => McpCall(McpCall),
        /// It wants to call a tool of an MCP server.
        "mcp_approval_request" => McpApprovalRequest(ApprovalRequest),
        /// It searched for tools.
        "tool_search_output" => ToolSearchOutput(ToolSearch),
        /// It read up a skill.
        "skill_loaded" => SkillLoaded(SkillLoaded),
        /// It asked another model; no longer sent.
        "advisor_result" => AdvisorResult(AdvisorResult),
        /// It ran a program.
        "sandbox_results" => SandboxResults(SandboxResults),
        /// It wrote a file.
        "sandbox_write_file" => SandboxWriteFile(SandboxOperation),
        /// It read a file.
        "sandbox_read_file" => SandboxReadFile(SandboxOperation),
        /// It changed a file.
        "sandbox_edit_file" => SandboxEditFile(SandboxOperation),
        /// It searched files for a text.
        "sandbox_grep" => SandboxGrep(SandboxOperation),
        /// It searched for files.
        "sandbox_glob" => SandboxGlob(SandboxOperation),
        /// It changed several files.
        "sandbox_apply_patch" => SandboxApplyPatch(SandboxOperation),
        /// It shared a file with the user.
        "share_file" => ShareFile(SandboxOperation),
        /// What the server itself calls unknown.
        "unknown" => UnknownItem(UnknownItem),
    }
}

object! {
    /// Something that a model said.
    pub struct OutputMessage: answer {
        /// The identifier of this item.
        id: must String,
        /// Whose message it is.
        role: must Role,
        /// How far it is.
        status: must Status,
        /// What it says.
        content: must Vec<OutputContent>,
    }
}

impl OutputMessage {
    /// The texts of all parts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|part| match part {
            OutputContent::Text(text) => Some(text.text.as_str()),
            OutputContent::Unknown(_) => None,
        })
    }
}

tagged! {
    /// One part of what a model said.
    pub enum OutputContent by "type" {
        /// A text.
        "output_text" => Text(OutputText),
    }
}

object! {
    /// A text with its sources.
    pub struct OutputText: answer {
        /// The text.
        text: must String,
        /// Where parts of it come from.
        annotations: many Annotation,
    }
}

object! {
    /// Where a part of a text comes from.
    pub struct Annotation: answer {
        /// What this is, such as `citation`.
        kind as "type": may String,
        /// Where the part begins, in characters.
        start_index: copy u64,
        /// Where the part ends, in characters.
        end_index: copy u64,
        /// The title of the source.
        title: may String,
        /// The address of the source.
        url: may String,
    }
}

object! {
    /// What a search in the web found.
    pub struct SearchResults: answer {
        /// What was searched for.
        queries: many String,
        /// What was found.
        results: must Vec<SearchResult>,
    }
}

object! {
    /// A page that was found.
    pub struct SearchResult: answer {
        /// The number by which texts refer to it.
        id: must i64,
        /// Its title.
        title: must String,
        /// Its address.
        url: must String,
        /// What it says.
        snippet: must String,
        /// When it was published.
        date: may String,
        /// When it was changed.
        last_updated: may String,
        /// Where it comes from, such as `web`.
        source: may String,
    }
}

object! {
    /// What a search for images found.
    pub struct ImageResults: answer {
        /// What was searched for.
        queries: many String,
        /// What was found.
        results: must Vec<Image>,
        /// What went wrong.
        error: may String,
    }
}

object! {
    /// Pages that were fetched.
    pub struct FetchResults: answer {
        /// The pages.
        contents: must Vec<FetchedPage>,
    }
}

object! {
    /// A page that was fetched.
    pub struct FetchedPage: answer {
        /// What it says.
        snippet: must String,
        /// Its title.
        title: must String,
        /// Its address.
        url: must String,
    }
}

object! {
    /// A function that a model wants to be called.
    pub struct FunctionCall: part {
        /// The identifier of this item.
        id: may String,
        /// The identifier of the call, which its result refers to.
        call_id: must String,
        /// The function.
        name: must String,
        /// The arguments, as the text of a JSON object.
        arguments: must String,
        /// How far it is.
        status: may Status,
        /// What the model thought, for itself alone.
        thought_signature: may String,
    }
}

impl FunctionCall {
    /// The call `call_id` of the function `name`.
    pub fn new(call_id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        let (call_id, name, arguments) = (call_id.into(), name.into(), arguments.into());
        Self { call_id, name, arguments, ..Self::default() }
    }
}

object! {
    /// The result of a function.
    pub struct FunctionCallOutput: part {
        /// The call.
        call_id: must String,
        /// The result.
        output: must CallOutput,
        /// The function.
        name: may String,
        /// What the model thought, as it came with the call.
        thought_signature: may String,
        /// The identifier of this item.
        id: may String,
        /// How far it is.
        status: may Status,
    }
}

impl FunctionCallOutput {
    /// The result of the call `call_id`.
    pub fn new(call_id: impl Into<String>, output: impl Into<CallOutput>) -> Self {
        Self { call_id: call_id.into(), output: output.into(), ..Self::default() }
    }
}

object! {
    /// Tools that a model searched for.
    pub struct ToolSearch: answer {
        /// The identifier of this item.
        id: must String,
        /// The identifier of the call.
        call_id: may String,
        /// What was searched for, as the model wrote it.
        arguments: may String,
        /// Where the search was made, such as `server`.
        execution: must String,
        /// How far it is.
        status: must Status,
        /// The tools that were found.
        tools: must Vec<Namespace>,
    }
}

object! {
    /// Several functions under one name.
    pub struct Namespace: answer {
        /// What this is, `namespace`.
        kind as "type": must String,
        /// The name.
        name: must String,
        /// What the functions are good for.
        description: must String,
        /// The functions.
        tools: must Vec<NamespaceFunction>,
    }
}

object! {
    /// A function of a [`Namespace`].
    pub struct NamespaceFunction: answer {
        /// What this is, `function`.
        kind as "type": must ToolKind,
        /// Its name.
        name: must String,
        /// What it does.
        description: may String,
        /// What it takes: a JSON schema.
        parameters: may Map<String, Value>,
    }
}

object! {
    /// A skill that a model read up.
    pub struct SkillLoaded: answer {
        /// The skill.
        name: must String,
    }
}

object! {
    /// The advice of another model.
    pub struct AdvisorResult: answer {
        /// The identifier of the call.
        call_id: must String,
        /// How far it is.
        status: must Status,
        /// The advice.
        advice: may String,
        /// What was asked, as the model wrote it.
        arguments: may String,
        /// What was asked.
        question: may String,
        /// The code of the error.
        error_code: may NumberOrText,
        /// What went wrong.
        error_message: may String,
    }
}

object! {
    /// An item that the server itself calls unknown.
    pub struct UnknownItem: answer {
        /// What it is called elsewhere.
        item_name: must String,
        /// All of it.
        payload: must Map<String, Value>,
    }
}
