//! Requests of the client and validation of responses: the cases `http-*`, by their ids.
#![cfg(feature = "reqwest")]

use std::error::Error as _;
use std::time::Duration;

use futures_util::StreamExt;
use http::Method;
use tightwire_sse::{Backoff, Error, EventSource, EventSourceBuilder, Message, ReadyState};

use crate::server::{Exchange, Server, bounded};

const TICK: Duration = Duration::from_millis(1);

fn builder(server: &Server) -> EventSourceBuilder {
    EventSource::builder(server.url("/stream")).backoff(Backoff::new().base(TICK).floor(TICK))
}

/// Polls the client until the server receives its next request.
async fn request(server: &mut Server, source: &mut EventSource) -> Exchange {
    tokio::select! {
        exchange = server.accept() => exchange,
        message = source.next() => panic!("{message:?} before the request"),
    }
}

/// Polls the client until it fails permanently, and checks that it sends no further request.
async fn failure(server: &Server, source: &mut EventSource) -> Error {
    let error = bounded(source.next()).await.expect("an error").expect_err("a final error");
    assert_eq!(source.state(), ReadyState::Closed);
    // There is no background task that could send a request after the end.
    assert!(bounded(source.next()).await.is_none());
    assert!(!server.has_request());
    error
}

async fn open(source: &mut EventSource) {
    let message = bounded(source.next()).await;
    assert!(matches!(message, Some(Ok(Message::Open))), "{message:?}");
    assert_eq!(source.state(), ReadyState::Open);
}

async fn event(source: &mut EventSource) -> String {
    match bounded(source.next()).await {
        Some(Ok(Message::Event(event))) => event.into_data(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn http_01_accept_header() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let exchange = request(&mut server, &mut source).await;
    assert_eq!(exchange.header("accept"), Some(&b"text/event-stream"[..]));
}

#[tokio::test]
async fn http_02_method_and_default_headers() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let exchange = request(&mut server, &mut source).await;
    assert_eq!(exchange.method, Method::GET);
    assert_eq!(exchange.path, "/stream");
    assert_eq!(exchange.header("cache-control"), Some(&b"no-cache"[..]));
    assert_eq!(exchange.header("last-event-id"), None);
    assert!(exchange.body.is_empty());
}

macro_rules! final_statuses {
    ($($name:ident: $status:literal,)*) => {$(
        #[tokio::test]
        async fn $name() {
            let mut server = Server::start();
            let mut source = builder(&server).build().unwrap();
            let exchange = request(&mut server, &mut source).await;
            exchange.respond($status, &[("content-type", "text/event-stream")]);
            let error = failure(&server, &mut source).await;
            assert!(error.is_status());
            assert_eq!(error.status(), Some($status));
        }
    )*};
}

final_statuses! {
    http_03_no_content: 204,
    http_04_reset_content: 205,
    http_05_unassigned_success: 210,
    http_06_last_success: 299,
    http_07_not_found: 404,
    http_08_gone: 410,
    http_09_unavailable: 503,
    not_modified_is_final: 304,
    unauthorized_is_final: 401,
}

#[tokio::test]
async fn http_10_no_content_stops_a_client_that_was_connected() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    request(&mut server, &mut source).await.open().send("data: x\n\n");
    open(&mut source).await;
    assert_eq!(event(&mut source).await, "x");
    assert!(matches!(bounded(source.next()).await, Some(Ok(Message::Reconnecting { .. }))));
    request(&mut server, &mut source).await.respond(204, &[]);
    assert_eq!(failure(&server, &mut source).await.status(), Some(204));
}

macro_rules! redirects {
    ($($name:ident: $status:literal,)*) => {$(
        #[tokio::test]
        async fn $name() {
            let mut server = Server::start();
            let mut source = builder(&server).build().unwrap();
            let exchange = request(&mut server, &mut source).await;
            exchange.respond($status, &[("location", "/elsewhere")]);
            let exchange = request(&mut server, &mut source).await;
            assert_eq!(exchange.path, "/elsewhere");
            assert_eq!(exchange.header("accept"), Some(&b"text/event-stream"[..]));
            exchange.open().send("data: hello\n\n");
            open(&mut source).await;
            assert_eq!(event(&mut source).await, "hello");
            // After a lost connection, the client uses the configured URL again.
            assert!(matches!(bounded(source.next()).await, Some(Ok(Message::Reconnecting { .. }))));
            assert_eq!(request(&mut server, &mut source).await.path, "/stream");
        }
    )*};
}

redirects! {
    http_11_moved_permanently: 301,
    http_12_found: 302,
    http_13_see_other: 303,
    http_14_temporary_redirect: 307,
    http_15_permanent_redirect: 308,
}

