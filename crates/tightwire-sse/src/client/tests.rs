//! Tests of the client on a paused clock with a transport without sockets.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use http::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use super::event_source::Options;
use super::refused::ErrorBodyLimits;
use super::request::RequestTemplate;
use super::transport::{Failure, Transport};
use super::*;
use crate::error::{Kind, Result};
use crate::{Config, Ending, Overflow};

/// Reaction of the server to one request.
enum Reply {
    /// Sends the chunks of a channel, then ends the stream.
    Channel(mpsc::UnboundedReceiver<&'static str>),
    Status(u16),
    Response(http::Response<reqwest::Body>),
    Refused,
    NoResponse,
}

fn chunks<const N: usize>(chunks: [&'static str; N]) -> Reply {
    let (feed, reply) = channel();
    chunks.into_iter().for_each(|chunk| feed.send(chunk).unwrap());
    reply
}

/// Returns a reply that sends the chunks that the test sends.
fn channel() -> (mpsc::UnboundedSender<&'static str>, Reply) {
    let (feed, receiver) = mpsc::unbounded_channel();
    (feed, Reply::Channel(receiver))
}

/// Time and headers of each request.
type Log = Arc<Mutex<Vec<(Instant, HeaderMap)>>>;

impl Options {
    fn source<const N: usize>(self, replies: [Reply; N]) -> (EventSource, Log) {
        let log = Log::default();
        let requests = Arc::clone(&log);
        let replies = Mutex::new(VecDeque::from_iter(replies));
        let transport = Transport::new(move |request| {
            requests.lock().unwrap().push((Instant::now(), request.headers().clone()));
            let reply = replies.lock().unwrap().pop_front().expect("no further request is expected");
            Box::pin(async move {
                match reply {
                    Reply::Channel(chunks) => Ok(response(200, chunks)),
                    Reply::Status(status) => Ok(response(status, mpsc::unbounded_channel().1)),
                    Reply::Response(response) => Ok(response),
                    Reply::Refused => Err(Failure {
                        error: Error::with_source(Kind::Transport, "refused"),
                        is_permanent: false,
                    }),
                    Reply::NoResponse => pending().await,
                }
            })
        });
        let url = "http://example.org/".parse().unwrap();
        let request = RequestTemplate::new(reqwest::Request::new(http::Method::GET, url)).unwrap();
        (EventSource::new(request, transport, self, String::new()), log)
    }
}

fn response(status: u16, mut chunks: mpsc::UnboundedReceiver<&'static str>) -> http::Response<reqwest::Body> {
    let chunks = stream::poll_fn(move |cx| chunks.poll_recv(cx)).map(Ok::<_, Infallible>);
    http::Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "text/event-stream")
        .body(reqwest::Body::wrap_stream(chunks))
        .unwrap()
}

/// Formats a message as one line.
fn describe(message: Option<Result<Message>>) -> String {
    match message {
        Some(Ok(Message::Open { .. })) => "open".into(),
        Some(Ok(Message::Event(event))) => format!("event {}", event.data()),
        Some(Ok(Message::Comment(text))) => format!("comment {text}"),
        Some(Ok(Message::Reconnecting { error, delay })) => format!("wait {} ms: {error}", delay.as_millis()),
        Some(Err(error)) => format!("error: {error}"),
        None => "end".into(),
    }
}

async fn next(source: &mut EventSource) -> String {
    describe(source.next().await)
}

async fn expect<const N: usize>(source: &mut EventSource, messages: [&str; N]) {
    for message in messages {
        assert_eq!(next(source).await, message);
    }
}

fn pauses(log: &Log) -> Vec<Duration> {
    let log = log.lock().unwrap();
    log.windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
}

/// Timers of tokio have a resolution of one millisecond.
fn assert_pause(pause: Duration, millis: u64) {
    let expected = Duration::from_millis(millis);
    assert!(pause >= expected && pause <= expected + Duration::from_millis(2), "{pause:?}, not {expected:?}");
}

const ENDED: &str = "server ended the event stream";

#[tokio::test(start_paused = true)]
async fn rec_05_a_retry_field_sets_the_delay() {
    for stream in ["retry:3000\n\n", "retry:3000\nretry:1000x\ndata:x\n\n\n"] {
        let backoff = Backoff::new().base(Duration::from_millis(500));
        let (mut source, log) =
            Options { backoff, ..Options::default() }.source([chunks([stream]), Reply::NoResponse]);
        while !matches!(source.next().await, Some(Ok(Message::Reconnecting { .. }))) {}
        assert!(source.next().now_or_never().is_none());
        assert_eq!(source.state(), ReadyState::Connecting);
        sleep(Duration::from_millis(2990)).await;
        assert!(source.next().now_or_never().is_none());
        assert_eq!(log.lock().unwrap().len(), 1);
        tokio::select! {
            message = next(&mut source) => panic!("{message}"),
            () = sleep(Duration::from_millis(20)) => {}
        }
        assert_pause(pauses(&log)[0], 3000);
    }
}

#[tokio::test(start_paused = true)]
async fn delays_grow_while_the_server_is_down() {
    let setup =
        Options { backoff: Backoff::new().jitter(Jitter::None).max_attempts(4), ..Options::default() };
    let (mut source, log) = setup.source([
        Reply::Refused,
        Reply::Refused,
        Reply::Refused,
        chunks(["data: up\n\n"]),
        Reply::Refused,
    ]);
    expect(
        &mut source,
        [
            "wait 3000 ms: transport of the event stream failed",
            "wait 6000 ms: transport of the event stream failed",
            "wait 12000 ms: transport of the event stream failed",
            "open",
            "event up",
            "wait 24000 ms: server ended the event stream",
            "error: transport of the event stream failed",
            "end",
            "end",
        ],
    )
    .await;
    assert_eq!(source.state(), ReadyState::Closed);
    for (pause, millis) in pauses(&log).into_iter().zip([3000, 6000, 12_000, 24_000]) {
        assert_pause(pause, millis);
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_is_not_an_error_for_a_client_that_never_reconnects() {
    let backoff = Backoff::new().max_attempts(0);
    let (mut source, _) = Options { backoff, ..Options::default() }.source([chunks(["data: x\n\n"])]);
    expect(&mut source, ["open", "event x", "end", "end"]).await;
    assert_eq!(source.state(), ReadyState::Closed);

    let (mut source, _) = Options { backoff, ..Options::default() }.source([Reply::Refused]);
    expect(&mut source, ["error: transport of the event stream failed", "end"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_long_connection_resets_the_delay() {
    let (feed, reply) = channel();
    let setup = Options { backoff: Backoff::new().jitter(Jitter::None), ..Options::default() };
    let (mut source, _) =
        setup.source([Reply::Refused, Reply::Refused, reply, chunks([]), Reply::NoResponse]);
    next(&mut source).await;
    next(&mut source).await;
    expect(&mut source, ["open"]).await;
    sleep(Duration::from_secs(60)).await;
    drop(feed);
    expect(&mut source, [&format!("wait 3000 ms: {ENDED}"), "open", &format!("wait 6000 ms: {ENDED}")]).await;
}

#[tokio::test(start_paused = true)]
async fn rec_06_any_byte_resets_the_read_timeout() {
    let (feed, reply) = channel();
    let backoff = Backoff::new().jitter(Jitter::None);
    let setup = Options { backoff, read_timeout: Some(Duration::from_millis(500)), ..Options::default() };
    let (mut source, log) = setup.source([reply, Reply::NoResponse]);
    expect(&mut source, ["open"]).await;
    let started = Instant::now();
    let server = async {
        for chunk in ["da", "ta: x\n", "\n", ":", " half a comment"] {
            sleep(Duration::from_millis(400)).await;
            feed.send(chunk).unwrap();
        }
    };
    let client = async {
        expect(&mut source, ["event x", "wait 3000 ms: no data received within the read timeout"]).await;
        assert_pause(started.elapsed(), 5 * 400 + 500);
        // The timeout also applies while waiting for a response.
        expect(&mut source, ["wait 6000 ms: no data received within the read timeout"]).await;
        assert_pause(started.elapsed(), 5 * 400 + 500 + 3000 + 500);
    };
    tokio::join!(server, client);
    assert_eq!(log.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_slow_caller_causes_no_read_timeout_and_dropped_futures_lose_nothing() {
    let (feed, reply) = channel();
    let setup = Options { read_timeout: Some(Duration::from_millis(500)), ..Options::default() };
    let (mut source, _) = setup.source([reply]);
    feed.send("data: 1\n\n").unwrap();
    expect(&mut source, ["open", "event 1"]).await;
    for piece in ["da", "ta: ", "2", "\n"] {
        sleep(Duration::from_secs(10)).await;
        feed.send(piece).unwrap();
        // The future is dropped after it has consumed the piece.
        assert!(source.next().now_or_never().is_none());
    }
    feed.send("\n").unwrap();
    expect(&mut source, ["event 2"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_error_is_final_unless_retried() {
    let (mut source, _) = Options::default().source([Reply::Status(503)]);
    expect(&mut source, ["error: response has status 503, expected 200", "end"]).await;

    let setup = Options { retry_server_errors: true, ..Options::default() };
    let (mut source, _) = setup.source([Reply::Status(503), chunks([]), Reply::Status(404)]);
    let wait = "wait 3000 ms: response has status 503, expected 200";
    expect(&mut source, [wait, "open"]).await;
    assert!(next(&mut source).await.ends_with(ENDED));
    expect(&mut source, ["error: response has status 404, expected 200", "end"]).await;
}

/// Returns a reply with this status, `Retry-After` header and body.
fn refusal(status: u16, retry_after: &'static str, body: impl Into<reqwest::Body>) -> Reply {
    let response = http::Response::builder().status(status).header(RETRY_AFTER, retry_after);
    Reply::Response(response.body(body.into()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn retry_after_sets_the_minimum_delay() {
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    let defaults = Options { backoff: Backoff::new().jitter(Jitter::None), ..Options::default() };
    let retried = Options { retry_server_errors: true, ..defaults };
    let short = Options { max_retry_after: Duration::from_secs(9), ..retried };
    let disabled = Options { backoff: defaults.backoff.max_attempts(0), ..defaults };
    for (options, status, retry_after, delay) in [
        (defaults, 429, "10", Some(10_000)),
        (defaults, 503, "300", Some(300_000)),
        // The delay of the backoff is longer.
        (defaults, 503, "1", Some(3000)),
        (defaults, 429, DATE, Some(3000)),
        (defaults, 503, "301", None),
        (defaults, 503, "soon", None),
        (defaults, 429, "", None),
        (defaults, 500, "10", None),
        (defaults, 302, "10", None),
        (retried, 500, "10", Some(3000)),
        (retried, 429, "", Some(3000)),
        (retried, 503, "soon", Some(3000)),
        (retried, 404, "10", None),
        (short, 503, "9", Some(9000)),
        (short, 503, "10", None),
        (disabled, 503, "1", None),
    ] {
        let (mut source, log) = options.source([refusal(status, retry_after, ""), Reply::NoResponse]);
        let error = format!("response has status {status}, expected 200");
        match delay {
            Some(delay) => {
                expect(&mut source, [&format!("wait {delay} ms: {error}")]).await;
                assert!(timeout(Duration::from_secs(1000), source.next()).await.is_err());
                assert_pause(pauses(&log)[0], delay);
            }
            None => expect(&mut source, [&format!("error: {error}"), "end"]).await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_has_the_response_up_to_its_limits() {
    let endless = || reqwest::Body::wrap_stream(stream::pending::<Result<&str, Infallible>>());
    let slow = || {
        let rest = stream::once(sleep(Duration::from_secs(6))).map(|()| "rest");
        reqwest::Body::wrap_stream(stream::iter(["part"]).chain(rest).map(Ok::<_, Infallible>))
    };
    let broken = reqwest::Body::wrap_stream(stream::iter([Ok("part"), Err("broken")]));
    let mut options = Options::default();
    for (size, seconds, body, expected, is_truncated) in [
        (64 << 10, 5, "x".repeat(64 << 10).into(), "x".repeat(64 << 10), false),
        (64 << 10, 5, "x".repeat((64 << 10) + 1).into(), "x".repeat(64 << 10), true),
        (4, 5, "four".into(), "four".into(), false),
        (3, 5, "four".into(), "fou".into(), true),
        (0, 5, "four".into(), String::new(), true),
        (9, 5, "".into(), String::new(), false),
        (9, 5, slow(), "part".into(), true),
        (9, 7, slow(), "partrest".into(), false),
        (9, 5, broken, "part".into(), true),
        (9, 5, endless(), String::new(), true),
    ] {
        options.error_body = ErrorBodyLimits { size, timeout: Duration::from_secs(seconds) };
        let (mut source, _) = options.source([refusal(400, "9", body)]);
        assert_eq!(source.state(), ReadyState::Connecting);
        let error = source.next().await.unwrap().unwrap_err();
        assert_eq!(error.status(), Some(400));
        assert_eq!(error.headers().unwrap()[RETRY_AFTER], "9");
        assert_eq!(error.body().unwrap(), &expected);
        assert_eq!(error.is_body_truncated(), is_truncated, "{size} bytes in {seconds} s");
        assert_eq!(source.state(), ReadyState::Closed);
    }
}

#[tokio::test(start_paused = true)]
async fn comments_do_not_reset_the_event_timeout() {
    for comments in [false, true] {
        let (feed, reply) = channel();
        let setup = Options {
            backoff: Backoff::new().jitter(Jitter::None),
            event_timeout: Some(Duration::from_millis(500)),
            comments,
            ..Options::default()
        };
        let (mut source, _) = setup.source([reply, Reply::NoResponse]);
        expect(&mut source, ["open"]).await;
        let started = Instant::now();
        let server = async {
            for chunk in ["data: 1\n\n", "data: 2\n\n", ":\n"] {
                sleep(Duration::from_millis(400)).await;
                feed.send(chunk).unwrap();
            }
        };
        let client = async {
            expect(&mut source, ["event 1", "event 2"]).await;
            if comments {
                expect(&mut source, ["comment "]).await;
            }
            expect(&mut source, ["wait 3000 ms: no event received within the event timeout"]).await;
            assert_pause(started.elapsed(), 2 * 400 + 500);
            // The timeout also applies while waiting for a response.
            expect(&mut source, ["wait 6000 ms: no event received within the event timeout"]).await;
            assert_pause(started.elapsed(), 2 * 400 + 500 + 3000 + 500);
        };
        tokio::join!(server, client);
    }
}

#[tokio::test(start_paused = true)]
async fn the_event_timeout_ends_a_stream_that_only_has_comments() {
    // Always has data; the paused clock only advances between chunks.
    let body = stream::repeat(Ok::<_, Infallible>(": busy\n")).then(|chunk| async move {
        tokio::time::advance(Duration::from_millis(1)).await;
        chunk
    });
    let response = http::Response::builder().header(CONTENT_TYPE, "text/event-stream");
    let reply = Reply::Response(response.body(reqwest::Body::wrap_stream(body)).unwrap());
    let setup = Options { event_timeout: Some(Duration::from_secs(1)), ..Options::default() };
    let (mut source, _) = setup.source([reply]);
    expect(&mut source, ["open"]).await;
    assert!(next(&mut source).await.ends_with("no event received within the event timeout"));
}

#[tokio::test(start_paused = true)]
async fn an_oversized_event_is_skipped_or_final() {
    let decoder = Config::new().max_event_size(8);
    let stream = || chunks(["data: 1\n\ndata: much too long\n\ndata: 2\n\n"]);
    let too_large =
        |message: String| assert!(message.starts_with("error: event is larger than"), "{message}");

    let (mut source, _) = Options { decoder, ..Options::default() }.source([stream()]);
    expect(&mut source, ["open", "event 1"]).await;
    too_large(next(&mut source).await);
    assert_eq!(source.state(), ReadyState::Open);
    expect(&mut source, ["event 2"]).await;

    let decoder = decoder.overflow(Overflow::Terminate);
    let (mut source, _) = Options { decoder, ..Options::default() }.source([stream()]);
    expect(&mut source, ["open", "event 1"]).await;
    too_large(next(&mut source).await);
    assert_eq!(source.state(), ReadyState::Closed);
    expect(&mut source, ["end"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_fast_stream_of_comments_does_not_block_the_executor() {
    let (feed, reply) = channel();
    for _ in 0..1000 {
        feed.send(": busy\n").unwrap();
    }
    feed.send("data: x\n\n").unwrap();
    let (mut source, _) = Options::default().source([reply]);
    expect(&mut source, ["open"]).await;
    // One poll yields after some chunks and wakes itself.
    assert!(source.next().now_or_never().is_none());
    expect(&mut source, ["event x"]).await;

    let (feed, reply) = channel();
    feed.send(Box::leak((": busy\n".repeat(1000) + "data: x\n\n").into())).unwrap();
    let setup = Options { comments: true, ..Options::default() };
    let (mut source, _) = setup.source([reply]);
    let mut events = source.events();
    assert!(events.next().now_or_never().is_none());
    assert_eq!(events.next().await.unwrap().unwrap().data(), "x");
}

#[tokio::test(start_paused = true)]
async fn close_ends_the_stream_and_restart_reconnects() {
    let (mut source, log) = Options::default().source([
        chunks(["id: 7\ndata: 1\n\ndata: dropped"]),
        chunks(["data: 2\n\n"]),
        Reply::Refused,
        chunks([]),
    ]);
    expect(&mut source, ["open", "event 1"]).await;
    source.restart();
    assert_eq!(source.state(), ReadyState::Connecting);
    expect(&mut source, ["open", "event 2"]).await;
    source.restart();
    expect(&mut source, ["wait 3000 ms: transport of the event stream failed"]).await;
    // Ends the delay.
    source.restart();
    expect(&mut source, ["open"]).await;
    source.close();
    assert_eq!(source.state(), ReadyState::Closed);
    assert_eq!(source.last_event_id(), "7");
    expect(&mut source, ["end"]).await;
    source.restart();
    expect(&mut source, ["end"]).await;
    assert_eq!(pauses(&log), [Duration::ZERO; 3]);
    assert!(log.lock().unwrap()[1..].iter().all(|(_, headers)| headers["last-event-id"] == "7"));
}

#[tokio::test(start_paused = true)]
async fn the_events_stream_yields_events_and_the_final_error() {
    let setup = Options { comments: true, ..Options::default() };
    let (mut source, _) = setup.source([
        chunks([": hi\ndata: 1\n\n"]),
        Reply::Refused,
        chunks(["data: 2\n\n"]),
        Reply::Status(204),
    ]);
    let events: Vec<_> = source.events().collect().await;
    let data: Vec<_> = events[..2].iter().map(|event| event.as_ref().unwrap().data()).collect();
    assert_eq!(data, ["1", "2"]);
    assert_eq!(events[2].as_ref().unwrap_err().status(), Some(204));
    assert_eq!(events.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_events_stream_reports_that_the_server_is_unreachable() {
    let setup = Options { backoff: Backoff::new().jitter(Jitter::None), ..Options::default() };
    let (mut source, _) = setup.source([
        Reply::Refused,
        Reply::Refused,
        chunks(["data: 1\n\n"]),
        Reply::Refused,
        Reply::Refused,
        Reply::Refused,
        Reply::Refused,
        Reply::Refused,
        chunks(["data: 2\n\n"]),
        Reply::NoResponse,
    ]);
    let mut events = source.events();
    for expected in [None, None, Some("1"), None, Some("2")] {
        let event = events.next().await.unwrap();
        match expected {
            Some(data) => assert_eq!(event.unwrap().data(), data),
            None => assert!(event.unwrap_err().is_transport()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_field_has_a_maximum() {
    let setup = Options { backoff: Backoff::new().jitter(Jitter::None), ..Options::default() };
    let (mut source, _) = setup.source([chunks(["retry: 18446744073709551615\n\n"])]);
    expect(&mut source, ["open", &format!("wait 3600000 ms: {ENDED}")]).await;
}

#[tokio::test(start_paused = true)]
async fn the_client_has_the_ending_and_content_types_of_its_options() {
    let response = |content_type| {
        let response = http::Response::builder().header(CONTENT_TYPE, content_type);
        Reply::Response(response.body("data: 1\n\ndata: 2".into()).unwrap())
    };
    let setup = Options {
        ending: Ending::Lenient,
        content_types: |value| value.is_some_and(|value| value == "text/plain"),
        ..Options::default()
    };
    let (mut source, _) = setup.source([response("text/plain"), response("text/event-stream")]);
    expect(&mut source, ["open", "event 1", "event 2"]).await;
    assert!(next(&mut source).await.ends_with(ENDED));
    assert!(next(&mut source).await.starts_with("error: response does not have content type"));
}

#[tokio::test(start_paused = true)]
async fn an_event_of_which_only_the_id_arrived_is_requested_again() {
    let setup = Options { ending: Ending::Lenient, ..Options::default() };
    let (mut source, log) = setup.source([chunks(["id: 1\ndata: 1\n\nid: 2\n"]), Reply::NoResponse]);
    expect(&mut source, ["open", "event 1"]).await;
    assert!(next(&mut source).await.ends_with(ENDED));
    assert!(timeout(Duration::from_secs(1000), source.next()).await.is_err());
    assert_eq!(log.lock().unwrap()[1].1["last-event-id"], "1");
}

#[tokio::test(start_paused = true)]
async fn debug_output_contains_no_secrets() {
    let request =
        reqwest::Client::new().post("http://user:hunter2@example.org/?key=hunter2").bearer_auth("hunter2");
    let builder = EventSource::from_request(request).last_event_id("hunter2").body("hunter2");
    let before = format!("{builder:?}");
    let source = builder.build().unwrap();
    for text in [before, format!("{source:?}")] {
        assert!(!text.contains("hunter2"), "{text}");
        assert!(!text.contains("example.org"), "{text}");
    }
}

#[test]
fn the_client_is_send_and_unpin() {
    fn assert_movable<T: Send + Unpin>() {}
    assert_movable::<EventSource>();
    assert_movable::<Events<'_>>();
    assert_movable::<EventSourceBuilder>();
    assert_movable::<Message>();
}
