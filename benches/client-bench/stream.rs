//! A streamed chat completion of 10,000 chunks, from the request to the last chunk.

use std::hint::black_box;

use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs};
use benches::event_stream::{Input, Stop, chat_stream};
use futures_util::StreamExt as _;
use tightwire_perplexity::Client;
use tightwire_perplexity::types::chat::Request;

use crate::ours::builder;
use crate::repeat::Operation;
use crate::server::{Answer, Server};

/// Number of chunks, without `[DONE]`.
pub(crate) const CHUNKS: u64 = 10_000;
/// Size of the stream, in bytes.
pub(crate) const LEN: u64 = 2_076_261;
/// Value of an operation: the number of chunks, and the total size of the text in bytes.
pub(crate) const VALUE: u64 = CHUNKS << 32 | 45_415;

/// Size of the framed `[DONE]` event.
const END: usize = "data: [DONE]\n\n".len();
/// Frame size, in bytes: the server writes many events before the client reads them.
const FRAME: usize = 16 << 10;

const QUESTION: &str = "What does the fox do?";

/// Returns the streamed response. The server sends it as fast as the client reads, because the row measures
/// the client. It is empty if the row is not run.
pub(crate) fn answer(is_selected: bool) -> Answer {
    let stream = if is_selected { chat_stream(LEN as usize - END) } else { Vec::new() };
    Answer::stream(Input::whole(stream, Stop::End).in_chunks(FRAME))
}

/// Adds a chunk to the value of an operation.
fn add(value: &mut u64, text: Option<&str>) {
    *value += (1 << 32) + text.map_or(0, |text| text.len() as u64);
}

/// The client of this workspace.
#[derive(Clone)]
pub(crate) struct Ours {
    client: Client,
    request: Request,
    /// Returns only the pieces of the text, instead of chunks with all fields.
    is_text: bool,
}

impl Ours {
    pub(crate) fn new(is_text: bool, server: &Server) -> Self {
        let client = builder(server).build().expect("the settings are valid");
        Self { client, request: Request::new("sonar", QUESTION), is_text }
    }
}

impl Operation for Ours {
    async fn once(&self) -> u64 {
        let mut value = 0;
        let mut chunks = self.client.chat().stream(&self.request).await.expect("the server answers");
        if self.is_text {
            let mut pieces = chunks.text();
            while let Some(piece) = pieces.next().await {
                add(&mut value, Some(&black_box(piece.expect("the stream is well formed"))));
            }
        } else {
            while let Some(chunk) = chunks.next().await {
                add(&mut value, black_box(chunk.expect("the stream is well formed")).delta_text());
            }
        }
        value
    }
}

/// async-openai with this server's base URL.
#[derive(Clone)]
pub(crate) struct AsyncOpenai {
    client: async_openai::Client<OpenAIConfig>,
}

impl AsyncOpenai {
    pub(crate) fn new(server: &Server) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("the settings are valid");
        let config = OpenAIConfig::new().with_api_base(server.url("")).with_api_key("test-key");
        Self { client: async_openai::Client::build(http, config) }
    }
}

impl Operation for AsyncOpenai {
    async fn once(&self) -> u64 {
        let request = CreateChatCompletionRequestArgs::default()
            .model("sonar")
            .messages([ChatCompletionRequestUserMessage::from(QUESTION).into()])
            .build()
            .expect("the request is complete");
        let mut chunks = self.client.chat().create_stream(request).await.expect("the server answers");
        let mut value = 0;
        while let Some(chunk) = chunks.next().await {
            let chunk = black_box(chunk.expect("the stream is well formed"));
            add(&mut value, chunk.choices.first().and_then(|choice| choice.delta.content.as_deref()));
        }
        value
    }
}
