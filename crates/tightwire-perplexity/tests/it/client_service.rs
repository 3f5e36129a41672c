//! HTTP clients other than reqwest, as tower services: hyper-util's client over loopback, and services without a network.
#![cfg(feature = "client")]

use std::convert::Infallible;
use std::future::{pending, ready};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use http::{Method, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tightwire_json::json;
use tightwire_perplexity::retry::{Jitter, RetryPolicy};
use tightwire_perplexity::types::{chat, files};
use tightwire_perplexity::{Client, ClientBuilder, TimeoutPhase};
use tightwire_perplexity_mock::{Mock, MockResponse, Rule, Scenario};
use tokio::net::TcpStream;
use tower::{BoxError, service_fn};

use crate::support::{KEY, chain, get, refusing};

fn hyper() -> legacy::Client<HttpConnector, reqwest::Body> {
    legacy::Client::builder(TokioExecutor::new()).build_http()
}

fn builder(url: impl Into<String>) -> ClientBuilder {
    let policy =
        RetryPolicy { initial_delay: Duration::from_millis(1), jitter: Jitter::None, ..RetryPolicy::new() };
    Client::builder().without_environment().api_key(KEY).base_url(url).retry_policy(policy)
}

async fn start(rule: Rule) -> (Mock, Client) {
    let mock = Mock::start(Scenario::api().chat(true).rule(rule)).await.unwrap();
    let client = builder(mock.url()).service(hyper()).build().unwrap();
    (mock, client)
}

fn ok() -> MockResponse {
    MockResponse::json(&json!({"status": "ok"}))
}

#[tokio::test]
async fn calls_streams_and_downloads() {
    let (mock, client) = start(Rule::new("/x").respond(MockResponse::status(503)).respond(ok())).await;
    let response = get(&client).query("a", "b c").raw().await.unwrap();
    assert_eq!((response.value()["status"].as_str(), response.head().retries()), (Some("ok"), 1));
    let sent = mock.requests().pop().unwrap();
    assert_eq!(sent.query_value("a").as_deref(), Some("b c"));
    assert_eq!(sent.header("host"), Some(&*mock.address().to_string()));

    let question = chat::Request::new("sonar", "Why is the sky blue?");
    let whole = client.chat().create(&question).await.unwrap();
    let streamed = client.chat().stream(&question).await.unwrap().text().concat().await.unwrap();
    assert_eq!(Some(&*streamed), whole.text());

    let content = "{}\n".repeat(100_000);
    let reports = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&reports);
    let upload = client.files().create(files::Purpose::Batch, "in.jsonl", content.as_bytes());
    let file = upload.on_upload(move |sent, total| log.lock().unwrap().push((sent, total))).await.unwrap();
    let total = mock.requests().pop().unwrap().body.len() as u64;
    assert!(reports.lock().unwrap().ends_with(&[(total, total)]));
    let download = client.files().content(&file.id).await.unwrap();
    assert_eq!(download.content_length(), Some(content.len() as u64));
    assert_eq!(download.bytes(1 << 20).await.unwrap(), content);
    assert_eq!(mock.connection_count(), 1);
}

#[tokio::test]
async fn interrupted_bodies() {
    for fault in [ok().reset_before_head(), ok().reset_at(5), ok().chunked().close_at(5)] {
        let (mock, client) = start(Rule::new("/x").respond(fault.times(1)).respond(ok())).await;
        assert_eq!(get(&client).await.unwrap()["status"], "ok");
        assert_eq!(mock.request_count(), 2);
    }
    let (_mock, client) = start(Rule::new("/x").respond(ok().chunked().close_at(5))).await;
    let mut download = get(&client).download().await.unwrap();
    assert_eq!(download.next().await.unwrap().unwrap().len(), 5);
    let error = download.next().await.unwrap().unwrap_err();
    assert!(error.is_connection(), "{error}");
    assert_eq!(error.status(), Some(http::StatusCode::OK));
    assert!(download.next().await.is_none());
}

#[tokio::test]
async fn body_limits_and_timeouts() {
    let large = MockResponse::bytes("text/plain", "x".repeat(5000));
    let (mock, _) = start(Rule::new("/x").respond(large.times(1)).respond(ok().stall_at(3))).await;
    let client = builder(mock.url()).service(hyper()).max_body_size(4096).build().unwrap();
    assert!(get(&client).await.unwrap_err().is_limit());
    let call = || get(&client).timeout(Duration::from_millis(50)).max_retries(1);
    let error = call().await.unwrap_err();
    assert_eq!((error.timeout_phase(), error.attempts()), (Some(TimeoutPhase::Attempt), 2));
    let error = call().download().await.unwrap().bytes(100).await.unwrap_err();
    assert_eq!(error.timeout_phase(), Some(TimeoutPhase::Idle));
}

/// Errors are classified as those of reqwest, and show neither the URL nor the key.
#[tokio::test]
async fn connection_errors_of_hyper() {
    let (_taken, address) = refusing();
    let stuck = service_fn(|_: Uri| {
        ready(Err::<TokioIo<TcpStream>, _>(io::Error::new(io::ErrorKind::TimedOut, "no answer")))
    });
    let stuck = legacy::Client::builder(TokioExecutor::new()).build(stuck);
    let url = format!("http://user:s3cret@{address}/prefix?token=s3cret");
    for (client, phase) in [
        (builder(&*url).service(hyper()), None),
        (builder(&*url).service(stuck), Some(TimeoutPhase::Connect)),
        // Without TLS.
        (builder(url.replace("http:", "https:")).service(hyper()), None),
    ] {
        let client = client.max_retries(1).build().unwrap();
        let error = get(&client).await.unwrap_err();
        assert_eq!((error.timeout_phase(), error.attempts()), (phase, 2), "{error}");
        assert_eq!(error.is_connection(), phase.is_none(), "{error}");
        let text = chain(&error);
        assert!(!["s3cret", "prefix", "://"].iter().any(|part| text.contains(part)), "{text}");
    }
}

/// A service whose error is a timeout, tokio's or that of I/O.
#[tokio::test(start_paused = true)]
async fn timeouts_of_services() {
    let service = service_fn(|request: http::Request<reqwest::Body>| async move {
        let answer = pending::<http::Response<reqwest::Body>>();
        match request.uri().path() {
            "/elapsed" => Ok(tokio::time::timeout(Duration::from_secs(1), answer).await?),
            _ => Err(BoxError::from(io::Error::from(io::ErrorKind::TimedOut))),
        }
    });
    let client = builder("https://example.org").service(service).max_retries(1).build().unwrap();
    for path in ["/elapsed", "/io"] {
        let error = client.request(Method::GET, path).await.unwrap_err();
        assert_eq!((error.timeout_phase(), error.attempts()), (Some(TimeoutPhase::Attempt), 2), "{path}");
    }
}

/// A body that is not `Sync`, with data other than `Bytes`.
#[tokio::test]
async fn bodies_of_any_type() {
    let service = service_fn(|_: http::Request<reqwest::Body>| {
        let body = Full::new(&b"{\"status\":\"ok\"}"[..]).boxed_unsync();
        ready(Ok::<_, Infallible>(http::Response::new(body)))
    });
    let client = builder("https://example.org").service(service).build().unwrap();
    assert_eq!(get(&client).await.unwrap()["status"], "ok");
    assert_eq!(get(&client).download().await.unwrap().content_length(), Some(15));
}
