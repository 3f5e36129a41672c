//! How a model came to its answer, and the results that it saw.

use crate::types::wire::{object, open_enum};
use tightwire_json::{Map, Value};

open_enum! {
    /// What a model did in a step.
    pub enum StepKind {
        /// It searched the web.
        WebSearch = "web_search",
        /// It searched for figures of companies.
        FinanceSearch = "finance_search",
        /// It fetched pages.
        FetchUrlContent = "fetch_url_content",
        /// It ran a program.
        ExecutePython = "execute_python",
        /// An agent reported.
        AgentProgress = "agent_progress",
        /// An agent used a browser.
        BrowserAgent = "browser_agent",
        /// A tool of the browser was used.
        BrowserToolExecution = "browser_tool_execution",
        /// It searched the attachments.
        FileAttachmentSearch = "file_attachment_search",
    }
}

object! {
    /// One step of a model on the way to its answer.
    pub struct ReasoningStep: part {
        /// What the model thought.
        thought: must String,
        /// Progress of an agent; no longer sent.
        agent_progress: may AgentProgress,
        /// The outcome of an agent with a browser; no longer sent.
        browser_agent: may BrowserAgent,
        /// The use of a tool of the browser; no longer sent.
        browser_tool_execution: may BrowserTool,
        /// A program and its result.
        execute_python: may CodeRun,
        /// Pages that were fetched.
        fetch_url_content: may FetchedPages,
        /// A search in the attachments; no longer sent.
        file_attachment_search: may AttachmentSearch,
        /// A search for figures of companies.
        finance_search: may StepSearch,
        /// What the model did.
        kind as "type": may StepKind,
        /// A search in the web.
        web_search: may StepSearch,
    }
}

impl ReasoningStep {
    /// A step with nothing but a thought.
    pub fn new(thought: impl Into<String>) -> Self {
        Self { thought: thought.into(), ..Self::default() }
    }
}

object! {
    /// A search and its results.
    pub struct StepSearch: part {
        /// What was searched for.
        search_keywords: must Vec<String>,
        /// What was found.
        search_results: must Vec<PublicResult>,
    }
}

object! {
    /// Pages that were fetched.
    pub struct FetchedPages: part {
        /// The pages.
        contents: must Vec<PublicResult>,
    }
}

object! {
    /// A program and its result.
    pub struct CodeRun: part {
        /// The program.
        code: must String,
        /// What it printed.
        result: must String,
    }
}

object! {
    /// Progress of an agent.
    pub struct AgentProgress: part {
        /// What it does.
        action: may String,
        /// A picture of it.
        screenshot: may String,
        /// Where it is.
        url: may String,
    }
}

object! {
    /// The outcome of an agent with a browser.
    pub struct BrowserAgent: part {
        /// What it found.
        result: must String,
        /// Where it found it.
        url: must String,
    }
}

object! {
    /// The use of a tool of the browser.
    pub struct BrowserTool: part {
        /// The tool with its arguments.
        tool: must Map<String, Value>,
    }
}

object! {
    /// A search in the attachments.
    pub struct AttachmentSearch: part {
        /// The URLs of the attachments.
        attachment_urls: must Vec<String>,
    }
}

open_enum! {
    /// Where a result comes from.
    pub enum ResultSource {
        /// The web.
        Web = "web",
        /// An attachment.
        Attachment = "attachment",
    }
}

object! {
    /// A page that an answer refers to.
    pub struct PublicResult: part {
        /// Its title.
        title: must String,
        /// Its address.
        url: must String,
        /// When it was published, as `YYYY-MM-DD`.
        date: may String,
        /// When it was changed, as `YYYY-MM-DD`.
        last_updated: may String,
        /// What it says.
        snippet: may String,
        /// Where it comes from.
        source: may ResultSource,
    }
}

impl PublicResult {
    /// A result with nothing but title and address.
    pub fn new(title: impl Into<String>, url: impl Into<String>) -> Self {
        Self { title: title.into(), url: url.into(), ..Self::default() }
    }
}