macro_rules! redirects_to_nowhere {
    ($($name:ident: $status:literal, $headers:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let mut server = Server::start();
            let mut source = builder(&server).build().unwrap();
            request(&mut server, &mut source).await.respond($status, $headers);
            assert_eq!(failure(&server, &mut source).await.status(), Some($status));
        }
    )*};
}

redirects_to_nowhere! {
    http_16_moved_permanently_without_location: 301, &[];
    http_16_moved_permanently_with_empty_location: 301, &[("location", "")];
    http_17_temporary_redirect_without_location: 307, &[];
    http_17_temporary_redirect_with_empty_location: 307, &[("location", "")];
}

/// A client set by the caller follows an empty `Location` up to its maximum number of redirects.
#[tokio::test]
async fn a_redirect_loop_with_a_custom_client_is_final() {
    let mut server = Server::start();
    let mut source = builder(&server).client(reqwest::Client::new()).build().unwrap();
    let mut requests = 0;
    let message = loop {
        tokio::select! {
            exchange = server.accept() => {
                requests += 1;
                exchange.respond(307, &[("location", "")]);
            }
            message = source.next() => break message,
        }
    };
    let error = message.expect("an error").expect_err("a final error");
    assert!(error.is_transport(), "{error:?}");
    assert!((2..=11).contains(&requests), "{requests}");
    assert_eq!(source.state(), ReadyState::Closed);
}

macro_rules! content_types {
    ($($name:ident: $headers:expr,)*) => {$(
        #[tokio::test]
        async fn $name() {
            let mut server = Server::start();
            let mut source = builder(&server).build().unwrap();
            request(&mut server, &mut source).await.respond(200, $headers).send("data: x\n\n");
            assert!(failure(&server, &mut source).await.is_content_type());
        }
    )*};
}

content_types! {
    http_18_bogus_content_type: &[("content-type", "x bogus")],
    http_19_other_content_type: &[("content-type", "text/x-bogus")],
    missing_content_type: &[],
    json_instead_of_a_stream: &[("content-type", "application/json")],
}

#[tokio::test]
async fn http_20_trailing_semicolon() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let headers = [("content-type", "text/event-stream;")];
    let _body = request(&mut server, &mut source).await.respond(200, &headers);
    open(&mut source).await;
}

#[tokio::test]
async fn http_21_charset_is_ignored() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let headers = [("content-type", "text/event-stream;charset=windows-1252")];
    request(&mut server, &mut source).await.respond(200, &headers).send("data:ok…\n\n\n");
    open(&mut source).await;
    assert_eq!(event(&mut source).await, "ok…");
}

#[tokio::test]
async fn http_22_custom_headers() {
    let mut server = Server::start();
    let builder = builder(&server).header("header-name-1", "value-1").header("header-name-2", "value-2");
    let mut source = builder.header("cache-control", "no-store").build().unwrap();
    let exchange = request(&mut server, &mut source).await;
    assert_eq!(exchange.header("header-name-1"), Some(&b"value-1"[..]));
    assert_eq!(exchange.header("header-name-2"), Some(&b"value-2"[..]));
    assert_eq!(exchange.header("cache-control"), Some(&b"no-store"[..]));
}

