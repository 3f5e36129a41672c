//! The checklist of the Agent API: each test is one case, with the number of the specification in its name.
#![cfg(feature = "client")]

use std::time::Duration;

use futures_util::StreamExt;
use tightwire_json::{Value, json};
use tightwire_perplexity::retry::{Repeat, RetryPolicy};
use tightwire_perplexity::stream::EventStream;
use tightwire_perplexity::types::responses::{
    Effort, Event, IncompleteReason, OutputContent, OutputItem, Request, Response, ResponseError, Status,
    Tool, Usage, WebSearch,
};
use tightwire_perplexity::{Error, Result};
use tokio::time::Instant;

use crate::support::{Script, Step};

/// Writes an event as the server does: without a name, and with sorted keys, so that the type is the last one.
fn sorted(event: &Value) -> String {
    format!("data: {}\n\n", tightwire_json::Codec::canonical().to_string(event).unwrap())
}

/// Writes an event with its type first.
fn type_first(event: &Value) -> String {
    let mut fields = event.as_object().unwrap().clone();
    let kind = fields.remove("type").unwrap();
    let rest = Value::Object(fields).to_string();
    format!("data: {{\"type\":{kind},{}\n\n", &rest[1..])
}

fn event(kind: &str, fields: Value) -> Value {
    let mut event = fields;
    event["type"] = format!("response.{kind}").into();
    event
}

