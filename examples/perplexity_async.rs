//! A question that takes minutes, asked in the background.
//!
//! `cargo run --example perplexity_async -- "What is known about tea?"`. With `PERPLEXITY_API_KEY` it asks the real API,
//! where deep research has its price; otherwise a server in this process that is done after two looks.
#![allow(clippy::print_stdout, reason = "a program tells what it got")]

mod perplexity_api;

use std::time::Duration;

use anyhow::ensure;
use tightwire_perplexity::Client;
use tightwire_perplexity::types::async_chat::{AsyncCompletion, Request, Status};

/// Asks, and looks for the answer in growing pauses that begin with `interval`.
pub(crate) async fn research(
    client: &Client,
    question: &str,
    interval: Duration,
) -> anyhow::Result<AsyncCompletion> {
    // Asked again with the same key, as after a lost connection, the question is answered once.
    let request = Request::ask("sonar-deep-research", question).idempotency_key(question);
    let job = client.async_chat().create(&request).await?;
    let done =
        client.async_chat().wait(&job.id).interval(interval).deadline(Duration::from_secs(1800)).await?;
    let reason = done.error_message.as_deref().unwrap_or("no reason given");
    ensure!(done.status == Status::Completed, "the question was not answered: {reason}");
    Ok(done)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "What is known about tea?".into());
    let api = perplexity_api::Api::connect().await?;
    let done = research(&api.client, &question, Duration::from_secs(1)).await?;
    let answer = done.response.as_ref().and_then(|answer| answer.text());
    println!("{}", answer.unwrap_or_default());
    Ok(())
}
