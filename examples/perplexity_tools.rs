//! Lets the model call a function of this program: runs the calls and returns their results to the model
//! until it answers.
//!
//! `cargo run --example perplexity_tools -- Paris`. With `PERPLEXITY_API_KEY` it calls the real API,
//! otherwise a mock server in this process, which generates sample arguments.
#![allow(clippy::print_stdout, reason = "prints the result")]

mod perplexity_api;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use tightwire_perplexity::Client;
use tightwire_perplexity::types::chat::{Function, FunctionCall, Message, Request, Tool, ToolChoice};

/// Maximum rounds of tool calls before the model must answer.
const MAX_ROUNDS: usize = 4;

/// Arguments of the tool.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct Place {
    /// Name of a city.
    city: String,
}

/// The tool.
fn weather(place: &Place) -> String {
    format!("22 degrees and sunny in {}", place.city)
}

/// Runs a call. Errors are returned to the model, which can then correct its arguments.
fn run(call: &FunctionCall) -> String {
    match call.name.as_deref() {
        Some("weather") => match call.parse::<Place>() {
            Ok(place) => weather(&place),
            Err(error) => format!("bad arguments: {error}"),
        },
        name => format!("there is no tool {}", name.unwrap_or_default()),
    }
}

/// Returns the answer to a question, and the number of tool calls.
pub(crate) async fn ask(client: &Client, question: &str) -> anyhow::Result<(String, usize)> {
    let schema = tightwire_json::to_value(schemars::schema_for!(Place))?;
    let tool = Tool::function(Function::new("weather", "Tells the weather of a city", schema));
    let mut request = Request::new("sonar-pro", question).tools([tool]).tool_choice(ToolChoice::Required);
    let mut calls = 0;
    for _ in 0..MAX_ROUNDS {
        let answer = client.chat().create(&request).await?;
        let message = answer.message().context("there is no message")?.clone();
        let wanted = message.tool_calls.clone().unwrap_or_default();
        if wanted.is_empty() {
            return Ok((message.text().unwrap_or_default().to_owned(), calls));
        }
        request.messages.push(message);
        for call in wanted {
            calls += 1;
            let result = call.function.as_ref().map(run).unwrap_or_default();
            request.messages.push(Message::tool(call.id.unwrap_or_default(), result));
        }
        // From the second round on, the model decides if it needs the tool.
        request = request.tool_choice(ToolChoice::Auto);
    }
    bail!("no answer after {MAX_ROUNDS} rounds")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let city = std::env::args().nth(1).unwrap_or_else(|| "Paris".into());
    let (client, _server) = perplexity_api::connect().await?;
    let (answer, calls) = ask(&client, &format!("How is the weather in {city}?")).await?;
    println!("{answer}\n({calls} calls)");
    Ok(())
}
