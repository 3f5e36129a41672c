//! Searches the web for several queries at once, without a model.
//!
//! `cargo run --example perplexity_search -- "rust async" "rust traits"`. With `PERPLEXITY_API_KEY` it calls
//! the real API, otherwise a mock server in this process, which returns fixed results.
#![allow(clippy::print_stdout, reason = "prints the results")]

mod perplexity_api;

use tightwire_perplexity::Client;
use tightwire_perplexity::types::search::{Request, Response};

pub(crate) async fn search(client: &Client, queries: Vec<String>) -> anyhow::Result<Response> {
    let request = Request::new(queries).max_results(3).max_tokens_per_page(256);
    Ok(client.search().create(&request).await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut queries: Vec<_> = std::env::args().skip(1).collect();
    if queries.is_empty() {
        queries.push("event streams".into());
    }
    let (client, _server) = perplexity_api::connect().await?;
    let response = search(&client, queries).await?;
    for result in response.results.iter() {
        println!("{}\n  {} ({})\n", result.title, result.url, result.date.as_deref().unwrap_or("no date"));
    }
    Ok(())
}
