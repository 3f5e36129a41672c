//! Recorded exchanges: every answer is understood, and written again without losing a member.

use json::{Map, Value};
use perplexity::types::{
    Deleted, async_chat, batches, browser, chat, decisions, embeddings, files, models, responses, search,
    skills,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// One line of the recording.
struct Exchange {
    name: String,
    method: String,
    /// The target without its query.
    path: String,
    request: Option<Map<String, Value>>,
    response: Option<Answer>,
}

struct Answer {
    status: u64,
    content_type: String,
    body: String,
}

fn exchanges() -> Vec<Exchange> {
    let lines = include_str!("data/perplexity-wire.jsonl").lines();
    lines.map(|line| exchange(&json::from_str(line).unwrap())).collect()
}

fn exchange(line: &Value) -> Exchange {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let request = &line["request"];
    let response = line["response"].as_object().map(|response| {
        let mut headers = response["headers"].as_array().unwrap().iter();
        let content_type =
            headers.find(|header| header[0].as_str().unwrap().eq_ignore_ascii_case("content-type"));
        Answer {
            status: response["status"].as_u64().unwrap(),
            content_type: content_type.map(|header| text(&header[1])).unwrap_or_default(),
            body: text(&response["body"]),
        }
    });
    Exchange {
        name: format!("{} of {}", text(&line["scenario"]), text(&line["client"])),
        method: text(&request["method"]),
        path: text(&request["target"]).split('?').next().unwrap().to_owned(),
        request: json::from_str(&text(&request["body_text"])).ok(),
        response,
    }
}

/// Decodes `text`, encodes the value, and tells which members are gone. Without the feature `extra` only those that
/// are `null` may be.
fn lost<T: DeserializeOwned + Serialize>(text: &str) -> json::Result<Vec<String>> {
    let value: T = json::from_str(text)?;
    let again: Value = json::from_str(&json::to_string(&value)?)?;
    let mut lost = Vec::new();
    compare(&json::from_str(text)?, &again, "$", &mut lost);
    Ok(lost)
}

fn compare(before: &Value, after: &Value, path: &str, lost: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before {
                let path = format!("{path}.{name}");
                match after.get(name) {
                    Some(again) => compare(value, again, &path, lost),
                    None if value.is_null() && !cfg!(feature = "extra") => {}
                    None => lost.push(path),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (value, again)) in before.iter().zip(after).enumerate() {
                compare(value, again, &format!("{path}[{index}]"), lost);
            }
        }
        (Value::Number(before), Value::Number(after)) if before.as_f64() == after.as_f64() => {}
        (before, after) if before == after => {}
        _ => lost.push(path.to_owned()),
    }
}

/// What is checked of one body.
type Check = fn(&str) -> json::Result<Vec<String>>;

fn answer_check(method: &str, path: &str) -> Check {
    match (method, path) {
        ("POST", "/chat/completions") => lost::<chat::Completion>,
        ("POST", "/search") => lost::<search::Response>,
        ("GET", "/async/chat/completions") => lost::<async_chat::List>,
        (_, path) if path.starts_with("/async/chat/completions") => lost::<async_chat::AsyncCompletion>,
        ("POST", "/v1/responses/resp_1/cancel") => lost::<responses::Cancelled>,
        ("GET", "/v1/responses/resp_1/files") => lost::<responses::FileList>,
        (_, "/v1/responses" | "/v1/responses/resp_1") => lost::<responses::Response>,
        ("POST", "/v1/embeddings") => lost::<embeddings::Response>,
        ("POST", "/v1/contextualizedembeddings") => lost::<embeddings::ContextualizedResponse>,
        ("POST", "/v1/browser/sessions") => lost::<browser::Session>,
        ("GET", "/v1/models") => lost::<models::List>,
        ("POST", "/v1/decisions") => lost::<decisions::Response>,
        ("GET", "/v1/files/file_1") => lost::<files::FileObject>,
        ("DELETE", "/v1/files/file_1") => lost::<Deleted>,
        (_, path) if path.starts_with("/v1/batches") => lost::<batches::Batch>,
        ("GET", "/v1/skills/sk_1/download") => lost::<skills::Download>,
        ("GET", "/v1/skills/sk_1/revisions") => lost::<skills::Revisions>,
        (_, path) if path.starts_with("/v1/skills") => lost::<skills::ManagedSkill>,
        _ => panic!("no type for {method} {path}"),
    }
}

fn request_check(path: &str) -> Check {
    match path {
        "/chat/completions" => lost::<chat::Request>,
        "/search" => lost::<search::Request>,
        "/async/chat/completions" => lost::<async_chat::Request>,
        "/v1/responses" => lost::<responses::Request>,
        "/v1/embeddings" => lost::<embeddings::Request>,
        "/v1/contextualizedembeddings" => lost::<embeddings::ContextualizedRequest>,
        "/v1/browser/sessions" => lost::<browser::CreateRequest>,
        "/v1/decisions" => lost::<decisions::Request>,
        "/v1/batches" => lost::<batches::CreateRequest>,
        _ => panic!("no type for {path}"),
    }
}

