//! Recorded exchanges: every response decodes, and encodes again without losing a field.

use tightwire_json::Value;
use tightwire_perplexity::types::{chat, responses};

use crate::wire;
use crate::wire::{Exchange, request_check};

fn exchanges() -> Vec<Exchange> {
    wire::exchanges(include_str!("../data/perplexity-wire.jsonl")).unwrap()
}

#[test]
fn requests_round_trip() {
    let mut checked = 0;
    for Exchange { name, path, request, .. } in exchanges() {
        let Some(request) = request else { continue };
        let body = Value::Object(request).to_string();
        let check = request_check(&path).unwrap_or_else(|| panic!("no type for {path}"));
        let lost = check(&body).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(lost, Vec::<String>::new(), "{name}");
        checked += 1;
    }
    assert!(checked > 100, "{checked} requests");
}

/// Returns the data of all events except error events.
fn events(body: &str, cut: usize) -> Vec<String> {
    let events = wire::events(body, cut).into_iter().filter(|(kind, _)| kind != "error");
    events.map(|(_, data)| data).collect()
}

/// Returns the recorded streams of one endpoint whose events are all JSON.
fn streams(path: &str) -> Vec<(String, String)> {
    let streams = exchanges().into_iter().filter_map(|exchange| {
        let answer = exchange.response.filter(|answer| answer.content_type == "text/event-stream")?;
        (exchange.path.starts_with(path) && !exchange.name.starts_with("stream-badjson"))
            .then_some((exchange.name, answer.body))
    });
    streams.collect()
}

#[test]
fn truncated_streams_accumulate() {
    let mut whole = Vec::new();
    for (name, body) in streams("/chat/completions") {
        for cut in 0..=body.len() {
            let mut accumulator = chat::Accumulator::new();
            for event in events(&body, cut) {
                accumulator.push(&tightwire_json::from_str(&event).unwrap());
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
fn streamed_responses_accumulate() {
    for (name, body) in streams("/v1/responses") {
        let mut accumulator = responses::Accumulator::new();
        let events = events(&body, 0);
        for event in &events {
            accumulator.push(&tightwire_json::from_str(event).unwrap());
        }
        assert!(accumulator.is_finished(), "{name}");
        let last: responses::Event = tightwire_json::from_str(events.last().unwrap()).unwrap();
        let responses::Event::Completed(last) = last else { panic!("{name} ends with {:?}", last.tag()) };
        let response = accumulator.finish();
        assert_eq!(response.output_text(), "Hi", "{name}");
        assert_eq!(Some(response), last.response.map(|response| *response), "{name}");
    }
}

#[test]
fn delta_chunks_match_completions() {
    let (_, body) = streams("/chat/completions").swap_remove(0);
    let mut accumulator = chat::Accumulator::new();
    for event in events(&body, 0) {
        let chunk: chat::DeltaChunk = tightwire_json::from_str(&event).unwrap();
        accumulator.push(&chunk.into());
    }
    assert_eq!(accumulator.text(), "Hello!");
}
