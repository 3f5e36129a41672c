//! Requests, validation of responses, reconnection and comments of the client. The unit tests of the client test
//! delays, timeouts and attempts on a paused clock.
#![cfg(feature = "reqwest")]

use std::error::Error as _;
use std::time::Duration;

use futures_util::StreamExt;
use http::Method;
use tightwire_sse::{Backoff, Error, EventSource, EventSourceBuilder, Message, ReadyState};

use crate::server::{Exchange, Sender, Server, bounded};

const EVENT_STREAM: &[(&str, &str)] = &[("content-type", "text/event-stream")];

/// A client and its server.
struct Fixture {
    server: Server,
    source: EventSource,
}

impl Fixture {
    fn start() -> Self {
        Self::with(|builder| builder)
    }

    fn with(configure: impl FnOnce(EventSourceBuilder) -> EventSourceBuilder) -> Self {
        let server = Server::start();
        let tick = Duration::from_millis(1);
        let backoff = Backoff::new().base(tick).floor(tick);
        let builder = EventSource::builder(server.url("/stream")).backoff(backoff);
        Self { source: configure(builder).build().unwrap(), server }
    }

    /// Polls the client until the server receives its next request.
    async fn request(&mut self) -> Exchange {
        tokio::select! {
            exchange = self.server.accept() => exchange,
            message = self.source.next() => panic!("{message:?} before the request"),
        }
    }

    async fn message(&mut self) -> Message {
        bounded(self.source.next()).await.expect("the stream goes on").expect("nothing final happens")
    }

    /// Answers the next request with an event stream that starts with this text.
    async fn serve(&mut self, text: &'static str) -> Sender {
        let body = self.request().await.open();
        body.send(text);
        self.open().await;
        body
    }

    async fn open(&mut self) {
        assert!(matches!(self.message().await, Message::Open { .. }));
        assert_eq!(self.source.state(), ReadyState::Open);
    }

    /// Receives an event with this data and id.
    async fn event(&mut self, data: &str, id: &str) {
        match self.message().await {
            Message::Event(event) => assert_eq!((event.data(), event.last_event_id()), (data, id)),
            other => panic!("{other:?}"),
        }
    }

    async fn comment(&mut self, expected: &str) {
        match self.message().await {
            Message::Comment(text) => assert_eq!(text, expected),
            other => panic!("{other:?}"),
        }
    }

    /// Receives the message that the connection is lost and returns its error.
    async fn lost(&mut self) -> Error {
        match self.message().await {
            Message::Reconnecting { error, .. } => {
                assert_eq!(self.source.state(), ReadyState::Connecting);
                error
            }
            other => panic!("{other:?}"),
        }
    }

    /// Polls the client until it fails permanently, and checks that it sends no further request.
    async fn failure(&mut self) -> Error {
        let error = bounded(self.source.next()).await.expect("an error").expect_err("a final error");
        assert_eq!(self.source.state(), ReadyState::Closed);
        // There is no background task that could send a request after the end.
        assert!(bounded(self.source.next()).await.is_none());
        assert!(!self.server.has_request());
        error
    }
}

#[tokio::test]
async fn http_01_and_02_method_and_default_headers() {
    let exchange = Fixture::start().request().await;
    assert_eq!((&exchange.method, exchange.path.as_str()), (&Method::GET, "/stream"));
    assert_eq!(exchange.header("accept"), Some(&b"text/event-stream"[..]));
    assert_eq!(exchange.header("cache-control"), Some(&b"no-cache"[..]));
    assert_eq!(exchange.header("last-event-id"), None);
    assert!(exchange.body.is_empty());
}

/// Statuses other than 200, and redirects without a location.
#[tokio::test]
async fn other_statuses_are_final() {
    let others = [204, 205, 210, 299, 404, 410, 503, 304, 401].map(|status| (status, EVENT_STREAM));
    let redirects = [301, 307].map(|status| [(status, &[][..]), (status, &[("location", "")])]);
    for (status, headers) in others.into_iter().chain(redirects.into_iter().flatten()) {
        let mut fixture = Fixture::start();
        fixture.request().await.respond(status, headers);
        let error = fixture.failure().await;
        assert!(error.is_status());
        assert_eq!(error.status(), Some(status));
    }
}

#[tokio::test]
async fn http_10_no_content_stops_a_client_that_was_connected() {
    let mut fixture = Fixture::start();
    drop(fixture.serve("data: x\n\n").await);
    fixture.event("x", "").await;
    fixture.lost().await;
    fixture.request().await.respond(204, &[]);
    assert_eq!(fixture.failure().await.status(), Some(204));
}

