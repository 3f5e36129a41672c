//! Asks a question that takes minutes to answer, as an asynchronous job.
//!
//! `cargo run --example perplexity_async -- "How did tea spread?"`. With `PERPLEXITY_API_KEY` it calls
//! the real API (deep research is billed), otherwise a mock server in this process, which completes the job
//! after two polls.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "prints the status and the result")]

mod perplexity_api;

use std::time::Duration;

use anyhow::ensure;
use tightwire_perplexity::Client;
use tightwire_perplexity::types::async_chat::{AsyncCompletion, Request, Status};

/// Creates a job and polls it with increasing delays, starting with `interval`.
pub(crate) async fn research(
    client: &Client,
    question: &str,
    interval: Duration,
) -> anyhow::Result<AsyncCompletion> {
    // The idempotency key avoids a second job if the request is repeated after a lost connection.
    let request = Request::ask("sonar-deep-research", question).idempotency_key(question);
    let job = client.async_chat().create(&request).await?;
    let waiting = client.async_chat().wait(&job.id).interval(interval).deadline(Duration::from_secs(1800));
    let done = waiting.on_progress(|job| eprintln!("{}: {}", job.id, job.status)).await?;
    let reason = done.error_message.as_deref().unwrap_or("no reason given");
    ensure!(done.status == Status::Completed, "the question was not answered: {reason}");
    Ok(done)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "How did tea spread?".into());
    let (client, _server) = perplexity_api::connect().await?;
    let done = research(&client, &question, Duration::from_secs(1)).await?;
    let answer = done.response.as_ref().and_then(|answer| answer.text());
    println!("{}", answer.unwrap_or_default());
    Ok(())
}
