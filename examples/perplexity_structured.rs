//! Gets an answer as a Rust value: the model's output follows a JSON schema derived from the type.
//!
//! `cargo run --example perplexity_structured`. With `PERPLEXITY_API_KEY` it calls the real API, otherwise a
//! mock server in this process, which generates sample values for the schema.
#![allow(clippy::print_stdout, reason = "prints the result")]

mod perplexity_api;

use anyhow::Context as _;
use serde::Deserialize;
use tightwire_perplexity::Client;
use tightwire_perplexity::types::chat::{JsonSchema, Request};

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

pub(crate) async fn moons(client: &Client, planet: &str) -> anyhow::Result<Moons> {
    let format = JsonSchema::new(schemars::schema_for!(Moons)).name("moons").strict(true);
    let request = Request::new("sonar", format!("Which are the three largest moons of {planet}?"))
        .response_format(format);
    let answer = client.chat().create(&request).await?;
    tightwire_json::from_str(answer.text().unwrap_or_default())
        .context("the answer does not match the schema")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let planet = std::env::args().nth(1).unwrap_or_else(|| "Jupiter".into());
    let (client, _server) = perplexity_api::connect().await?;
    let moons = moons(&client, &planet).await?;
    println!("{}:", moons.planet);
    for moon in moons.moons {
        let year = moon.discovered.map(|year| format!(", found in {year}")).unwrap_or_default();
        println!("- {}, {} km{year}", moon.name, moon.diameter);
    }
    Ok(())
}
