//! Asks a question that takes minutes to answer, as a run in the background.
//!
//! `cargo run --example perplexity_background -- "How did tea spread?"`. With `PERPLEXITY_API_KEY` it calls
//! the real API (research is billed), otherwise a mock server in this process, which completes the run
//! after two polls.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "prints the status and the result")]

mod perplexity_api;

use std::time::Duration;

use tightwire_perplexity::Client;
use tightwire_perplexity::types::responses::{Effort, Request, Response};

/// Starts a run and polls it with increasing delays, starting with `interval`.
pub(crate) async fn research(
    client: &Client,
    question: &str,
    interval: Duration,
) -> anyhow::Result<Response> {
    let request = Request::with_effort(Effort::High, question).background(true);
    let run = client.responses().create(&request).await?;
    let waiting = client.responses().wait(&run.id).interval(interval).deadline(Duration::from_secs(1800));
    let done = waiting.on_progress(|run| eprintln!("{}: {}", run.id, run.status)).await?;
    Ok(done.into_result()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "How did tea spread?".into());
    let (client, _server) = perplexity_api::connect().await?;
    let done = research(&client, &question, Duration::from_secs(1)).await?;
    println!("{}", done.output_text());
    Ok(())
}
