//! Server: authentication, rules, record, limits, shutdown.

use tightwire_json::json;
use tightwire_perplexity_mock::{Auth, Config, Error, Event, Mock, MockResponse, Rule, Scenario};
use tokio::net::TcpStream;

use crate::support::{Client, hello, start};

#[tokio::test]
async fn requests_without_a_key_get_a_401_page() {
    let (_mock, client) = start(Scenario::api()).await;
    for value in ["", "Bearer", "Bearer  ", "Basic a2V5", "bearer key"] {
        let answer = client.send("GET", "/v1/models", &[("authorization", value)], "").await.unwrap();
        assert_eq!(answer.status, 401, "{value:?}");
        assert_eq!(answer.header("content-type"), Some("text/html"));
        assert!(answer.text().contains("401 Authorization Required"));
    }
}

#[tokio::test]
async fn authentication_can_require_keys_or_be_disabled() {
    let keys = Auth::Keys(vec!["a".into(), "b".into()]);
    for (auth, value, status) in
        [(keys.clone(), "Bearer b", 200), (keys, "Bearer c", 401), (Auth::Off, "", 200)]
    {
        let (_mock, client) = start(Scenario::api().auth(auth)).await;
        let answer = client.send("GET", "/v1/models", &[("authorization", value)], "").await.unwrap();
        assert_eq!(answer.status, status);
    }
}

#[tokio::test]
async fn first_matching_rule_responds() {
    let scenario = Scenario::rules_only()
        .rule(Rule::new("/a").method("POST").respond(MockResponse::status(201)))
        .rule(Rule::new("/a").header("X-Case", "one").respond(MockResponse::status(202)))
        .rule(Rule::new("/a").query("q", "*").respond(MockResponse::status(203)))
        .rule(Rule::new("/b").body_field("/stream", true).respond(MockResponse::events([Event::done()])))
        .rule(Rule::new("/b").respond(MockResponse::json(&json!({"once": null})).times(1)))
        .rule(Rule::new("/b").respond(MockResponse::bytes("text/plain", "then")));
    let (_mock, client) = start(scenario).await;
    assert_eq!(client.post("/a", &json!({})).await.status, 201);
    assert_eq!(client.send("GET", "/a", &[("x-case", "one")], "").await.unwrap().status, 202);
    assert_eq!(client.send("GET", "/a", &[("x-case", "two")], "").await.unwrap().status, 404);
    assert_eq!(client.get("/a?q=").await.status, 203);
    assert_eq!(client.post("/b", &json!({"stream": true})).await.text(), "data: [DONE]\n\n");
    assert_eq!(client.post("/b", &json!({})).await.text(), r#"{"once":null}"#);
    assert_eq!(client.post("/b", &json!({})).await.text(), "then");
}

#[tokio::test]
async fn api_responses_can_be_modified() {
    let answer =
        MockResponse::api().with_status(503).header("x-request-id", "mine").header("retry-after", "0.5");
    let (_mock, client) = start(Scenario::api().rule(Rule::new("/v1/models").respond(answer))).await;
    let answer = client.get("/v1/models").await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("x-request-id"), Some("mine"));
    assert_eq!(answer.headers.get_all("x-request-id").iter().count(), 1);
    assert_eq!(answer.json()["object"], "list");
}

#[tokio::test]
async fn requests_are_recorded_unchanged() {
    let (mock, client) = start(Scenario::api()).await;
    client.post("/chat/completions?a=b%20c%2Cd&e=f", &hello()).await;
    client.delete("/v1/files/x%2Fy").await;
    let requests = mock.take_requests();
    assert_eq!(requests.len(), 2);
    assert_eq!((requests[0].method.as_str(), requests[0].path()), ("POST", "/chat/completions"));
    assert_eq!(requests[0].query_value("a").as_deref(), Some("b c,d"));
    assert_eq!(requests[0].query_value("none"), None);
    assert_eq!(requests[0].header("Authorization"), Some("Bearer test-key"));
    assert_eq!(requests[0].json(), Some(hello()));
    assert_eq!(requests[1].target, "/v1/files/x%2Fy");
    assert_eq!(requests[1].segments(), ["v1", "files", "x/y"]);
    assert_eq!((requests[0].connection, requests[1].connection), (1, 1));
    assert!(mock.requests().is_empty());
    assert_eq!(mock.request_count(), 2);
}

