//! Plain structs with serde's derive for the peers, with the fields of the Go library in the same order.
//!
//! Enumerations such as the role are `String`, because a derived enum cannot represent unknown values. Unknown fields
//! are not kept, and `null` is not accepted for fields that the Go library always writes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

macro_rules! structs {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)+ })+) => {
        $(
            #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
            $(#[$meta])*
            #[allow(missing_docs, reason = "field names are sufficient")]
            pub struct $name {
                $($(#[$field_meta])* pub $field: $ty,)+
            }
        )+
    };
}

structs! {
    /// Tokens and costs.
    UsageInfo {
        completion_tokens: u64,
        cost: Cost,
        prompt_tokens: u64,
        total_tokens: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        citation_tokens: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        num_search_queries: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_tokens: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        search_context_size: Option<String>,
    }

    /// Costs in dollars.
    #[serde(default)]
    Cost {
        input_tokens_cost: f64,
        output_tokens_cost: f64,
        total_cost: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        citation_tokens_cost: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_tokens_cost: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        request_cost: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        search_queries_cost: Option<f64>,
    }

    /// Completion, or a chunk of one.
    StreamChunk {
        id: String,
        choices: Vec<Choice>,
        created: i64,
        model: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        citations: Option<Vec<String>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        object: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        search_results: Option<Vec<PublicResult>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<UsageInfo>,
    }

    /// Choice. Both messages are always written.
    Choice {
        delta: ChatMessage,
        index: u32,
        #[serde(default)]
        message: ChatMessage,
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<String>,
    }

    /// Message.
    ChatMessage {
        role: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_steps: Option<Vec<ReasoningStep>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_calls: Option<Vec<ToolCall>>,
        content: Option<Content>,
    }

    /// Object with a URL.
    Url {
        url: String,
    }

    /// Call of a function.
    ToolCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        function: Option<Function>,
        #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    }

    /// Function and arguments.
    Function {
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    }

    /// Reasoning step.
    ReasoningStep {
        thought: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_progress: Option<AgentProgress>,
        #[serde(skip_serializing_if = "Option::is_none")]
        browser_agent: Option<BrowserAgent>,
        #[serde(skip_serializing_if = "Option::is_none")]
        browser_tool_execution: Option<BrowserTool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        execute_python: Option<CodeRun>,
        #[serde(skip_serializing_if = "Option::is_none")]
        fetch_url_content: Option<FetchedPages>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_attachment_search: Option<AttachmentSearch>,
        #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        web_search: Option<WebSearch>,
    }

    /// Search and its results.
    WebSearch {
        search_keywords: Vec<String>,
        search_results: Vec<PublicResult>,
    }

    /// Progress of an agent.
    AgentProgress {
        #[serde(skip_serializing_if = "Option::is_none")]
        action: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        screenshot: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
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
        #[serde(skip_serializing_if = "Option::is_none")]
        date: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        last_updated: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        snippet: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    }

    /// Response to a search.
    SearchResponse {
        id: String,
        results: Vec<Page>,
        #[serde(skip_serializing_if = "Option::is_none")]
        server_time: Option<String>,
    }

    /// Result of a search.
    Page {
        snippet: String,
        title: String,
        url: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        date: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        last_updated: Option<String>,
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

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::api::codec::{Codec, Ours, SerdeJson, SonicRs};
    use crate::api::document::Document;
    use crate::peers::SimdJson;
    use tightwire_perplexity::types::{chat, search};

    #[test]
    fn every_codec_round_trips_both_types() {
        fn round_trip<C: Codec, T: Serialize + DeserializeOwned>(document: &Document) {
            let decoded = |text: &[u8]| C::default().decode::<T>(text).unwrap();
            assert!(document.is_decoded_in(&decoded(&document.input)), "{}", C::NAME);
            let value = decoded(&document.output);
            assert!(document.is_encoded_in(&C::to_vec(&value).unwrap()), "{}", C::NAME);
            let mut buffer = Vec::new();
            C::to_buf(&mut buffer, &value).unwrap();
            assert!(document.is_encoded_in(&buffer), "{}", C::NAME);
        }
        fn all<O: Serialize + DeserializeOwned, P: Serialize + DeserializeOwned>(input: &str, output: &str) {
            let document = Document::load(input, output);
            round_trip::<Ours, O>(&document);
            round_trip::<Ours, P>(&document);
            round_trip::<SerdeJson, O>(&document);
            round_trip::<SerdeJson, P>(&document);
            round_trip::<SimdJson, P>(&document);
            round_trip::<SonicRs, P>(&document);
        }
        all::<chat::Usage, UsageInfo>("UsageInfo_Unmarshal", "UsageInfo");
        all::<chat::Completion, StreamChunk>("StreamChunk_Unmarshal", "StreamChunk");
        all::<chat::Message, ChatMessage>("ChatMessage_Unmarshal_SimpleText", "ChatMessage_SimpleText");
        all::<chat::Message, ChatMessage>(
            "ChatMessage_Unmarshal_StructuredContent",
            "ChatMessage_StructuredContent",
        );
        all::<chat::ToolCall, ToolCall>("ToolCall_Unmarshal", "ToolCall");
        all::<chat::ReasoningStep, ReasoningStep>("ReasoningStep_Unmarshal", "ReasoningStep");
        all::<search::Response, SearchResponse>("SearchResponse_Unmarshal", "SearchResponse");
        all::<chat::Completion, StreamChunk>("ComplexResponse_Unmarshal", "ComplexResponse");
    }
}
