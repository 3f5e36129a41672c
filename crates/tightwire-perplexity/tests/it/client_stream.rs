//! Streams: end, errors, timeouts, cancellation, accumulation, resuming.
#![cfg(feature = "client")]

use std::time::Duration;

use futures_util::{FutureExt, StreamExt, TryStreamExt};
use tightwire_perplexity::retry::RetryPolicy;
use tightwire_perplexity::stream::{EventStream, Malformed};
use tightwire_perplexity::types::chat::{Accumulator, Completion, Request};
use tightwire_perplexity::types::responses;
use tightwire_perplexity::{Call, Error, TimeoutPhase};
use tokio::time::Instant;

use crate::support::{Script, Step};

const CHUNKS: [&str; 4] = [
    "data: {\"id\":\"c\",\"model\":\"sonar\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"},\
     \"message\":{\"role\":\"assistant\",\"content\":\"Hel\"}}],\"citations\":[\"https://example.org/1\"]}\n\n",
    ": comment\n\nevent: ping\n\nid: 7\n\n",
    "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"message\":{\"content\":\"Hello\"},\
     \"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":5},\
     \"search_results\":[{\"title\":\"T\",\"url\":\"https://example.org/1\"}],\
     \"images\":[{\"image_url\":\"https://example.org/i.png\"}]}\n\n",
    "data: [DONE]\n\n",
];

fn request() -> Request {
    Request::new("sonar", "Say hello.")
}

