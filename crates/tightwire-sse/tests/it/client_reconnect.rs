//! Reconnection and comments: the cases `rec-*` and `cmt-*`, by their ids.
#![cfg(feature = "reqwest")]

use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use tightwire_sse::{Backoff, EventSource, EventSourceBuilder, Message, ReadyState};

use crate::server::{Exchange, Server, bounded};

const TICK: Duration = Duration::from_millis(1);

fn builder(server: &Server) -> EventSourceBuilder {
    EventSource::builder(server.url("/")).backoff(Backoff::new().base(TICK).floor(TICK))
}

/// Polls the client until the server receives its next request.
async fn request(server: &mut Server, source: &mut EventSource) -> Exchange {
    tokio::select! {
        exchange = server.accept() => exchange,
        message = source.next() => panic!("{message:?} before the request"),
    }
}

async fn message(source: &mut EventSource) -> Message {
    bounded(source.next()).await.expect("the stream goes on").expect("nothing final happens")
}

async fn open(source: &mut EventSource) {
    assert!(matches!(message(source).await, Message::Open));
    assert_eq!(source.state(), ReadyState::Open);
}

/// Receives an event and returns its data and id.
async fn event(source: &mut EventSource) -> (String, String) {
    match message(source).await {
        Message::Event(event) => (event.data().to_owned(), event.last_event_id().to_owned()),
        other => panic!("{other:?}"),
    }
}

fn pair(data: &str, id: &str) -> (String, String) {
    (data.to_owned(), id.to_owned())
}

/// Receives the message that the connection is lost and returns its error.
async fn lost(source: &mut EventSource) -> tightwire_sse::Error {
    match message(source).await {
        Message::Reconnecting { error, .. } => {
            assert_eq!(source.state(), ReadyState::Connecting);
            error
        }
        other => panic!("{other:?}"),
    }
}

/// Sends a stream on the first connection, ends it, and returns the request for the second one.
async fn resume(
    server: &mut Server,
    source: &mut EventSource,
    stream: &'static str,
    events: usize,
) -> Exchange {
    let exchange = request(server, source).await;
    assert_eq!(exchange.header("last-event-id"), None);
    exchange.open().send(stream);
    open(source).await;
    for _ in 0..events {
        event(source).await;
    }
    assert!(lost(source).await.is_ended());
    request(server, source).await
}

#[tokio::test]
async fn rec_01_resumes_after_the_last_id() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let exchange = resume(&mut server, &mut source, "id: abc\ndata: Hello\n\n", 1).await;
    assert_eq!(exchange.header("last-event-id"), Some(&b"abc"[..]));
}

#[tokio::test]
async fn rec_02_event_without_an_id_keeps_it() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let exchange = resume(&mut server, &mut source, "id: abc\ndata: Hello\n\ndata: World\n\n", 2).await;
    assert_eq!(exchange.header("last-event-id"), Some(&b"abc"[..]));
}

#[tokio::test]
async fn rec_03_empty_id_is_not_sent() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let exchange = resume(&mut server, &mut source, "id: abc\ndata: Hello\n\nid: \ndata: World\n\n", 2).await;
    assert_eq!(exchange.header("last-event-id"), None);
}

#[tokio::test]
async fn rec_04_partial_event_is_discarded() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let body = request(&mut server, &mut source).await.open();
    body.send("id: abc\ndata: Hello\n\nid: def\ndata: Goodbye");
    open(&mut source).await;
    assert_eq!(event(&mut source).await, pair("Hello", "abc"));
    body.abort();
    assert!(lost(&mut source).await.is_transport());
    let exchange = request(&mut server, &mut source).await;
    assert_eq!(exchange.header("last-event-id"), Some(&b"abc"[..]));
    let _body = {
        let body = exchange.open();
        body.send("data: We meet again\n\n");
        body
    };
    open(&mut source).await;
    assert_eq!(event(&mut source).await, pair("We meet again", "abc"));
    assert_eq!(source.last_event_id(), "abc");
}

