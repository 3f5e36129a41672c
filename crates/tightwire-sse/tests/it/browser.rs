//! Test of [`SseBody`] with the `EventSource` of a browser: it receives events and resumes after an aborted connection.
//!
//! Requires Chromium: `chromium` on the path, or the program in the environment variable `CHROMIUM`. Otherwise the test
//! prints that it was skipped.
#![cfg(feature = "body")]

use std::future::{pending, ready};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{Html, Response};
use axum::routing::{get, post};
use futures_util::{StreamExt, stream};
use http::HeaderMap;
use serde_json::{Value, json};
use test_support::optional;
use tightwire_sse::{SseBody, SseEvent};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};

/// Timeout of the whole test. The browser starts slowly on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(90);

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

/// Requests of the browser.
struct Log {
    /// The `Last-Event-ID` and `Accept` headers of each request for events.
    requests: Mutex<Vec<(Option<Bytes>, Option<Bytes>)>>,
    /// Notified when the second stream may be aborted.
    may_abort: Notify,
    seen: mpsc::UnboundedSender<Value>,
}

#[tokio::test]
async fn a_browser_receives_events_and_resumes() {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let Some(program) = named.or_else(|| optional::program("chromium")) else {
        optional::skip("a_browser_receives_events_and_resumes, because Chromium is not available");
        return;
    };
    let (sender, mut seen) = mpsc::unbounded_channel();
    let log = Arc::new(Log { requests: Mutex::default(), may_abort: Notify::new(), seen: sender });
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let routes = Router::new()
        .route("/", get(|| async { Html(PAGE) }))
        .route("/events", get(events))
        .route("/break", post(|State(log): State<Arc<Log>>| async move { log.may_abort.notify_one() }))
        .route("/seen", post(report))
        .with_state(Arc::clone(&log));

    let browser = Browser::start(program, &url);
    let received = tokio::select! {
        received = tokio::time::timeout(TIMEOUT, seen.recv()) => received,
        ended = axum::serve(listener, routes) => panic!("the server ended: {ended:?}"),
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

async fn report(State(log): State<Arc<Log>>, body: Bytes) {
    log.seen.send(serde_json::from_slice(&body).unwrap()).unwrap();
}

/// Returns the stream of the next connection.
async fn events(State(log): State<Arc<Log>>, headers: HeaderMap) -> Response {
    let header = |name| headers.get(name).map(|value| Bytes::copy_from_slice(value.as_bytes()));
    let connection = {
        let mut requests = log.requests.lock().unwrap();
        requests.push((header("last-event-id"), header("accept")));
        requests.len()
    };
    let events = match connection {
        // Ends regularly.
        1 => vec![
            SseEvent::new().comment("hello\nbrowser").retry(Duration::from_millis(50)),
            SseEvent::new().data("plain"),
            SseEvent::new().comment("typed").event("greeting").data("first line\r\n\r third line"),
            SseEvent::new().event("überraschung").id("1").data("流れ 😀\u{0}\u{feff}"),
            SseEvent::new().data(""),
            SseEvent::new().id("é…2").data(" {\"a\": \"b: c\"}\n"),
            SseEvent::new().event("greeting"),
        ],
        // Aborts within the response after the browser has received this part.
        2 => vec![
            SseEvent::new().data("resumed"),
            SseEvent::new().id("").data("forgotten"),
            SseEvent::new().event("pause").data(""),
        ],
        _ => vec![SseEvent::new().event("end").data("")],
    };
    let end = async move {
        match connection {
            1 => None,
            2 => {
                log.may_abort.notified().await;
                Some(Err(io::Error::other("broken by the test")))
            }
            _ => pending().await,
        }
    };
    let events = stream::iter(events).map(Ok).chain(stream::once(end).filter_map(ready));
    SseBody::new(events).into_response().map(Body::new)
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
