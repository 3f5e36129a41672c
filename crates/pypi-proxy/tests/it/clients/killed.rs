//! The proxy is killed while a client downloads a file.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use tokio::sync::watch;

use crate::clients::sandbox::{Program, Sandbox, Shelf, python};
use crate::support::{JSON, Server, free_address, project_page, requested_range, respond};

const NAME: &str = "pantry_barrel-1.0-py3-none-any.whl";
const CHUNK: usize = 1 << 16;
/// Bytes of the file that are sent before the gate opens.
const FIRST: usize = 8 << 20;

/// Index with one large file, whose rest is sent when the gate opens.
async fn index(content: Bytes, sha256: String, gate: watch::Receiver<bool>) -> Server {
    let page = project_page([serde_json::json!({
        "filename": NAME, "url": format!("../../f/{NAME}"), "hashes": {"sha256": sha256}, "size": content.len(),
    })]);
    let page = Arc::new(page);
    Server::start(move |path, headers| {
        let (content, page, gate) = (content.clone(), page.clone(), gate.clone());
        async move {
            if path == "/simple/pantry-barrel/" {
                return respond(200, &[JSON], page.to_string());
            }
            if !path.starts_with("/f/") {
                return respond(404, &[], "");
            }
            let len = content.len();
            let part = requested_range(&headers, len).unwrap_or(0..len);
            let is_part = part.len() < len;
            let place = format!("bytes {}-{}/{len}", part.start, part.end - 1);
            let response = http::Response::builder()
                .status(if is_part { 206 } else { 200 })
                .header("content-length", part.len())
                .header("etag", "\"barrel\"");
            let response = if is_part { response.header("content-range", place) } else { response };
            let chunks = futures_util::stream::unfold(part, move |mut rest| {
                let (content, mut gate) = (content.clone(), gate.clone());
                async move {
                    if rest.is_empty() {
                        return None;
                    }
                    // The part of the wheel that contains the metadata is not gated.
                    if rest.start >= FIRST && !is_part {
                        gate.wait_for(|is_open| *is_open).await.ok()?;
                    }
                    let end = rest.end.min(rest.start + CHUNK);
                    let chunk = content.slice(rest.start..end);
                    rest.start = end;
                    Some((Ok::<_, std::io::Error>(Frame::data(chunk)), rest))
                }
            });
            response.body(StreamBody::new(chunks).boxed()).unwrap()
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_continues_after_the_proxy_restarts() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let content: Bytes = std::fs::read(shelf.file("pantry-barrel", NAME)).unwrap().into();
    let sha256 = shelf.sha256("pantry-barrel", NAME);
    for client in ["pip", "uv"] {
        let (open, gate) = watch::channel(false);
        let index = index(content.clone(), sha256.clone(), gate).await;
        let cache = tempfile::tempdir().unwrap();
        let index_url = index.url("/simple/");
        // The address must not be assigned to another process while the proxy is down.
        let address = free_address().to_string();
        let env = [("PYPI_PROXY_INDEX_URL", &*index_url), ("PYPI_PROXY_LISTEN", &*address)];
        let proxy = Program::with_cache(cache.path(), false, &env).await;
        let mut sandbox = Sandbox::new(&python).await;
        sandbox.set("UV_HTTP_RETRIES", "10");
        let proxy_url = format!("{}/simple/", proxy.url);
        let mut args = if client == "uv" { vec!["pip"] } else { vec!["--retries=10", "--resume-retries=10"] };
        args.extend(["install", "--index-url", &proxy_url, "pantry-barrel"]);
        let mut installing = std::pin::pin!(sandbox.output(client, &args));
        // Wait until the client has part of the file.
        let waiting = async {
            while sandbox.size() < 1 << 20 {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            (_, text) = &mut installing => panic!("{client}: {text} {:?}", proxy.log.all()),
            () = waiting => {}
        }
        let restarting = async {
            proxy.kill().await;
            open.send(true).unwrap();
            Program::with_cache(cache.path(), false, &env).await
        };
        let ((is_good, text), proxy) = tokio::join!(installing, restarting);
        assert!(is_good, "{client}: {text} {:?}", proxy.log.all());
        // uv starts over.
        let status = if client == "pip" { "\"status\":206" } else { "\"status\":200" };
        let log = proxy.log.all();
        assert!(
            log.iter().any(|line| line.contains("none-any.whl\"") && line.contains(status)),
            "{client}: {log:?}"
        );
        assert_eq!(sandbox.freeze().await, ["pantry-barrel==1.0"]);
        let filling = std::fs::read(sandbox.packages().join("pantry_barrel/filling")).unwrap();
        // The wheel contains the file uncompressed.
        assert!(filling.len() > FIRST && memchr::memmem::find(&content, &filling).is_some());
    }
}