#[tokio::test]
async fn connections_are_counted() {
    let (mock, client) = start(Scenario::api()).await;
    for _ in 0..3 {
        client.get("/v1/models").await;
    }
    assert_eq!(mock.connection_count(), 1);
    Client::new(&mock).get("/v1/models").await;
    assert_eq!(mock.connection_count(), 2);
    drop(client);
    let counts = mock.wait_for(|counts| counts.open == 0).await;
    assert_eq!((counts.requests, counts.connections), (4, 2));
}

#[tokio::test]
async fn oldest_requests_are_evicted_by_count_and_size() {
    let by_count = Config { max_requests: 2, ..Config::default() };
    let by_size = Config { max_record_bytes: 5, ..Config::default() };
    for (config, kept) in [
        (by_count, [&["123"][..], &["123", "45"], &["45", "67"], &["67", "123456"]]),
        (by_size, [&["123"][..], &["123", "45"], &["45", "67"], &[]]),
    ] {
        let mock = Mock::start_with(Scenario::api(), config).await.unwrap();
        let client = Client::new(&mock);
        for (body, kept) in ["123", "45", "67", "123456"].into_iter().zip(kept) {
            client.send("POST", "/search", &[], body).await.unwrap();
            let bodies: Vec<_> = mock.requests().into_iter().map(|request| request.body).collect();
            assert_eq!(bodies, kept);
        }
        assert_eq!(mock.request_count(), 4);
    }
}

#[tokio::test]
async fn bodies_above_the_limit_are_rejected() {
    let mock =
        Mock::start_with(Scenario::api(), Config { max_body_size: 8, ..Config::default() }).await.unwrap();
    let client = Client::new(&mock);
    assert_eq!(client.post("/search", &json!("123456")).await.status, 422);
    let refused = client.post("/search", &json!("1234567")).await;
    assert_eq!(refused.status, 413);
    assert_eq!(refused.json()["error"]["type"], "payload_too_large");
}

#[tokio::test]
async fn dropping_stops_the_server() {
    let (mock, _client) = start(Scenario::api()).await;
    let address = mock.address();
    let stalled = TcpStream::connect(address).await.unwrap();
    drop(mock);
    // The listener is closed when the runtime drops the task.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let mut buffer = [0];
    stalled.readable().await.unwrap();
    assert!(!matches!(stalled.try_read(&mut buffer), Ok(1..)));
}

#[tokio::test]
async fn blocking_start_works_inside_a_runtime() {
    let mock = Mock::start_blocking(Scenario::api(), Config::default()).unwrap();
    assert_eq!(Client::new(&mock).get("/v1/models").await.status, 200);
}

#[test]
fn blocking_start_works_without_a_runtime() {
    let mock = Mock::start_blocking(Scenario::api(), Config::default()).unwrap();
    let client = Client::new(&mock);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(runtime.block_on(client.get("/v1/models")).status, 200);
    drop(mock);
    // Another test may reuse the freed port immediately, but not every time.
    let is_stopped = (0..20).any(|_| {
        let mock = Mock::start_blocking(Scenario::api(), Config::default()).unwrap();
        let address = mock.address();
        drop(mock);
        std::net::TcpStream::connect(address).is_err()
    });
    assert!(is_stopped, "a server that was dropped still listens");
}

#[tokio::test]
async fn address_in_use_is_an_error() {
    let mock = Mock::start(Scenario::api()).await.unwrap();
    let again =
        Mock::start_with(Scenario::api(), Config { address: mock.address(), ..Config::default() }).await;
    assert!(matches!(again, Err(Error::Start(_))));
}