async fn chat(script: &Script) -> EventStream<Completion> {
    script.client().chat().stream(&request()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn chat_stream_is_requested_and_accumulated() {
    let script = Script::new([Step::pieces(CHUNKS)]);
    let mut stream = chat(&script).await;
    let answer = stream.accumulate().await.unwrap();
    assert!(stream.finished_cleanly());
    assert_eq!(answer.text(), Some("Hello"));
    assert_eq!(answer.usage.unwrap().total_tokens, 5);
    assert_eq!(answer.citations.unwrap(), ["https://example.org/1"]);
    assert_eq!(answer.search_results.unwrap().len(), 1);
    assert_eq!(answer.images.unwrap().len(), 1);
    assert_eq!(stream.last_event_id(), "7");

    let sent = &script.sent()[0];
    assert_eq!((&*sent.method, &*sent.url), ("POST", "https://example.org/base/chat/completions"));
    assert_eq!(sent.headers["accept"], "text/event-stream");
    let body: tightwire_json::Value = tightwire_json::from_str(&sent.body).unwrap();
    assert_eq!(body["stream"], true);
    assert_eq!(body["model"], "sonar");
}

#[tokio::test(start_paused = true)]
async fn text_is_streamed_and_deltas_only_drops_messages() {
    let script = Script::new([Step::pieces(CHUNKS), Step::pieces(CHUNKS), Step::pieces(CHUNKS)]);
    let pieces: Vec<String> = chat(&script).await.text().try_collect().await.unwrap();
    assert_eq!(pieces, ["Hel", "lo"]);
    assert_eq!(chat(&script).await.text().concat().await.unwrap(), "Hello");
    let mut deltas = chat(&script).await.deltas_only();
    assert_eq!(deltas.accumulate().await.unwrap().text(), Some("Hello"));
}

/// Items and the final response come from one request.
#[tokio::test(start_paused = true)]
async fn a_stream_returns_items_and_then_the_response() {
    let script = Script::new([Step::pieces(CHUNKS), Step::pieces(CHUNKS), Step::pieces(EVENTS)]);
    let mut stream = chat(&script).await.accumulating();
    let mut texts = Vec::new();
    while let Some(chunk) = stream.next().await {
        let delta = chunk.unwrap().delta_text().unwrap().to_owned();
        texts.push((delta, stream.accumulator().text().to_owned()));
    }
    assert_eq!(texts, [("Hel", "Hel"), ("lo", "Hello")].map(|(delta, text)| (delta.into(), text.into())));
    let answer = stream.finish().await.unwrap();
    assert_eq!(answer.text(), Some("Hello"));
    assert_eq!(answer.citations.unwrap(), ["https://example.org/1"]);
    assert_eq!(script.sent().len(), 1);

    // The response includes items that were not read.
    let mut deltas = chat(&script).await.deltas_only().accumulating();
    assert_eq!(deltas.next().await.unwrap().unwrap().delta_text(), Some("Hel"));
    assert_eq!(deltas.finish().await.unwrap().text(), Some("Hello"));
    let mut events = agent_stream(&script).await.accumulating();
    let text: Vec<_> =
        (&mut events).map(|event| event.unwrap().delta_text().unwrap_or_default().to_owned()).collect().await;
    assert_eq!(text.concat(), "Hello");
    assert_eq!(events.finish().await.unwrap().output_text(), "Hello");
}

/// A failed stream has no final response, but what was received is not lost.
#[tokio::test(start_paused = true)]
async fn a_stream_that_failed_has_no_final_response() {
    for allows in [false, true] {
        let script = Script::new([lost(&CHUNKS[..1])]);
        let mut stream = chat(&script).await;
        if allows {
            stream = stream.allow_partial();
        }
        let mut stream = stream.accumulating();
        stream.next().await.unwrap().unwrap();
        assert!(stream.next().await.unwrap().unwrap_err().is_connection());
        assert_eq!(stream.accumulator().text(), "Hel");
        match stream.finish().await {
            Ok(answer) => assert_eq!((allows, answer.text()), (true, Some("Hel"))),
            Err(error) => assert_eq!((allows, error.request_id()), (false, Some("rid-1")), "{error}"),
        }
    }
    let mut stream = chat(&Script::new([lost(&CHUNKS[..1])])).await.accumulating();
    assert_eq!((&mut stream).count().await, 2);
    assert_eq!(stream.into_accumulator().finish().text(), Some("Hel"));
}

#[tokio::test(start_paused = true)]
async fn tool_arguments_are_visible_while_they_arrive() {
    let call = |function: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\
             \"function\":{{{function}}}}}]}}}}]}}\n\n"
        )
    };
    let chunks = [
        call("\"name\":\"weather\""),
        call(r#""arguments":"{\"city\": \"Par""#),
        call(r#""arguments":"is\", \"days\": 3""#),
        call(r#""arguments":"}""#),
        "data: [DONE]\n\n".to_owned(),
    ];
    let script = Script::new([Step::pieces(chunks.iter().map(String::as_str))]);
    let mut stream = chat(&script).await.accumulating();
    let mut seen = Vec::new();
    while let Some(chunk) = stream.next().await {
        chunk.unwrap();
        let received = stream.accumulator();
        assert_eq!(received.tool_calls()[0].function.as_ref().unwrap().name.as_deref(), Some("weather"));
        let arguments = received.partial_arguments(0).unwrap().unwrap();
        let value = arguments.value().map(ToString::to_string);
        seen.push((value, arguments.is_final("/city"), arguments.is_complete()));
    }
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        seen,
        [
            (None, false, false),
            (text(r#"{"city":"Par"}"#), false, false),
            (text(r#"{"city":"Paris"}"#), true, false),
            (text(r#"{"city":"Paris","days":3}"#), true, true),
        ]
    );
    assert_eq!(stream.accumulator().finish_arguments(0).unwrap().unwrap()["days"], 3);
}

type Predicate = fn(&Error) -> bool;

/// Checks the text and the error of a stream, with and without partial responses.
async fn assert_end(body: &str, text: &str, error: Option<Predicate>, partial: Option<Predicate>) {
    for (allows, expected) in [(false, error), (true, partial)] {
        let script = Script::new([Step::pieces([body])]);
        let mut stream = chat(&script).await;
        if allows {
            stream = stream.allow_partial();
        }
        let mut accumulator = Accumulator::new();
        let mut failure = None;
        while let Some(item) = stream.next().await {
            match item {
                Ok(item) => accumulator.push(&item),
                Err(error) => failure = Some(error),
            }
        }
        assert_eq!(accumulator.text(), text, "{body}");
        match (&failure, expected) {
            (Some(error), Some(is)) => assert!(is(error), "{error}: {body}"),
            (failure, expected) => assert_eq!(failure.is_some(), expected.is_some(), "{failure:?}: {body}"),
        }
        assert_eq!(stream.finished_cleanly(), error.is_none(), "{body}");
        assert_eq!(
            failure.and_then(|error| error.request_id().map(str::to_owned)),
            expected.map(|_| "rid-1".into())
        );
    }
}

#[tokio::test(start_paused = true)]
async fn ends_of_a_stream() {
    let [first, comment, last, done] = CHUNKS;
    let is_incomplete: Predicate = |error| error.is_incomplete() && error.is_retryable();
    // `[DONE]` may be missing after the last item.
    assert_end(&[first, comment, last].concat(), "Hello", None, None).await;
    assert_end(&[first, comment].concat(), "Hel", Some(is_incomplete), None).await;
    // Some servers omit the empty line after the last event, or also its line end.
    for end in ["", "\n", "\r\n"] {
        assert_end(&[first, last, done.trim_end(), end].concat(), "Hello", None, None).await;
        assert_end(&[first, last.trim_end(), end].concat(), "Hello", None, None).await;
        let failure = "event: error\ndata: {\"error\":{\"message\":\"broken\"}}";
        let body = [first, failure, end].concat();
        assert_end(&body, "Hel", Some(Error::is_stream), Some(Error::is_stream)).await;
    }
    for failure in [
        "event: error\ndata: {\"error\":{\"message\":\"broken\",\"code\":500}}\n\n",
        "data: {\"error\":{\"message\":\"broken\"}}\n\n",
    ] {
        let is_broken: Predicate = |error| {
            error.is_stream()
                && error.to_string() == "broken (error event, request id rid-1)"
                && error.body().unwrap().starts_with(b"{\"error\"")
        };
        assert_end(&[first, failure, last].concat(), "Hel", Some(is_broken), Some(is_broken)).await;
    }
    let is_malformed: Predicate = |error| error.is_decode() && error.body().unwrap() == "{\"id\": cut";
    let body = [first, "data: {\"id\": cut\n\n", last].concat();
    assert_end(&body, "Hel", Some(is_malformed), Some(is_malformed)).await;
}

/// The combined response and the text of an incomplete stream are errors as well.
#[tokio::test(start_paused = true)]
async fn partial_responses_are_errors_unless_allowed() {
    let cut = || Script::new([Step::pieces(CHUNKS[..2].iter().copied())]);
    assert!(chat(&cut()).await.accumulate().await.unwrap_err().is_incomplete());
    assert!(chat(&cut()).await.deltas_only().accumulate().await.unwrap_err().is_incomplete());
    assert!(chat(&cut()).await.text().concat().await.unwrap_err().is_incomplete());
    let text = chat(&cut()).await.deltas_only().allow_partial().text().concat().await.unwrap();
    assert_eq!(text, "Hel");
    // A lost connection is an error in either case.
    let (step, feed) = Step::fed();
    feed.send(CHUNKS[0]);
    feed.fail();
    let mut stream = chat(&Script::new([step])).await.allow_partial();
    assert!(stream.accumulate().await.unwrap_err().is_connection());
}

#[tokio::test(start_paused = true)]
async fn done_ends_the_stream_before_the_connection_closes() {
    let (step, feed) = Step::fed();
    CHUNKS.iter().for_each(|chunk| feed.send(chunk));
    feed.send("data: {\"id\":\"after\"}\n\n");
    let start = Instant::now();
    let stream = chat(&Script::new([step])).await;
    assert_eq!(stream.count().await, 2);
    assert!(start.elapsed() < Duration::from_secs(1));
    assert!(feed.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn malformed_events_can_be_skipped() {
    let pieces = [CHUNKS[0], "data: {\"id\": cut\n\n", CHUNKS[2], CHUNKS[3]];
    let stream = chat(&Script::new([Step::pieces(pieces)])).await.with_malformed(Malformed::Skip);
    let items: Vec<_> = stream.collect().await;
    assert_eq!(items.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
}

#[tokio::test(start_paused = true)]
async fn responses_that_are_not_streams_are_errors() {
    let page = Step::status(200, &[("content-type", "text/html")], "<html>\n\n</html>");
    let script = Script::new([page, Step::ok("{\"id\":\"c\"}"), Step::pieces([": nothing\n\n"])]);
    for _ in 0..2 {
        let mut stream = chat(&script).await;
        assert!(stream.next().await.unwrap().unwrap_err().is_decode());
        assert!(stream.next().await.is_none());
    }
    // An event stream without events is incomplete.
    assert!(chat(&script).await.next().await.unwrap().unwrap_err().is_incomplete());
}

#[tokio::test(start_paused = true)]
async fn idle_timeout_does_not_count_time_between_polls() {
    let (step, feed) = Step::fed();
    feed.send(CHUNKS[0]);
    let script = Script::new([step]);
    let mut stream =
        script.client().chat().stream(&request()).timeout(Duration::from_secs(10)).await.unwrap();
    stream.next().await.unwrap().unwrap();
    // The stream is not polled during this time, which may exceed any timeout.
    tokio::time::sleep(Duration::from_secs(60)).await;
    feed.send(CHUNKS[2]);
    stream.next().await.unwrap().unwrap();
    let start = Instant::now();
    let error = stream.next().await.unwrap().unwrap_err();
    assert_eq!(error.timeout_phase(), Some(TimeoutPhase::Idle));
    assert_eq!(start.elapsed(), Duration::from_secs(10));
    assert!(stream.next().await.is_none());
    assert!(feed.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn dropping_cancels_and_reading_is_lazy() {
    let (step, feed) = Step::fed();
    feed.send(CHUNKS[0]);
    let script = Script::new([step, Step::Silent]);
    let mut stream = chat(&script).await;
    stream.next().await.unwrap().unwrap();
    assert!(stream.next().now_or_never().is_none(), "a future that is dropped loses nothing");
    feed.send(CHUNKS[2]);
    stream.next().await.unwrap().unwrap();
    assert!(!feed.is_cancelled());
    drop(stream);
    assert!(feed.is_cancelled());

    let client = script.client();
    let mut call = client.chat().create(&request()).into_future();
    assert!((&mut call).now_or_never().is_none());
    drop(call);
    assert_eq!(script.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn endless_comments_do_not_block_other_tasks() {
    let (step, feed) = Step::fed();
    for _ in 0..1000 {
        feed.send(": on and on\n");
    }
    feed.send(CHUNKS[0]);
    let mut stream = chat(&Script::new([step])).await;
    assert!(stream.next().now_or_never().is_none(), "one poll reads a bounded number of chunks");
    stream.next().await.unwrap().unwrap();
}

const EVENTS: [&str; 4] = [
    "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\
     \"response\":{\"id\":\"r/1\",\"status\":\"in_progress\"}}\n\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":1,\
     \"item_id\":\"m\",\"delta\":\"Hel\"}\n\n",
    "event: response.of_the_future\ndata: {\"type\":\"response.of_the_future\",\"sequence_number\":2}\n\n\
     event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":3,\
     \"item_id\":\"m\",\"delta\":\"lo\"}\n\n",
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":4,\"response\":\
     {\"id\":\"r/1\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":\
     [{\"type\":\"output_text\",\"text\":\"Hello\"}]}]}}\n\n",
];

async fn agent_stream(script: &Script) -> EventStream<responses::Event> {
    script.client().responses().stream(&responses::Request::new("openai/gpt-5", "Say hello.")).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn named_events_are_items() {
    let failed = "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":1,\
                  \"error\":{\"message\":\"no\"}}\n\n";
    let script = Script::new([Step::pieces(EVENTS), Step::pieces([EVENTS[0], failed])]);
    for (expected, last) in [(Ok("Hello"), 4), (Err("no"), 1)] {
        let mut stream = agent_stream(&script).await;
        let answer = stream.accumulate().await;
        assert!(stream.finished_cleanly());
        assert_eq!(stream.last_sequence_number(), Some(last));
        match answer {
            Ok(answer) => assert_eq!(Ok(&*answer.output_text()), expected),
            Err(error) => assert_eq!(Err(error.message().unwrap()), expected),
        }
    }
    assert_eq!(script.sent()[0].url, "https://example.org/base/v1/agent");
}

#[tokio::test(start_paused = true)]
async fn a_document_instead_of_the_response_is_not_lost() {
    let error = r#"{"error":{"message":"quota exceeded","code":429}}"#;
    let html = "<html><body>no</body></html>";
    let events = &[("content-type", "text/event-stream")];
    let responses = responses::Request::new("perplexity/sonar", "x");
    for body in [error, "{}", r#"{"status":"maintenance"}"#, html, "null", "Sorry"] {
        let step = || Step::ok(body);
        let script = Script::new([step(), step(), step(), step(), Step::status(200, events, body)]);
        let client = script.client();
        let errors = [
            client.chat().create(&request()).await.unwrap_err(),
            client.responses().create(&responses).await.unwrap_err(),
            chat(&script).await.accumulate().await.unwrap_err(),
            agent_stream(&script).await.accumulate().await.unwrap_err(),
            agent_stream(&script).await.accumulate().await.unwrap_err(),
        ];
        for found in errors {
            assert_eq!(found.body().unwrap(), body, "{found}");
            assert_eq!(found.message(), (body == error).then_some("quota exceeded"));
            assert_eq!(
                (found.is_api(), found.is_rate_limit(), found.is_retryable()),
                (body == error, body == error, body == error)
            );
        }
    }
    // A server that does not stream answers with the response.
    let answer = r#"{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}"#;
    let completion =
        r#"{"id":"c","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    let script = Script::new([Step::ok(answer), Step::ok(completion), Step::ok(completion)]);
    assert_eq!(agent_stream(&script).await.accumulate().await.unwrap().output_text(), "Hi");
    assert_eq!(chat(&script).await.accumulate().await.unwrap().text(), Some("Hi"));
    assert_eq!(chat(&script).await.text().concat().await.unwrap(), "Hi");
}

/// A response whose connection is lost after these events.
fn lost(events: &[&str]) -> Step {
    let (step, feed) = Step::fed();
    events.iter().for_each(|event| feed.send(event));
    feed.fail();
    step
}

#[tokio::test(start_paused = true)]
async fn lost_streams_are_resumed_after_the_last_event() {
    let script = Script::new([lost(&EVENTS[..2]), Step::pieces([EVENTS[2]]), Step::pieces([EVENTS[3]])]);
    let mut events = agent_stream(&script).await.resuming(1);
    let mut accumulator = responses::Accumulator::new();
    while let Some(event) = events.next().await {
        accumulator.push(&event.unwrap());
    }
    assert!(accumulator.is_finished());
    assert_eq!(accumulator.finish().output_text(), "Hello");
    let urls: Vec<_> = script.sent().iter().skip(1).map(|sent| sent.url.clone()).collect();
    let base = "https://example.org/base/v1/agent/r%2F1";
    assert_eq!(urls, [1, 3].map(|after| format!("{base}?starting_after={after}&stream=true")));
}

#[tokio::test(start_paused = true)]
async fn resuming_gives_up_without_further_events() {
    let incomplete = [Step::pieces([EVENTS[0]]), Step::pieces([EVENTS[1]]), Step::pieces([""])].into();
    let unreachable = vec![lost(&EVENTS[..1]), lost(&[]), lost(&[]), Step::pieces(EVENTS)];
    let cases: [(Vec<Step>, u32, usize, usize, Predicate); 2] =
        [(incomplete, 1, 2, 0, Error::is_incomplete), (unreachable, 2, 1, 1, Error::is_connection)];
    for (steps, resumes, received, left, is_expected) in cases {
        let script = Script::new(steps);
        let mut events: Vec<_> = agent_stream(&script).await.resuming(resumes).collect().await;
        assert!(is_expected(&events.pop().unwrap().unwrap_err()));
        assert_eq!(events.iter().filter(|event| event.is_ok()).count(), received);
        assert_eq!((events.len(), script.left()), (received, left));
    }
}

/// The total timeout covers all connections, and is no reason to reconnect.
#[tokio::test(start_paused = true)]
async fn resuming_ends_with_the_total_timeout() {
    let (open, _feed) = Step::fed();
    for next in [Step::Silent, open] {
        let script = Script::new([lost(&EVENTS[..2]).after(Duration::from_secs(4)), next]);
        let start = Instant::now();
        let request = responses::Request::new("openai/gpt-5", "Say hello.");
        let call = script.client().responses().stream(&request).total_timeout(Duration::from_secs(10));
        let events: Vec<_> = call.await.unwrap().resuming(5).collect().await;
        let error = events.last().unwrap().as_ref().unwrap_err();
        assert_eq!((events.len(), error.timeout_phase()), (3, Some(TimeoutPhase::Total)));
        assert_eq!((start.elapsed(), script.left()), (Duration::from_secs(10), 0));
    }
}

/// A streaming call of the Agent API.
type AgentCall = Call<EventStream<responses::Event>>;

type SetOptions = fn(AgentCall) -> AgentCall;

fn agent_call(script: &Script) -> AgentCall {
    script.client().responses().stream(&responses::Request::new("openai/gpt-5", "Say hello."))
}

#[tokio::test(start_paused = true)]
async fn headers_and_query_of_the_call_are_sent_with_all_requests() {
    let response = Step::ok(r#"{"id":"r","status":"completed"}"#);
    let script = Script::new([lost(&EVENTS[..2]), Step::failed(400), response]);
    let call = agent_call(&script)
        .header("x-tenant", "7")
        .secret_header("authorization", "Bearer other")
        .without_header("x-title")
        .header("content-type", "application/json; charset=utf-8")
        .idempotency_key("once")
        .query("api-version", 2)
        .extra_body("seed", 1)
        .on_upload(|_, _| ());
    call.await.unwrap().resuming(1).accumulate().await.unwrap();
    assert_eq!(script.sent().len(), 3);
    for sent in &script.sent()[1..] {
        let header = |name: &str| sent.headers.get(name).map(|value| value.to_str().unwrap());
        assert_eq!((header("x-tenant"), header("authorization")), (Some("7"), Some("Bearer other")));
        for absent in ["x-title", "content-type", "idempotency-key"] {
            assert_eq!(header(absent), None, "{absent}");
        }
        assert!(sent.url.contains("api-version=2") && sent.body.is_empty(), "{}", sent.url);
    }
}

#[tokio::test(start_paused = true)]
async fn timeouts_and_retries_of_the_call_apply_to_all_requests() {
    const SHORT: Duration = Duration::from_secs(3);
    fn timeouts(call: AgentCall) -> AgentCall {
        call.timeout(SHORT).max_retries(0)
    }
    let (cut, expired, unavailable) = (|| lost(&EVENTS[..2]), || Step::failed(400), || Step::failed(503));
    let (open, _feed) = Step::fed();
    // The steps without the last one are used. The first request to reconnect is sent after 0.5 s.
    let cases: [(SetOptions, Vec<Step>, u64); 6] = [
        (timeouts, vec![cut(), Step::Silent, unavailable()], 3500),
        (timeouts, vec![cut(), open, unavailable()], 3500),
        (timeouts, vec![cut(), expired(), Step::Silent, unavailable()], 3500),
        (|call| call.max_retries(0), vec![cut(), unavailable(), unavailable()], 500),
        (|call| call.max_retries(1), vec![cut(), unavailable(), unavailable(), unavailable()], 1000),
        (
            |call| call.retry_policy(RetryPolicy { max_retry_after: SHORT, ..RetryPolicy::new() }),
            vec![cut(), Step::status(429, &[("retry-after", "5")], ""), unavailable()],
            500,
        ),
    ];
    for (index, (options, steps, millis)) in cases.into_iter().enumerate() {
        let script = Script::new(steps);
        let start = Instant::now();
        let found = options(agent_call(&script)).await.unwrap().resuming(1).accumulate().await;
        assert!(found.is_err());
        let elapsed = u64::try_from(start.elapsed().as_millis()).unwrap();
        assert_eq!((elapsed, script.left()), (millis, 1), "{index}");
    }
}

#[tokio::test(start_paused = true)]
async fn options_of_a_stream_apply_to_all_connections() {
    // A partial response is accepted when no connection is left.
    let more = vec![Step::pieces([EVENTS[2]]), Step::pieces([""])];
    for (resumes, steps, received) in [(0, vec![], 2), (1, more, 4)] {
        let script = Script::new([Step::pieces([EVENTS[0], EVENTS[1]])].into_iter().chain(steps));
        let mut stream = agent_stream(&script).await.allow_partial().resuming(resumes);
        let events: Vec<_> = stream.by_ref().try_collect().await.unwrap();
        assert_eq!((events.len(), script.left()), (received, 0));
        assert!(!stream.finished_cleanly());
    }
    // A malformed event is skipped, over each connection.
    let malformed = "data: {\n\n";
    let script = Script::new([
        lost(&[EVENTS[0], malformed, EVENTS[1]]),
        Step::pieces([EVENTS[2], malformed, EVENTS[3]]),
    ]);
    let mut stream = agent_stream(&script).await.with_malformed(Malformed::Skip).resuming(1);
    let events: Vec<_> = stream.by_ref().collect().await;
    let errors: Vec<_> = events.iter().map(|event| event.as_ref().is_err_and(Error::is_decode)).collect();
    assert_eq!(errors, [false, true, false, false, false, true, false]);
    assert!(stream.finished_cleanly());
    // The maximum size of an event.
    let large = EVENTS[1].replace("Hel", &"l".repeat(500));
    let script = Script::new([lost(&EVENTS[..1]), Step::pieces([&*large])]);
    let stream = agent_stream(&script).await.with_max_event_size(400).resuming(1);
    assert!(stream.accumulate().await.unwrap_err().is_limit());
}

/// The GET after an expired cursor is within the total timeout, too.
#[tokio::test(start_paused = true)]
async fn retrieving_an_expired_response_ends_with_the_total_timeout() {
    let script = Script::new([lost(&EVENTS[..2]), Step::failed(400), Step::Silent]);
    let start = Instant::now();
    let stream = agent_call(&script).total_timeout(Duration::from_secs(10)).await.unwrap();
    let error = stream.resuming(1).accumulate().await.unwrap_err();
    assert_eq!((error.timeout_phase(), script.left()), (Some(TimeoutPhase::Total), 0));
    assert_eq!(start.elapsed(), Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn stream_field_must_match_the_method() {
    let script = Script::new([]);
    let client = script.client();
    let error = client.chat().create(&request().stream(true)).await.unwrap_err();
    assert_eq!(error.field(), Some("stream"));
    let error = client.chat().stream(&request().stream(false)).await.unwrap_err();
    assert_eq!(error.field(), Some("stream"));
    assert!(script.sent().is_empty());
}