/// Checks that the body and its headers are the same on the first and the second connection.
async fn sends_a_body_twice(method: &str) {
    let mut server = Server::start();
    let mut source = builder(&server)
        .method(method.parse().unwrap())
        .header("content-type", "application/json; charset=utf-8")
        .body(r#"{"hello": "world"}"#)
        .build()
        .unwrap();
    for attempt in 0..3 {
        let exchange = request(&mut server, &mut source).await;
        assert_eq!(exchange.method, method);
        assert_eq!(exchange.body, r#"{"hello": "world"}"#);
        assert_eq!(exchange.header("content-type"), Some(&b"application/json; charset=utf-8"[..]));
        match attempt {
            0 => drop(exchange),
            1 => {
                exchange.open();
                open(&mut source).await;
            }
            _ => return,
        }
        assert!(matches!(bounded(source.next()).await, Some(Ok(Message::Reconnecting { .. }))));
    }
}

#[tokio::test]
async fn http_23_post() {
    sends_a_body_twice("POST").await;
}

#[tokio::test]
async fn http_24_report() {
    sends_a_body_twice("REPORT").await;
}

#[tokio::test]
async fn http_25_preset_last_event_id() {
    let mut server = Server::start();
    for builder in [builder(&server).last_event_id("abc"), builder(&server).header("Last-Event-ID", "abc")] {
        let mut source = builder.build().unwrap();
        assert_eq!(source.last_event_id(), "abc");
        let exchange = request(&mut server, &mut source).await;
        assert_eq!(exchange.header("last-event-id"), Some(&b"abc"[..]));
        // The server resets it.
        exchange.open().send("data: x\nid\n\n");
        open(&mut source).await;
        event(&mut source).await;
        assert_eq!(source.last_event_id(), "");
        assert!(matches!(bounded(source.next()).await, Some(Ok(Message::Reconnecting { .. }))));
        assert_eq!(request(&mut server, &mut source).await.header("last-event-id"), None);
    }
}

#[tokio::test]
async fn the_request_of_the_caller_is_sent_unchanged() {
    let mut server = Server::start();
    let request_builder =
        reqwest::Client::new().post(server.url("/chat?model=a")).bearer_auth("secret").body("ask");
    let mut source = EventSource::from_request(request_builder).build().unwrap();
    let exchange = request(&mut server, &mut source).await;
    assert_eq!(exchange.method, Method::POST);
    assert_eq!(exchange.path, "/chat?model=a");
    assert_eq!(exchange.header("authorization"), Some(&b"Bearer secret"[..]));
    assert_eq!(exchange.header("accept"), Some(&b"text/event-stream"[..]));
    assert_eq!(exchange.body, "ask");
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll() {
    let server = Server::start();
    let source = builder(&server).build().unwrap();
    assert_eq!(source.state(), ReadyState::Connecting);
    drop(source);
    assert!(!server.has_request());
}

#[tokio::test]
async fn dropping_the_client_closes_the_connection() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let body = request(&mut server, &mut source).await.open();
    body.send("data: x\n\n");
    open(&mut source).await;
    event(&mut source).await;
    drop(source);
    body.closed().await;
}

#[tokio::test]
async fn closing_the_client_closes_the_connection() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let body = request(&mut server, &mut source).await.open();
    open(&mut source).await;
    source.close();
    body.closed().await;
    assert!(bounded(source.next()).await.is_none());
}

#[test]
fn build_reports_invalid_requests() {
    let get = || EventSource::builder("http://example.org/");
    let stream = reqwest::Body::wrap(http_body_util::Full::new(bytes::Bytes::from("once")));
    for (what, builder) in [
        ("relative URL", EventSource::builder("/stream")),
        ("empty URL", EventSource::builder("")),
        ("scheme", EventSource::builder("ftp://example.org/")),
        ("header name", get().header("a b", "c")),
        ("header value", get().header("a", "b\nc")),
        ("id with a line break", get().last_event_id("a\nb")),
        ("id with NUL", get().last_event_id("a\0b")),
        ("id in a header", get().header("last-event-id", &b"\xff"[..])),
        ("body that is a stream", get().method(Method::POST).body(stream)),
        ("first error", get().header("a b", "c").header("a", "b")),
    ] {
        let error = builder.build().expect_err(what);
        assert!(error.is_request(), "{what}: {error:?}");
    }
}

#[tokio::test]
async fn errors_do_not_contain_urls() {
    fn assert_no_secret(error: &Error) {
        let mut text = format!("{error} {error:?}");
        let mut cause = error.source();
        while let Some(inner) = cause {
            text += &format!(" {inner} {inner:?}");
            cause = inner.source();
        }
        assert!(!text.contains("hunter2"), "{text}");
    }

    // A bound port without listener: connections fail, and no other process can use it.
    let bound = tokio::net::TcpSocket::new_v4().unwrap();
    bound.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let url = format!("http://{}/?key=hunter2", bound.local_addr().unwrap());
    let backoff = Backoff::new().max_attempts(0);
    let mut source = EventSource::builder(&url).backoff(backoff).build().unwrap();
    let error = bounded(source.next()).await.unwrap().unwrap_err();
    assert!(error.is_transport());
    assert_no_secret(&error);

    assert_no_secret(&EventSource::builder("hunter2://example.org/hunter2").build().unwrap_err());
    assert_no_secret(&EventSource::builder("hunter2").build().unwrap_err());

    let mut server = Server::start();
    let https_only = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    for (location, client) in [
        ("ftp://example.org/?key=hunter2", reqwest::Client::new()),
        (url.as_str(), reqwest::Client::new()),
        ("/?key=hunter2", https_only.build().unwrap()),
    ] {
        let builder = EventSource::builder(server.url("/?key=hunter2")).client(client).backoff(backoff);
        let mut source = builder.build().unwrap();
        request(&mut server, &mut source).await.respond(307, &[("location", location)]);
        assert_no_secret(&bounded(source.next()).await.unwrap().unwrap_err());
    }
}