fn message(texts: &[&str]) -> Value {
    let parts: Vec<_> = texts.iter().map(|text| json!({"type": "output_text", "text": text})).collect();
    json!({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": parts})
}

fn created() -> Value {
    let response = json!({"id": "resp_1", "status": "in_progress", "output": [], "usage": null});
    event("created", json!({"sequence_number": 0, "response": response}))
}

fn delta(text: &str) -> Value {
    event(
        "output_text.delta",
        json!({"sequence_number": 1, "item_id": "m", "output_index": 1, "content_index": 0, "delta": text}),
    )
}

fn text_done(text: &str) -> Value {
    event(
        "output_text.done",
        json!({"sequence_number": 2, "item_id": "m", "output_index": 1, "content_index": 0, "text": text}),
    )
}

fn item(kind: &str, item: &Value) -> Value {
    let index = i32::from(item["type"] == "message");
    event(&format!("output_item.{kind}"), json!({"sequence_number": 3, "output_index": index, "item": item}))
}

/// The last event of a stream, with further fields of the response.
fn end(kind: &str, status: &str, output: Value, fields: Value) -> Value {
    let mut response =
        json!({"id": "resp_1", "status": status, "output": output, "usage": {"total_tokens": 17}});
    for (name, value) in fields.as_object().unwrap() {
        response[name.as_str()] = value.clone();
    }
    event(kind, json!({"sequence_number": 9, "response": response}))
}

fn completed(output: Value) -> Value {
    end("completed", "completed", output, json!({}))
}

fn stream_of(events: &[Value]) -> String {
    events.iter().map(sorted).collect()
}

async fn open(script: &Script) -> EventStream<Event> {
    script.client().responses().stream(&Request::new("perplexity/sonar", "Why?")).await.unwrap()
}

/// Reads a stream in all ways: combined, as text, and with reconnections, of which there must be none.
async fn read(body: &str) -> (Result<Response>, Result<String>) {
    let step = || Step::pieces([body]);
    let script = Script::new([step(), step(), step()]);
    let whole = open(&script).await.accumulate().await;
    let text = open(&script).await.text().concat().await;
    if text.as_ref().is_ok_and(|_| whole.is_ok()) {
        assert_eq!(text.as_ref().unwrap(), &whole.as_ref().unwrap().output_text(), "{body}");
        let resumed = open(&script).await.resuming(3).accumulate().await.unwrap();
        assert_eq!(&resumed, whole.as_ref().unwrap(), "{body}");
    }
    (whole, text)
}

/// Reads a stream that must succeed.
async fn response(events: &[Value]) -> Response {
    read(&stream_of(events)).await.0.unwrap()
}

/// Reads a stream that must fail with an error event.
async fn failure(body: &str) -> Error {
    let (whole, text) = read(body).await;
    let error = whole.unwrap_err();
    assert!(error.is_stream(), "{error}: {body}");
    assert_eq!(text.unwrap_err().to_string(), error.to_string());
    error
}

/// The pieces of the text.
async fn pieces(events: &[Value]) -> Vec<String> {
    let script = Script::new([Step::pieces([&*stream_of(events)])]);
    open(&script).await.text().map(Result::unwrap).collect().await
}

fn decode<T: serde::de::DeserializeOwned>(value: Value) -> T {
    tightwire_json::from_str(&value.to_string()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

fn search() -> Value {
    let result =
        json!({"id": 7, "url": "https://example.org/7", "title": "T", "snippet": "S", "source": "web"});
    json!({"type": "search_results", "queries": ["sky"], "results": [result]})
}

fn search_call() -> Value {
    json!({"type": "function_call", "id": "f", "call_id": "c", "name": "search_web", "arguments": "{}",
        "status": "in_progress"})
}

/// The events of a recorded stream. Two sequence numbers are missing.
fn recorded() -> Vec<Value> {
    let mut added = message(&[]);
    (added["content"], added["status"]) = (Value::Null, "in_progress".into());
    let mut events = vec![
        created(),
        event("in_progress", created()),
        item("added", &search_call()),
        event("reasoning.search_queries", json!({"call_id": "c", "queries": ["sky"], "thought": null})),
        event("reasoning.search_results", json!({"call_id": "c", "results": search()["results"].clone()})),
        item("done", &search()),
        item("added", &added),
        delta("It is "),
        delta("blue [7]."),
        text_done("It is blue [7]."),
        item("done", &message(&["It is blue [7]."])),
        end(
            "completed",
            "completed",
            json!([search(), message(&["It is blue [7]."])]),
            json!({"model": "openai/gpt"}),
        ),
    ];
    for (index, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = (index + usize::from(index > 1) + usize::from(index > 8)).into();
    }
    events
}

#[tokio::test(start_paused = true)]
async fn case_01_recorded_order_with_the_type_last_first_or_beside_a_name() {
    let expected = response(&recorded()).await;
    assert_eq!((&*expected.output_text(), &*expected.model), ("It is blue [7].", "openai/gpt"));
    assert_eq!((expected.sources().len(), expected.usage.as_ref().unwrap().total_tokens), (1, 17));
    let first: String = recorded().iter().map(type_first).collect();
    let named: String =
        recorded().iter().map(|it| format!("event: response.failed\n{}", sorted(it))).collect();
    for body in [first, named] {
        assert_eq!(read(&body).await.0.unwrap(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn case_02_incomplete_keeps_text_status_and_usage() {
    let reason = json!({"incomplete_details": {"reason": "max_output_tokens"}});
    for output in [json!([message(&["Hel"])]), json!([])] {
        let found =
            response(&[created(), delta("Hel"), end("incomplete", "incomplete", output, reason.clone())])
                .await;
        assert_eq!((&found.status, &*found.output_text()), (&Status::Incomplete, "Hel"));
        assert_eq!(found.incomplete_details.unwrap().reason, Some(IncompleteReason::MaxOutputTokens));
        assert_eq!(found.usage.unwrap().total_tokens, 17);
    }
    assert_eq!(
        response(&[created(), end("incomplete", "incomplete", json!([]), reason)]).await.output_text(),
        ""
    );
}

#[tokio::test(start_paused = true)]
async fn case_03_cancelled_is_final_and_keeps_items() {
    let fields =
        json!({"usage": null, "error": {"message": "cancelled", "code": "cancelled", "type": "cancelled"}});
    let found = response(&[created(), end("cancelled", "cancelled", json!([search()]), fields)]).await;
    assert_eq!((&found.status, found.output.len(), &found.usage), (&Status::Cancelled, 1, &None));
    assert_eq!(found.into_result().unwrap_err().code(), Some("cancelled"));
    let last = end("cancelled", "cancelled", json!([search()]), json!({}));
    let found = response(&[created(), delta("Hel"), last]).await;
    assert_eq!((found.output.len(), &*found.output_text()), (2, "Hel"));
}

#[tokio::test(start_paused = true)]
async fn case_04_failed_has_its_error_and_the_text_so_far() {
    let error = json!({"message": "no", "type": "t", "code": "server_error"});
    for last in [
        event("failed", json!({"error": error})),
        end("failed", "failed", json!([]), json!({"error": error})),
    ] {
        let body = stream_of(&[created(), delta("Hel"), last]);
        let error = failure(&body).await;
        assert_eq!(
            (error.message(), error.error_type(), error.code()),
            (Some("no"), Some("t"), Some("server_error"))
        );
        let script = Script::new([Step::pieces([&*body])]);
        let mut stream = open(&script).await.accumulating();
        while stream.next().await.is_some() {}
        assert_eq!(stream.accumulator().output_text(), "Hel");
    }
}

#[tokio::test(start_paused = true)]
async fn case_05_the_inner_status_of_completed_decides() {
    let error = json!({"error": {"message": "no"}});
    let failed = [created(), end("completed", "failed", json!([]), error)];
    assert_eq!(failure(&stream_of(&failed)).await.message(), Some("no"));
    let found =
        response(&[created(), delta("Hel"), end("completed", "incomplete", json!([]), json!({}))]).await;
    assert_eq!((&found.status, &*found.output_text()), (&Status::Incomplete, "Hel"));
}

#[tokio::test(start_paused = true)]
async fn case_06_unknown_events_are_final_by_status_or_skipped() {
    let unknown =
        [event("unknown", json!({})), event("of_the_future", json!({"x": [1]})), json!({"type": "new"})];
    for status in ["completed", "incomplete", "cancelled", "requires_action"] {
        let last = end("of_the_future", status, json!([]), json!({}));
        let found = response(&[&[created()], &unknown[..], &[delta("Hel"), last]].concat()).await;
        assert_eq!((found.status.as_str(), &*found.output_text()), (status, "Hel"));
        let last = end("of_the_future", status, json!([message(&["Hello"])]), json!({}));
        assert_eq!(response(&[created(), delta("Hel"), last]).await.output_text(), "Hello");
    }
    let failed = end("of_the_future", "failed", json!([]), json!({"error": {"message": "no"}}));
    assert_eq!(failure(&stream_of(&[created(), failed])).await.message(), Some("no"));
}

#[tokio::test(start_paused = true)]
async fn case_07_a_lost_end_is_an_error_and_resumable() {
    let script = Script::new([Step::pieces([&*stream_of(&[created(), delta("Hel")])])]);
    let mut stream = open(&script).await;
    assert!(stream.accumulate().await.unwrap_err().is_incomplete());
    assert_eq!(stream.last_sequence_number(), Some(1));
    assert!(stream.resume().is_some());
}

#[tokio::test(start_paused = true)]
async fn case_08_the_last_event_needs_no_empty_line() {
    let body = stream_of(&[created(), completed(json!([message(&["Hello"])]))]);
    for end in ["", "\n", "\r\n"] {
        assert_eq!(read(&format!("{}{end}", body.trim_end())).await.1.unwrap(), "Hello");
    }
}

#[tokio::test(start_paused = true)]
async fn case_09_done_is_no_end() {
    let body = stream_of(&[created(), completed(json!([message(&["Hello"])]))]) + "data: [DONE]\n\n";
    assert_eq!(read(&body).await.1.unwrap(), "Hello");
    let (whole, text) = read(&(stream_of(&[created(), delta("Hel")]) + "data: [DONE]\n\n")).await;
    assert!(whole.unwrap_err().is_incomplete() && text.unwrap_err().is_incomplete());
}

#[tokio::test(start_paused = true)]
async fn case_10_repeated_events_do_not_repeat_requests() {
    let last = completed(json!([message(&["Hello"])]));
    assert_eq!(response(&[created(), last.clone(), last, delta("more")]).await.output_text(), "Hello");
    let start = Instant::now();
    let repeated = || Step::pieces([&*stream_of(&[created(), delta("Hel")])]);
    let script = Script::new([repeated(), repeated(), repeated(), repeated()]);
    let mut events: Vec<_> = open(&script).await.resuming(3).collect().await;
    assert!(events.pop().unwrap().unwrap_err().is_incomplete());
    assert_eq!((events.len(), script.left()), (2, 0));
    assert_eq!(start.elapsed(), Duration::from_millis(500 + 1000 + 2000));
    // An event without a number is no progress.
    let repeated = || Step::pieces([&*stream_of(&[created(), delta("Hel"), event("unknown", json!({}))])]);
    let script = Script::new([repeated(), repeated(), repeated()]);
    let mut events: Vec<_> = open(&script).await.resuming(2).collect().await;
    assert!(events.pop().unwrap().unwrap_err().is_incomplete());
    assert_eq!((events.len(), script.left()), (5, 0));
}

#[tokio::test(start_paused = true)]
async fn case_11_text_that_arrives_only_once_is_returned_once() {
    let (done, last) = (item("done", &message(&["Hello"])), completed(json!([message(&["Hello"])])));
    for events in [
        &[text_done("Hello"), completed(json!([]))][..],
        &[done.clone(), completed(json!([]))],
        std::slice::from_ref(&last),
        &[text_done("Hello"), done, last.clone()],
    ] {
        assert_eq!(pieces(events).await, ["Hello"]);
        assert_eq!(response(events).await.output_text(), "Hello");
    }
}

#[tokio::test(start_paused = true)]
async fn case_12_only_the_missing_tail_is_added() {
    for last in [text_done("Hello world."), item("done", &message(&["Hello world."]))] {
        let events = [delta("Hello "), last, completed(json!([message(&["Hello world."])]))];
        assert_eq!(pieces(&events).await, ["Hello ", "world."]);
        assert_eq!(response(&events).await.output_text(), "Hello world.");
    }
    // A gateway changes the identifiers, or leaves them out.
    for ids in [["x", "y", "z"], ["", "m", "m"], ["m", "", ""]] {
        let output = json!([search(), message(&["Hello"])]);
        let mut events =
            [delta("Hel"), text_done("Hello"), item("done", &message(&["Hello"])), completed(output)];
        events[1]["item_id"] = ids[0].into();
        events[2]["item"]["id"] = ids[1].into();
        events[3]["response"]["output"][1]["id"] = ids[2].into();
        assert_eq!(pieces(&events).await, ["Hel", "lo"], "{ids:?}");
        assert_eq!(response(&events).await.output_text(), "Hello");
    }
}

#[tokio::test(start_paused = true)]
async fn case_13_parts_are_not_mixed() {
    let mut second = delta("wor");
    second["content_index"] = 1.into();
    let events = [delta("Hel"), text_done("Hello"), second, completed(json!([message(&["Hello", "world"])]))];
    assert_eq!(pieces(&events).await, ["Hel", "lo", "wor", "ld"]);
    assert_eq!(response(&events).await.texts().collect::<Vec<_>>(), ["Hello", "world"]);
    // A text that begins like another one.
    let mut second = item("done", &message(&["Hello again"]));
    (second["item"]["id"], second["output_index"]) = ("n".into(), 2.into());
    let events = [delta("Hello"), item("done", &message(&["Hello"])), second, completed(json!([]))];
    assert_eq!(pieces(&events).await, ["Hello", "Hello again"]);
    // A message of which there is no other event comes before the one that was streamed.
    let mut first = message(&["First. "]);
    first["id"] = "n".into();
    for output in [json!([first, message(&["Hello"])]), json!([search(), first, message(&["Hello"])])] {
        let events = [delta("Hel"), completed(output)];
        assert_eq!(pieces(&events).await, ["Hel", "First. lo"]);
        let script = Script::new([Step::pieces([&*stream_of(&events)])]);
        assert_eq!(open(&script).await.accumulate().await.unwrap().output_text(), "First. Hello");
    }
}

#[tokio::test(start_paused = true)]
async fn case_14_null_is_empty() {
    let (mut piece, mut done, mut added) = (delta("Hello"), text_done(""), item("added", &message(&[])));
    (piece["content_index"], done["text"], added["item"]["content"]) =
        (Value::Null, Value::Null, Value::Null);
    let found = response(&[
        created(),
        event("reasoning.started", json!({"thought": null})),
        event("reasoning.search_results", json!({"results": null, "thought": null, "usage": null})),
        event("reasoning.fetch_url_results", json!({"contents": null, "thought": null})),
        added,
        piece,
        done,
        completed(json!([])),
    ])
    .await;
    assert_eq!(found.output_text(), "Hello");
}

#[tokio::test(start_paused = true)]
async fn case_15_a_hosted_search_is_no_function_call() {
    for output in [json!([]), json!([search()])] {
        let found =
            response(&[created(), item("added", &search_call()), item("done", &search()), completed(output)])
                .await;
        assert_eq!(found.output.len(), 1);
        assert!(matches!(found.output[0], OutputItem::SearchResults(_)));
        assert_eq!(found.function_calls().count(), 0);
    }
    let lost = [created(), item("added", &search_call()), completed(json!([]))];
    assert_eq!(response(&lost).await.function_calls().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn case_16_an_own_function_is_called_once() {
    let call = json!({"type": "function_call", "id": "f", "call_id": "c", "name": "weather",
        "arguments": "{\"city\":\"Ulm\"}", "status": "completed", "thought_signature": "s"});
    for status in ["requires_action", "completed"] {
        let last = end("completed", status, json!([call]), json!({}));
        let found = response(&[created(), item("added", &call), item("done", &call), last]).await;
        let calls: Vec<_> = found.function_calls().collect();
        assert_eq!((calls.len(), &*calls[0].call_id), (1, "c"));
        assert_eq!(calls[0].parse::<Value>().unwrap()["city"], "Ulm");
        let sent: Vec<_> = found.to_input().chain([calls[0].output("sunny")]).collect();
        let sent = tightwire_json::to_value(&sent).unwrap();
        assert_eq!((&sent[0]["call_id"], &sent[0]["thought_signature"]), (&json!("c"), &json!("s")));
        let output = json!({"type": "function_call_output", "call_id": "c", "output": "sunny", "name": "weather",
            "thought_signature": "s"});
        assert_eq!(sent[1], output);
    }
}

#[tokio::test(start_paused = true)]
async fn case_17_a_gap_in_the_sequence_is_no_loss() {
    let mut last = delta("lo");
    last["sequence_number"] = 3.into();
    let rest = stream_of(&[completed(json!([message(&["Hello"])]))]);
    let script =
        Script::new([Step::pieces([&*stream_of(&[created(), delta("Hel"), last])]), Step::pieces([&*rest])]);
    let found = open(&script).await.resuming(1).accumulate().await.unwrap();
    assert_eq!(found.output_text(), "Hello");
    assert!(script.sent()[1].url.ends_with("/v1/agent/resp_1?starting_after=3&stream=true"));
}

#[tokio::test(start_paused = true)]
async fn case_18_an_expired_cursor_leads_to_one_get() {
    let lost = || Step::pieces([&*stream_of(&[created(), delta("Hel")])]);
    let answer = json!({"id": "resp_1", "status": "incomplete", "output": [message(&["Hello"])]}).to_string();
    let answer = || Step::status(200, &[("content-type", "application/json")], answer.clone());
    let expired = || Step::status(400, &[], r#"{"error":{"message":"cursor expired"}}"#);
    let running = Step::ok(r#"{"id":"resp_1","status":"in_progress"}"#);
    for (steps, text) in [
        (vec![lost(), expired(), answer()], Ok("Hello")),
        (vec![lost(), answer()], Ok("Hello")),
        (vec![lost(), expired(), running], Err("cursor expired")),
    ] {
        let script = Script::new(steps);
        let found = open(&script).await.resuming(1).accumulate().await;
        assert_eq!(script.left(), 0);
        assert!(script.sent()[1..].iter().all(|sent| sent.method == "GET"));
        match found {
            Ok(found) => assert_eq!(Ok(&*found.output_text()), text),
            Err(error) => assert_eq!(Err(error.message().unwrap()), text),
        }
    }
}

#[test]
fn case_19_unknown_items_are_kept() {
    for item in [
        json!({"type": "of_the_future", "x": [1]}),
        json!({"type": "of_the_future", "id": "i"}),
        json!({"type": "unknown", "item_name": "n", "payload": {"a": 1}}),
        json!({"type": "finance_results", "results": [{"category": "c", "content": "t", "tickers": ["X"]}]}),
        json!({"type": "people_search_results", "queries": ["q"], "results": search()["results"].clone()}),
        json!({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [
            {"type": "output_text", "text": "", "annotations": [{"url": null, "title": null, "start_index": null}]},
            {"type": "hologram", "text": "no"}]}),
    ] {
        let found: OutputItem = decode(item.clone());
        assert_eq!(tightwire_json::to_value(&found).unwrap(), item);
        assert_eq!(found.texts().collect::<String>(), "");
    }
    let OutputItem::Message(found) = decode(message(&["a"])) else { panic!("no message") };
    assert!(matches!(&found.content[..], [OutputContent::Text(_)]));
}

#[test]
fn case_20_usage_may_be_partial() {
    assert_eq!(decode::<Response>(json!({"usage": null})).usage, None);
    let counts = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    assert_eq!(decode::<Usage>(counts).total_tokens, 3);
    assert_eq!(decode::<Usage>(json!({"total_tokens": "3"})).total_tokens, 3);
    let nulls = json!({"input_tokens": 1, "input_tokens_details": null, "output_tokens_details": {"reasoning_tokens": null},
        "tool_calls_details": {"search_web": null}, "cost": null});
    assert_eq!(decode::<Usage>(nulls).input_tokens, 1);
}

#[test]
fn case_21_cost_is_an_object_or_a_number() {
    let cost = |cost: &str| {
        let usage: Usage =
            tightwire_json::from_str(&format!(r#"{{"cost": {cost}, "total_tokens": 3}}"#)).unwrap();
        usage.cost
    };
    let parts = r#"{"input_cost": 0, "tool_calls_cost_details": {"search_web": 0.005}, "total_cost": 1e-05}"#;
    let found = cost(parts).unwrap();
    assert_eq!((found.total_cost, found.input_cost), (0.00001, 0.0));
    assert_eq!(found.tool_calls_cost_details.unwrap()["search_web"], 0.005);
    for (text, total) in [("0.25", 0.25), ("0", 0.0), ("3", 3.0), (r#""0.25""#, 0.25)] {
        assert_eq!(cost(text).unwrap().total_cost, total);
    }
    assert_eq!(cost("null"), None);
    assert!(tightwire_json::from_str::<Usage>(r#"{"cost": "free"}"#).is_err());
    assert!(tightwire_json::from_str::<Usage>(r#"{"input_tokens_details": 3}"#).is_err());
}

#[test]
fn case_22_open_enums_keep_their_text() {
    let found: Response = decode(json!({"status": "napping", "service_tier": "gold", "truncation": "",
        "temperature": 1, "top_p": 1, "output": [{"type": "search_results", "results": [{"id": 1, "source": "dark"}]}]}));
    assert_eq!((found.status.as_str(), found.service_tier.unwrap().as_str()), ("napping", "gold"));
    assert_eq!((found.truncation.unwrap().as_str(), found.temperature), ("", Some(1.0)));
    let OutputItem::SearchResults(search) = &found.output[0] else { panic!("no search") };
    assert_eq!(search.results[0].source.as_deref(), Some("dark"));
}

#[test]
fn case_23_codes_are_numbers_or_texts() {
    for (code, text) in [
        (json!({"code": 403}), Some("403")),
        (json!({"code": "cancelled"}), Some("cancelled")),
        (json!({"code": null}), None),
        (json!({}), None),
    ] {
        let found = decode::<ResponseError>(code).code.map(|code| code.to_string());
        assert_eq!(found.as_deref(), text);
    }
    assert_eq!(decode::<ResponseError>(json!("no")).message, "no");
    assert!(tightwire_json::from_str::<ResponseError>("7").is_err());
}

/// Streams in which the data follows a part of the text.
async fn failure_after_text(name: &str, data: &str) -> Error {
    failure(&format!("{}{name}data: {data}\n\n", stream_of(&[created(), delta("Hel")]))).await
}

#[tokio::test(start_paused = true)]
async fn case_24_error_events_have_their_message() {
    for data in [
        r#"{"error":{"code":"c","message":"broken"},"type":"error"}"#,
        r#"{"code":"c","message":"broken","param":null,"sequence_number":2,"type":"error"}"#,
        r#"{"error":"broken"}"#,
        r#"{"error":{"message":"broken"}}"#,
        r#"{"error":{"message":"broken"},"response":{"id":"resp_1"}}"#,
        r#"{"error":["broken"],"type":"response.failed"}"#,
    ] {
        assert_eq!(failure_after_text("", data).await.message(), Some("broken"), "{data}");
    }
}

#[tokio::test(start_paused = true)]
async fn case_25_an_error_beside_choices_is_an_error() {
    let data = r#"{"choices":[{"index":0,"finish_reason":"error"}],"error":{"message":"broken"}}"#;
    let error = failure_after_text("", &format!("{data}\n\ndata: [DONE]")).await;
    assert_eq!(error.message(), Some("broken"));
}

#[tokio::test(start_paused = true)]
async fn case_26_other_error_objects_are_errors() {
    for data in [
        r#"{"object":"error","message":"broken"}"#,
        r#"{"detail":"broken"}"#,
        r#"{"detail":[{"msg":"broken"}]}"#,
        r#"{"message":"broken"}"#,
    ] {
        assert_eq!(failure_after_text("", data).await.message(), Some("broken"), "{data}");
    }
}

#[tokio::test(start_paused = true)]
async fn case_27_events_named_error_are_errors() {
    for (data, text) in
        [(r#"{"error":{"message":"broken"}}"#, "broken"), ("broken", "broken"), ("", "no message")]
    {
        let error = failure_after_text("event: error\n", data).await;
        assert_eq!((error.message(), error.body().unwrap().as_ref()), (Some(text), data.as_bytes()));
    }
}

#[tokio::test(start_paused = true)]
async fn case_28_the_word_error_is_no_error() {
    let mut last = completed(json!([message(&["an \"error\""])]));
    last["response"]["error"] = Value::Null;
    let call = json!({"type": "mcp_call", "id": "i", "name": "n", "arguments": "{}", "error": null});
    let events = [created(), item("done", &call), delta("an \"error\""), last];
    assert_eq!(response(&events).await.output_text(), "an \"error\"");
}

#[tokio::test(start_paused = true)]
async fn case_29_keep_alives_are_ignored() {
    let body: String = recorded()
        .iter()
        .map(sorted)
        .map(|it| it + ": comment\n\n\n\nevent: ping\ndata: {}\n\ndata:\n\n")
        .collect();
    assert_eq!(read(&body).await.1.unwrap(), "It is blue [7].");
}

#[tokio::test(start_paused = true)]
async fn case_30_documents_with_status_200_are_not_lost() {
    for (body, message) in [
        (r#"{"error":{"message":"quota"}}"#, Some("quota")),
        // Errors that look like a response.
        (r#"{"error":{"message":"quota"},"id":"req_1"}"#, Some("quota")),
        (r#"{"error":{"message":"quota"},"id":"req_1","object":"error","output":[]}"#, Some("quota")),
        (r#"{"error":"quota","id":"req_1","status":"error"}"#, Some("quota")),
        (r#"{"error":{"message":"quota"},"output":"none"}"#, Some("quota")),
        (r#"{"detail":[{"msg":"quota"}],"id":{}}"#, Some("quota")),
        (r#""quota""#, Some("quota")),
        (r#"{"id":"req_1"}"#, None),
        (r#"{"id":{}}"#, None),
        ("[]", None),
        ("", None),
        ("{}", None),
        ("<html></html>", None),
    ] {
        let step = || Step::ok(body);
        let script = Script::new([step(), step(), step()]);
        let request = Request::new("perplexity/sonar", "Why?");
        for error in [
            script.client().responses().create(&request).await.unwrap_err(),
            script.client().responses().retrieve("resp_1").await.unwrap_err(),
            open(&script).await.accumulate().await.unwrap_err(),
        ] {
            assert_eq!(error.message(), message, "{error}: {body}");
            // A stream without any data has ended early.
            assert!(
                error.body().is_some_and(|found| found == body) || error.is_incomplete(),
                "{error}: {body}"
            );
        }
    }
    let body = r#"{"id":"c","choices":[{"index":0,"finish_reason":"error","message":{"content":""}}],"error":{"message":"quota"}}"#;
    let script = Script::new([Step::ok(body), Step::ok(body)]);
    let (client, request) =
        (script.client(), tightwire_perplexity::types::chat::Request::new("sonar", "Why?"));
    for error in [
        client.chat().create(&request).await.unwrap_err(),
        client.chat().stream(&request).await.unwrap().accumulate().await.unwrap_err(),
    ] {
        assert_eq!((error.message(), error.body().unwrap().as_ref()), (Some("quota"), body.as_bytes()));
    }
    for status in ["failed", "cancelled"] {
        let body =
            json!({"id": "resp_1", "status": status, "error": {"message": "no", "code": 7}}).to_string();
        let script = Script::new([Step::status(200, &[], body)]);
        let found = script.client().responses().retrieve("resp_1").await.unwrap();
        assert_eq!(found.status.as_str(), status);
        let error = found.into_result().unwrap_err();
        assert_eq!((error.message(), error.code(), error.is_retryable()), (Some("no"), Some("7"), false));
    }
}

#[tokio::test(start_paused = true)]
async fn case_31_retired_endpoints_are_told_apart() {
    let name = "chat_completions_not_available";
    for error in [
        json!({"message": "Sonar is now the Agent API. /chat/completions is gone.", "type": name, "code": 403}),
        json!({"message": "Sonar is now the Agent API. /v1/sonar is gone, see the guide.", "type": name, "code": 403}),
        json!({"message": "gone", "code": name}),
    ] {
        let script = Script::new([Step::status(403, &[], json!({"error": error}).to_string())]);
        let request = tightwire_perplexity::types::chat::Request::new("sonar", "Why?");
        let error = script.client().chat().create(&request).await.unwrap_err();
        assert!(error.is_retired() && error.to_string().contains("Client::responses"), "{error}");
        assert_eq!((error.attempts(), error.is_authentication()), (1, false));
    }
}

#[tokio::test(start_paused = true)]
async fn case_32_the_rejected_field_is_readable() {
    let body =
        r#"{"error":{"code":400,"message":"unknown field","param":"tools[0].x","type":"invalid_request"}}"#;
    let script = Script::new([Step::status(400, &[], body)]);
    let error =
        script.client().responses().create(&Request::new("perplexity/sonar", "Why?")).await.unwrap_err();
    assert_eq!((error.param(), error.attempts()), (Some("tools[0].x"), 1));
}

#[tokio::test(start_paused = true)]
async fn case_33_retries_are_bounded_and_a_create_is_repeated_only_if_allowed() {
    let request = Request::new("perplexity/sonar", "Why?");
    let answer = || Step::ok(r#"{"id":"resp_1","status":"completed"}"#);
    for (headers, millis) in
        [(&[("retry-after", "7")][..], 7000), (&[], 500), (&[("x-ratelimit-reset", "1792000000")], 500)]
    {
        let script = Script::new([Step::status(429, headers, ""), answer()]);
        script.client().responses().create(&request).await.unwrap();
        assert_eq!(script.times(), [0, millis]);
    }
    let broken = || Step::status(502, &[], "<html>Bad Gateway</html>");
    for (repeat, attempts) in [(Repeat::Auto, 1), (Repeat::Idempotent, 1), (Repeat::Any, 2)] {
        let script = Script::new([broken(), answer(), answer()]);
        let client =
            script.builder().retry_policy(RetryPolicy { repeat, ..RetryPolicy::new() }).build().unwrap();
        let created = client.responses().create(&request).await;
        assert_eq!((created.is_ok(), script.sent().len()), (attempts == 2, attempts));
    }
    let script = Script::new([broken(), answer()]);
    assert!(script.client().responses().retrieve("resp_1").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn case_34_background_runs_end_with_any_status() {
    let run = |status: &str| {
        let body = json!({"id": "resp_1", "status": status, "output": [search()]}).to_string();
        Step::status(200, &[], body)
    };
    for last in ["completed", "incomplete", "failed", "cancelled", "requires_action"] {
        let script = Script::new([run("queued"), run("in_progress"), run(last)]);
        let found = script.client().responses().wait("resp_1").await.unwrap();
        assert_eq!((found.status.as_str(), found.output.len(), script.left()), (last, 1, 0));
    }
    let script = Script::new([Step::failed(404), run("completed")]);
    assert!(script.client().responses().wait("resp_1").await.unwrap_err().is_not_found());
    assert_eq!(script.left(), 1);
    let accepted = Step::ok(r#"{"response_id":"resp_1","status":"cancelling"}"#);
    let script = Script::new([accepted, Step::failed(400), Step::failed(404)]);
    let client = script.client();
    let cancel = || client.responses().cancel("resp_1");
    assert_eq!(cancel().await.unwrap().status, Status::Cancelling);
    assert!(cancel().await.unwrap_err().is_bad_request());
    assert!(cancel().await.unwrap_err().is_not_found());
}

#[test]
fn case_35_a_page_is_one_source() {
    let page = json!({"url": "https://example.org/7", "title": "T"});
    let mut text = message(&["Blue [7] [web:0]."]);
    text["content"][0]["annotations"] = json!([page]);
    let fetched = json!({"type": "fetch_url_results", "contents": [page]});
    for output in [json!([text, search(), fetched]), json!([fetched, search(), text])] {
        let found: Response = decode(json!({"output": output}));
        let sources = found.sources();
        assert_eq!((sources.len(), sources[0].id), (1, Some(7)));
        let text = found.output_text();
        let cited: Vec<_> = found.citations(&text).into_iter().map(|it| (it.range, it.source.url)).collect();
        assert_eq!(cited, [(5..8, "https://example.org/7")]);
    }
}

#[tokio::test(start_paused = true)]
async fn case_36_only_set_fields_are_sent() {
    let request =
        Request::with_effort(Effort::Low, "Why?").tools([Tool::from(WebSearch::new().max_results(3))]);
    let raw = Tool::Unknown(json!({"type": "web_search", "new": {"x": 1}}));
    let script = Script::new([
        Step::failed(400),
        Step::failed(400),
        Step::status(400, &[], r#"{"error":"needs a limit"}"#),
    ]);
    let client = script.client();
    client.responses().create(&request).await.unwrap_err();
    client.responses().create(&request.clone().tools([raw]).extra_field("new", 1)).await.unwrap_err();
    let sent: Vec<Value> =
        script.sent().iter().map(|sent| tightwire_json::from_str(&sent.body).unwrap()).collect();
    let tool = json!({"type": "web_search", "max_results": 3});
    assert_eq!(sent[0], json!({"input": "Why?", "effort": "low", "tools": [tool]}));
    assert_eq!((&sent[1]["new"], &sent[1]["tools"][0]["new"]["x"]), (&json!(1), &json!(1)));
    let error = client.responses().create(&Request::new("anthropic/claude", "Why?")).await.unwrap_err();
    assert_eq!(error.message(), Some("needs a limit"));
    for (request, field) in
        [(request.max_steps(0), "max_steps"), (Request::new(["a/b"; 6], "Why?"), "models")]
    {
        assert_eq!(client.responses().create(&request).await.unwrap_err().field(), Some(field));
    }
}