#[tokio::test]
async fn redirects_are_followed_on_each_connection() {
    for status in [301, 302, 303, 307, 308] {
        let mut fixture = Fixture::start();
        fixture.request().await.respond(status, &[("location", "/elsewhere")]);
        let exchange = fixture.request().await;
        assert_eq!(exchange.path, "/elsewhere");
        assert_eq!(exchange.header("accept"), Some(&b"text/event-stream"[..]));
        exchange.open().send("data: hello\n\n");
        fixture.open().await;
        fixture.event("hello", "").await;
        // After a lost connection, the client uses the configured URL again.
        fixture.lost().await;
        assert_eq!(fixture.request().await.path, "/stream");
    }
}

/// A client set by the caller follows an empty `Location` up to its maximum number of redirects.
#[tokio::test]
async fn a_redirect_loop_with_a_custom_client_is_final() {
    let Fixture { mut server, mut source } = Fixture::with(|builder| builder.client(reqwest::Client::new()));
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

#[tokio::test]
async fn other_content_types_are_final() {
    for headers in [
        &[("content-type", "x bogus")][..],
        &[("content-type", "text/x-bogus")],
        &[],
        &[("content-type", "application/json")],
    ] {
        let mut fixture = Fixture::start();
        fixture.request().await.respond(200, headers).send("data: x\n\n");
        let error = fixture.failure().await;
        assert!(error.is_content_type());
        assert_eq!(error.status(), Some(200));
        assert_eq!(error.body().unwrap(), "data: x\n\n");
        assert!(!error.is_body_truncated());
    }
}

#[tokio::test]
async fn the_headers_of_accepted_and_refused_responses_are_available_but_not_printed() {
    const SECRET: &[(&str, &str)] = &[("content-type", "text/event-stream"), ("x-secret", "hunter2")];
    let mut fixture = Fixture::start();
    fixture.request().await.respond(200, SECRET);
    let open = fixture.message().await;
    let Message::Open { headers } = &open else { panic!("{open:?}") };
    assert_eq!(headers["x-secret"], "hunter2");
    assert!(!format!("{open:?}").contains("hunter2"));
    fixture.lost().await;
    fixture.request().await.respond(403, SECRET).send("hunter2");
    let error = fixture.failure().await;
    assert_eq!(error.headers().unwrap()["x-secret"], "hunter2");
    assert_eq!(error.body().unwrap(), "hunter2");
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    assert!(error.source().is_none());
}

#[tokio::test]
async fn the_client_sends_the_request_again_after_retry_after() {
    let mut fixture = Fixture::start();
    for (status, value) in [(429, "0"), (503, "Sun, 06 Nov 1994 08:49:37 GMT")] {
        fixture.request().await.respond(status, &[("retry-after", value)]).send("busy");
        let error = fixture.lost().await;
        assert_eq!(error.status(), Some(status));
        assert_eq!(error.body().unwrap(), "busy");
    }
    fixture.serve("data: x\n\n").await;
    fixture.event("x", "").await;
}

#[tokio::test]
async fn http_22_custom_headers() {
    let mut fixture = Fixture::with(|builder| {
        let builder = builder.header("header-name-1", "value-1").header("header-name-2", "value-2");
        builder.header("cache-control", "no-store")
    });
    let exchange = fixture.request().await;
    assert_eq!(exchange.header("header-name-1"), Some(&b"value-1"[..]));
    assert_eq!(exchange.header("header-name-2"), Some(&b"value-2"[..]));
    assert_eq!(exchange.header("cache-control"), Some(&b"no-store"[..]));
}

/// Body and headers are the same on each connection.
#[tokio::test]
async fn a_body_is_sent_on_each_connection() {
    for method in ["POST", "REPORT"] {
        let mut fixture = Fixture::with(|builder| {
            builder
                .method(method.parse().unwrap())
                .header("content-type", "application/json; charset=utf-8")
                .body(r#"{"hello": "world"}"#)
        });
        for attempt in 0..3 {
            let exchange = fixture.request().await;
            assert_eq!(exchange.method, method);
            assert_eq!(exchange.body, r#"{"hello": "world"}"#);
            assert_eq!(exchange.header("content-type"), Some(&b"application/json; charset=utf-8"[..]));
            match attempt {
                0 => drop(exchange),
                1 => {
                    exchange.open();
                    fixture.open().await;
                }
                _ => break,
            }
            fixture.lost().await;
        }
    }
}

#[tokio::test]
async fn http_25_preset_last_event_id() {
    for mut fixture in [
        Fixture::with(|builder| builder.last_event_id("abc")),
        Fixture::with(|builder| builder.header("Last-Event-ID", "abc")),
    ] {
        assert_eq!(fixture.source.last_event_id(), "abc");
        let exchange = fixture.request().await;
        assert_eq!(exchange.header("last-event-id"), Some(&b"abc"[..]));
        // The server resets it.
        exchange.open().send("data: x\nid\n\n");
        fixture.open().await;
        fixture.event("x", "").await;
        assert_eq!(fixture.source.last_event_id(), "");
        fixture.lost().await;
        assert_eq!(fixture.request().await.header("last-event-id"), None);
    }
}

#[tokio::test]
async fn the_request_of_the_caller_is_sent_unchanged() {
    let server = Server::start();
    let request = reqwest::Client::new().post(server.url("/chat?model=a")).bearer_auth("secret").body("ask");
    let source = EventSource::from_request(request).build().unwrap();
    let exchange = Fixture { server, source }.request().await;
    assert_eq!((&exchange.method, exchange.path.as_str()), (&Method::POST, "/chat?model=a"));
    assert_eq!(exchange.header("authorization"), Some(&b"Bearer secret"[..]));
    assert_eq!(exchange.header("accept"), Some(&b"text/event-stream"[..]));
    assert_eq!(exchange.body, "ask");
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll() {
    let Fixture { server, source } = Fixture::start();
    assert_eq!(source.state(), ReadyState::Connecting);
    drop(source);
    assert!(!server.has_request());
}

#[tokio::test]
async fn closing_or_dropping_the_client_closes_the_connection() {
    for closes in [true, false] {
        let mut fixture = Fixture::start();
        let body = fixture.serve("id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n").await;
        fixture.event("1", "1").await;
        if closes {
            fixture.source.close();
            assert_eq!(fixture.source.state(), ReadyState::Closed);
            assert!(bounded(fixture.source.next()).await.is_none());
            assert_eq!(fixture.source.last_event_id(), "1");
        } else {
            drop(fixture.source);
        }
        body.closed().await;
        assert!(!fixture.server.has_request());
    }
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

    let no_redirects = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    for (location, client) in [
        ("ftp://example.org/?key=hunter2", reqwest::Client::new()),
        (url.as_str(), reqwest::Client::new()),
        ("/?key=hunter2", no_redirects.build().unwrap()),
    ] {
        let mut fixture = Fixture::with(|builder| builder.client(client).backoff(backoff));
        fixture.request().await.respond(307, &[("location", location)]);
        assert_no_secret(&bounded(fixture.source.next()).await.unwrap().unwrap_err());
    }
}

#[tokio::test]
async fn the_client_resumes_after_the_last_id() {
    for (stream, events, id) in [
        ("id: abc\ndata: a\n\n", &[("a", "abc")][..], Some("abc")),
        ("id: abc\ndata: a\n\ndata: b\n\n", &[("a", "abc"), ("b", "abc")], Some("abc")),
        ("id: abc\ndata: a\n\nid: \ndata: b\n\n", &[("a", "abc"), ("b", "")], None),
        ("id: …\ndata: a\n\n", &[("a", "…")], Some("…")),
    ] {
        let mut fixture = Fixture::start();
        drop(fixture.serve(stream).await);
        for (data, id) in events {
            fixture.event(data, id).await;
        }
        assert!(fixture.lost().await.is_ended());
        assert_eq!(fixture.request().await.header("last-event-id"), id.map(str::as_bytes));
    }
}

#[tokio::test]
async fn a_partial_event_of_an_aborted_connection_is_discarded() {
    let mut fixture = Fixture::start();
    let body = fixture.serve("id: abc\ndata: Hello\n\nid: def\ndata: Goodbye").await;
    fixture.event("Hello", "abc").await;
    body.abort();
    assert!(fixture.lost().await.is_transport());
    let exchange = fixture.request().await;
    assert_eq!(exchange.header("last-event-id"), Some(&b"abc"[..]));
    let body = exchange.open();
    body.send("\u{feff}data: We meet again\n\nid: ghi\ndata: World\n\n");
    fixture.open().await;
    fixture.event("We meet again", "abc").await;
    fixture.event("World", "ghi").await;
    assert_eq!(fixture.source.last_event_id(), "ghi");
}

#[tokio::test]
async fn comments_are_reported_at_the_end_of_their_line() {
    let mut fixture = Fixture::with(EventSourceBuilder::report_comments);
    let body = fixture.serve(":Hello\n").await;
    fixture.comment("Hello").await;
    body.send(":World\ndata: Hello\n\n: after\n");
    fixture.comment("World").await;
    fixture.event("Hello", "").await;
    fixture.comment(" after").await;
}
