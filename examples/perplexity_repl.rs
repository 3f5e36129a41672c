//! Interactive chat on the command line.
//!
//! `cargo run --example perplexity_repl -- sonar-pro`. With `PERPLEXITY_API_KEY` it calls the real API,
//! otherwise a mock server in this process, which repeats the messages. `/new` clears the conversation,
//! `/model NAME` selects another model, `/quit` or end of input exits.

mod perplexity_api;

use std::io::{Write, stdout};

use tightwire_perplexity::Client;
use tightwire_perplexity::types::chat::{Message, Request};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, BufReader, stdin};

/// Reads lines until the end of input, and writes the answer to each line that is not a command.
pub(crate) async fn talk(
    client: &Client,
    model: &str,
    input: impl AsyncBufRead + Unpin,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut conversation = Request::new(model, Vec::new());
    let mut lines = input.lines();
    loop {
        write!(out, "> ")?;
        out.flush()?;
        let Some(line) = lines.next_line().await? else { break };
        match line.trim() {
            "" => {}
            "/quit" => break,
            "/new" => conversation.messages.clear(),
            command if command.starts_with('/') => match command.strip_prefix("/model ") {
                Some(name) => conversation.model = name.trim().to_owned(),
                None => writeln!(out, "commands: /new, /model NAME, /quit")?,
            },
            question => {
                conversation.messages.push(Message::user(question));
                match answer(client, &conversation, out).await {
                    Ok(text) => conversation.messages.push(Message::assistant(text)),
                    // Remove the unanswered question, so that the conversation stays valid.
                    Err(error) => {
                        conversation.messages.pop();
                        writeln!(out, "\n{error:#}")?;
                    }
                }
            }
        }
    }
    writeln!(out)?;
    Ok(())
}

/// Writes the answer while it arrives, and returns the complete text.
async fn answer(client: &Client, conversation: &Request, out: &mut impl Write) -> anyhow::Result<String> {
    let mut text = client.chat().stream(conversation).await?.text();
    let mut whole = String::new();
    while let Some(piece) = text.next().await {
        let piece = piece?;
        write!(out, "{piece}")?;
        out.flush()?;
        whole += &piece;
    }
    writeln!(out)?;
    Ok(whole)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "sonar".into());
    let (client, _server) = perplexity_api::connect().await?;
    talk(&client, &model, BufReader::new(stdin()), &mut stdout()).await
}
