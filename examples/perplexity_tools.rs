//! Lets the model call a function of this program: runs the calls and returns their results to the model
//! until it answers.
//!
//! `cargo run --example perplexity_tools -- Paris`. With `PERPLEXITY_API_KEY` it calls the real API,
//! otherwise a mock server in this process, which generates sample arguments.
#![allow(clippy::print_stdout, reason = "prints the result")]

mod perplexity_api;

use anyhow::bail;
use serde::Deserialize;
use tightwire_perplexity::Client;
use tightwire_perplexity::types::responses::{FunctionCall, FunctionTool, InputItem, Request, ToolMode};

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
    match (&*call.name, call.parse::<Place>()) {
        ("weather", Ok(place)) => weather(&place),
        ("weather", Err(error)) => format!("bad arguments: {error}"),
        (name, _) => format!("there is no tool {name}"),
    }
}

/// Returns the answer to a question, and the number of tool calls.
pub(crate) async fn ask(client: &Client, question: &str) -> anyhow::Result<(String, usize)> {
    let tool = FunctionTool::of::<Place>("weather")?.description("Tells the weather of a city");
    let mut conversation = vec![InputItem::user(question)];
    let (mut calls, mut choice) = (0, ToolMode::Required);
    for _ in 0..MAX_ROUNDS {
        let request = Request::new("perplexity/sonar", conversation.clone()).tools([tool.clone()]);
        let response = client.responses().create(&request.tool_choice(choice)).await?.into_result()?;
        conversation.extend(response.to_input());
        let results: Vec<_> = response.function_calls().map(|call| call.output(run(call))).collect();
        if results.is_empty() {
            return Ok((response.output_text(), calls));
        }
        calls += results.len();
        conversation.extend(results);
        // From the second round on, the model decides if it needs the tool.
        choice = ToolMode::Auto;
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