/// The delay is tested on a paused clock, in the unit tests.
#[tokio::test]
async fn rec_05_a_retry_field_sets_the_delay() {
    for (stream, events) in [("retry:3000\n\n", 0), ("retry:3000\nretry:1000x\ndata:x\n\n", 1)] {
        let mut server = Server::start();
        let mut source = builder(&server).build().unwrap();
        request(&mut server, &mut source).await.open().send(stream);
        open(&mut source).await;
        for _ in 0..events {
            event(&mut source).await;
        }
        match message(&mut source).await {
            Message::Reconnecting { delay, .. } => assert_eq!(delay, Duration::from_secs(3)),
            other => panic!("{other:?}"),
        }
        assert!(source.next().now_or_never().is_none());
    }
}

/// The timeout is tested on a paused clock, in the unit tests. On a busy machine it may elapse before the event
/// arrives, so the test runs until the client has completed the sequence once.
#[tokio::test]
async fn rec_06_the_client_reconnects_after_the_read_timeout() {
    let mut server = Server::start();
    let mut source = builder(&server).read_timeout(Duration::from_millis(500)).build().unwrap();
    let mut bodies = Vec::new();
    let mut seen = Vec::new();
    let whole = ["open", "event", "timeout", "open"];
    let sequence = async {
        while !seen.ends_with(&whole) {
            tokio::select! {
                exchange = server.accept() => {
                    let body = exchange.open();
                    body.send("data: Hello\n\n");
                    bodies.push(body);
                }
                message = source.next() => seen.push(match message {
                    Some(Ok(Message::Open)) => "open",
                    Some(Ok(Message::Event(event))) if event.data() == "Hello" => "event",
                    Some(Ok(Message::Reconnecting { error, .. })) if error.is_timeout() => "timeout",
                    other => panic!("{other:?}"),
                }),
            }
        }
    };
    bounded(sequence).await;
    bodies[0].closed().await;
}

#[tokio::test]
async fn rec_07_restart() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let first = request(&mut server, &mut source).await.open();
    first.send("id: 1\ndata: Hello\n\ndata: unfinished\n");
    open(&mut source).await;
    assert_eq!(event(&mut source).await, pair("Hello", "1"));
    source.restart();
    assert_eq!(source.state(), ReadyState::Connecting);
    let exchange = request(&mut server, &mut source).await;
    assert_eq!(exchange.header("last-event-id"), Some(&b"1"[..]));
    let second = exchange.open();
    second.send("data: Thanks\n\n");
    open(&mut source).await;
    assert_eq!(event(&mut source).await, pair("Thanks", "1"));
    first.closed().await;
}

#[tokio::test]
async fn rec_08_events_are_received_after_an_aborted_connection() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let body = request(&mut server, &mut source).await.open();
    body.send("id: abc\ndata: Hello\n\n");
    open(&mut source).await;
    assert_eq!(event(&mut source).await, pair("Hello", "abc"));
    body.abort();
    assert!(lost(&mut source).await.is_transport());
    let body = request(&mut server, &mut source).await.open();
    body.send("id: def\ndata: World\n\n");
    open(&mut source).await;
    assert_eq!(event(&mut source).await, pair("World", "def"));
    assert_eq!(source.last_event_id(), "def");
}

#[tokio::test]
async fn rec_09_close_ends_everything() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let body = request(&mut server, &mut source).await.open();
    body.send("id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n");
    open(&mut source).await;
    assert_eq!(event(&mut source).await, pair("1", "1"));
    source.close();
    assert_eq!(source.state(), ReadyState::Closed);
    assert!(bounded(source.next()).await.is_none());
    assert_eq!(source.last_event_id(), "1");
    body.closed().await;
    assert!(!server.has_request());
}

#[tokio::test]
async fn rec_10_id_is_sent_as_utf8() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let exchange = resume(&mut server, &mut source, "id: …\ndata: hello\n\n", 1).await;
    assert_eq!(exchange.header("last-event-id"), Some("…".as_bytes()));
}

