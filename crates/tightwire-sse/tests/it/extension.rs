//! Extension traits for requests and responses of reqwest.
#![cfg(feature = "reqwest")]

use std::time::Duration;

use futures_util::StreamExt;
use tightwire_sse::{
    Config, Decoder, Ending, Message, Overflow, ReadyState, RequestBuilderExt, ResponseEvents, ResponseExt,
};

use crate::server::{Sender, Server, bounded};

/// Returns the events of a response with this status and content type, and the sender of its body.
async fn respond(status: u16, content_type: &str) -> (ResponseEvents, Sender) {
    let mut server = Server::start();
    let request = reqwest::Client::new().get(server.url("/")).send();
    let respond = async { server.accept().await.respond(status, &[("content-type", content_type)]) };
    let (response, body) = bounded(async { tokio::join!(request, respond) }).await;
    (response.unwrap().events(), body)
}

async fn expect<const N: usize>(events: &mut ResponseEvents, data: [&str; N]) {
    for data in data {
        assert_eq!(bounded(events.next()).await.unwrap().unwrap().data(), data);
    }
}

#[tokio::test]
async fn a_response_is_a_stream_of_its_events() {
    let (mut events, body) = respond(200, "text/event-stream; charset=utf-8").await;
    body.send(": comment\nid: 7\ndata: 1\n\ndata: 2");
    expect(&mut events, ["1"]).await;
    assert_eq!(events.last_event_id(), "7");
    assert!(!format!("{events:?}").contains('7'));
    body.send("\n\nid: 8\ndata: incomplete");
    expect(&mut events, ["2"]).await;
    drop(body);
    expect(&mut events, ["incomplete"]).await;
    for _ in 0..2 {
        assert!(bounded(events.next()).await.is_none());
    }
    assert_eq!(events.last_event_id(), "8");
}

#[tokio::test]
async fn the_ending_decides_about_the_last_event() {
    for (ending, tail, data) in [
        (Ending::Lenient, "data: 2", Some("2")),
        (Ending::Lenient, "data: 2\n", Some("2")),
        (Ending::Lenient, "id: 2\n", None),
        (Ending::Strict, "data: 2", None),
        (Ending::Strict, "data: 2\n", None),
        (Ending::Strict, "data: 2\n\n", Some("2")),
    ] {
        let (events, body) = respond(200, "text/event-stream").await;
        let mut events = events.with_ending(ending);
        body.send(format!("data: 1\n\n{tail}"));
        drop(body);
        expect(&mut events, ["1"]).await;
        let last = bounded(events.next()).await.map(|event| event.unwrap().into_data());
        assert_eq!(last.as_deref(), data, "{ending:?} {tail:?}");
    }
    let (mut events, body) = respond(200, "text/event-stream").await;
    body.send("data: truncated");
    body.abort();
    assert!(bounded(events.next()).await.unwrap().unwrap_err().is_transport());
    assert!(bounded(events.next()).await.is_none());
}

#[tokio::test]
async fn content_types_are_accepted_by_a_predicate() {
    for (content_type, accepted) in [
        ("application/json, text/event-stream; charset=utf-8", true),
        ("text/plain", true),
        ("application/x-ndjson", false),
    ] {
        for other in [false, true] {
            let (events, body) = respond(200, content_type).await;
            let mut events = if other {
                events.with_content_types(|value| value.is_some_and(|value| value == "application/x-ndjson"))
            } else {
                events
            };
            body.send("data: 1\n\n");
            drop(body);
            let event = bounded(events.next()).await.unwrap();
            assert_eq!(event.is_ok(), accepted != other, "{content_type}");
        }
    }
    // A plain text without events is not an event stream.
    let (mut events, body) = respond(200, "text/plain").await;
    body.send("quota ");
    body.send("exceeded");
    drop(body);
    let error = bounded(events.next()).await.unwrap().unwrap_err();
    assert!(error.is_content_type() && !error.is_body_truncated());
    assert_eq!(error.body().unwrap(), "quota exceeded");
    assert_eq!(error.headers().unwrap()["content-type"], "text/plain");
    assert!(bounded(events.next()).await.is_none());
}

