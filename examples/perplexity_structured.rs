//! Gets an answer as a Rust value: the model's output follows a JSON schema derived from the type. Prints its elements
//! while they arrive. `Responses::parse` does the same without a stream.
//!
//! `cargo run --example perplexity_structured`. With `PERPLEXITY_API_KEY` it calls the real API, otherwise a
//! mock server in this process, which generates sample values for the schema.
#![allow(clippy::print_stdout, reason = "prints the result")]

mod perplexity_api;

use anyhow::Context as _;
use serde::Deserialize;
use tightwire_json::partial::Parser;
use tightwire_perplexity::Client;
use tightwire_perplexity::types::chat::JsonSchema;
use tightwire_perplexity::types::responses::{Request, WebSearch};

/// The requested value. The model receives the doc comments as descriptions.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
pub(crate) struct Moons {
    /// The planet that the moons belong to.
    pub(crate) planet: String,
    /// The largest moons first.
    pub(crate) moons: Vec<Moon>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
pub(crate) struct Moon {
    pub(crate) name: String,
    /// Diameter in kilometres.
    pub(crate) diameter: f64,
    /// Year of the discovery, if known.
    pub(crate) discovered: Option<i32>,
}

/// Calls `progress` with each complete moon, and returns the whole answer.
pub(crate) async fn moons(
    client: &Client,
    planet: &str,
    mut progress: impl FnMut(&tightwire_json::Value),
) -> anyhow::Result<Moons> {
    let format = JsonSchema::of::<Moons>()?.strict(true);
    let request = Request::new("perplexity/sonar", format!("Which are the three largest moons of {planet}?"))
        .response_format(format)
        .tools([WebSearch::new()]);
    let mut stream = client.responses().stream(&request).await?.accumulating();
    let mut complete = 0;
    while let Some(event) = stream.next().await {
        event?;
        while let Some(moon) =
            stream.accumulator().partial_output()?.and_then(|parser| final_moon(parser, complete))
        {
            progress(moon);
            complete += 1;
        }
    }
    let value = stream.accumulator().finish_output()?.context("there is no answer")?;
    tightwire_json::from_value(value).context("the answer does not match the schema")
}

/// Returns an element of the list if it cannot change any more.
fn final_moon(parser: &Parser, index: usize) -> Option<&tightwire_json::Value> {
    let pointer = format!("/moons/{index}");
    parser.is_final(&pointer).then(|| parser.value()?.pointer(&pointer))?
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let planet = std::env::args().nth(1).unwrap_or_else(|| "Jupiter".into());
    let (client, _server) = perplexity_api::connect().await?;
    let moons = moons(&client, &planet, |moon| println!("received: {moon}")).await?;
    println!("{}:", moons.planet);
    for moon in moons.moons {
        let year = moon.discovered.map(|year| format!(", found in {year}")).unwrap_or_default();
        println!("- {}, {} km{year}", moon.name, moon.diameter);
    }
    Ok(())
}
