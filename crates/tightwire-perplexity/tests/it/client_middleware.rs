//! Tower services between client and network: rate and concurrency limits, changes of requests and responses.
#![cfg(feature = "client")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use tightwire_perplexity::{Client, ReqwestService, TimeoutPhase, Timeouts};
use tokio::time::Instant;
use tower::buffer::BufferLayer;
use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
use tower::{ServiceBuilder, ServiceExt};

use crate::support;
use crate::support::{Script, Step, get};

fn oks(count: usize) -> Vec<Step> {
    (0..count).map(|_| Step::ok("1")).collect()
}

#[tokio::test(start_paused = true)]
async fn rate_limit_covers_all_calls_and_attempts() {
    let script = Script::new([Step::status(429, &[("retry-after-ms", "0")], "")].into_iter().chain(oks(5)));
    let service = ServiceBuilder::new()
        .layer(BufferLayer::new(16))
        .layer(RateLimitLayer::new(2, Duration::from_secs(1)))
        .service(script.service());
    let client = script.builder().service(service).build().unwrap();
    let other = client.to_builder().max_retries(5).build().unwrap();
    let calls = (0..5).map(|call| get(if call % 2 == 0 { &client } else { &other }).send());
    for answer in join_all(calls).await {
        assert_eq!(answer.unwrap(), 1);
    }
    assert_eq!(script.times(), [0, 0, 1000, 1000, 2000, 2000]);
}

#[tokio::test(start_paused = true)]
async fn concurrency_limit_delays_calls() {
    let steps = (0..4).map(|_| Step::ok("1").after(Duration::from_secs(1)));
    let script = Script::new(steps);
    let service = ServiceBuilder::new().layer(ConcurrencyLimitLayer::new(2)).service(script.service());
    let client = script.builder().service(service).build().unwrap();
    for answer in join_all((0..4).map(|_| get(&client).send())).await {
        assert_eq!(answer.unwrap(), 1);
    }
    assert_eq!(script.times(), [0, 0, 1000, 1000]);
}

/// Waiting for the service is part of an attempt.
#[tokio::test(start_paused = true)]
async fn timeouts_include_waiting_for_the_service() {
    let script = Script::new(oks(2));
    let service = ServiceBuilder::new()
        .layer(BufferLayer::new(16))
        .layer(RateLimitLayer::new(1, Duration::from_secs(60)))
        .service(script.service());
    let client = script.builder().service(service).timeout(Duration::from_secs(5)).max_retries(0);
    let client = client.build().unwrap();
    get(&client).await.unwrap();
    let error = get(&client).await.unwrap_err();
    assert_eq!(error.timeout_phase(), Some(TimeoutPhase::Attempt));
}

#[tokio::test(start_paused = true)]
async fn layers_can_change_requests_and_responses() {
    let statuses = Arc::new(AtomicUsize::new(0));
    let sum = Arc::clone(&statuses);
    let script = Script::new([Step::failed(503), Step::ok("1")]);
    let service = script
        .service()
        .map_request(|mut request: http::Request<reqwest::Body>| {
            request.headers_mut().insert("x-signature", http::HeaderValue::from_static("signed"));
            request
        })
        .map_response(move |response: http::Response<reqwest::Body>| {
            sum.fetch_add(usize::from(response.status().as_u16()), Ordering::Relaxed);
            response
        });
    get(&script.builder().service(service).build().unwrap()).await.unwrap();
    assert!(script.sent().iter().all(|sent| sent.headers["x-signature"] == "signed"));
    assert_eq!(statuses.load(Ordering::Relaxed), 503 + 200, "layers see every attempt");
}

/// Errors below a layer are classified as without the layer.
#[tokio::test]
async fn network_errors_pass_through_layers() {
    let (_taken, address) = support::refusing();
    let http = ReqwestService::from(reqwest::Client::builder().no_proxy().build().unwrap());
    let service = ServiceBuilder::new().layer(BufferLayer::new(1)).service(http);
    let client = Client::builder()
        .without_environment()
        .api_key("key")
        .base_url(format!("http://user:s3cret@{address}"));
    let client = client.service(service).max_retries(1).build().unwrap();
    let error = get(&client).await.unwrap_err();
    assert!(error.is_connection());
    assert_eq!(error.attempts(), 2);
    let text = support::chain(&error);
    assert!(!text.contains("s3cret"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn streams_and_downloads_have_no_attempt_timeout() {
    let timeouts = Timeouts {
        total: None,
        attempt: Some(Duration::from_secs(1)),
        headers: Some(Duration::from_secs(1)),
        idle: Some(Duration::from_secs(10)),
    };
    let (stream, stream_feed) = Step::fed();
    let (file, file_feed) = Step::fed();
    let script = Script::new([stream, file]);
    let client = script.builder().timeouts(timeouts).build().unwrap();
    let mut numbers = get(&client).events::<tightwire_json::Value>().await.unwrap();
    let mut chunks = client.files().content("f").await.unwrap();
    let start = Instant::now();
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_secs(5)).await;
        stream_feed.send("data: 1\n\n");
        file_feed.send("data");
        assert_eq!(numbers.next().await.unwrap().unwrap(), 1);
        assert_eq!(futures_util::StreamExt::next(&mut chunks).await.unwrap().unwrap(), "data");
    }
    assert_eq!(start.elapsed(), Duration::from_secs(100));
    let silence = Instant::now();
    let error = chunks.bytes(100).await.unwrap_err();
    assert_eq!(error.timeout_phase(), Some(TimeoutPhase::Idle));
    assert_eq!(silence.elapsed(), Duration::from_secs(10));
}
