//! Streams a chat completion as LLM APIs do, from a server on loopback to this terminal.
//!
//! The server sends one JSON document per token with [`SseBody`] and ends with `[DONE]`. The client posts a question
//! and prints the tokens as they arrive.
//!
//! Run it with a question: `cargo run --example sse_chat -- "How do event streams work?"`.

use std::convert::Infallible;
use std::io::{Write, stdout};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use http::StatusCode;
use serde::Deserialize;
use tightwire_json::json;
use tightwire_sse::{JsonStreamExt, ResponseExt, SseBody, SseEvent};
use tokio::net::TcpListener;

/// Delay before each token.
const TOKEN_DELAY: Duration = Duration::from_millis(30);

const ANSWER: &str = "An event stream is a response that does not end: the server writes blocks of lines, \
    one per event, and the client handles each of them when its empty line arrives. 流れ続ける応答。\n";

/// Chunk of a chat completion. Other fields are ignored.
#[derive(Deserialize)]
struct Chunk {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "How do event streams work?".into());
    chat(&question, &mut stdout()).await
}

/// Starts a server on loopback and sends it a question.
pub(crate) async fn chat(question: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::select! {
        result = ask(address, question, out) => result,
        result = serve(listener) => result,
    }
}

/// Sends a question and writes the response token by token.
async fn ask(address: SocketAddr, question: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let body = json!({ "stream": true, "messages": [{ "role": "user", "content": question }] });
    let response = reqwest::Client::new()
        .post(format!("http://{address}/v1/chat/completions"))
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()
        .await?;
    writeln!(out, "> {question}")?;
    let events = response.events();
    let mut chunks = events.json_until_done::<Chunk>();
    while let Some(chunk) = chunks.try_next().await.context("failed to receive the completion")? {
        for choice in chunk.choices {
            write!(out, "{}", choice.delta.content)?;
        }
        out.flush()?;
    }
    Ok(())
}

async fn serve(listener: TcpListener) -> anyhow::Result<()> {
    let routes = Router::new().route("/v1/chat/completions", post(complete));
    Ok(axum::serve(listener, routes).await?)
}

/// Returns an event stream, or an error message.
async fn complete(body: Bytes) -> Response {
    match tightwire_json::from_slice::<tightwire_json::Value>(&body) {
        Ok(body) if body["stream"] == true => SseBody::new(events()).into_response().map(Body::new),
        _ => (StatusCode::BAD_REQUEST, "set `stream` to true\n").into_response(),
    }
}

/// Returns one event per token, then `[DONE]`.
fn events() -> impl Stream<Item = Result<SseEvent<'static>, Infallible>> {
    let tokens = ANSWER.split_inclusive(' ').map(|token| {
        SseEvent::new().data(json!({ "choices": [{ "delta": { "content": token } }] }).to_string())
    });
    let events = tokens.chain([SseEvent::new().data("[DONE]")]);
    stream::iter(events).then(|event| async {
        tokio::time::sleep(TOKEN_DELAY).await;
        Ok(event)
    })
}
