//! Names and types of reqwest-eventsource, and differences in behaviour.
#![cfg(feature = "compat-reqwest-eventsource")]

use std::error::Error as _;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::StatusCode;
use reqwest::header::HeaderValue;
use tightwire_sse::compat::eventsource_stream::Event as MessageEvent;
// The tests below only contain names of reqwest-eventsource.
use tightwire_sse::compat::reqwest_eventsource;

use reqwest_eventsource::retry::{Constant, DEFAULT_RETRY, ExponentialBackoff, Never, RetryPolicy};
use reqwest_eventsource::{
    CannotCloneRequestError, Error, Event, EventSource, ReadyState, RequestBuilderExt,
};

use crate::server::{Exchange, Server, bounded};

async fn next(source: &mut EventSource) -> Option<Result<Event, Error>> {
    bounded(source.next()).await
}

/// Polls the client until the server receives its next request.
async fn request(server: &mut Server, source: &mut EventSource) -> Exchange {
    tokio::select! {
        exchange = server.accept() => exchange,
        item = source.next() => panic!("{item:?} before the request"),
    }
}

#[tokio::test]
async fn a_program_receives_messages_and_reconnects() {
    let mut server = Server::start();
    let url = server.url("/events");
    let serve = async {
        server.accept().await.open().send("event: add\nid: 7\nretry: 1\ndata: a\n\n");
        let exchange = server.accept().await;
        assert_eq!(exchange.header("last-event-id"), Some(&b"7"[..]));
        assert_eq!(exchange.header("accept"), Some(&b"text/event-stream"[..]));
        assert_eq!(exchange.header("cache-control"), None);
        exchange.open().send("data: bye\n\n");
    };
    let program = async {
        let mut log = Vec::new();
        let mut source = EventSource::get(url);
        assert_eq!(source.ready_state(), ReadyState::Connecting);
        while let Some(event) = source.next().await {
            match event {
                Ok(Event::Open) => {
                    assert_eq!(source.ready_state(), ReadyState::Open);
                    log.push("open".to_owned());
                }
                Ok(Event::Message(message)) => {
                    let MessageEvent { event, data, id, .. } = &message;
                    log.push(format!("{event} {data} {id}"));
                    assert_eq!(source.last_event_id(), "7");
                    if message.data == "bye" {
                        source.close();
                    }
                }
                Err(error) if error.to_string() == "Stream ended" => log.push(format!("{error:?}")),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(source.ready_state(), ReadyState::Closed);
        log
    };
    let ((), log) = bounded(async { tokio::join!(serve, program) }).await;
    assert_eq!(log, ["open", "add a 7", "StreamEnded", "open", "message bye 7"]);
    assert!(!server.has_request());
}

#[tokio::test]
async fn a_refused_request_is_final_and_has_the_response() {
    let mut server = Server::start();
    for (status, headers) in [
        (404, &[("content-type", "text/event-stream")][..]),
        (200, &[("content-type", "text/html")]),
        (200, &[]),
    ] {
        let url = server.url("/?key=hunter2");
        let mut source = reqwest::Client::new().get(url).eventsource().unwrap();
        request(&mut server, &mut source).await.respond(status, headers).send("reason");
        let error = next(&mut source).await.unwrap().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        let text = error.to_string();
        let response = match error {
            Error::InvalidStatusCode(code, response) => {
                assert_eq!((code, status), (StatusCode::NOT_FOUND, 404));
                assert_eq!(text, "Invalid status code: 404 Not Found");
                response
            }
            Error::InvalidContentType(value, response) => {
                let expected = headers.first().map_or("", |(_, value)| value);
                assert_eq!(value, HeaderValue::from_static(expected));
                assert_eq!(text, format!("Invalid header value: {expected:?}"));
                response
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(bounded(response.text()).await.unwrap(), "reason");
        assert_eq!(source.ready_state(), ReadyState::Closed);
        assert!(next(&mut source).await.is_none());
    }
}

/// Policy of a user.
struct Twice;

impl RetryPolicy for Twice {
    fn retry(&self, error: &Error, last_retry: Option<(usize, Duration)>) -> Option<Duration> {
        assert!(matches!(error, Error::Transport(_)));
        match last_retry {
            None => Some(Duration::from_millis(1)),
            Some((1, last)) => Some(last * 2),
            Some((2, last)) => {
                assert_eq!(last, Duration::from_millis(2));
                None
            }
            other => panic!("{other:?}"),
        }
    }

    fn set_reconnection_time(&mut self, _: Duration) {}
}

#[tokio::test]
async fn the_policy_limits_the_attempts() {
    let policies: [(Box<dyn RetryPolicy + Send + Unpin>, usize); 4] = [
        (Box::new(Never), 1),
        (Box::new(Twice), 3),
        (Box::new(Constant::new(Duration::from_millis(1), Some(2))), 3),
        (Box::new(Constant::new(Duration::from_millis(1), Some(0))), 1),
    ];
    for (policy, requests) in policies {
        let mut server = Server::start();
        let mut source = EventSource::get(server.url("/?key=hunter2"));
        source.set_retry_policy(policy);
        for number in 1..=requests {
            drop(request(&mut server, &mut source).await);
            let error = next(&mut source).await.unwrap().unwrap_err();
            assert!(matches!(&error, Error::Transport(error) if error.url().is_none()));
            assert!(!format!("{error} {error:?} {:?}", error.source()).contains("hunter2"));
            let state = if number < requests { ReadyState::Connecting } else { ReadyState::Closed };
            assert_eq!(source.ready_state(), state);
        }
        assert!(next(&mut source).await.is_none());
    }
}

#[test]
fn delays_of_the_policies() {
    let error = Error::StreamEnded;
    let seconds = Duration::from_secs;
    let delays = |policy: &dyn RetryPolicy| {
        let mut last = None;
        let delays = (1..=4).map_while(|number| {
            let delay = policy.retry(&error, last)?;
            last = Some((number, delay));
            Some(delay)
        });
        delays.collect::<Vec<_>>()
    };
    let mut growing = ExponentialBackoff::new(seconds(1), 1.5, Some(seconds(2)), Some(3));
    assert_eq!(delays(&growing), [seconds(1), Duration::from_millis(1500), seconds(2)]);
    growing.set_reconnection_time(seconds(4));
    assert_eq!((growing.start, growing.max_duration), (seconds(4), Some(seconds(4))));
    assert_eq!(delays(&growing), [seconds(4); 3]);
    let unlimited =
        ExponentialBackoff { start: Duration::MAX, factor: 2.0, max_duration: None, max_retries: None };
    assert_eq!(delays(&unlimited), [Duration::MAX; 4]);
    let mut constant = Constant { delay: seconds(1), max_retries: None };
    constant.set_reconnection_time(seconds(3));
    assert_eq!(delays(&constant), [seconds(3); 4]);
    assert_eq!(delays(&Never), []);
    assert_eq!(delays(&DEFAULT_RETRY), [300, 600, 1200, 2400].map(Duration::from_millis));
}

#[tokio::test]
async fn invalid_requests_are_errors() {
    let client = reqwest::Client::new();
    let body = reqwest::Body::wrap(http_body_util::Full::new(bytes::Bytes::from("once")));
    let _: CannotCloneRequestError = client.post("http://example.org/").body(body).eventsource().unwrap_err();
    assert!(EventSource::new(client.get("/relative")).is_err());
    let mut source = EventSource::get("hunter2");
    let error = next(&mut source).await.unwrap().unwrap_err();
    assert!(matches!(&error, Error::Transport(error) if error.is_builder()));
    assert!(!format!("{error} {error:?} {:?} {source:?}", error.source()).contains("hunter2"));
    assert!(next(&mut source).await.is_none());
}

#[tokio::test]
async fn an_oversized_event_is_skipped() {
    let mut server = Server::start();
    let mut source = EventSource::get(server.url("/"));
    let body = request(&mut server, &mut source).await.open();
    body.send(format!("data: {}\n\ndata: next\n\n", "x".repeat(16 << 20)));
    assert_eq!(next(&mut source).await.unwrap().unwrap(), Event::Open);
    let error = next(&mut source).await.unwrap().unwrap_err();
    assert!(matches!(&error, Error::Parser(error) if error.is_limit()), "{error:?}");
    assert_eq!(source.ready_state(), ReadyState::Open);
    match next(&mut source).await.unwrap().unwrap() {
        Event::Message(message) => assert_eq!(message.data, "next"),
        Event::Open => panic!("no second connection"),
    }
}
