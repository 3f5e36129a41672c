//! Uploads a file of batch requests, with a progress bar.
//!
//! `cargo run --example perplexity_upload -- requests.jsonl`. With `PERPLEXITY_API_KEY` it calls the real API, otherwise a
//! mock server in this process. Without a file it uploads a sample.
#![allow(clippy::print_stdout, reason = "prints the result")]

mod perplexity_api;

use std::io::Write as _;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use tightwire_perplexity::Client;
use tightwire_perplexity::types::files::{FileObject, Purpose};

/// Uploads a file and calls `progress` with the bytes sent so far and the total.
pub(crate) async fn upload(
    client: &Client,
    path: &Path,
    progress: impl Fn(u64, u64) + Send + Sync + 'static,
) -> anyhow::Result<FileObject> {
    Ok(client.files().create_from_path(Purpose::Batch, path).on_upload(progress).await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut sample = tempfile::Builder::new().suffix(".jsonl").tempfile()?;
    for number in 0..10_000 {
        let body = r#"{"model": "openai/gpt-5", "input": "Hello"}"#;
        writeln!(
            sample,
            r#"{{"custom_id": "{number}", "method": "POST", "url": "/v1/responses", "body": {body}}}"#
        )?;
    }
    let path = std::env::args_os().nth(1).unwrap_or_else(|| sample.path().into());

    let (client, _server) = perplexity_api::connect().await?;
    let style =
        ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")?;
    let bar = ProgressBar::new(0).with_style(style);
    let shown = bar.clone();
    let file = upload(&client, path.as_ref(), move |sent, total| {
        shown.set_length(total);
        shown.set_position(sent);
    })
    .await?;
    bar.finish();
    println!("{}: {} bytes", file.id, file.bytes);
    Ok(())
}
