//! Output items of the Agent API.

use serde::de::DeserializeOwned;
use tightwire_json::{Map, Value};

use super::common::{Role, Status};
use super::input::{InputContent, InputItem};
use super::mcp::{ApprovalRequest, McpCall, McpTools};
use super::sandbox::{SandboxOperation, SandboxResults};
use crate::types::NumberOrText;
use crate::types::chat::{Image, ToolKind};
use crate::types::wire::{object, tagged};

tagged! {
    /// An output item of a response.
    pub enum OutputItem by "type" {
        /// A message.
        "message" => Message(OutputMessage),
        /// Results of a web search.
        "search_results" => SearchResults(SearchResults),
        /// Results of a search for people.
        "people_search_results" => PeopleSearchResults(SearchResults),
        /// Results of a search for financial data.
        "finance_results" => FinanceResults(FinanceResults),
        /// Results of an image search.
        "image_search_results" => ImageSearchResults(ImageResults),
        /// Fetched pages.
        "fetch_url_results" => FetchUrlResults(FetchResults),
        /// A function call for the caller to run.
        "function_call" => FunctionCall(FunctionCall),
        /// Tools of an MCP server.
        "mcp_list_tools" => McpListTools(McpTools),
        /// A call of an MCP tool.
        "mcp_call" => McpCall(McpCall),
        /// A request to approve an MCP tool call.
        "mcp_approval_request" => McpApprovalRequest(ApprovalRequest),
        /// Results of a tool search.
        "tool_search_output" => ToolSearchOutput(ToolSearch),
        /// A skill was loaded.
        "skill_loaded" => SkillLoaded(SkillLoaded),
        /// Advice of another model; no longer sent.
        "advisor_result" => AdvisorResult(AdvisorResult),
        /// Results of running code.
        "sandbox_results" => SandboxResults(SandboxResults),
        /// A file was written.
        "sandbox_write_file" => SandboxWriteFile(SandboxOperation),
        /// A file was read.
        "sandbox_read_file" => SandboxReadFile(SandboxOperation),
        /// A file was edited.
        "sandbox_edit_file" => SandboxEditFile(SandboxOperation),
        /// File contents were searched.
        "sandbox_grep" => SandboxGrep(SandboxOperation),
        /// File names were searched.
        "sandbox_glob" => SandboxGlob(SandboxOperation),
        /// A patch was applied to files.
        "sandbox_apply_patch" => SandboxApplyPatch(SandboxOperation),
        /// A file was shared with the user.
        "share_file" => ShareFile(SandboxOperation),
        /// An item that the server marks as unknown.
        "unknown" => UnknownItem(UnknownItem),
    }
}

object! {
    /// A message of the model.
    pub struct OutputMessage: response {
        /// Identifier of this item.
        id: String,
        /// Author of the message.
        role: Role,
        /// Status of the item.
        status: Status,
        /// Content parts.
        content: Vec<OutputContent>,
    }
}

impl OutputItem {
    /// Returns the texts of a message; those of other items are empty.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let message = match self {
            Self::Message(message) => Some(message),
            _ => None,
        };
        message.into_iter().flat_map(OutputMessage::texts)
    }
}

impl OutputMessage {
    /// Returns the texts of all parts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|part| match part {
            OutputContent::Text(text) => Some(text.text.as_str()),
            OutputContent::Unknown(_) => None,
        })
    }
}

tagged! {
    /// One part of a message's content.
    pub enum OutputContent by "type" {
        /// Text with citations.
        "output_text" => Text(OutputText),
    }
}

object! {
    /// Text with citations.
    pub struct OutputText: response {
        /// Text, in which citations are numbers in brackets.
        text: String,
        /// Citations.
        annotations: Option<Vec<Annotation>>,
    }

    /// A citation.
    pub struct Annotation: response {
        /// Type, such as `citation`.
        kind as "type": Option<String>,
        /// Start of the cited passage, in characters.
        start_index: Option<u64>,
        /// End of the cited passage, in characters.
        end_index: Option<u64>,
        /// Title of the source.
        title: Option<String>,
        /// URL of the source.
        url: Option<String>,
    }

    /// Results of a web search.
    pub struct SearchResults: response {
        /// Search queries.
        queries: Option<Vec<String>>,
        /// Search results.
        results: Vec<SearchResult>,
    }

    /// A search result.
    pub struct SearchResult: response {
        /// Number that citations in the text refer to.
        id: i64,
        /// Title of the page.
        title: String,
        /// URL of the page.
        url: String,
        /// Extract of the page's text.
        snippet: String,
        /// Publication date.
        date: Option<String>,
        /// Date of the last update.
        last_updated: Option<String>,
        /// Origin of the result, such as `web`.
        source: Option<String>,
    }

