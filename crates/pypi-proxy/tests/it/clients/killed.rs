//! The proxy is killed while a client downloads a file.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::clients::sandbox::{Sandbox, Shelf, python, serve};
use crate::support::prelude::*;

const NAME: &str = "pantry_barrel-1.0-py3-none-any.whl";
/// Bytes of the file that are sent before the gate opens.
const FIRST: usize = 8 << 20;

/// Index with one large file, whose rest is sent when the gate opens.
fn index(content: Bytes, gate: Arc<Semaphore>) -> Server {
    let page = Bytes::from(hashed_page([(NAME, content.clone())]));
    Server::start(move |request| match &*request.path {
        "/simple/pantry-barrel/" => respond(200, &[JSON], page.clone()),
        path if path.starts_with("/f/") => {
            let mut steps = ranged(request, &[("etag", "\"barrel\"")], &content);
            // The part of the wheel that contains the metadata is not gated.
            if request.header("range").is_empty() {
                let (first, rest) = (content.slice(..FIRST), content.slice(FIRST..));
                steps.splice(1..2, [Step::Send(first), Step::Gate(gate.clone()), Step::Send(rest)]);
            }
            steps
        }
        _ => respond(404, &[], ""),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_continues_after_the_proxy_restarts() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let content: Bytes = std::fs::read(shelf.file("pantry-barrel", NAME)).unwrap().into();
    for client in ["pip", "uv"] {
        let gate = Arc::new(Semaphore::new(0));
        let index = index(content.clone(), gate.clone());
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
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            (_, text) = &mut installing => panic!("{client}: {text} {:?}", proxy.log.all()),
            () = waiting => {}
        }
        let restarting = async {
            proxy.kill().await;
            gate.add_permits(100);
            serve(cache.path(), &env).await
        };
        let ((is_good, text), proxy) = tokio::join!(installing, restarting);
        assert!(is_good, "{client}: {text} {:?}", proxy.log.all());
        // uv starts over.
        let status = if client == "pip" { "\"status\":206" } else { "\"status\":200" };
        let log = proxy.log.all();
        let is_expected = |line: &String| line.contains("none-any.whl\"") && line.contains(status);
        assert!(log.iter().any(is_expected), "{client}: {log:?}");
        assert_eq!(sandbox.freeze().await, ["pantry-barrel==1.0"]);
        let filling = std::fs::read(sandbox.packages().join("pantry_barrel/filling")).unwrap();
        // The wheel contains the file uncompressed.
        assert!(filling.len() > FIRST && memchr::memmem::find(&content, &filling).is_some());
    }
}