#[test]
fn answers_lose_nothing() {
    let mut checked = 0;
    for Exchange { name, method, path, response, .. } in exchanges() {
        let Some(answer) = response else { continue };
        if !(200..300).contains(&answer.status) || answer.content_type != "application/json" {
            continue;
        }
        // A prepared answer that is not JSON.
        if name.starts_with("badjson200") {
            assert!(answer_check(&method, &path)(&answer.body).unwrap_err().is_syntax(), "{name}");
            continue;
        }
        let lost =
            answer_check(&method, &path)(&answer.body).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(lost, Vec::<String>::new(), "{name}");
        checked += 1;
    }
    assert!(checked > 80, "{checked} answers");
}

#[test]
fn requests_lose_nothing() {
    let mut checked = 0;
    for Exchange { name, path, request, .. } in exchanges() {
        let Some(request) = request else { continue };
        let body = Value::Object(request).to_string();
        let lost = request_check(&path)(&body).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(lost, Vec::<String>::new(), "{name}");
        checked += 1;
    }
    assert!(checked > 100, "{checked} requests");
}

/// The data of all events until `[DONE]`.
fn events(body: &str, cut: usize) -> Vec<String> {
    let mut decoder = sse::Decoder::new();
    let mut events = Vec::new();
    for mut chunk in [&body.as_bytes()[..cut], &body.as_bytes()[cut..]] {
        while let Some(event) = decoder.next(&mut chunk).unwrap() {
            if event.data() == "[DONE]" {
                return events;
            }
            if event.event_type() != "error" {
                events.push(event.data().to_owned());
            }
        }
    }
    events
}

/// Recorded streams of one of the two kinds, whose events are all JSON.
fn streams(path: &str) -> Vec<(String, String)> {
    let streams = exchanges().into_iter().filter_map(|exchange| {
        let answer = exchange.response.filter(|answer| answer.content_type == "text/event-stream")?;
        (exchange.path.starts_with(path) && !exchange.name.starts_with("stream-badjson"))
            .then_some((exchange.name, answer.body))
    });
    streams.collect()
}

#[test]
fn parts_of_streams_lose_nothing() {
    let mut checked = 0;
    for (path, check) in [
        ("/chat/completions", lost::<chat::Completion> as Check),
        ("/v1/responses", lost::<responses::Event>),
    ] {
        for (name, body) in streams(path) {
            // An error in the place of a part is not for the types to tell.
            if name.starts_with("stream-errdata") {
                continue;
            }
            for event in events(&body, 0) {
                let lost = check(&event).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(lost, Vec::<String>::new(), "{name}");
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked} events");
}

#[test]
fn streams_add_up_wherever_they_are_cut() {
    let mut whole = Vec::new();
    for (name, body) in streams("/chat/completions") {
        for cut in 0..=body.len() {
            let mut accumulator = chat::Accumulator::new();
            for event in events(&body, cut) {
                accumulator.push(&json::from_str(&event).unwrap());
            }
            match whole.last() {
                Some((last, before)) if *last == name => assert_eq!(before, &accumulator, "{name} at {cut}"),
                _ => whole.push((name.clone(), accumulator)),
            }
        }
    }
    let text = |scenario: &str| {
        let (_, accumulator) = whole.iter().find(|(name, _)| name.starts_with(scenario)).unwrap();
        accumulator.clone().finish().text().map(str::to_owned)
    };
    assert_eq!(text("stream-chat ").as_deref(), Some("Hello!"));
    assert_eq!(text("stream-nodone ").as_deref(), Some("Hello!"));
    assert_eq!(text("stream-norole ").as_deref(), Some("a"));
    assert_eq!(text("stream-error ").as_deref(), Some("Hel"));
}

#[test]
fn streamed_answers_add_up() {
    for (name, body) in streams("/v1/responses") {
        let mut accumulator = responses::Accumulator::new();
        let events = events(&body, 0);
        for event in &events {
            accumulator.push(&json::from_str(event).unwrap());
        }
        assert!(accumulator.is_finished(), "{name}");
        let last: responses::Event = json::from_str(events.last().unwrap()).unwrap();
        let responses::Event::Completed(last) = last else { panic!("{name} ends with {:?}", last.tag()) };
        let response = accumulator.finish();
        assert_eq!(response.output_text(), "Hi", "{name}");
        assert_eq!(Some(response), last.response.map(|response| *response), "{name}");
    }
}

#[test]
fn deltas_can_be_read_alone() {
    let (_, body) = streams("/chat/completions").swap_remove(0);
    let mut accumulator = chat::Accumulator::new();
    for event in events(&body, 0) {
        let chunk: chat::DeltaChunk = json::from_str(&event).unwrap();
        accumulator.push(&chunk.into());
    }
    assert_eq!(accumulator.text(), "Hello!");
}
