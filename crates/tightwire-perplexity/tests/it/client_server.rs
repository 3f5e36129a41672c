//! Client and mock server: connections, network faults and complete flows.
#![cfg(feature = "client")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use http::Method;
use tightwire_json::json;
use tightwire_perplexity::retry::{Jitter, RetryPolicy};
use tightwire_perplexity::types::{async_chat, chat, files, responses};
use tightwire_perplexity::{Client, ClientBuilder, Connect, Proxy};
use tightwire_perplexity_mock::{Event, Mock, MockResponse, Rule, Scenario};

/// Retries without noticeable delay.
fn policy() -> RetryPolicy {
    RetryPolicy { initial_delay: Duration::from_millis(1), jitter: Jitter::None, ..RetryPolicy::new() }
}

fn builder(mock: &Mock) -> ClientBuilder {
    // Bypass proxies of the environment. The timeout is generous because the machine may be busy.
    let connect =
        Connect { proxy: Proxy::None, timeout: Some(Duration::from_secs(60)), ..Connect::default() };
    let builder = Client::builder().without_environment().api_key("key").base_url(mock.url());
    builder.retry_policy(policy()).connect(connect)
}

async fn start(rule: Rule) -> (Mock, Client) {
    let mock = Mock::start(Scenario::api().chat(true).rule(rule)).await.unwrap();
    let client = builder(&mock).build().unwrap();
    (mock, client)
}

fn ok() -> MockResponse {
    MockResponse::json(&json!({"status": "ok"}))
}

fn question() -> chat::Request {
    chat::Request::new("sonar", "Why is the sky blue?")
}

/// The rest of error bodies and streams is drained only for a short time, so that their connections can be
/// reused. A busy machine may exceed that time, but not every time.
#[tokio::test]
async fn calls_in_sequence_share_one_connection() {
    for _ in 0..50 {
        if connections_of_a_sequence().await == 1 {
            return;
        }
    }
    panic!("every sequence of calls took several connections");
}

async fn connections_of_a_sequence() -> u64 {
    let stream = MockResponse::events([Event::json(&json!({"id": "c", "choices": []})), Event::done()]);
    let rule = Rule::new("/x")
        .respond(ok())
        .respond(MockResponse::status(503))
        .respond(ok())
        .respond(stream)
        .respond(ok());
    let (mock, client) = start(rule).await;
    let get = || client.request(Method::GET, "/x");
    get().await.unwrap();
    assert_eq!(get().raw().await.unwrap().head().retries(), 1);
    let mut items = get().events::<chat::Completion>().await.unwrap();
    assert!(items.next().await.unwrap().is_ok());
    assert!(items.next().await.is_none());
    get().await.unwrap();
    assert_eq!(mock.request_count(), 5);
    mock.connection_count()
}

#[tokio::test]
async fn concurrent_calls_reuse_their_connections() {
    let (mock, client) = start(Rule::new("/x").respond(ok())).await;
    let worker = || async {
        for _ in 0..20 {
            client.request(Method::GET, "/x").await.unwrap();
        }
    };
    join_all((0..32).map(|_| worker())).await;
    assert_eq!(mock.request_count(), 640);
    // A call may start connecting while another one returns its connection, and then use that one.
    assert!(mock.connection_count() < 320, "{} connections", mock.connection_count());
}

#[tokio::test]
async fn lost_connections_are_retried() {
    let body = || MockResponse::json(&json!({"text": "some text"}));
    for fault in [
        body().reset_before_head(),
        body().reset_at(5),
        body().close_at(5),
        body().chunked().reset_at(5),
        body().content_length(4000),
    ] {
        let (mock, client) = start(Rule::new("/x").respond(fault.times(1)).respond(body())).await;
        let answer = client.request(Method::GET, "/x").raw().await.unwrap();
        assert_eq!(answer.value()["text"], "some text");
        assert_eq!((answer.head().retries(), mock.request_count()), (1, 2));
    }
}

