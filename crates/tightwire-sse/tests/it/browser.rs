//! A browser's `EventSource` receives what [`SseBody`] sends, and resumes where the connection broke.
//!
//! Needs Chromium: `chromium` on the path, or the program that the variable `CHROMIUM` names. Without it the
//! test says that it was skipped.
#![cfg(feature = "body")]

use std::convert::Infallible;
use std::ffi::OsString;
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
use tightwire_sse::{Block, SseBody};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};

/// How long the browser may take for everything. It starts slowly on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Collects what `EventSource` dispatches, and posts it back when the last event is there.
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

/// What the browser sent.
#[derive(Default)]
struct Log {
    /// The `Last-Event-ID` and `Accept` headers of each request for events.
    requests: Mutex<Vec<(Option<Bytes>, Option<Bytes>)>>,
    /// The second stream may break.
    may_break: Arc<Notify>,
}

#[tokio::test]
async fn browser_receives_and_resumes() {
    let Some(program) = chromium() else {
        announce("skipped: browser_receives_and_resumes, for there is no Chromium");
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
            let service = service_fn(move |request| answer(request, Arc::clone(&log), seen.clone()));
            // The second stream is broken off by intention.
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

async fn answer(
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
            Ok(events(requests.len(), Arc::clone(&log.may_break)))
        }
        (&Method::POST, "/break") => {
            log.may_break.notify_one();
            Ok(Response::new(full("")))
        }
        (&Method::POST, "/seen") => {
            let body = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
            seen.send(serde_json::from_slice(&body)?).map_err(io::Error::other)?;
            Ok(Response::new(full("")))
        }
        // The icon of the page.
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

/// The stream for the n-th connection, counted from 1.
fn events(connection: usize, may_break: Arc<Notify>) -> Response<Body> {
    let blocks = match connection {
        // Ends in an orderly way.
        1 => vec![
            Block::new().comment("hello\nbrowser").retry(Duration::from_millis(50)),
            Block::new().data("plain"),
            Block::new().comment("typed").event("greeting").data("first line\r\n\r third line"),
            Block::new().event("überraschung").id("1").data("流れ 😀\u{0}\u{feff}"),
            Block::new().data(""),
            Block::new().id("é…2").data(" {\"a\": \"b: c\"}\n"),
            Block::new().event("greeting"),
        ],
        // Breaks in the middle of the response, once the browser has seen this much of it.
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
                may_break.notified().await;
                Some(Err(io::Error::other("broken by the test")))
            }
            _ => pending().await,
        }
    };
    let blocks = stream::iter(blocks).map(Ok).chain(stream::once(end).filter_map(ready));
    SseBody::new(blocks).into_response().map(BodyExt::boxed_unsync)
}

/// The browser's program, if it can be started.
fn chromium() -> Option<OsString> {
    let program = std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
    let version =
        Command::new(&program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success()).then_some(program)
}

/// Writes past the capture of the test harness, which shows the output of failing tests only.
fn announce(text: &str) {
    use std::io::Write;
    let _ = writeln!(io::stderr(), "{text}");
}

/// A headless browser with a profile of its own, which both end with this value.
struct Browser {
    process: Child,
    profile: PathBuf,
}

impl Browser {
    fn start(program: OsString, url: &str) -> Self {
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{}", std::process::id()));
        let mut command = Command::new(program);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let process = command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .arg(format!("--user-data-dir={}", profile.display()))
            // Headless Chromium goes on after the page has loaded only if something attaches to it.
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
        // The browser is a family of processes, and each of them writes into the profile.
        #[cfg(unix)]
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.process.id())]).status();
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
