//! Copies files of a package index into a proxy's cache folder, for use without a network.
//!
//! `cargo run -p examples --example pypi_proxy_offline -- INDEX FOLDER FILE...` downloads the files named in a lock
//! file. Then `pypi-proxy serve --cache-dir FOLDER` serves them to installers. Without arguments it demonstrates both
//! with a local index that stops in between.
#![allow(clippy::print_stdout, reason = "prints its result")]

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use axum::response::IntoResponse as _;
use http::{Request, header};
use http_body_util::BodyExt as _;
use pypi_proxy::page_cache::{self, PageCache};
use pypi_proxy::serve::{self, Proxy};
use pypi_proxy::store::{self, Store};
use pypi_proxy::upstream::{self, Upstream};
use tightwire_json::json;
use tokio::net::TcpListener;

const FILE: &str = "demo-1.0-py3-none-any.whl";
const CONTENT: &str = "Not a wheel, but taken along as one.\n";
/// Hash of the content, which the proxy verifies.
const SHA256: &str = "7b278bc03a6b2bd854fd4d75ab821e51d9533ce2d002533891e92c9fc4dda1db";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [index, folder, files @ ..] = &arguments[..] else {
        let folder = tempfile::tempdir()?;
        let [with_index, without_index] = show(folder.path()).await?;
        println!("{FILE}: {with_index} bytes; without the index: {without_index} bytes");
        return Ok(());
    };
    let proxy = proxy(index, folder.as_ref())?;
    for file in files {
        println!("{file}: {} bytes", download(&proxy, file).await?);
    }
    Ok(())
}

fn proxy(index: &str, folder: &Path) -> Result<Proxy> {
    let upstreams = vec![Arc::new(Upstream::new(upstream::Config::new(index)?)?)];
    let store = Store::open(store::Config::new(folder))?;
    let config = page_cache::Config { dir: Some(store.pages_dir()), ..page_cache::Config::default() };
    let pages = PageCache::new(upstreams.clone(), config);
    Ok(Proxy::new(upstreams, pages, store, serve::Config::default()))
}

/// Requests a file like an installer and returns its length.
async fn download(proxy: &Proxy, file: &str) -> Result<usize> {
    let (project, _) = file.split_once('-').context("the file name does not start with the project")?;
    let request = Request::get(format!("/simple/{project}/{file}")).body(())?;
    let response = proxy.handle(&request).await;
    ensure!(response.status().is_success(), "{file}: {}", response.status());
    let (mut body, mut length) = (response.into_body(), 0);
    while let Some(frame) = body.frame().await {
        length += frame?.data_ref().map_or(0, bytes::Bytes::len);
    }
    Ok(length)
}

/// Downloads a file from an index on loopback, and again after the index has stopped.
pub(crate) async fn show(folder: &Path) -> Result<[usize; 2]> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}/simple/", listener.local_addr()?);
    let index = tokio::spawn(axum::serve(listener, index()).into_future());
    let with_index = download(&proxy(&url, folder)?, FILE).await?;
    index.abort();
    ensure!(index.await.is_err(), "the index has ended early");
    Ok([with_index, download(&proxy(&url, folder)?, FILE).await?])
}

/// Index with one project.
fn index() -> axum::Router {
    let page = json!({
        "meta": {"api-version": "1.0"}, "name": "demo",
        "files": [{"filename": FILE, "url": format!("/files/{FILE}"), "hashes": {"sha256": SHA256}}],
    });
    let respond = move || async move {
        ([(header::CONTENT_TYPE, "application/vnd.pypi.simple.v1+json")], page.to_string()).into_response()
    };
    axum::Router::new()
        .route("/simple/demo/", axum::routing::get(respond))
        .route(&format!("/files/{FILE}"), axum::routing::get(|| async { CONTENT }))
}
