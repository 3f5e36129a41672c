//! Tools of the Agent API.

use std::collections::BTreeMap;

use tightwire_json::{Map, Value};

use super::mcp::{AllowedTools, Approval};
use crate::types::chat::UserLocation;
use crate::types::invalid::{Invalid, at_most, present, within};
use crate::types::search::SearchType;
use crate::types::wire::{object, open_enum, tagged, untagged};
use crate::types::{Recency, SearchContextSize, Secret};

/// Maximum length of an MCP server label, in characters.
const MAX_LABEL: usize = 64;
/// Maximum pages that one request may fetch.
const MAX_URLS: u32 = 10;
/// Maximum results of a web search.
const MAX_RESULTS: u32 = 50;

/// Function names that the service uses for its tools.
const RESERVED: [&str; 7] =
    ["web_search", "search_web", "people_search", "search_people", "fetch_url", "finance_search", "sandbox"];

/// Returns whether a function with this name belongs to the service.
pub(super) fn is_reserved(function: &str) -> bool {
    RESERVED.contains(&function)
}

tagged! {
    /// A tool that the model may use.
    pub enum Tool by "type" from {
        /// Web search.
        "web_search" => WebSearch(WebSearch),
        /// Image search.
        "image_search" => ImageSearch(ImageSearch),
        /// Page fetching.
        "fetch_url" => FetchUrl(FetchUrl),
        /// Search for people.
        "people_search" => PeopleSearch(PeopleSearch),
        /// Search for financial data.
        "finance_search" => FinanceSearch(FinanceSearch),
        /// Code execution.
        "sandbox" => Sandbox(Sandbox),
        /// A function run by the caller.
        "function" => Function(FunctionTool),
        /// The tools of an MCP server.
        "mcp" => Mcp(McpServer),
        /// The tools of a connector of the service.
        "connector" => Connector(Connector),
    }
}

impl Tool {
    /// Validates the tool locally.
    pub(super) fn validate(&self) -> Result<(), Invalid> {
        match self {
            Self::FetchUrl(tool) => within("max_urls", tool.max_urls, 1, MAX_URLS),
            Self::WebSearch(tool) => within("max_results", tool.max_results, 1, MAX_RESULTS),
            Self::Function(tool) if is_reserved(&tool.name) => {
                Err(Invalid::form("name", "is the name of a tool of the service"))
            }
            Self::Function(tool) => present("name", tool.name.is_empty()),
            Self::Mcp(tool) => {
                label(&tool.server_label)?;
                present("server_url", tool.server_url.is_empty())
            }
            Self::Connector(tool) => {
                present("id", tool.id.is_empty())?;
                present("server_label", tool.server_label.is_empty())
            }
            _ => Ok(()),
        }
    }
}

/// Validates the label of an MCP server.
fn label(text: &str) -> Result<(), Invalid> {
    let field = "server_label";
    present(field, text.is_empty())?;
    at_most(field, text.chars().count(), MAX_LABEL, "characters")?;
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        Ok(())
    } else {
        Err(Invalid::form(field, "has other characters than letters, digits, `_` and `-`"))
    }
}

untagged! {
    /// Whether the model may or must use tools, and which one.
    pub enum ToolChoice {
        /// No tools, any tool, or at least one tool.
        Mode = text ToolMode,
        /// A specific tool.
        Tool = object NamedTool,
    }
}

open_enum! {
    /// Whether the model may or must use tools.
    pub enum ToolMode {
        /// Never use a tool.
        None = "none",
        /// The model decides.
        Auto = "auto",
        /// Use at least one tool.
        Required = "required",
    }
}

object! {
    /// The tool that the model must use: a tool of the service by its type, or a function by its name.
    pub struct NamedTool: nested, new {
        /// Type of the tool, such as `web_search`.
        kind as "type": optional String,
        /// Name of the function.
        name: optional String,
    }

    /// Web search.
    pub struct WebSearch: nested, new {
        /// Filters of the results.
        filters: optional WebFilters,
        /// Maximum number of results, from 1 to 50.
        max_results: scalar u32,
        /// Maximum tokens of all results together.
        max_tokens: scalar u32,
        /// Maximum tokens per result.
        max_tokens_per_page: scalar u32,
        /// Amount of search context for the model.
        search_context_size: optional SearchContextSize,
        /// Type of search.
        search_type: optional SearchType,
        /// Location of the user.
        user_location: optional UserLocation,
    }