    /// Results of a search for financial data.
    pub struct FinanceResults: response {
        /// Ticker symbols.
        tickers: Option<Vec<String>>,
        /// Categories of the data.
        categories: Option<Vec<String>>,
        /// Data found, with categories and sources.
        results: Vec<FinanceResult>,
    }

    /// Financial data.
    pub struct FinanceResult: response {
        /// Category of the data.
        category: Option<String>,
        /// The data as text.
        content: String,
        /// Ticker symbols.
        tickers: Option<Vec<String>>,
        /// Sources of the data.
        sources: Option<Vec<Value>>,
    }

    /// Results of an image search.
    pub struct ImageResults: response {
        /// Search queries.
        queries: Option<Vec<String>>,
        /// Images found.
        results: Vec<Image>,
        /// Error message if the search failed.
        error: Option<String>,
    }

    /// Fetched pages.
    pub struct FetchResults: response {
        /// Fetched pages, with their text.
        contents: Vec<FetchedPage>,
    }

    /// A fetched page.
    pub struct FetchedPage: response {
        /// Extract of the page's text.
        snippet: String,
        /// Title of the page.
        title: String,
        /// URL of the page.
        url: String,
    }

    /// A function call by the model.
    pub struct FunctionCall: nested, new {
        /// Identifier of this item.
        id: optional String,
        /// Identifier of the call, to be repeated in its result.
        call_id: required String,
        /// Name of the function.
        name: required String,
        /// Arguments: a JSON object as a string.
        arguments: required String,
        /// Status of the item.
        status: optional Status,
        /// Opaque reasoning state; send it back unchanged.
        thought_signature: optional String,
    }
}

impl FunctionCall {
    /// Decodes the arguments. Empty arguments decode as an empty object.
    ///
    /// # Errors
    ///
    /// Returns an error if the arguments are not valid JSON or do not match `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> tightwire_json::Result<T> {
        tightwire_json::from_str(if self.arguments.is_empty() { "{}" } else { &self.arguments })
    }

    /// Creates the input item with the result of this call.
    pub fn output(&self, output: impl Into<InputContent>) -> InputItem {
        let (name, thought_signature) = (Some(self.name.clone()), self.thought_signature.clone());
        let result = FunctionCallOutput::new(&*self.call_id, output);
        FunctionCallOutput { name, thought_signature, ..result }.into()
    }
}

object! {
    /// Result of a function call.
    pub struct FunctionCallOutput: nested, new {
        /// Identifier of the call.
        call_id: required String,
        /// Output of the function.
        output: required InputContent,
        /// Name of the function.
        name: optional String,
        /// Opaque reasoning state, as received with the call.
        thought_signature: optional String,
        /// Identifier of this item.
        id: optional String,
        /// Status of the item.
        status: optional Status,
    }
}

object! {
    /// Results of a tool search.
    pub struct ToolSearch: response {
        /// Identifier of this item.
        id: String,
        /// Identifier of the call.
        call_id: Option<String>,
        /// Arguments of the search: JSON as a string.
        arguments: Option<String>,
        /// Where the search ran, such as `server`.
        execution: String,
        /// Status of the item.
        status: Status,
        /// Tools found.
        tools: Vec<Namespace>,
    }

    /// A group of functions.
    pub struct Namespace: response {
        /// Type, always `namespace`.
        kind as "type": String,
        /// Name of the group.
        name: String,
        /// Description of the group for the model.
        description: String,
        /// Functions of the group.
        tools: Vec<NamespaceFunction>,
    }

    /// A function of a [`Namespace`].
    pub struct NamespaceFunction: response {
        /// Type, always `function`.
        kind as "type": ToolKind,
        /// Name of the function.
        name: String,
        /// Description of the function.
        description: Option<String>,
        /// JSON schema of the parameters.
        parameters: Option<Map<String, Value>>,
    }

    /// A skill was loaded.
    pub struct SkillLoaded: response {
        /// Name of the skill.
        name: String,
    }

    /// Advice of another model.
    pub struct AdvisorResult: response {
        /// Identifier of the call.
        call_id: String,
        /// Status of the item.
        status: Status,
        /// Answer of the other model.
        advice: Option<String>,
        /// Arguments of the call: JSON as a string.
        arguments: Option<String>,
        /// Question to the other model.
        question: Option<String>,
        /// Error code.
        error_code: Option<NumberOrText>,
        /// Error message.
        error_message: Option<String>,
    }

    /// An item that the server marks as unknown.
    pub struct UnknownItem: response {
        /// Original type of the item.
        item_name: String,
        /// Original item with all its fields.
        payload: Map<String, Value>,
    }
}