#[tokio::test]
async fn another_status_or_content_type_is_the_only_item() {
    for (status, content_type) in
        [(500, "text/event-stream"), (204, "text/event-stream"), (200, "application/json")]
    {
        for (size, is_truncated) in [(7, true), (8, false)] {
            let (events, body) = respond(status, content_type).await;
            let mut events =
                events.with_max_error_body(size).with_error_body_timeout(Duration::from_secs(60));
            body.send("data: 1\n");
            drop(body);
            let error = bounded(events.next()).await.unwrap().unwrap_err();
            assert_eq!((error.is_status(), error.is_content_type()), (status != 200, status == 200));
            assert_eq!(error.status(), Some(status));
            assert_eq!(error.headers().unwrap()["content-type"], content_type);
            if status != 204 {
                assert_eq!(error.body().unwrap(), &"data: 1\n"[..size]);
                assert_eq!(error.is_body_truncated(), is_truncated);
            }
            assert!(bounded(events.next()).await.is_none());
        }
    }
}

#[tokio::test]
async fn the_body_of_an_error_is_received_within_a_timeout() {
    let (events, body) = respond(500, "text/plain").await;
    body.send("part");
    let mut events = events.with_error_body_timeout(Duration::from_millis(50));
    let error = bounded(events.next()).await.unwrap().unwrap_err();
    assert!(error.is_status() && error.is_body_truncated());
    body.closed().await;
}

#[tokio::test]
async fn a_failed_connection_ends_the_stream() {
    let (mut events, body) = respond(200, "text/event-stream").await;
    body.send("data: 1\n\n");
    expect(&mut events, ["1"]).await;
    body.abort();
    assert!(bounded(events.next()).await.unwrap().unwrap_err().is_transport());
    assert!(bounded(events.next()).await.is_none());
}

#[tokio::test]
async fn the_decoder_has_the_limit_of_an_event() {
    for (overflow, goes_on) in [(Overflow::Resync, true), (Overflow::Terminate, false)] {
        let (events, body) = respond(200, "text/event-stream").await;
        let decoder = Decoder::with_config(Config::new().max_event_size(8).overflow(overflow));
        let mut events = events.with_decoder(decoder.with_last_event_id("5"));
        assert_eq!(events.last_event_id(), "5");
        body.send("data: 1\n\ndata: much too long\n\ndata: 2\n\n");
        drop(body);
        expect(&mut events, ["1"]).await;
        assert!(bounded(events.next()).await.unwrap().unwrap_err().is_limit());
        if goes_on {
            expect(&mut events, ["2"]).await;
        }
        assert!(bounded(events.next()).await.is_none());
    }
}

#[tokio::test]
async fn a_request_is_a_client_that_reconnects() {
    let mut server = Server::start();
    let request = reqwest::Client::new().post(server.url("/prices")).body("ask");
    let mut source = request.event_source().unwrap();
    let serve = async {
        server.accept().await.open().send("retry: 1\nid: 1\ndata: x\n\n");
        let exchange = server.accept().await;
        assert_eq!((exchange.path.as_str(), &exchange.body[..]), ("/prices", &b"ask"[..]));
        assert_eq!(exchange.header("last-event-id"), Some(&b"1"[..]));
        exchange.respond(204, &[]);
    };
    let receive = async {
        let mut events = 0;
        while let Some(Ok(message)) = source.next().await {
            events += usize::from(matches!(message, Message::Event(_)));
        }
        assert_eq!((events, source.state()), (1, ReadyState::Closed));
    };
    bounded(async { tokio::join!(serve, receive) }).await;

    assert!(reqwest::Client::new().get("/relative").event_source().unwrap_err().is_request());
}
