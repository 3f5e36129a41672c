//! Plain structs with serde's derive, with the fields of the Go library.
//!
//! Enumerations such as the role are `String`, because a derived enum cannot represent unknown values. Unknown fields
//! are not kept, and `null` is not accepted for fields that the Go library always writes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::types::structs;

structs! {
    /// Tokens and costs.
    UsageInfo {
        completion_tokens: u64,
        cost: Cost,
        prompt_tokens: u64,
        total_tokens: u64,
        ;
        citation_tokens: u64,
        num_search_queries: u64,
        reasoning_tokens: u64,
        search_context_size: String,
    }

    /// Costs in dollars.
    #[derive(Default)]
    #[serde(default)]
    Cost {
        input_tokens_cost: f64,
        output_tokens_cost: f64,
        total_cost: f64,
        ;
        citation_tokens_cost: f64,
        reasoning_tokens_cost: f64,
        request_cost: f64,
        search_queries_cost: f64,
    }

    /// Completion, or a chunk of one.
    StreamChunk {
        id: String,
        choices: Vec<Choice>,
        created: i64,
        model: String,
        ;
        citations: Vec<String>,
        object: String,
        search_results: Vec<PublicResult>,
        status: String,
        #[serde(rename = "type")]
        kind: String,
        usage: UsageInfo,
    }

    /// Choice. Both messages are always written.
    Choice {
        delta: ChatMessage,
        index: u32,
        #[serde(default)]
        message: ChatMessage,
        ;
        finish_reason: String,
    }

    /// Message.
    #[derive(Default)]
    ChatMessage {
        role: String,
        content: Option<Content>,
        ;
        tool_call_id: String,
        reasoning_steps: Vec<ReasoningStep>,
        tool_calls: Vec<ToolCall>,
    }

    /// Object with a URL.
    Url {
        url: String,
    }

    /// Call of a function.
    ToolCall {
        ;
        id: String,
        function: Function,
        #[serde(rename = "type")]
        kind: String,
    }

    /// Function and arguments.
    Function {
        ;
        arguments: String,
        name: String,
    }

    /// Reasoning step.
    ReasoningStep {
        thought: String,
        ;
        agent_progress: AgentProgress,
        browser_agent: BrowserAgent,
        browser_tool_execution: BrowserTool,
        execute_python: CodeRun,
        fetch_url_content: FetchedPages,
        file_attachment_search: AttachmentSearch,
        #[serde(rename = "type")]
        kind: String,
        web_search: WebSearch,
    }

    /// Search and its results.
    WebSearch {
        search_keywords: Vec<String>,
        search_results: Vec<PublicResult>,
    }

    /// Progress of an agent.
    AgentProgress {
        ;
        action: String,
        screenshot: String,
        url: String,
    }

    /// Result of an agent.
    BrowserAgent {
        result: String,
        url: String,
    }

    /// Use of a tool.
    BrowserTool {
        tool: BTreeMap<String, Value>,
    }

    /// Program and its result.
    CodeRun {
        code: String,
        result: String,
    }

    /// Fetched pages.
    FetchedPages {
        contents: Vec<PublicResult>,
    }

    /// Search in attachments.
    AttachmentSearch {
        attachment_urls: Vec<String>,
    }

    /// Search result of a completion.
    PublicResult {
        title: String,
        url: String,
        ;
        date: String,
        last_updated: String,
        snippet: String,
        source: String,
    }

    /// Response to a search.
    SearchResponse {
        id: String,
        results: Vec<Page>,
        ;
        server_time: String,
    }

    /// Result of a search.
    Page {
        snippet: String,
        title: String,
        url: String,
        ;
        date: String,
        last_updated: String,
    }
}

/// Content of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// Part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(missing_docs, reason = "field names are sufficient")]
pub enum Part {
    Text {
        text: String,
    },
    ImageUrl {
        image_url: Source,
    },
    FileUrl {
        file_url: Source,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_name: Option<String>,
    },
    PdfUrl {
        pdf_url: Source,
    },
    VideoUrl {
        video_url: Source,
    },
}

/// URL, as a string or an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub enum Source {
    Plain(String),
    Object(Url),
}
