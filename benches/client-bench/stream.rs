//! Streamed answers of 10,000 pieces, from the request to the end: of the Agent API, and of the chat completions before it.

use std::fmt::{Debug, Write as _};
use std::hint::black_box;
use std::pin::pin;

use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs};
use async_openai::types::responses::{CreateResponseArgs, InputParam, ResponseStreamEvent};
use benches::event_stream::{Input, Stop, TOKENS, chat_stream};
use futures_util::{Stream, StreamExt as _};
use tightwire_perplexity::Client;
use tightwire_perplexity::stream::{EventStream, StreamItem};
use tightwire_perplexity::types::{chat, responses};

use crate::ours::builder;
use crate::repeat::Operation;
use crate::server::{Answer, Server};

/// Number of pieces of text.
pub(crate) const PIECES: u64 = 10_000;
/// Value of an operation: the number of pieces, and the total size of the text in bytes.
pub(crate) const VALUE: u64 = PIECES << 32 | 45_415;

/// Size of the framed `[DONE]` event.
const END: usize = "data: [DONE]\n\n".len();
/// Frame size, in bytes: the server writes many events before the client reads them.
const FRAME: usize = 16 << 10;

const QUESTION: &str = "What does the fox do?";

/// The API that a row calls.
#[derive(Clone, Copy)]
pub(crate) enum Api {
    Agent,
    Chat,
}

impl Api {
    pub(crate) fn row(self) -> &'static str {
        match self {
            Self::Agent => "client_stream_agent_10k",
            Self::Chat => "client_stream_10k",
        }
    }

    /// Returns the size of the stream, in bytes.
    pub(crate) fn len(self) -> u64 {
        match self {
            Self::Agent => 1_862_152,
            Self::Chat => 2_076_261,
        }
    }

    /// Returns the streamed response. The server sends it as fast as the client reads, because the row measures
    /// the client. It is empty if the row is not run.
    pub(crate) fn answer(self, is_selected: bool) -> Answer {
        let stream = match self {
            _ if !is_selected => Vec::new(),
            Self::Agent => agent_stream().into_bytes(),
            Self::Chat => chat_stream(self.len() as usize - END),
        };
        assert!(
            !is_selected || stream.len() as u64 == self.len(),
            "{} has {} bytes",
            self.row(),
            stream.len()
        );
        Answer::stream(Input::whole(stream, Stop::End).in_chunks(FRAME))
    }
}

/// Returns the events of a streamed response of the Agent API: it is created, its text arrives, and it is complete. Fields
/// have the order of recorded traffic. Counts that only OpenAI sends are included, because its client needs them.
fn agent_stream() -> String {
    let mut out = String::new();
    let mut add = |sequence: u64, name: &str, fields: &str| {
        write!(
            out,
            "event: {name}\ndata: {{{fields},\"sequence_number\":{sequence},\"type\":\"{name}\"}}\n\n"
        )
        .expect("a string accepts every write");
    };
    let response = |status: &str, rest: &str| {
        format!(
            r#""response":{{"id":"resp_5d2a9c70e4b14f6c","created_at":1763424000,"model":"perplexity/sonar","object":"response","status":"{status}",{rest}}}"#
        )
    };
    add(0, "response.created", &response("in_progress", r#""output":[]"#));
    let mut text = String::new();
    for (sequence, token) in (1..=PIECES).zip(TOKENS.iter().cycle()) {
        text.push_str(token);
        let fields =
            format!(r#""content_index":0,"delta":"{token}","item_id":"msg_8e1f0b7c2a94","output_index":0"#);
        add(sequence, "response.output_text.delta", &fields);
    }
    let rest = format!(
        r#""output":[{{"content":[{{"annotations":[],"text":"{text}","type":"output_text"}}],"id":"msg_8e1f0b7c2a94","role":"assistant","status":"completed","type":"message"}}],"usage":{{"input_tokens":9,"input_tokens_details":{{"cached_tokens":0}},"output_tokens":{PIECES},"output_tokens_details":{{"reasoning_tokens":0}},"total_tokens":10009}}"#
    );
    add(PIECES + 1, "response.completed", &response("completed", &rest));
    out
}

/// Reads a stream to its end and returns the value of the operation.
async fn read<T, E: Debug>(items: impl Stream<Item = Result<T, E>>, text: fn(&T) -> Option<&str>) -> u64 {
    let mut items = pin!(items);
    let mut value = 0;
    while let Some(item) = items.next().await {
        let item = black_box(item.expect("the stream is well formed"));
        value += text(&item).map_or(0, |text| (1 << 32) + text.len() as u64);
    }
    value
}

/// The client of this workspace.
#[derive(Clone)]
pub(crate) struct Ours {
    client: Client,
    api: Api,
    /// Returns only the pieces of the text, instead of items with all fields.
    is_text: bool,
}

impl Ours {
    pub(crate) fn new(api: Api, is_text: bool, server: &Server) -> Self {
        let client = builder(server).build().expect("the settings are valid");
        Self { client, api, is_text }
    }

    async fn read<T: StreamItem>(&self, items: EventStream<T>, text: fn(&T) -> Option<&str>) -> u64 {
        if self.is_text { read(items.text(), |piece| Some(piece)).await } else { read(items, text).await }
    }
}

impl Operation for Ours {
    async fn once(&self) -> u64 {
        match self.api {
            Api::Agent => {
                let request = responses::Request::new("perplexity/sonar", QUESTION);
                let events = self.client.responses().stream(&request).await.expect("the server answers");
                self.read(events, responses::Event::delta_text).await
            }
            Api::Chat => {
                let request = chat::Request::new("sonar", QUESTION);
                let chunks = self.client.chat().stream(&request).await.expect("the server answers");
                self.read(chunks, chat::Completion::delta_text).await
            }
        }
    }
}

/// async-openai with this server's base URL.
#[derive(Clone)]
pub(crate) struct AsyncOpenai {
    client: async_openai::Client<OpenAIConfig>,
    api: Api,
}

impl AsyncOpenai {
    pub(crate) fn new(api: Api, server: &Server) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("the settings are valid");
        let config = OpenAIConfig::new().with_api_base(server.url("")).with_api_key("test-key");
        Self { client: async_openai::Client::build(http, config), api }
    }
}

impl Operation for AsyncOpenai {
    async fn once(&self) -> u64 {
        match self.api {
            Api::Agent => {
                let request = CreateResponseArgs::default()
                    .model("perplexity/sonar")
                    .input(InputParam::Text(QUESTION.into()))
                    .build()
                    .expect("the request is complete");
                let events =
                    self.client.responses().create_stream(request).await.expect("the server answers");
                read(events, |event| match event {
                    ResponseStreamEvent::ResponseOutputTextDelta(event) => Some(&event.delta),
                    _ => None,
                })
                .await
            }
            Api::Chat => {
                let request = CreateChatCompletionRequestArgs::default()
                    .model("sonar")
                    .messages([ChatCompletionRequestUserMessage::from(QUESTION).into()])
                    .build()
                    .expect("the request is complete");
                let chunks = self.client.chat().create_stream(request).await.expect("the server answers");
                read(chunks, |chunk| chunk.choices.first().and_then(|choice| choice.delta.content.as_deref()))
                    .await
            }
        }
    }
}
