//! Interactive chat on the command line.
//!
//! `cargo run --example perplexity_repl -- perplexity/sonar`. With `PERPLEXITY_API_KEY` it calls the real API,
//! otherwise a mock server in this process, which repeats the messages. `/new` clears the conversation,
//! `/model NAME` selects another model, `/quit` or end of input exits.

mod perplexity_api;

use std::io::{Write, stdout};

use tightwire_perplexity::Client;
use tightwire_perplexity::types::responses::{InputItem, Request, WebSearch};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, BufReader, stdin};

/// Reads lines until the end of input, and writes the answer to each line that is not a command.
pub(crate) async fn talk(
    client: &Client,
    model: &str,
    input: impl AsyncBufRead + Unpin,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let (mut model, mut conversation) = (model.to_owned(), Vec::new());
    let mut lines = input.lines();
    loop {
        write!(out, "> ")?;
        out.flush()?;
        let Some(line) = lines.next_line().await? else { break };
        match line.trim() {
            "" => {}
            "/quit" => break,
            "/new" => conversation.clear(),
            command if command.starts_with('/') => match command.strip_prefix("/model ") {
                Some(name) => name.trim().clone_into(&mut model),
                None => writeln!(out, "commands: /new, /model NAME, /quit")?,
            },
            question => {
                conversation.push(InputItem::user(question));
                let request = Request::new(&*model, conversation.clone()).tools([WebSearch::new()]);
                match answer(client, &request, out).await {
                    Ok(text) => conversation.push(InputItem::assistant(text)),
                    // Remove the unanswered question, so that the conversation stays valid.
                    Err(error) => {
                        conversation.pop();
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
async fn answer(client: &Client, request: &Request, out: &mut impl Write) -> anyhow::Result<String> {
    let mut text = client.responses().stream(request).await?.text();
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
    let model = std::env::args().nth(1).unwrap_or_else(|| "perplexity/sonar".into());
    let (client, _server) = perplexity_api::connect().await?;
    talk(&client, &model, BufReader::new(stdin()), &mut stdout()).await
}
