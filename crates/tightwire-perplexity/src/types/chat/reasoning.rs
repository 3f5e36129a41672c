//! Reasoning steps of a model and the search results it used.

use crate::types::wire::{object, open_enum};
use tightwire_json::{Map, Value};

open_enum! {
    /// Type of a reasoning step.
    pub enum StepKind {
        /// Web search.
        WebSearch = "web_search",
        /// Search for financial data.
        FinanceSearch = "finance_search",
        /// Pages were fetched.
        FetchUrlContent = "fetch_url_content",
        /// Code was run.
        ExecutePython = "execute_python",
        /// Progress report of an agent.
        AgentProgress = "agent_progress",
        /// Result of a browser agent.
        BrowserAgent = "browser_agent",
        /// A browser tool was used.
        BrowserToolExecution = "browser_tool_execution",
        /// Search in the attached files.
        FileAttachmentSearch = "file_attachment_search",
    }
}

object! {
    /// One step of a model's reasoning.
    pub struct ReasoningStep: nested, new {
        /// The model's thought.
        thought: required String,
        /// Progress of an agent; no longer sent.
        agent_progress: optional AgentProgress,
        /// Result of a browser agent; no longer sent.
        browser_agent: optional BrowserAgent,
        /// Use of a browser tool; no longer sent.
        browser_tool_execution: optional BrowserTool,
        /// Code and its output.
        execute_python: optional CodeRun,
        /// Fetched pages.
        fetch_url_content: optional FetchedPages,
        /// Search in the attached files; no longer sent.
        file_attachment_search: optional AttachmentSearch,
        /// Search for financial data.
        finance_search: optional StepSearch,
        /// Type of the step.
        kind as "type": optional StepKind,
        /// Web search.
        web_search: optional StepSearch,
    }
}

object! {
    /// A search and its results.
    pub struct StepSearch: nested {
        /// Search queries.
        search_keywords: required Vec<String>,
        /// Search results.
        search_results: required Vec<PublicResult>,
    }

    /// Reasoning step that fetched web pages.
    pub struct FetchedPages: nested {
        /// Fetched pages.
        contents: required Vec<PublicResult>,
    }

    /// Code that the model ran, with its output.
    pub struct CodeRun: nested {
        /// Source code.
        code: required String,
        /// Its output.
        result: required String,
    }

    /// Progress of an agent.
    pub struct AgentProgress: nested {
        /// Current action.
        action: optional String,
        /// Screenshot of the page.
        screenshot: optional String,
        /// URL of the page.
        url: optional String,
    }

    /// Result of a browser agent.
    pub struct BrowserAgent: nested {
        /// Text that the agent returned.
        result: required String,
        /// URL of the page.
        url: required String,
    }

    /// Use of a browser tool.
    pub struct BrowserTool: nested {
        /// The tool and its arguments.
        tool: required Map<String, Value>,
    }

    /// Search in the attached files.
    pub struct AttachmentSearch: nested {
        /// URLs of the attachments.
        attachment_urls: required Vec<String>,
    }
}

open_enum! {
    /// Origin of a search result.
    pub enum ResultSource {
        Web = "web",
        /// An attached file.
        Attachment = "attachment",
    }
}

object! {
    /// A search result used for a completion.
    pub struct PublicResult: nested, new {
        /// Title of the page.
        title: required String,
        /// URL of the page.
        url: required String,
        /// Publication date, as `YYYY-MM-DD`.
        date: optional String,
        /// Date of the last update, as `YYYY-MM-DD`.
        last_updated: optional String,
        /// Extract of the page's text.
        snippet: optional String,
        /// Origin of the result.
        source: optional ResultSource,
    }
}
