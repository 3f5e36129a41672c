//! Test of [`SseBody`] with the `EventSource` of a browser: it receives events and resumes after an aborted connection.
//!
//! Requires Chromium: `chromium` on the path, or the program in the environment variable `CHROMIUM`. Otherwise the test
//! prints that it was skipped.
#![cfg(feature = "body")]

use std::convert::Infallible;
use std::future::{pending, ready};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use test_support::optional;
use tightwire_sse::{Block, SseBody};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};

/// Timeout of the whole test. The browser starts slowly on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Page that records the events of `EventSource` and posts them after the last one.
const PAGE: &str = r#"<!doctype html><meta charset="utf-8"><title>EventSource</title><script>
const seen = [];
const source = new EventSource("/events");
source.onopen = () => seen.push({ open: source.readyState });
source.onerror = () => seen.push({ error: source.readyState });
for (const type of ["message", "greeting", "überraschung"]) {
    source.addEventListener(type, event => seen.push({ type, data: event.data, id: event.lastEventId }));
}
source.addEventListener("pause", () => fetch("/break", { method: "POST" }));
source.addEventListener("end", () => {
    source.close();
    fetch("/seen", { method: "POST", body: JSON.stringify(seen) });
});
</script>"#;

type Body = UnsyncBoxBody<Bytes, tightwire_sse::Error>;

/// Requests of the browser.
#[derive(Default)]
struct Log {
    /// The `Last-Event-ID` and `Accept` headers of each request for events.
    requests: Mutex<Vec<(Option<Bytes>, Option<Bytes>)>>,
    /// Notified when the second stream may be aborted.
    may_abort: Arc<Notify>,
}

#[tokio::test]
async fn a_browser_receives_events_and_resumes() {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let Some(program) = named.or_else(|| optional::program("chromium")) else {
        optional::skip("a_browser_receives_events_and_resumes, because Chromium is not available");
        return;
    };
    let log = Arc::new(Log::default());
    let (seen_sender, mut seen) = mpsc::unbounded_channel();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let served = Arc::clone(&log);
    let server = tokio::spawn(async move {
        loop {
            let io = TokioIo::new(listener.accept().await.unwrap().0);
            let (log, seen) = (Arc::clone(&served), seen_sender.clone());
            let service = service_fn(move |request| respond(request, Arc::clone(&log), seen.clone()));
            // The second stream is aborted intentionally.
            tokio::spawn(async move { http1::Builder::new().serve_connection(io, service).await });
        }
    });

    let browser = Browser::start(program, &url);
    let received = tokio::select! {
        received = tokio::time::timeout(PATIENCE, seen.recv()) => received,
        ended = server => panic!("the server ended: {ended:?}"),
    };
    drop(browser);

    let received: Value = received.expect("the browser reports in time").expect("the server runs");
    let event = |kind: &str, data: &str, id: &str| json!({ "type": kind, "data": data, "id": id });
    let (connecting, open) = (json!({ "error": 0 }), json!({ "open": 1 }));
    assert_eq!(
        received,
        json!([
            open,
            event("message", "plain", ""),
            event("greeting", "first line\n\n third line", ""),
            event("überraschung", "流れ 😀\u{0}\u{feff}", "1"),
            event("message", "", "1"),
            event("message", " {\"a\": \"b: c\"}\n", "é…2"),
            connecting,
            open,
            event("message", "resumed", "é…2"),
            event("message", "forgotten", ""),
            connecting,
            open,
        ])
    );
    let accept = || Some(Bytes::from_static(b"text/event-stream"));
    let requests = log.requests.lock().unwrap();
    let expected =
        [(None, accept()), (Some(Bytes::from_static("é…2".as_bytes())), accept()), (None, accept())];
    assert_eq!(*requests, expected);
}

async fn respond(
    request: Request<Incoming>,
    log: Arc<Log>,
    seen: mpsc::UnboundedSender<Value>,
) -> io::Result<Response<Body>> {
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => {
            let page = Response::builder().header("content-type", "text/html; charset=utf-8");
            Ok(page.body(full(PAGE)).unwrap())
        }
        (&Method::GET, "/events") => {
            let header =
                |name| request.headers().get(name).map(|value| Bytes::copy_from_slice(value.as_bytes()));
            let mut requests = log.requests.lock().unwrap();
            requests.push((header("last-event-id"), header("accept")));
            Ok(events(requests.len(), Arc::clone(&log.may_abort)))
        }
        (&Method::POST, "/break") => {
            log.may_abort.notify_one();
            Ok(Response::new(full("")))
        }
        (&Method::POST, "/seen") => {
            let body = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
            seen.send(serde_json::from_slice(&body)?).map_err(io::Error::other)?;
            Ok(Response::new(full("")))
        }
        // For example the icon of the page.
        _ => {
            let mut response = Response::new(full(""));
            *response.status_mut() = StatusCode::NOT_FOUND;
            Ok(response)
        }
    }
}

fn full(text: &'static str) -> Body {
    Full::from(text).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// Returns the stream of the n-th connection, counted from 1.
fn events(connection: usize, may_abort: Arc<Notify>) -> Response<Body> {
    let blocks = match connection {
        // Ends regularly.
        1 => vec![
            Block::new().comment("hello\nbrowser").retry(Duration::from_millis(50)),
            Block::new().data("plain"),
            Block::new().comment("typed").event("greeting").data("first line\r\n\r third line"),
            Block::new().event("überraschung").id("1").data("流れ 😀\u{0}\u{feff}"),
            Block::new().data(""),
            Block::new().id("é…2").data(" {\"a\": \"b: c\"}\n"),
            Block::new().event("greeting"),
        ],
        // Aborts within the response after the browser has received this part.
        2 => vec![
            Block::new().data("resumed"),
            Block::new().id("").data("forgotten"),
            Block::new().event("pause").data(""),
        ],
        _ => vec![Block::new().event("end").data("")],
    };
    let end = async move {
        match connection {
            1 => None,
            2 => {
                may_abort.notified().await;
                Some(Err(io::Error::other("broken by the test")))
            }
            _ => pending().await,
        }
    };
    let blocks = stream::iter(blocks).map(Ok).chain(stream::once(end).filter_map(ready));
    SseBody::new(blocks).into_response().map(BodyExt::boxed_unsync)
}

/// Headless browser with a temporary profile. Dropping it ends the browser and deletes the profile.
struct Browser {
    process: Child,
    profile: PathBuf,
}

impl Browser {
    fn start(program: PathBuf, url: &str) -> Self {
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{}", std::process::id()));
        let mut command = Command::new(program);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let process = command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .arg(format!("--user-data-dir={}", profile.display()))
            // Without a debugging port, headless Chromium exits when the page has loaded.
            .arg("--remote-debugging-port=0")
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium starts");
        Self { process, profile }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser consists of several processes, which all write into the profile.
        #[cfg(unix)]
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.process.id())]).status();
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
