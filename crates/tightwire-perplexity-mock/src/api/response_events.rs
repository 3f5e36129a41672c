//! Events of a streamed response.

use serde_json::{Value, json};

use super::responses::unfinished;
use super::text;

/// Assigns sequence numbers to events.
#[derive(Default)]
struct Sequence {
    events: Vec<Value>,
}

impl Sequence {
    fn add(&mut self, kind: &str, mut event: Value) {
        event["type"] = json!(kind);
        event["sequence_number"] = json!(self.events.len());
        self.events.push(event);
    }
}

/// Returns all events of a response with this text and these skills.
pub(crate) fn of(response: &Value, reply: &str, skills: &[String]) -> Vec<Value> {
    let mut sequence = Sequence::default();
    let running = unfinished(response, "in_progress");
    sequence.add("response.created", json!({"response": running}));
    sequence.add("response.in_progress", json!({"response": running}));
    for name in skills {
        sequence.add("response.skill.loaded", json!({"name": name}));
    }
    let items = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (index, item) in items.iter().enumerate() {
        match item["type"].as_str() {
            Some("search_results") => reasoning(&mut sequence, item),
            Some("message") => message(&mut sequence, item, index, reply),
            _ => {
                sequence.add("response.output_item.added", json!({"item": item, "output_index": index}));
                sequence.add("response.output_item.done", json!({"item": item, "output_index": index}));
            }
        }
    }
    sequence.add("response.completed", json!({"response": response}));
    sequence.events
}

fn reasoning(sequence: &mut Sequence, item: &Value) {
    let thought = json!("The web may know this.");
    sequence.add("response.reasoning.started", json!({"thought": thought}));
    let queries = json!({"queries": item["queries"], "thought": thought});
    sequence.add("response.reasoning.search_queries", queries);
    sequence.add("response.reasoning.search_results", json!({"results": item["results"]}));
    let urls = json!({"urls": ["https://example.org/1"]});
    sequence.add("response.reasoning.fetch_url_queries", urls);
    let contents =
        json!([{"title": "Page 1", "url": "https://example.org/1", "snippet": "What page 1 says"}]);
    sequence.add("response.reasoning.fetch_url_results", json!({"contents": contents}));
    sequence.add("response.reasoning.stopped", json!({"thought": thought}));
}

fn message(sequence: &mut Sequence, item: &Value, index: usize, reply: &str) {
    let mut empty = item.clone();
    empty["status"] = json!("in_progress");
    empty["content"] = json!([]);
    sequence.add("response.output_item.added", json!({"item": empty, "output_index": index}));
    let place = json!({"item_id": item["id"], "output_index": index, "content_index": 0});
    let with = |member: &str, value: &str| {
        let mut event = place.clone();
        event[member] = json!(value);
        event
    };
    for piece in text::pieces(reply) {
        sequence.add("response.output_text.delta", with("delta", piece));
    }
    sequence.add("response.output_text.done", with("text", reply));
    sequence.add("response.output_item.done", json!({"item": item, "output_index": index}));
}