#[tokio::test]
async fn unresponsive_server_causes_a_timeout() {
    let (_mock, client) = start(Rule::new("/x").respond(ok().stall_at(3).chunked())).await;
    let call = client.request(Method::GET, "/x").timeout(Duration::from_millis(50)).max_retries(1);
    let error = call.await.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(error.attempts(), 2);
}

#[tokio::test]
async fn interrupted_streams_are_errors() {
    let event = Event::json(&json!({"id": "c", "choices": [{"index": 0, "delta": {"content": "x"}}]}));
    let (mock, client) = start(
        Rule::new("/chat/completions").respond(MockResponse::events([event.clone(), event]).reset_at(100)),
    )
    .await;
    let mut stream = client.chat().stream(&question()).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    assert!(stream.next().await.unwrap().unwrap_err().is_connection());
    assert!(stream.next().await.is_none());
    assert!(!stream.finished_cleanly());
    assert_eq!(mock.request_count(), 1, "a stream that has begun is not sent again");
}

#[tokio::test]
async fn chat_buffered_and_streamed() {
    let mock = Mock::start(Scenario::api().chat(true)).await.unwrap();
    let client = builder(&mock).build().unwrap();
    let whole = client.chat().create(&question()).await.unwrap();
    assert!(!whole.text().unwrap().is_empty());
    let mut stream = client.chat().stream(&question()).await.unwrap();
    let streamed = stream.accumulate().await.unwrap();
    assert!(stream.finished_cleanly());
    assert_eq!(streamed.text(), whole.text());
    let concise = question().stream_mode(chat::StreamMode::Concise);
    let streamed = client.chat().stream(&concise).await.unwrap().accumulate().await.unwrap();
    assert_eq!(streamed.text(), whole.text());
    let deltas = client.chat().stream(&question()).await.unwrap().deltas_only().accumulate().await.unwrap();
    assert_eq!(deltas.text(), whole.text());
}

#[tokio::test]
async fn agent_is_streamed_and_resumed() {
    let mock = Mock::start(Scenario::api().chat(true)).await.unwrap();
    let client = builder(&mock).build().unwrap();
    let request = responses::Request::new("openai/gpt-5", "Who found the first pulsar?");
    let mut stream = client.responses().stream(&request).await.unwrap();
    let mut all = Vec::new();
    let mut rest = None;
    while let Some(event) = stream.next().await {
        all.push(event.unwrap());
        if rest.is_none() && all.len() == 3 {
            rest = Some(stream.resume().unwrap().await.unwrap());
        }
    }
    assert!(stream.finished_cleanly());
    let mut rest = rest.unwrap();
    let mut resumed = Vec::new();
    while let Some(event) = rest.next().await {
        resumed.push(event.unwrap());
    }
    assert_eq!(resumed, all[3..]);
}

