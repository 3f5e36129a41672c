//! The proxy is killed while a client downloads a file.

use bytes::Bytes;
use tokio::sync::watch;

use crate::clients::sandbox::{Sandbox, Shelf, python, serve};
use crate::support::{JSON, Server, free_address, hashed_page, ranged_by, respond, streamed};

const NAME: &str = "pantry_barrel-1.0-py3-none-any.whl";
const CHUNK: usize = 1 << 16;
/// Bytes of the file that are sent before the gate opens.
const FIRST: usize = 8 << 20;

/// Index with one large file, whose rest is sent when the gate opens.
async fn index(content: Bytes, gate: watch::Receiver<bool>) -> Server {
    let page = Bytes::from(hashed_page([(NAME, content.clone())]));
    Server::start(move |path, headers| {
        let (content, page, gate) = (content.clone(), page.clone(), gate.clone());
        async move {
            if path == "/simple/pantry-barrel/" {
                return respond(200, &[JSON], page);
            }
            if !path.starts_with("/f/") {
                return respond(404, &[], "");
            }
            ranged_by(&headers, &[("etag", "\"barrel\"")], content.len(), |range| {
                let is_part = range.len() < content.len();
                let content = content.clone();
                streamed(futures_util::stream::unfold(range, move |mut rest| {
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
                        Some((Ok(chunk), rest))
                    }
                }))
            })
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_continues_after_the_proxy_restarts() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let content: Bytes = std::fs::read(shelf.file("pantry-barrel", NAME)).unwrap().into();
    for client in ["pip", "uv"] {
        let (open, gate) = watch::channel(false);
        let index = index(content.clone(), gate).await;
        let cache = tempfile::tempdir().unwrap();
        let index_url = index.url("/simple/");
        // The address must not be assigned to another process while the proxy is down.
        let address = free_address().to_string();
        let env = [("PYPI_PROXY_INDEX_URL", &*index_url), ("PYPI_PROXY_LISTEN", &*address)];
        let proxy = serve(cache.path(), &env).await;
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
            serve(cache.path(), &env).await
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
