//! Facts about files that HTML pages lack, collected during downloads.

use bytes::Bytes;
use rawzip::CompressionMethod;
use reqwest::Method;
use serde_json::Value;

use crate::support::proxy::{RunningProxy, Setup, start_with};
use crate::support::source::{content, digest_of};
use crate::support::wheel::archive;
use crate::support::{HTML, Server, ranged, respond, until};

const METADATA: &[u8] = b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n";
const WHEEL: &str = "demo-1.0-py3-none-any.whl";
const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

fn wheel() -> Bytes {
    let filler = content(200_000);
    let files = [("demo/data", &*filler), ("demo-1.0.dist-info/METADATA", METADATA)];
    archive(&files, CompressionMethod::STORE).into()
}

/// Index in HTML with a wheel, a source archive, and a file without a hash.
async fn index() -> Server {
    let wheel = wheel();
    Server::start(move |path, headers| {
        let wheel = wheel.clone();
        async move {
            let times = [("last-modified", MODIFIED)];
            match &*path {
                "/simple/demo/" if headers.contains_key("if-none-match") => respond(304, &[], ""),
                "/simple/demo/" => {
                    let (whole, source) = (digest_of(&wheel), digest_of(&content(500)));
                    let page = format!(
                        "<a href='/f/{WHEEL}#sha256={whole}'>a</a><a href='/f/demo-1.0.tar.gz#sha256={source}'>b</a>\
                         <a href='/f/demo-0.9.tar.gz'>c</a>"
                    );
                    respond(200, &[HTML, ("etag", "\"1\"")], page)
                }
                "/f/demo-1.0.tar.gz" => respond(200, &times, content(500)),
                "/f/demo-0.9.tar.gz" => respond(200, &times, content(400)),
                path if path.ends_with(".whl") => ranged(&headers, &times, &wheel),
                _ => respond(404, &[], ""),
            }
        }
    })
    .await
}

/// Starts a proxy that revalidates on every request.
async fn start(index: &Server) -> RunningProxy {
    start_with(&[index.url("/simple")], Setup::always_revalidate).await
}

/// Returns the files of the page in their order.
async fn files(proxy: &RunningProxy) -> [Value; 3] {
    let page = proxy.json("/simple/demo/", &[("accept", "application/vnd.pypi.simple.v1+json")]).await;
    assert_eq!(page["meta"]["api-version"], "1.0");
    [0, 1, 2].map(|at| page["files"][at].clone())
}

/// Waits until the files on the page have changed and returns them.
async fn changed(proxy: &RunningProxy, before: &[Value; 3]) -> [Value; 3] {
    until("the page changes", async || files(proxy).await != *before).await;
    files(proxy).await
}

#[tokio::test]
async fn downloaded_files_get_a_size_and_time() {
    let index = index().await;
    let proxy = start(&index).await;
    let before = files(&proxy).await;
    assert!(before.iter().all(|file| file.get("size").is_none() && file.get("upload-time").is_none()));
    for name in ["demo-0.9.tar.gz", "demo-1.0.tar.gz"] {
        proxy.get(&format!("/simple/demo/{name}"), &[]).await.bytes().await.unwrap();
    }
    let after = changed(&proxy, &before).await;
    assert_eq!((&after[1]["size"], &after[1]["upload-time"]), (&500.into(), &"1994-11-06T08:49:37Z".into()));
    // Without a hash, it could be another file next time.
    assert_eq!(after[2], before[2]);
    // Now the length is known without a request.
    let requests = index.paths().len();
    let head = proxy.send(Method::HEAD, "/simple/demo/demo-1.0.tar.gz", &[]).await;
    assert_eq!(head.headers()["content-length"], "500");
    assert_eq!(index.paths()[requests..], ["/simple/demo/"]);
}

#[tokio::test]
async fn extracted_metadata_has_a_hash() {
    let index = index().await;
    let proxy = start(&index).await;
    let before = files(&proxy).await;
    assert!(before[0].get("core-metadata").is_none());
    let path = format!("/simple/demo/{WHEEL}.metadata");
    assert_eq!(proxy.get(&path, &[]).await.bytes().await.unwrap(), METADATA);
    let after = changed(&proxy, &before).await;
    assert_eq!(after[0]["core-metadata"]["sha256"], digest_of(METADATA).to_string());
    assert_eq!(
        (&after[0]["size"], &after[0]["upload-time"]),
        (&wheel().len().into(), &"1994-11-06T08:49:37Z".into())
    );
    // The metadata is extracted again if it was deleted.
    proxy.store.remove(&digest_of(METADATA)).unwrap();
    assert_eq!(proxy.get(&path, &[]).await.bytes().await.unwrap(), METADATA);
    assert!(!index.paths().iter().any(|path| path.ends_with(".metadata")));
}

#[tokio::test]
async fn a_range_response_reveals_the_length() {
    let index = index().await;
    let proxy = start(&index).await;
    let before = files(&proxy).await;
    let part = proxy.get(&format!("/simple/demo/{WHEEL}"), &[("range", "bytes=-100")]).await;
    assert_eq!((part.status().as_u16(), part.bytes().await.unwrap().len()), (206, 100));
    let after = changed(&proxy, &before).await;
    assert_eq!(after[0]["size"], wheel().len());
}

#[tokio::test]
async fn a_head_request_fetches_one_byte() {
    let index = index().await;
    let proxy = start(&index).await;
    let before = files(&proxy).await;
    let head = proxy.send(Method::HEAD, &format!("/simple/demo/{WHEEL}"), &[]).await;
    assert_eq!(head.headers()["content-length"], wheel().len().to_string().as_str());
    assert_eq!(index.last()["range"], "bytes=0-0");
    let after = changed(&proxy, &before).await;
    assert_eq!(after[0]["size"], wheel().len());
    assert_eq!(proxy.store.stats().fetched, 0);
    let missing = proxy.send(Method::HEAD, "/simple/demo/demo-0.9.tar.gz", &[]).await;
    assert_eq!(missing.headers()["content-length"], "400");
}

#[tokio::test]
async fn file_facts_survive_a_restart() {
    let index = index().await;
    let proxy = start(&index).await;
    let before = files(&proxy).await;
    proxy.get("/simple/demo/demo-1.0.tar.gz", &[]).await.bytes().await.unwrap();
    let after = changed(&proxy, &before).await;
    let facts = proxy.dir().join("cache/pages/facts/demo");
    until("facts are stored", async || facts.exists()).await;
    let again = start(&index).await;
    std::fs::create_dir_all(again.dir().join("cache/pages/facts")).unwrap();
    std::fs::copy(&facts, again.dir().join("cache/pages/facts/demo")).unwrap();
    assert_eq!(files(&again).await, after);
    // Purging removes it.
    proxy.send(Method::DELETE, "/cache/demo", &[]).await;
    assert!(!facts.exists());
}