/// Answers, streams, background runs, functions and errors of the built-in API, as since the end of chat completions.
#[tokio::test]
async fn agent_api_of_the_mock() {
    let mock = Mock::start(Scenario::api()).await.unwrap();
    let client = builder(&mock).build().unwrap();
    let api = client.responses();
    let request = responses::Request::new("perplexity/sonar", "one two").tools([responses::WebSearch::new()]);
    let whole = api.create(&request).await.unwrap();
    assert_eq!((&*whole.output_text(), whole.sources().len()), ("You said: one two", 2));
    let streamed = api.stream(&request).await.unwrap().accumulate().await.unwrap();
    assert_eq!((streamed.output_text(), &streamed.usage), (whole.output_text(), &whole.usage));
    assert_eq!(streamed.function_calls().count(), 0);
    assert_eq!(api.stream(&request).await.unwrap().text().concat().await.unwrap(), whole.output_text());
    let cut = request.clone().max_output_tokens(3);
    for cut in [
        api.create(&cut).await.unwrap(),
        api.stream(&cut).await.unwrap().accumulate().await.unwrap(),
        api.stream(&cut).await.unwrap().resuming(1).accumulate().await.unwrap(),
    ] {
        assert_eq!((&*cut.output_text(), &cut.status), ("You said: one", &responses::Status::Incomplete));
        assert_eq!(cut.incomplete_details.unwrap().reason.unwrap(), "max_output_tokens");
    }

    let background = request.clone().background(true);
    let run = api.create(&background).await.unwrap();
    assert_eq!(run.status, responses::Status::Queued);
    let done = api.wait(&run.id).interval(Duration::from_millis(1)).await.unwrap();
    assert_eq!(done.into_result().unwrap().output_text(), whole.output_text());
    assert!(api.cancel(&run.id).await.unwrap_err().is_bad_request());
    let run = api.create(&background).await.unwrap();
    assert_eq!(api.cancel(&run.id).await.unwrap().status, responses::Status::Cancelling);
    let cancelled = api.wait(&run.id).interval(Duration::from_millis(1)).await.unwrap();
    assert_eq!(cancelled.status, responses::Status::Cancelled);
    assert_eq!(cancelled.into_result().unwrap_err().code(), Some("cancelled"));
    let hidden = api.create(&request.clone().store(false)).await.unwrap();
    assert!(api.wait(&hidden.id).await.unwrap_err().is_not_found());

    let function = request.clone().tools([responses::FunctionTool::new("weather")]).tool_choice("required");
    let asked = api.create(&function).await.unwrap();
    let call = asked.function_calls().next().unwrap();
    assert_eq!((&*call.name, &asked.status), ("weather", &responses::Status::RequiresAction));
    let items: Vec<_> = asked.to_input().chain([call.output("22 degrees")]).collect();
    assert!(api.create(&responses::Request::new("perplexity/sonar", items)).await.is_ok());

    let error = api.create(&request).extra_body("search_mode", "academic").await.unwrap_err();
    assert_eq!((error.is_bad_request(), error.param(), error.attempts()), (true, Some("search_mode"), 1));
    let error = client.chat().create(&question()).await.unwrap_err();
    assert!(error.is_retired() && error.attempts() == 1 && error.to_string().contains("Client::responses"));
    let converted = responses::Request::from_chat(&question()).request;
    assert!(api.create(&converted).await.is_ok());
}

