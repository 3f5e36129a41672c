//! Prints an answer while it is written, and its sources and price afterwards.
//!
//! Run it with a question: `cargo run --example perplexity_stream -- "Why is the sky blue?"`. With
//! `PERPLEXITY_API_KEY` it asks the real API, otherwise a server in this process that repeats the question.
#![allow(clippy::print_stdout, reason = "a chat prints its answer")]

mod perplexity_api;

use std::io::{Write, stdout};

use tightwire_perplexity::Client;
use tightwire_perplexity::types::chat::{Accumulator, Completion, Request, StreamMode};

/// Writes the pieces of the answer as they arrive, and gives the whole.
pub(crate) async fn ask(client: &Client, question: &str, out: &mut impl Write) -> anyhow::Result<Completion> {
    // The parts of this mode do not repeat the text before them.
    let request = Request::new("sonar", question).stream_mode(StreamMode::Concise);
    let mut stream = client.chat().stream(&request).await?;
    let mut whole = Accumulator::new();
    while let Some(part) = stream.next().await {
        let part = part?;
        write!(out, "{}", part.delta().unwrap_or_default())?;
        out.flush()?;
        whole.push(&part);
    }
    writeln!(out)?;
    Ok(whole.finish())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "Why is the sky blue?".into());
    let api = perplexity_api::Api::connect().await?;
    let answer = ask(&api.client, &question, &mut stdout()).await?;
    for page in answer.citations.iter().flatten() {
        println!("- {page}");
    }
    if let Some(usage) = answer.usage {
        let price = usage.cost.map(|cost| format!(", {:.4} USD", cost.total_cost)).unwrap_or_default();
        println!("({} tokens{price})", usage.total_tokens);
    }
    Ok(())
}
