//! Injected faults.

use std::time::Duration;

use tightwire_json::json;
use tightwire_perplexity_mock::{Effect, Event, Mock, MockResponse, Position, Rule, Scenario};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support;

const REQUEST: &[u8] = b"GET /x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer k\r\n\r\n";

async fn serving(answer: MockResponse) -> Mock {
    Mock::start(Scenario::rules_only().rule(Rule::new("/x").respond(answer))).await.unwrap()
}

/// Sends one request and reads until the connection ends. Returns the text, and whether the connection was
/// reset.
async fn raw(mock: &Mock) -> (String, bool) {
    let mut stream = TcpStream::connect(mock.address()).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let mut text = Vec::new();
    let ended = stream.read_to_end(&mut text).await;
    let is_reset = ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset);
    (String::from_utf8(text).unwrap(), is_reset)
}

fn body(text: &str) -> &str {
    text.split_once("\r\n\r\n").expect("there is a head").1
}

#[tokio::test]
async fn nothing_is_sent_if_the_connection_ends_before_the_head() {
    for effect in [Effect::Reset, Effect::Close] {
        let mock = serving(MockResponse::status(200).step(Position::Head, effect)).await;
        assert_eq!(raw(&mock).await, (String::new(), effect == Effect::Reset));
        assert_eq!(mock.request_count(), 1);
    }
}

#[tokio::test]
async fn body_ends_at_the_scripted_byte() {
    for byte in 0..5 {
        let answer = || MockResponse::bytes("text/plain", "01234");
        for (answer, resets) in [(answer().reset_at(byte), true), (answer().close_at(byte), false)] {
            let (text, is_reset) = raw(&serving(answer).await).await;
            assert!(text.to_lowercase().contains("content-length: 5\r\n"), "{text}");
            assert_eq!((body(&text), is_reset), (&"01234"[..byte], resets));
        }
    }
}

#[tokio::test]
async fn all_bytes_before_a_close_arrive() {
    let long = "x".repeat(1 << 20);
    let mock = serving(MockResponse::bytes("text/plain", long.clone()).close_at(long.len() - 1)).await;
    assert_eq!(body(&raw(&mock).await.0).len(), long.len() - 1);
}

#[tokio::test]
async fn interrupted_chunked_bodies_have_no_last_chunk() {
    let events = [Event::data("a"), Event::data("b")];
    let mock = serving(MockResponse::events(events).close_at(18)).await;
    let (text, _) = raw(&mock).await;
    assert!(text.ends_with("9\r\ndata: a\n\n\r\n9\r\ndata: b\n\n\r\n"), "{text}");
}