#[tokio::test]
async fn the_client_reconnects_until_the_server_is_up() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    for _ in 0..3 {
        drop(request(&mut server, &mut source).await);
        assert!(lost(&mut source).await.is_transport());
    }
    let _body = request(&mut server, &mut source).await.open();
    open(&mut source).await;
}

#[tokio::test]
async fn the_number_of_attempts_is_limited() {
    let mut server = Server::start();
    let backoff = Backoff::new().base(TICK).floor(TICK).max_attempts(2);
    let mut source = builder(&server).backoff(backoff).build().unwrap();
    for _ in 0..2 {
        drop(request(&mut server, &mut source).await);
        lost(&mut source).await;
    }
    drop(request(&mut server, &mut source).await);
    let error = bounded(source.next()).await.unwrap().unwrap_err();
    assert!(error.is_transport());
    assert_eq!(source.state(), ReadyState::Closed);
    assert!(bounded(source.next()).await.is_none());
}

#[tokio::test]
async fn dropping_the_future_of_a_message_loses_nothing() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let serve = async {
        let body = server.accept().await.open();
        for number in 0..50 {
            for piece in ["da", "ta: ", &format!("{number}"), "\n", "\n"] {
                body.send(piece.to_owned());
                tokio::task::yield_now().await;
            }
        }
        body
    };
    let receive = async {
        let mut received = Vec::new();
        while received.len() < 50 {
            match source.next().now_or_never() {
                Some(Some(Ok(Message::Event(event)))) => received.push(event.into_data()),
                Some(Some(Ok(Message::Open))) => {}
                Some(other) => panic!("{other:?}"),
                None => tokio::time::sleep(Duration::from_micros(100)).await,
            }
        }
        received
    };
    let (_body, received) = bounded(async { tokio::join!(serve, receive) }).await;
    assert_eq!(received, (0..50).map(|number| number.to_string()).collect::<Vec<_>>());
}

async fn comment(source: &mut EventSource) -> String {
    match message(source).await {
        Message::Comment(text) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn cmt_01_comment_at_the_end_of_its_line() {
    let mut server = Server::start();
    let mut source = builder(&server).report_comments().build().unwrap();
    let body = request(&mut server, &mut source).await.open();
    open(&mut source).await;
    body.send(":Hello\n");
    assert_eq!(comment(&mut source).await, "Hello");
}

#[tokio::test]
async fn cmt_02_comments_in_a_row() {
    let mut server = Server::start();
    let mut source = builder(&server).report_comments().build().unwrap();
    let body = request(&mut server, &mut source).await.open();
    open(&mut source).await;
    for text in ["Hello", "World"] {
        body.send(format!(":{text}\n"));
        assert_eq!(comment(&mut source).await, text);
    }
}

#[tokio::test]
async fn cmt_03_comment_before_an_event() {
    let mut server = Server::start();
    let mut source = builder(&server).report_comments().build().unwrap();
    let body = request(&mut server, &mut source).await.open();
    open(&mut source).await;
    body.send(":Hello\ndata: Hello\n\n");
    assert_eq!(comment(&mut source).await, "Hello");
    assert_eq!(event(&mut source).await, pair("Hello", ""));
}

#[tokio::test]
async fn cmt_04_comment_after_an_event() {
    let mut server = Server::start();
    let mut source = builder(&server).report_comments().build().unwrap();
    let body = request(&mut server, &mut source).await.open();
    open(&mut source).await;
    body.send("data: Hello\n\n: World\n");
    assert_eq!(event(&mut source).await, pair("Hello", ""));
    assert_eq!(comment(&mut source).await, " World");
}

#[tokio::test]
async fn comments_are_skipped_by_default() {
    let mut server = Server::start();
    let mut source = builder(&server).build().unwrap();
    let body = request(&mut server, &mut source).await.open();
    open(&mut source).await;
    body.send(":Hello\ndata: Hello\n\n");
    assert_eq!(event(&mut source).await, pair("Hello", ""));
}
