//! One question, one answer, with the pages that it rests on.
//!
//! Run it with a question: `cargo run --example perplexity_chat -- "Why is the sky blue?"`. With
//! `PERPLEXITY_API_KEY` it asks the real API, otherwise a server in this process that repeats the question.
#![allow(clippy::print_stdout, reason = "a chat prints its answer")]

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