    /// Filters of a web search.
    pub struct WebFilters: nested {
        /// Domains to search in; a leading `-` excludes a domain. [`DomainFilter`](crate::types::DomainFilter) has the
        /// limits of the API.
        search_domain_filter: list String,
        /// Maximum age of the results.
        search_recency_filter: optional Recency,
        /// Earliest publication date, as `MM/DD/YYYY`.
        search_after_date_filter: optional String,
        /// Latest publication date, as `MM/DD/YYYY`.
        search_before_date_filter: optional String,
        /// Earliest date of the last update, as `MM/DD/YYYY`.
        last_updated_after_filter: optional String,
        /// Latest date of the last update, as `MM/DD/YYYY`.
        last_updated_before_filter: optional String,
    }
}

object! {
    /// Image search.
    pub struct ImageSearch: nested, new {
        /// Maximum number of images.
        max_results: scalar u32,
        /// Filters of the results.
        filters: optional ImageFilters,
    }

    /// Filters of an image search.
    pub struct ImageFilters: nested {
        /// Domains to search in; a leading `-` excludes a domain.
        domain_filter: list String,
        /// File types.
        format_filter: list ImageFormat,
        /// Whether to exclude adult content.
        safe_search: scalar bool,
    }
}

open_enum! {
    /// File type of an image.
    pub enum ImageFormat {
        Bmp = "bmp",
        Gif = "gif",
        Jpeg = "jpeg",
        Png = "png",
        Webp = "webp",
        Svg = "svg",
    }
}

object! {
    /// Page fetching.
    pub struct FetchUrl: nested, new {
        /// Maximum pages that the request may fetch, from 1 to 10.
        max_urls: scalar u32,
        /// Maximum tokens of all pages together.
        total_budget_tokens: scalar u32,
    }

    /// Search for people.
    pub struct PeopleSearch: nested, new {}

    /// Search for financial data.
    pub struct FinanceSearch: nested, new {}

    /// Code execution.
    pub struct Sandbox: nested, new {}
}

object! {
    /// A function run by the caller.
    pub struct FunctionTool: nested, new {
        /// Name of the function.
        name: required String,
        /// Description of the function for the model.
        description: optional String,
        /// JSON schema of the parameters.
        parameters: optional Map<String, Value>,
        /// Whether the arguments must conform exactly to `parameters`.
        strict: scalar bool,
    }
}

#[cfg(feature = "schemars")]
impl FunctionTool {
    /// Creates a function whose arguments are those of `T`. Doc comments become descriptions for the model.
    ///
    /// # Errors
    ///
    /// Same as [`JsonSchema::of`](crate::types::chat::JsonSchema::of).
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::responses::FunctionTool;
    ///
    /// #[derive(schemars::JsonSchema)]
    /// struct Place {
    ///     city: String,
    /// }
    ///
    /// let tool = FunctionTool::of::<Place>("weather")?.description("The weather in a city.");
    /// assert_eq!(tool.parameters.unwrap()["properties"]["city"]["type"], "string");
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub fn of<T: schemars::JsonSchema + ?Sized>(name: impl Into<String>) -> tightwire_json::Result<Self> {
        let schema = crate::types::chat::JsonSchema::of::<T>()?.schema;
        Ok(Self { parameters: schema.as_object().cloned(), ..Self::new(name) })
    }
}

object! {
    /// The tools of an MCP server.
    pub struct McpServer: nested, new {
        /// Label that identifies the server to the model: 1 to 64 letters, digits, `_` and `-`.
        server_label: required String,
        /// URL of the server.
        server_url: required String,
        /// Tools that the model may use.
        allowed_tools: optional AllowedTools,
        /// Value of the `Authorization` header sent to the server.
        authorization: optional Secret,
        /// Headers sent to the server.
        headers: optional BTreeMap<String, Secret>,
        /// Tool calls that require approval.
        require_approval: optional Approval,
        /// Whether the model searches for tools instead of seeing all of them.
        defer_loading: scalar bool,
    }
}

object! {
    /// The tools of a connector of the service.
    pub struct Connector: nested, new {
        /// Identifier of the connector.
        id: required String,
        /// Label that identifies the connector to the model.
        server_label: required String,
        /// Description of when to use the connector.
        server_description: optional String,
        /// Tools that the model may use.
        allowed_tools: optional AllowedTools,
        /// Tool calls that require approval.
        require_approval: optional Approval,
    }
}
