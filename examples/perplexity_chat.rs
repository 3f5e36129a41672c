//! Asks one question and prints the answer with its sources.
//!
//! `cargo run --example perplexity_chat -- "Why is the sky blue?"`. With `PERPLEXITY_API_KEY` it calls the
//! real API, otherwise a mock server in this process, which repeats the question.
#![allow(clippy::print_stdout, reason = "prints the answer")]

mod perplexity_api;

use tightwire_perplexity::Client;
use tightwire_perplexity::types::chat::{Completion, Message, Request};

pub(crate) async fn ask(client: &Client, question: &str) -> anyhow::Result<Completion> {
    let request =
        Request::new("sonar", [Message::system("Answer in one sentence."), Message::user(question)])
            .temperature(0.2)
            .max_tokens(200);
    Ok(client.chat().create(&request).await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "Why is the sky blue?".into());
    let api = perplexity_api::Api::connect().await?;
    let answer = ask(&api.client, &question).await?;
    println!("{}", answer.text().unwrap_or_default());
    for (index, page) in answer.citations.iter().flatten().enumerate() {
        println!("[{}] {page}", index + 1);
    }
    Ok(())
}
