//! A chat answer of 10,000 parts, from the request to the last part.

use std::hint::black_box;

use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs};
use futures_util::StreamExt as _;
use http::Method;
use tightwire_perplexity::Client;
use tightwire_perplexity::types::chat::Request;

use crate::ours::builder;
use crate::repeat::Operation;
use crate::server::{Answer, Server};
use benches::event_stream::{Input, Stop, chat_stream};

/// How many parts the answer has, `[DONE]` besides.
pub const PARTS: u64 = 10_000;
/// The length of the whole stream in bytes.
pub const LEN: u64 = 2_076_261;
/// The length of the text of all parts in bytes.
pub const TEXT: u64 = 45_415;

/// The length of `[DONE]` and of what frames it.
const END: usize = "data: [DONE]\n\n".len();
/// The length of a frame: the server has written a good deal before the client reads it.
const FRAME: usize = 16 << 10;

const QUESTION: &str = "What does the fox do?";

/// The answer. The row is about the client, so the server sends it as fast as it is read.
pub fn answer() -> Answer {
    Answer::Events(Input::whole(chat_stream(LEN as usize - END), Stop::End).in_chunks(FRAME))
}

/// What an operation has seen.
#[derive(Debug, Default)]
struct Seen {
    parts: u64,
    text: u64,
}

impl Seen {
    fn add(&mut self, text: Option<&str>) {
        self.parts += 1;
        self.text += text.map_or(0, |text| text.len() as u64);
    }

    fn value(&self) -> u64 {
        value(self.parts, self.text)
    }
}

/// The value of an operation that has seen so many parts with so much text.
pub fn value(parts: u64, text: u64) -> u64 {
    parts << 32 | text
}

/// What is asked of this workspace's client.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// Each part as a value.
    Parts,
    /// Each part as a value without the message that it may repeat.
    DeltasOnly,
    /// The pieces of the text.
    Text,
    /// The events, with data that is not looked at.
    Events,
}

/// This workspace's client.
#[derive(Debug, Clone)]
pub struct Ours {
    client: Client,
    request: Request,
    form: Form,
}

impl Ours {
    /// A client of this server.
    pub fn new(form: Form, server: &Server) -> Self {
        let client = builder(server).build().expect("the settings are valid");
        Self { client, request: Request::new("sonar", QUESTION), form }
    }

    async fn read(&self) -> tightwire_perplexity::Result<Seen> {
        let mut seen = Seen::default();
        if matches!(self.form, Form::Events) {
            let call = self.client.request(Method::POST, "/chat/completions").json_body(&self.request);
            let mut body = call.download().await?;
            let mut decoder = tightwire_sse::BytesDecoder::new();
            while let Some(chunk) = body.next().await {
                decoder.push(chunk?);
                while let Some(event) = decoder.next().expect("the stream is well formed") {
                    if black_box(&event).is_done() {
                        continue;
                    }
                    seen.add(None);
                }
            }
            return Ok(seen);
        }
        let mut parts = self.client.chat().stream(&self.request).await?;
        match self.form {
            Form::Parts | Form::Events => {
                while let Some(part) = parts.next().await {
                    seen.add(black_box(part?).delta());
                }
            }
            Form::DeltasOnly => {
                let mut parts = parts.deltas_only();
                while let Some(part) = parts.next().await {
                    seen.add(black_box(part?).text());
                }
            }
            Form::Text => {
                let mut pieces = parts.text();
                while let Some(piece) = pieces.next().await {
                    seen.add(Some(&black_box(piece?)));
                }
            }
        }
        Ok(seen)
    }
}

impl Operation for Ours {
    async fn once(&self) -> u64 {
        self.read().await.expect("the stream is well formed").value()
    }
}

/// async-openai, pointed at the same server.
#[derive(Debug, Clone)]
pub struct AsyncOpenai {
    client: async_openai::Client<OpenAIConfig>,
}

impl AsyncOpenai {
    /// A client of this server.
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
        let mut parts = self.client.chat().create_stream(request).await.expect("the server answers");
        let mut seen = Seen::default();
        while let Some(part) = parts.next().await {
            let part = black_box(part.expect("the stream is well formed"));
            seen.add(part.choices.first().and_then(|choice| choice.delta.content.as_deref()));
        }
        seen.value()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_stream_is_what_its_numbers_say() {
        let stream = chat_stream(LEN as usize - END);
        assert_eq!(stream.len() as u64, LEN);
        let text = String::from_utf8(stream).unwrap();
        let mut seen = Seen::default();
        for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
            if data != "[DONE]" {
                let part: Value = serde_json::from_str(data).unwrap();
                seen.add(part["choices"][0]["delta"]["content"].as_str());
            }
        }
        assert_eq!((seen.parts, seen.text), (PARTS, TEXT));
    }
}
