//! What a model of the agent API may use.

use std::collections::BTreeMap;

use tightwire_json::{Map, Value};

use super::mcp::{AllowedTools, Approval};
use crate::types::invalid::{Invalid, at_most, present, within};
use crate::types::wire::{by_shape, object, open_enum, tagged};
use crate::types::{Recency, SearchContextSize, Secret};

/// The length of the label of a server in characters.
const MAX_LABEL: usize = 64;
/// How many pages one request may fetch.
const MAX_URLS: u32 = 10;

tagged! {
    /// Something that a model may use.
    pub enum Tool by "type" from {
        /// A search in the web.
        "web_search" => WebSearch(WebSearch),
        /// A search for images.
        "image_search" => ImageSearch(ImageSearch),
        /// Fetches pages.
        "fetch_url" => FetchUrl(FetchUrl),
        /// A search for people.
        "people_search" => PeopleSearch(PeopleSearch),
        /// A search for figures of companies.
        "finance_search" => FinanceSearch(FinanceSearch),
        /// Runs programs.
        "sandbox" => Sandbox(Sandbox),
        /// A function of the caller.
        "function" => Function(FunctionTool),
        /// The tools of an MCP server.
        "mcp" => Mcp(McpServer),
        /// The tools of a connector of the service.
        "connector" => Connector(Connector),
    }
}

impl Tool {
    /// Checks what the server would refuse.
    pub(super) fn validate(&self) -> Result<(), Invalid> {
        match self {
            Self::FetchUrl(tool) => within("max_urls", tool.max_urls, 1, MAX_URLS),
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

/// Checks the label of an MCP server.
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

by_shape! {
    /// Whether a model uses tools, and which.
    pub enum ToolChoice {
        /// Whether it does.
        Mode = text ToolMode,
        /// Which tool it has to use.
        Tool = object NamedTool,
    }
}

open_enum! {
    /// Whether a model uses tools.
    pub enum ToolMode {
        /// It does not.
        None = "none",
        /// It may.
        Auto = "auto",
        /// It has to.
        Required = "required",
    }
}

object! {
    /// The tool that a model has to use.
    pub struct NamedTool: part {
        /// What the tool is, such as `function`.
        kind as "type": must String,
        /// The name of the function.
        name: may String,
    }
}

object! {
    /// A search in the web.
    pub struct WebSearch: part {
        /// What may be found.
        filters: may WebFilters,
        /// Upper bound of the tokens of all results.
        max_tokens: copy u32,
        /// Upper bound of the tokens of each result.
        max_tokens_per_page: copy u32,
        /// How much text of the results the model sees.
        search_context_size: may SearchContextSize,
        /// How to search.
        search_type: may WebSearchType,
        /// Where the user is.
        user_location: may UserLocation,
    }
}

object! {
    /// What a search in the web may find.
    pub struct WebFilters: part {
        /// Domains to search in; a leading `-` excludes one.
        search_domain_filter: many String,
        /// How old results may be.
        search_recency_filter: may Recency,
        /// Earliest day of publication, as `MM/DD/YYYY`.
        search_after_date_filter: may String,
        /// Latest day of publication, as `MM/DD/YYYY`.
        search_before_date_filter: may String,
        /// Earliest day of the last change, as `MM/DD/YYYY`.
        last_updated_after_filter: may String,
        /// Latest day of the last change, as `MM/DD/YYYY`.
        last_updated_before_filter: may String,
    }
}

open_enum! {
    /// How to search the web.
    pub enum WebSearchType {
        /// Thoroughly.
        Web = "web",
        /// Quickly.
        Fast = "fast",
    }
}

object! {
    /// Where a user is.
    pub struct UserLocation: part {
        /// City.
        city: may String,
        /// ISO 3166-1 code.
        country: may String,
        /// Latitude in degrees.
        latitude: copy f64,
        /// Longitude in degrees.
        longitude: copy f64,
        /// Region or state.
        region: may String,
    }
}

object! {
    /// A search for images.
    pub struct ImageSearch: part {
        /// How many images to find.
        max_results: copy u32,
        /// What may be found.
        filters: may ImageFilters,
    }
}

object! {
    /// What a search for images may find.
    pub struct ImageFilters: part {
        /// Domains to search in; a leading `-` excludes one.
        domain_filter: many String,
        /// File types.
        format_filter: many ImageFormat,
        /// Whether to leave out images for adults.
        safe_search: copy bool,
    }
}

open_enum! {
    /// The file type of an image.
    pub enum ImageFormat {
        /// BMP.
        Bmp = "bmp",
        /// GIF.
        Gif = "gif",
        /// JPEG.
        Jpeg = "jpeg",
        /// PNG.
        Png = "png",
        /// WebP.
        Webp = "webp",
        /// SVG.
        Svg = "svg",
    }
}

object! {
    /// Fetches pages.
    pub struct FetchUrl: part {
        /// How many pages one request may fetch, from 1 to 10.
        max_urls: copy u32,
    }
}

object! {
    /// A search for people.
    pub struct PeopleSearch: part {}
}

object! {
    /// A search for figures of companies.
    pub struct FinanceSearch: part {}
}

object! {
    /// Runs programs.
    pub struct Sandbox: part {}
}

/// Tools whose members are all optional.
macro_rules! plain {
    ($($tool:ident)*) => {
        $(
            impl $tool {
                /// The tool with the settings of the server.
                pub fn new() -> Self {
                    Self::default()
                }
            }
        )*
    };
}

plain! { WebSearch ImageSearch FetchUrl PeopleSearch FinanceSearch Sandbox }

object! {
    /// A function of the caller.
    pub struct FunctionTool: part {
        /// Its name.
        name: must String,
        /// What it does.
        description: may String,
        /// What it takes: a JSON schema.
        parameters: may Map<String, Value>,
        /// Whether arguments follow `parameters` exactly.
        strict: copy bool,
    }
}

impl FunctionTool {
    /// A function without parameters.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

object! {
    /// The tools of an MCP server.
    pub struct McpServer: part {
        /// The name of the server for the model: 1 to 64 letters, digits, `_` and `-`.
        server_label: must String,
        /// Where it is.
        server_url: must String,
        /// Which of its tools the model may use.
        allowed_tools: may AllowedTools,
        /// The credentials for it.
        authorization: may Secret,
        /// Headers of requests to it.
        headers: may BTreeMap<String, Secret>,
        /// Which calls need approval.
        require_approval: may Approval,
        /// Whether the model searches for tools instead of knowing all of them.
        defer_loading: copy bool,
    }
}

impl McpServer {
    /// The server at `server_url`.
    pub fn new(server_label: impl Into<String>, server_url: impl Into<String>) -> Self {
        Self { server_label: server_label.into(), server_url: server_url.into(), ..Self::default() }
    }
}

object! {
    /// The tools of a connector of the service.
    pub struct Connector: part {
        /// The connector.
        id: must String,
        /// Its name for the model.
        server_label: must String,
        /// What it is good for.
        server_description: may String,
        /// Which of its tools the model may use.
        allowed_tools: may AllowedTools,
        /// Which calls need approval.
        require_approval: may Approval,
    }
}

impl Connector {
    /// The connector `id`.
    pub fn new(id: impl Into<String>, server_label: impl Into<String>) -> Self {
        Self { id: id.into(), server_label: server_label.into(), ..Self::default() }
    }
}
