//! Streams a chat answer the way LLM APIs do, from a server on loopback to this terminal.
//!
//! The server sends one JSON document per token with [`SseBody`] and ends with `[DONE]`. The client posts its
//! question with [`EventSource`], which never asks twice, and prints the tokens as they arrive.
//!
//! Run it with a question: `cargo run --example sse_chat -- "What is an event stream?"`.

use std::convert::Infallible;
use std::io::{Write, stdout};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::json;
use tightwire_sse::{Backoff, Block, EventSource, JsonStreamExt, SseBody};
use tokio::net::TcpListener;

/// How long the server takes for a token.
const PER_TOKEN: Duration = Duration::from_millis(30);

const ANSWER: &str = "An event stream is a response that does not end: the server writes blocks of lines, \
    one per event, and the client handles each of them when its empty line arrives. 流れ続ける応答。\n";

/// The part of a chunk that this program reads.
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
    let question = std::env::args().nth(1).unwrap_or_else(|| "What is an event stream?".into());
    chat(&question, &mut stdout()).await
}

/// Asks a server on loopback.
pub(crate) async fn chat(question: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::select! {
        answered = ask(address, question, out) => answered,
        served = serve(listener) => served,
    }
}

/// Asks, and writes the answer token by token.
async fn ask(address: SocketAddr, question: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let body = json!({ "stream": true, "messages": [{ "role": "user", "content": question }] });
    let request = reqwest::Client::new()
        .post(format!("http://{address}/v1/chat/completions"))
        .header("content-type", "application/json")
        .body(body.to_string());
    // A completion costs money; a client that reconnects would buy it again.
    let mut source = EventSource::from_request(request).backoff(Backoff::new().max_attempts(0)).build()?;
    writeln!(out, "> {question}")?;
    let mut chunks = source.events().json_until_done::<Chunk>();
    while let Some(chunk) = chunks.try_next().await.context("the answer broke off")? {
        for choice in chunk.choices {
            write!(out, "{}", choice.delta.content)?;
        }
        out.flush()?;
    }
    Ok(())
}

async fn serve(listener: TcpListener) -> anyhow::Result<()> {
    loop {
        let io = TokioIo::new(listener.accept().await?.0);
        // A client that goes away in the middle of an answer is none of the server's errors.
        tokio::spawn(async move { http1::Builder::new().serve_connection(io, service_fn(answer)).await });
    }
}

/// A response with the answer, or with the reason why there is none.
type Answer = Response<Either<SseBody<Blocks>, Full<Bytes>>>;
type Blocks = std::pin::Pin<Box<dyn Stream<Item = Result<Block<'static>, Infallible>> + Send>>;

async fn answer(request: Request<Incoming>) -> anyhow::Result<Answer> {
    let body = request.into_body().collect().await?.to_bytes();
    let streams = serde_json::from_slice::<serde_json::Value>(&body).is_ok_and(|body| body["stream"] == true);
    if !streams {
        let mut refusal = Response::new(Either::Right(Full::from("only streaming is offered\n")));
        *refusal.status_mut() = http::StatusCode::BAD_REQUEST;
        return Ok(refusal);
    }
    Ok(SseBody::new(blocks()).into_response().map(Either::Left))
}

/// One block per token, then the mark that ends the stream.
fn blocks() -> Blocks {
    let tokens = ANSWER.split_inclusive(' ').map(|token| {
        Block::new().data(json!({ "choices": [{ "delta": { "content": token } }] }).to_string())
    });
    let blocks = tokens.chain([Block::new().data("[DONE]")]);
    Box::pin(stream::iter(blocks).then(|block| async {
        tokio::time::sleep(PER_TOKEN).await;
        Ok(block)
    }))
}
