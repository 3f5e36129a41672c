//! The same objects as plain structs with serde's derive, for the peers: the members and the order of the original.
//!
//! Texts with few values, such as the role, are `String`: a derived enum has no place for values that it does not know.
//! Nothing here keeps unknown members or accepts `null` for a member that the original always writes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

macro_rules! structs {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)+ })+) => {
        $(
            #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
            $(#[$meta])*
            #[allow(missing_docs, reason = "the names say it all")]
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

    /// A completion, or a part of one.
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

    /// One answer. Both messages are always written.
    Choice {
        delta: ChatMessage,
        index: u32,
        #[serde(default)]
        message: ChatMessage,
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<String>,
    }

    /// A message.
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

    /// An object around a URL.
    Url {
        url: String,
    }

    /// A call of a function.
    ToolCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        function: Option<Function>,
        #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    }

    /// What is called.
    Function {
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    }

    /// One step on the way to an answer.
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

    /// A search and its results.
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

    /// The outcome of an agent.
    BrowserAgent {
        result: String,
        url: String,
    }

    /// The use of a tool.
    BrowserTool {
        tool: BTreeMap<String, Value>,
    }

    /// A program and its result.
    CodeRun {
        code: String,
        result: String,
    }

    /// Pages that were fetched.
    FetchedPages {
        contents: Vec<PublicResult>,
    }

    /// A search in attachments.
    AttachmentSearch {
        attachment_urls: Vec<String>,
    }

    /// A page that an answer refers to.
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

    /// The answer to a search.
    SearchResponse {
        id: String,
        results: Vec<Page>,
        #[serde(skip_serializing_if = "Option::is_none")]
        server_time: Option<String>,
    }

    /// A page that was found.
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

/// What a message says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it all")]
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

/// A URL in one of its two forms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names say it all")]
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

    /// Every codec decodes and encodes all of the document, as our type and as the plain one.
    #[test]
    fn nothing_is_lost() {
        fn through<C: Codec, T: Serialize + DeserializeOwned>(document: &Document) {
            let decoded = |text: &[u8]| C::default().decode::<T>(text).unwrap();
            assert!(document.is_decoded_in(&decoded(&document.input)), "{}", C::NAME);
            let value = decoded(&document.output);
            assert!(document.is_encoded_in(&C::to_vec(&value).unwrap()), "{}", C::NAME);
            let mut buffer = Vec::new();
            C::to_buf(&mut buffer, &value).unwrap();
            assert!(document.is_encoded_in(&buffer), "{}", C::NAME);
        }
        fn all<O: Serialize + DeserializeOwned, P: Serialize + DeserializeOwned>(input: &str, output: &str) {
            let document = Document::of(input, output);
            through::<Ours, O>(&document);
            through::<Ours, P>(&document);
            through::<SerdeJson, O>(&document);
            through::<SerdeJson, P>(&document);
            through::<SimdJson, P>(&document);
            through::<SonicRs, P>(&document);
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
