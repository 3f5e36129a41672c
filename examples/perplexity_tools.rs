//! A model that calls a function of this program: the loop of calls and results until there is an answer.
//!
//! `cargo run --example perplexity_tools -- Paris`. With `PERPLEXITY_API_KEY` it asks the real API, otherwise a server
//! in this process that makes the arguments up.
#![allow(clippy::print_stdout, reason = "a program tells what it got")]

mod perplexity_api;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use tightwire_perplexity::Client;
use tightwire_perplexity::types::chat::{Function, FunctionCall, Message, Request, Tool, ToolChoice};

/// How often the model may ask for results before it has to answer.
const MAX_ROUNDS: usize = 4;

/// The arguments of the only tool.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct Place {
    /// The name of a city.
    city: String,
}

/// What the tool knows about the weather.
fn weather(place: &Place) -> String {
    format!("22 degrees and sunny in {}", place.city)
}

/// The result of a call. What goes wrong is told to the model, which can mend its arguments.
fn run(call: &FunctionCall) -> String {
    match call.name.as_deref() {
        Some("weather") => match call.parse::<Place>() {
            Ok(place) => weather(&place),
            Err(error) => format!("bad arguments: {error}"),
        },
        name => format!("there is no tool {}", name.unwrap_or_default()),
    }
}

/// The answer to a question, and how many calls it took.
pub(crate) async fn ask(client: &Client, question: &str) -> anyhow::Result<(String, usize)> {
    let schema = schemars::schema_for!(Place);
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
        // With what it has by now, the model decides by itself.
        request = request.tool_choice(ToolChoice::Auto);
    }
    bail!("no answer after {MAX_ROUNDS} rounds")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let city = std::env::args().nth(1).unwrap_or_else(|| "Paris".into());
    let api = perplexity_api::Api::connect().await?;
    let (answer, calls) = ask(&api.client, &format!("How is the weather in {city}?")).await?;
    println!("{answer}\n({calls} calls)");
    Ok(())
}
