//! Streamable HTTP transport of MCP.
#![cfg(feature = "reqwest")]

use std::time::Duration;

use futures_util::StreamExt as _;
use http::Method;
use tightwire_sse::{Backoff, Config, Error, EventSource, EventSourceBuilder, McpReply, McpSession, Message};

use crate::server::{Exchange, Server, bounded};

const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");
const EVENT_STREAM: (&str, &str) = ("content-type", "text/event-stream");
const SESSION: (&str, &str) = ("mcp-session-id", "s1");

struct Fixture {
    server: Server,
    session: McpSession,
}

impl Fixture {
    fn start() -> Self {
        Self { server: Server::start(), session: McpSession::new() }
    }

    /// Sends a message, and answers its request.
    async fn send(&mut self, answer: impl AsyncFnOnce(Exchange)) -> Result<McpReply, Error> {
        self.send_with(|builder| builder, answer).await
    }

    async fn send_with(
        &mut self,
        configure: impl FnOnce(EventSourceBuilder) -> EventSourceBuilder,
        answer: impl AsyncFnOnce(Exchange),
    ) -> Result<McpReply, Error> {
        let tick = Duration::from_millis(1);
        let builder = EventSource::builder(self.server.url("/mcp"))
            .header("mcp-protocol-version", "2025-11-25")
            .backoff(Backoff::new().base(tick).floor(tick))
            .body("{}");
        let send = configure(builder).send_mcp(&mut self.session);
        let answer = async {
            let request = self.server.accept().await;
            assert_eq!((&request.method, &request.body[..]), (&Method::POST, &b"{}"[..]));
            answer(request).await;
        };
        bounded(async { tokio::join!(send, answer) }).await.0
    }
}

#[tokio::test]
async fn both_timeouts_apply_before_the_response() {
    let timeouts: [fn(EventSourceBuilder, Duration) -> EventSourceBuilder; 2] =
        [EventSourceBuilder::read_timeout, EventSourceBuilder::event_timeout];
    for timeout in timeouts {
        let silent = async |request: Exchange| {
            tokio::time::sleep(Duration::from_millis(200)).await;
            drop(request);
        };
        let configure = |builder| timeout(builder, Duration::from_millis(10));
        let reply = Fixture::start().send_with(configure, silent).await;
        assert!(reply.unwrap_err().is_timeout());
    }
}

#[tokio::test]
async fn the_session_id_of_a_response_is_sent_with_later_requests() {
    let mut fixture = Fixture::start();
    let reply = fixture
        .send(async |request| {
            assert_eq!(request.header("accept").unwrap(), b"application/json, text/event-stream");
            assert_eq!(request.header("content-type").unwrap(), b"application/json");
            assert_eq!(request.header("mcp-session-id"), None);
            let body = request.respond(200, &[JSON, SESSION]);
            body.send("{\"a\":");
            body.send("1}");
        })
        .await;
    assert!(matches!(reply.unwrap(), McpReply::Json(body) if body == "{\"a\":1}"));
    let check = async |request: Exchange| {
        assert_eq!(request.header("mcp-session-id").unwrap(), b"s1");
        request.respond(202, &[]);
    };
    assert!(matches!(fixture.send(check).await.unwrap(), McpReply::Accepted));
    assert_eq!(fixture.session.id().unwrap(), "s1");
    assert!(!format!("{:?}", fixture.session).contains("s1"));
}

#[tokio::test]
async fn an_interrupted_stream_is_resumed_with_get() {
    let mut fixture = Fixture::start();
    let mut first = None;
    let reply = fixture
        .send(async |request| {
            let body = first.insert(request.respond(200, &[EVENT_STREAM, SESSION]));
            body.send("id: 7\ndata: a\n\n");
        })
        .await;
    let McpReply::Events(mut source) = reply.unwrap() else { panic!("an event stream") };
    assert!(matches!(source.next().await, Some(Ok(Message::Event(event))) if event.data() == "a"));
    first.expect("the first response").abort();
    assert!(matches!(source.next().await, Some(Ok(Message::Reconnecting { .. }))));
    let answer = async {
        let request = fixture.server.accept().await;
        assert_eq!((&request.method, request.body.len()), (&Method::GET, 0));
        assert_eq!(request.header("last-event-id").unwrap(), b"7");
        assert_eq!(request.header("mcp-session-id").unwrap(), b"s1");
        assert_eq!(request.header("mcp-protocol-version").unwrap(), b"2025-11-25");
        assert_eq!(request.header("accept").unwrap(), b"text/event-stream");
        assert_eq!(request.header("content-type"), None);
        let body = request.respond(200, &[EVENT_STREAM]);
        body.send("id: 8\ndata: b\n\n");
        body
    };
    let next = async { source.events().next().await.unwrap().unwrap() };
    let (event, _body) = bounded(async { tokio::join!(next, answer) }).await;
    assert_eq!((event.data(), event.last_event_id()), ("b", "8"));
}

