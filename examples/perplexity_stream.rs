//! Prints an answer while it arrives, followed by its sources and cost.
//!
//! `cargo run --example perplexity_stream -- "Why is the sky blue?"`. With `PERPLEXITY_API_KEY` it calls the
//! real API, otherwise a mock server in this process, which repeats the question.
#![allow(clippy::print_stdout, reason = "prints the answer")]

mod perplexity_api;

use std::io::{Write, stdout};

use tightwire_perplexity::Client;
use tightwire_perplexity::types::responses::{Request, Response, WebSearch};

/// Writes the answer while it arrives, and returns the complete response.
pub(crate) async fn ask(client: &Client, question: &str, out: &mut impl Write) -> anyhow::Result<Response> {
    let request = Request::new("perplexity/sonar", question).tools([WebSearch::new()]);
    let mut stream = client.responses().stream(&request).await?.accumulating();
    while let Some(event) = stream.next().await {
        write!(out, "{}", event?.delta_text().unwrap_or_default())?;
        out.flush()?;
    }
    writeln!(out)?;
    Ok(stream.finish().await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "Why is the sky blue?".into());
    let (client, _server) = perplexity_api::connect().await?;
    let answer = ask(&client, &question, &mut stdout()).await?;
    for page in answer.sources() {
        println!("- {}", page.url);
    }
    if let Some(usage) = answer.usage {
        let price = usage.cost.map(|cost| format!(", {:.4} USD", cost.total_cost)).unwrap_or_default();
        println!("({} tokens{price})", usage.total_tokens);
    }
    Ok(())
}
