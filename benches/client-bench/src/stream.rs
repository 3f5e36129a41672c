//! A streamed chat completion of 10,000 chunks, from the request to the last chunk.

use std::hint::black_box;

use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs};
use futures_util::StreamExt as _;
use http::Method;
use tightwire_perplexity::Client;
use tightwire_perplexity::types::chat::Request;

use crate::ours::builder;
use crate::repeat::Operation;
use crate::server::{Server, ServerResponse};
use benches::event_stream::{Input, Stop, chat_stream};

/// Number of chunks, without `[DONE]`.
pub const CHUNKS: u64 = 10_000;
/// Size of the stream, in bytes.
pub const LEN: u64 = 2_076_261;
/// Total size of the text, in bytes.
pub const TEXT: u64 = 45_415;

/// Size of the framed `[DONE]` event.
const END: usize = "data: [DONE]\n\n".len();
/// Frame size, in bytes: the server writes many events before the client reads them.
const FRAME: usize = 16 << 10;

const QUESTION: &str = "What does the fox do?";

/// Returns the streamed response. The server sends it as fast as the client reads, because the row measures
/// the client. It is empty if the row is not run.
pub fn answer(is_selected: bool) -> ServerResponse {
    let stream = if is_selected { chat_stream(LEN as usize - END) } else { Vec::new() };
    ServerResponse::Events(Input::whole(stream, Stop::End).in_chunks(FRAME))
}

/// Totals of a stream.
#[derive(Debug, Default)]
struct StreamTotals {
    chunks: u64,
    text: u64,
}

impl StreamTotals {
    fn add(&mut self, text: Option<&str>) {
        self.chunks += 1;
        self.text += text.map_or(0, |text| text.len() as u64);
    }

    fn value(&self) -> u64 {
        value(self.chunks, self.text)
    }
}

/// Returns the value of an operation that received so many chunks with so much text.
pub fn value(chunks: u64, text: u64) -> u64 {
    chunks << 32 | text
}

/// API of this workspace's client to measure.
#[derive(Debug, Clone, Copy)]
pub enum StreamApi {
    /// Chunks with all fields.
    Chunks,
    /// Pieces of the text.
    Text,
    /// Server-sent events without decoding their data.
    Events,
}

/// The client of this workspace.
#[derive(Debug, Clone)]
pub struct Ours {
    client: Client,
    request: Request,
    form: StreamApi,
}

impl Ours {
    /// Creates a client of this server.
    pub fn new(form: StreamApi, server: &Server) -> Self {
        let client = builder(server).build().expect("the settings are valid");
        Self { client, request: Request::new("sonar", QUESTION), form }
    }

    async fn read(&self) -> tightwire_perplexity::Result<StreamTotals> {
        let mut totals = StreamTotals::default();
        if matches!(self.form, StreamApi::Events) {
            let call = self.client.request(Method::POST, "/chat/completions").json_body(&self.request);
            let mut body = call.download().await?;
            let mut decoder = tightwire_sse::BytesDecoder::new();
            while let Some(chunk) = body.next().await {
                decoder.push(chunk?);
                while let Some(event) = decoder.next().expect("the stream is well formed") {
                    if black_box(&event).is_done() {
                        continue;
                    }
                    totals.add(None);
                }
            }
            return Ok(totals);
        }
        let mut chunks = self.client.chat().stream(&self.request).await?;
        match self.form {
            StreamApi::Chunks | StreamApi::Events => {
                while let Some(chunk) = chunks.next().await {
                    totals.add(black_box(chunk?).delta_text());
                }
            }
            StreamApi::Text => {
                let mut pieces = chunks.text();
                while let Some(piece) = pieces.next().await {
                    totals.add(Some(&black_box(piece?)));
                }
            }
        }
        Ok(totals)
    }
}

impl Operation for Ours {
    async fn once(&self) -> u64 {
        self.read().await.expect("the stream is well formed").value()
    }
}

/// async-openai with this server's base URL.
#[derive(Debug, Clone)]
pub struct AsyncOpenai {
    client: async_openai::Client<OpenAIConfig>,
}

impl AsyncOpenai {
    /// Creates a client of this server.
    pub fn new(server: &Server) -> Self {
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
        let mut totals = StreamTotals::default();
        while let Some(chunk) = chunks.next().await {
            let chunk = black_box(chunk.expect("the stream is well formed"));
            totals.add(chunk.choices.first().and_then(|choice| choice.delta.content.as_deref()));
        }
        totals.value()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn stream_matches_its_constants() {
        let stream = chat_stream(LEN as usize - END);
        assert_eq!(stream.len() as u64, LEN);
        let text = String::from_utf8(stream).unwrap();
        let mut totals = StreamTotals::default();
        for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
            if data != "[DONE]" {
                let chunk: Value = serde_json::from_str(data).unwrap();
                totals.add(chunk["choices"][0]["delta"]["content"].as_str());
            }
        }
        assert_eq!((totals.chunks, totals.text), (CHUNKS, TEXT));
    }
}