#[tokio::test]
async fn a_refused_resumption_ends_the_session() {
    for (status, ends) in [(401, true), (404, true), (410, true), (403, false)] {
        let mut fixture = Fixture::start();
        let reply = fixture
            .send(async |request| {
                request.respond(200, &[EVENT_STREAM, SESSION]).send("id: 7\ndata: a\n\n");
            })
            .await;
        let McpReply::Events(mut source) = reply.unwrap() else { panic!("an event stream") };
        let answer = async {
            fixture.server.accept().await.respond(status, &[]);
        };
        let receive = async {
            let mut events = source.events();
            assert_eq!(events.next().await.unwrap().unwrap().data(), "a");
            let error = events.next().await.unwrap().unwrap_err();
            assert!(events.next().await.is_none());
            error
        };
        let (error, ()) = bounded(async { tokio::join!(receive, answer) }).await;
        assert_eq!((error.status(), error.is_session_ended()), (Some(status), ends));
        assert_eq!(error.to_string().contains("initialize a new one"), ends);
        assert_eq!(fixture.session.id().is_none(), ends);
    }
}

#[tokio::test]
async fn a_stream_without_ids_is_not_resumed() {
    let mut fixture = Fixture::start();
    let reply = fixture
        .send(async |request| {
            request.respond(200, &[EVENT_STREAM]).send("data: a\n\n");
        })
        .await;
    let McpReply::Events(mut source) = reply.unwrap() else { panic!("an event stream") };
    assert!(matches!(source.next().await, Some(Ok(Message::Event(_)))));
    assert!(matches!(source.next().await, Some(Ok(Message::Reconnecting { .. }))));
    assert!(bounded(source.next()).await.unwrap().unwrap_err().is_request());
    assert!(source.next().await.is_none() && !fixture.server.has_request());
}

#[tokio::test]
async fn a_message_is_sent_once() {
    for (status, headers, expected) in [
        (503, EVENT_STREAM, Error::is_status as fn(&Error) -> bool),
        (404, JSON, Error::is_session_ended),
        (410, JSON, Error::is_session_ended),
        (401, JSON, Error::is_status),
        (200, ("content-type", "text/html"), Error::is_content_type),
    ] {
        let mut fixture = Fixture::start();
        fixture
            .send(async |request| {
                request.respond(202, &[SESSION]);
            })
            .await
            .unwrap();
        let error = fixture
            .send_with(EventSourceBuilder::retry_server_errors, async |request| {
                request.respond(status, &[headers]);
            })
            .await
            .unwrap_err();
        assert!(expected(&error), "{error}");
        assert_eq!(fixture.session.id().is_none(), [404, 410].contains(&status), "{status}");
        assert!(!fixture.server.has_request());
    }
    let error = Fixture::start().send(async |request| drop(request)).await.unwrap_err();
    assert!(error.is_transport(), "{error}");
}

#[tokio::test]
async fn a_wrong_url_ends_no_session() {
    for status in [401, 404, 410] {
        let error = Fixture::start()
            .send(async |request| {
                request.respond(status, &[JSON]);
            })
            .await
            .unwrap_err();
        assert_eq!((error.status(), error.is_session_ended()), (Some(status), false));
    }
}

/// The requests in the documentation of [`McpSession`].
#[tokio::test]
async fn a_server_without_other_messages_answers_405() {
    let mut fixture = Fixture::start();
    let accept = async |request: Exchange| {
        request.respond(202, &[SESSION]);
    };
    fixture.send(accept).await.unwrap();
    let (url, id) = (fixture.server.url("/mcp"), fixture.session.id().unwrap());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut source =
        EventSource::from_request(client.get(&url)).header("mcp-session-id", &id).build().unwrap();
    let end = client.delete(&url).header("mcp-session-id", id).send();
    let answer = async {
        for method in [Method::GET, Method::DELETE] {
            let request = fixture.server.accept().await;
            assert_eq!((&request.method, request.header("mcp-session-id").unwrap()), (&method, &b"s1"[..]));
            request.respond(405, &[]);
        }
    };
    let requests = async { (source.events().next().await.unwrap().unwrap_err(), end.await.unwrap()) };
    let ((error, ended), ()) = bounded(async { tokio::join!(requests, answer) }).await;
    assert_eq!((error.status(), ended.status().as_u16()), (Some(405), 405));
}

#[tokio::test]
async fn a_json_response_has_a_limit() {
    for (length, is_accepted) in [(8, true), (9, false)] {
        let reply = Fixture::start()
            .send_with(
                |builder| builder.decoder(Config::new().max_event_size(8)),
                async |request| request.respond(200, &[JSON]).send(" ".repeat(length)),
            )
            .await;
        match reply {
            Ok(McpReply::Json(body)) => assert!(is_accepted && body.len() == length),
            other => assert!(!is_accepted && other.unwrap_err().is_limit()),
        }
    }
}