#[tokio::test]
async fn jobs_and_files() {
    let mock = Mock::start(Scenario::api().chat(true)).await.unwrap();
    let client = builder(&mock).build().unwrap();
    let job = client.async_chat().create(&async_chat::Request::new(question())).await.unwrap();
    let job = client.async_chat().wait(&job.id).interval(Duration::from_millis(1)).await.unwrap();
    assert_eq!(job.status, async_chat::Status::Completed);
    assert!(job.response.is_some());

    let file = client.files().create(files::Purpose::Batch, "in.jsonl", b"{}\n").await.unwrap();
    let content = client.files().content(&file.id).await.unwrap();
    assert_eq!(content.bytes(1 << 10).await.unwrap(), "{}\n");
    assert!(client.files().delete(&file.id).await.unwrap().deleted);
    assert!(client.files().retrieve(&file.id).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn uploads_report_their_progress() {
    let retried = Rule::new("/v1/files")
        .respond(MockResponse::status(503))
        .respond(MockResponse::json(&json!({"id": "file-1"})));
    let (mock, client) = start(retried).await;
    let content = "{}\n".repeat(100_000);
    let reports = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&reports);
    let call =
        client.files().create(files::Purpose::Batch, "in.jsonl", content.as_bytes()).idempotency_key("k");
    call.on_upload(move |sent, total| log.lock().unwrap().push((sent, total))).await.unwrap();

    let requests = mock.requests();
    assert_eq!(requests.len(), 2);
    let total = requests[1].body.len() as u64;
    assert_eq!(requests[1].header("content-length"), Some(&*total.to_string()));
    assert!(String::from_utf8_lossy(&requests[1].body).contains(&content));
    // The server may reject the first attempt before it has read its body.
    let reports = reports.lock().unwrap();
    let last = reports.iter().rposition(|report| report.0 == reports[0].0).unwrap();
    assert!(last > 0 && reports.len() - last >= 5, "{reports:?}");
    assert!(reports[last..].is_sorted() && reports.ends_with(&[(total, total)]), "{reports:?}");
}

#[tokio::test]
async fn redirects_keep_the_body_and_drop_the_key() {
    let target = Mock::start(
        Scenario::rules_only().auth(tightwire_perplexity_mock::Auth::Off).rule(Rule::new("/y").respond(ok())),
    )
    .await
    .unwrap();
    // The same server under another name counts as another host.
    let elsewhere = format!("http://localhost:{}/y", target.address().port());
    let moved = MockResponse::status(307).header("location", &elsewhere);
    let (_mock, client) = start(Rule::new("/x").respond(moved)).await;
    client.request(Method::POST, "/x").json_body(&[1]).await.unwrap();
    let request = &target.requests()[0];
    assert_eq!(request.json().unwrap(), json!([1]));
    assert_eq!(request.header("authorization"), None);
}

#[cfg(all(feature = "blocking", feature = "schemars"))]
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Answer {
    text: String,
}

#[cfg(feature = "blocking")]
#[test]
fn blocking_client() {
    use tightwire_perplexity::blocking;

    let mock = Mock::start_blocking(Scenario::api().chat(true), tightwire_perplexity_mock::Config::default())
        .unwrap();
    let connect = Connect { proxy: Proxy::None, ..Connect::default() };
    let client = blocking::Client::builder()
        .without_environment()
        .api_key("key")
        .base_url(mock.url())
        .connect(connect)
        .build()
        .unwrap();
    let whole = client.chat().create(&question()).max_retries(1).raw().send().unwrap().into_value();
    let text = whole.text().unwrap();
    let mut stream = client.chat().stream(&question()).send().unwrap();
    let deltas: String = (&mut stream)
        .into_iter()
        .map(|chunk| chunk.unwrap().delta_text().unwrap_or_default().to_owned())
        .collect();
    assert!(stream.finished_cleanly());
    assert_eq!(deltas, text);
    let stream = || client.chat().stream(&question()).send().unwrap();
    assert_eq!(stream().text().into_iter().map(Result::unwrap).collect::<String>(), text);
    let mut chunks = stream().accumulating();
    for chunk in &mut chunks {
        chunk.unwrap();
    }
    assert_eq!(client.block_on(chunks.finish()).unwrap().text(), Some(text));

    let agent = responses::Request::with_effort("low", "Why is the sky blue?");
    let pieces = client.responses().stream(&agent).send().unwrap().text();
    assert_eq!(pieces.into_iter().map(Result::unwrap).collect::<String>(), text);
    let resumed = || client.responses().stream(&agent).send().unwrap().resuming(2);
    let deltas =
        resumed().into_iter().map(|event| event.unwrap().delta_text().unwrap_or_default().to_owned());
    assert_eq!(deltas.collect::<String>(), text);
    assert_eq!(client.block_on(resumed().accumulate()).unwrap().sources().len(), 2);
    #[cfg(feature = "schemars")]
    assert_eq!(client.responses().parse::<Answer>(&agent).send().unwrap().value.text, "text");
    let run = client.responses().create(&agent.background(true)).send().unwrap();
    let wait = client.responses().wait(&run.id).interval(Duration::from_millis(1));
    assert_eq!(client.block_on(wait).unwrap().output_text(), text);

    let job = client.async_chat().create(&async_chat::Request::new(question())).send().unwrap();
    let wait = client.async_chat().wait(&job.id).interval(Duration::from_millis(1));
    assert!(client.block_on(wait).unwrap().status.is_final());
    let file = client.files().create(files::Purpose::Batch, "in.jsonl", b"{}\n").send().unwrap();
    let listed = client.files().list(&files::ListParams::default()).items().into_iter();
    assert_eq!(listed.map(|file| file.unwrap().id).collect::<Vec<_>>(), [&*file.id]);
    let chunks: Vec<_> =
        client.files().content(&file.id).send().unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(chunks.concat(), b"{}\n");

    let error = client.request(Method::GET, "/none").send().unwrap_err();
    assert!(error.is_not_found());
    // The settings of an async client, whose connections belong to another runtime.
    let client = blocking::Client::from(builder(&mock).build().unwrap());
    assert_eq!(client.chat().create(&question()).send().unwrap().text(), Some(text));
}