#[tokio::test]
async fn stall_lasts_until_the_client_disconnects() {
    for answer in [
        MockResponse::bytes("text/plain", "01234").stall_at(2),
        MockResponse::status(200).step(Position::Head, Effect::Stall),
    ] {
        let mock = serving(answer).await;
        let mut stream = TcpStream::connect(mock.address()).await.unwrap();
        stream.write_all(REQUEST).await.unwrap();
        mock.wait_for(|counts| counts.requests == 1).await;
        assert_eq!(mock.counts().open, 1);
        drop(stream);
        mock.wait_for(|counts| counts.open == 0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn delays_use_the_runtime_clock() {
    let hour = Duration::from_secs(3600);
    let response = MockResponse::bytes("text/plain", "01")
        .step(Position::Head, Effect::Wait(hour))
        .step(Position::Body(1), Effect::Wait(hour));
    let mock = serving(response).await;
    let start = tokio::time::Instant::now();
    let mut stream = TcpStream::connect(mock.address()).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let mut text = Vec::new();
    while !text.ends_with(b"01") {
        assert_ne!(stream.read_buf(&mut text).await.unwrap(), 0);
    }
    assert!(start.elapsed() >= 2 * hour);
}

#[tokio::test]
async fn content_length_may_be_wrong() {
    let long = serving(MockResponse::bytes("text/plain", "01234").content_length(9)).await;
    let (text, _) = raw(&long).await;
    assert!(text.to_lowercase().contains("content-length: 9\r\n"));
    assert_eq!(body(&text), "01234");

    let (_mock, client) = support::start(
        Scenario::api().chat(true).rule(Rule::new("/**").respond(MockResponse::api().content_length(3))),
    )
    .await;
    assert_eq!(client.get("/v1/models").await.body.len(), 3);
}

#[tokio::test]
async fn bodies_can_be_cut_and_chunked() {
    let answer = MockResponse::bytes("text/plain", "01234").cut(2, Duration::from_millis(1)).chunked();
    let mock = serving(answer.close_at(4)).await;
    assert!(raw(&mock).await.0.ends_with("2\r\n01\r\n2\r\n23\r\n"));
}

#[tokio::test]
async fn rate_limit_errors_end_after_their_count() {
    let rule = Rule::new("/chat/completions")
        .respond(MockResponse::rate_limited(Duration::from_millis(1500)).times(2))
        .respond(MockResponse::api());
    let (mock, client) = support::start(Scenario::api().chat(true).rule(rule)).await;
    for _ in 0..2 {
        let refused = client.post("/chat/completions", &support::hello()).await;
        assert_eq!(refused.status, 429);
        assert_eq!(refused.header("retry-after-ms"), Some("1500"));
        assert_eq!(refused.header("retry-after"), Some("2"));
    }
    assert_eq!(client.post("/chat/completions", &support::hello()).await.status, 200);
    assert_eq!(mock.connection_count(), 1);
}

#[tokio::test]
async fn fault_affects_only_its_connection() {
    let (mock, client) = support::start(Scenario::default().chat(true)).await;
    assert!(client.case("reset-before-head", &support::hello()).await.is_err());
    assert_eq!(client.get("/v1/models").await.status, 200);
    // hyper's pool retries a request on its own if a reused connection was closed; this connection is new.
    assert_eq!(mock.counts().requests, 2);
    assert_eq!(mock.counts().connections, 2);
}

#[tokio::test]
async fn default_scenario_cases_match_their_names() {
    let (_mock, client) = support::start(Scenario::default().chat(true)).await;
    let hello = support::hello();
    for case in
        ["reset-before-head", "close-before-head", "reset-mid-body", "close-mid-body", "length-too-long"]
    {
        assert!(client.case(case, &hello).await.is_err(), "{case}");
    }
    for (case, statuses) in [
        ("rate-limited", &[429_u16, 429, 200, 429][..]),
        ("overloaded", &[503, 503, 200]),
        ("should-retry", &[400, 200, 400]),
        ("should-not-retry", &[500, 500]),
        ("rate-limited-storm", &[429, 429, 429]),
        ("slow-head", &[200]),
        ("slow-body", &[200]),
        ("length-too-short", &[200]),
        ("text", &[200]),
        ("redirect", &[307]),
        ("400-flat", &[400]),
        ("400-string", &[400]),
        ("422-index", &[422]),
        ("500-empty", &[500]),
    ] {
        for status in statuses {
            assert_eq!(client.case(case, &hello).await.unwrap().status, *status, "{case}");
        }
    }
    for status in ["400", "401", "403", "404", "409", "418", "422", "429", "500", "502"] {
        assert_eq!(client.case(status, &hello).await.unwrap().status.as_str(), status);
    }
    assert!(client.case("reset-once", &hello).await.is_err());
    assert_eq!(client.case("reset-once", &hello).await.unwrap().status, 200);
    assert_eq!(client.case("bad-json", &hello).await.unwrap().text(), "{nope");
    let redirected = [("x-mock-case", "redirect")];
    let target = "/chat/completions?redirected=true";
    let followed = client.send("POST", target, &redirected, hello.to_string()).await.unwrap();
    assert_eq!(followed.json()["object"], "chat.completion");
}

#[tokio::test]
async fn default_scenario_streams_contain_their_unusual_events() {
    let (_mock, client) = support::start(Scenario::default().chat(true)).await;
    let mut hello = support::hello();
    hello["stream"] = json!(true);
    for (case, part) in [
        ("stream-ids", "id: 2\nretry: 1000\ndata: {"),
        ("stream-id-only", "\n\nid: 5\n\ndata: {"),
        ("stream-ping", "\n\nevent: ping\n\n"),
        ("stream-comment", ": keepalive\n\n"),
        ("stream-error", "event: error\ndata: {\"error\":"),
        ("stream-error-data", "\n\ndata: {\"error\":"),
        ("stream-bad-json", "data: {oops\n\n"),
        ("stream-no-done", "\"finish_reason\":\"stop\""),
        ("stream-after-done", "data: [DONE]\n\ndata: {"),
        ("stream-named", "event: custom\ndata: {"),
        ("stream-no-role", "data: {\"choices\":[]}"),
        ("stream-crlf", "\r\n\r\ndata: [DONE]\r\n\r\n"),
    ] {
        let answer = client.case(case, &hello).await.unwrap();
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        assert!(answer.text().contains(part), "{case}: {}", answer.text());
    }
    assert!(client.case("stream-reset", &hello).await.is_err());
    let unknown = [("x-mock-case", "stream-unknown-event")];
    let answer = client.send("POST", "/v1/responses", &unknown, "{}").await.unwrap();
    assert!(answer.text().starts_with("event: response.future.thing\ndata: {"));
}
