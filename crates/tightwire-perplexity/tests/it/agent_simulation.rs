//! Simulation of streams of the Agent API that are resumed, on a paused clock: a server model sends the same history over
//! connections that fail in many ways. All decisions come from a seed.
#![cfg(feature = "client")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use test_support::simulation::{Random, simulate};
use tightwire_json::{Value, json};
use tightwire_perplexity::Client;
use tightwire_perplexity::retry::{Jitter, RetryPolicy};
use tightwire_perplexity::types::responses::{Accumulator, Request};
use tower::service_fn;

use crate::support::{Feed, KEY, Script, Step, play};

/// Requests of a call: the first one and two retries.
const ATTEMPTS: usize = 3;

/// Parts of a text.
const WORDS: [&str; 6] = ["Hello", " ", "wörld", "\n", "data: x\n\n", "!"];

/// Events with their sequence numbers, and the response that they add up to.
struct History {
    events: Vec<(u64, Value)>,
    next_sequence: u64,
    output: Vec<Value>,
    text: String,
    status: &'static str,
}

impl History {
    fn new(random: &mut Random) -> Self {
        let status = random.pick(&["completed", "incomplete", "cancelled"]);
        let (events, output) = (Vec::new(), Vec::new());
        let mut this = Self { events, next_sequence: 0, output, text: String::new(), status };
        this.push(random, "created", json!({"response": {"id": "r", "status": "in_progress", "output": []}}));
        if random.chance(50) {
            this.search(random);
        }
        let messages = random.below(3);
        // The last event may be the only one that has the end of the text, or all items.
        let mut is_last_complete = random.chance(50);
        for message in 0..messages {
            is_last_complete |= this.message(random, message, message + 1 == messages);
        }
        if random.chance(50) {
            let call = json!({"type": "function_call", "id": "f", "call_id": "c", "name": "weather", "arguments": "{}"});
            this.item(random, "added", &call);
            this.item(random, "done", &call);
            this.output.push(call);
        }
        let mut output = this.output.clone();
        if !is_last_complete {
            output.clear();
        } else if random.chance(50) {
            output.retain(|item| item["type"] == "message");
        }
        let response = json!({"id": "r", "status": status, "output": output});
        this.push(random, status, json!({"response": response}));
        this
    }

    fn push(&mut self, random: &mut Random, kind: &str, mut event: Value) {
        event["type"] = format!("response.{kind}").into();
        event["sequence_number"] = self.next_sequence.into();
        self.events.push((self.next_sequence, event));
        self.next_sequence += 1 + random.below(2) as u64;
    }

    fn item(&mut self, random: &mut Random, kind: &str, item: &Value) {
        let event = json!({"output_index": self.output.len(), "item": item});
        self.push(random, &format!("output_item.{kind}"), event);
    }

    /// Adds a web search, which is a call of the service first.
    fn search(&mut self, random: &mut Random) {
        let call = json!({"type": "function_call", "id": "s", "call_id": "s", "name": "search_web", "arguments": "{}"});
        self.item(random, "added", &call);
        self.push(random, "reasoning.search_queries", json!({"call_id": "s", "queries": ["q"]}));
        let results = json!([{"id": 1, "url": "https://example.org", "title": "T", "snippet": "S"}]);
        self.push(random, "reasoning.search_results", json!({"call_id": "s", "results": results}));
        let item = json!({"type": "search_results", "queries": ["q"], "results": results});
        self.item(random, "done", &item);
        self.output.push(item);
    }

    /// Adds a message, of whose parts any number of words are deltas. Returns whether only the last event has its end.
    fn message(&mut self, random: &mut Random, message: usize, is_last: bool) -> bool {
        let id = format!("m{message}");
        let item = |content| json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": content});
        self.item(random, "added", &item(Value::Null));
        let (mut content, mut is_cut) = (Vec::new(), false);
        let parts = 1 + random.below(2);
        for part in 0..parts {
            let words: Vec<_> = (0..random.below(5)).map(|_| random.pick(&WORDS)).collect();
            let place = json!({"item_id": id, "output_index": self.output.len(), "content_index": part});
            let deltas = if random.chance(50) { words.len() } else { random.below(words.len() + 1) };
            for word in &words[..deltas] {
                let mut event = place.clone();
                event["delta"] = (*word).into();
                self.push(random, "output_text.delta", event);
            }
            let text = words.concat();
            is_cut = deltas < words.len() && part + 1 == parts && random.chance(50);
            if !is_cut && (deltas < words.len() || random.chance(50)) {
                let mut event = place;
                event["text"] = text.as_str().into();
                self.push(random, "output_text.done", event);
            }
            self.text += &text;
            content.push(json!({"type": "output_text", "text": text}));
        }
        let item = item(content.into());
        let is_cut = is_cut && is_last && random.chance(50);
        if !is_cut {
            self.item(random, "done", &item);
        }
        self.output.push(item);
        is_cut
    }
}

struct Server {
    random: Random,
    history: History,
    /// Faults that are left.
    faults: usize,
    requests: usize,
    /// Responses that neither continue nor end.
    silent: Vec<Feed>,
    /// A response was sent that ends the stream with an error.
    is_refused: bool,
    /// The response was sent as a document.
    is_document: bool,
}

impl Server {
    fn reply(&mut self, request: &http::Request<reqwest::Body>) -> Step {
        self.requests += 1;
        assert!(self.requests < 200, "requests without end");
        let cursor =
            request.uri().query().and_then(|query| query.split_once("starting_after=")).map(|(_, value)| {
                let digits = value.split('&').next().unwrap();
                digits.parse::<u64>().unwrap()
            });
        if request.method() == http::Method::GET && cursor.is_none() {
            return self.document();
        }
        let next = self.history.events.iter().position(|(sequence, _)| Some(*sequence) > cursor).unwrap();
        let is_faulty = self.faults > 0;
        self.faults -= usize::from(is_faulty);
        // Without a response, the call itself fails.
        if is_faulty && (cursor.is_some() || self.requests < ATTEMPTS) {
            match self.random.below(12) {
                0 | 1 => return Step::status(429, &[("retry-after", self.random.pick(&["1", "60"]))], ""),
                2 if cursor.is_some() => return Step::failed(503),
                3 if cursor.is_some() => return Step::Broken,
                4 if cursor.is_some() => return Step::Silent,
                5 if cursor.is_some() => return Step::failed(204),
                6 if cursor.is_some() && self.random.chance(30) => {
                    self.is_refused = true;
                    return Step::failed(self.random.pick(&[307, 401, 404]));
                }
                // The server no longer has the events.
                7 if cursor.is_some() && self.random.chance(30) => return Step::failed(400),
                8 if cursor.is_some() && self.random.chance(30) => return self.document(),
                _ => {}
            }
        }
        self.stream(next, cursor.is_some(), is_faulty)
    }

    /// Returns the response without events.
    fn document(&mut self) -> Step {
        self.is_document = self.random.chance(80);
        self.is_refused = !self.is_document;
        let status = if self.is_document { self.history.status } else { "in_progress" };
        let response = json!({"id": "r", "status": status, "output": self.history.output});
        Step::status(200, &[("content-type", "application/json")], response.to_string())
    }

    fn stream(&mut self, next: usize, is_resumed: bool, is_faulty: bool) -> Step {
        let random = &mut self.random;
        // The server may send the last event again.
        let next = next - usize::from(is_faulty && is_resumed && random.chance(30));
        let (mut wire, mut first) = (Vec::new(), None);
        for (_, event) in &self.history.events[next..] {
            let end = random.pick(&["\n", "\r\n"]);
            if random.chance(20) {
                wire.extend(format!(": keep-alive{end}{end}").as_bytes());
            }
            if random.chance(50) {
                wire.extend(format!("event: {}{end}", event["type"].as_str().unwrap()).as_bytes());
            }
            wire.extend(format!("data: {event}{end}{end}").as_bytes());
            first.get_or_insert(wire.len());
        }
        // Without an event, a response cannot be resumed.
        let least = if is_resumed { 0 } else { first.unwrap_or_default() };
        let end = if is_faulty { least + random.below(wire.len() - least + 1) } else { wire.len() };
        let (step, feed) = Step::fed();
        let size = random.pick(&[1, 10, 1000]);
        wire[..end].chunks(size).for_each(|chunk| feed.send_bytes(chunk));
        match random.below(3) {
            _ if !is_faulty => {}
            0 => feed.fail(),
            // Until the idle timeout.
            1 => self.silent.push(feed),
            _ => {}
        }
        step.after(Duration::from_millis(10))
    }
}

async fn run(mut random: Random) {
    let history = History::new(&mut random);
    let (text, status, events) = (history.text.clone(), history.status, history.events.clone());
    let has = |kind| history.output.iter().filter(|item| item["type"] == kind).count();
    let (searches, calls) = (has("search_results"), has("function_call"));
    let faults = random.below(8);
    let is_patient = random.chance(70);
    let resumes = if is_patient { faults } else { random.below(3) };
    let (is_refused, is_document) = (false, false);
    let server = Server {
        random: random.clone(),
        history,
        faults,
        requests: 0,
        silent: Vec::new(),
        is_refused,
        is_document,
    };
    let server = Arc::new(Mutex::new(server));
    let shared = Arc::clone(&server);
    let service = service_fn(move |request: http::Request<reqwest::Body>| {
        let step = shared.lock().unwrap().reply(&request);
        play(step)
    });
    let client = Client::builder().without_environment().api_key(KEY).base_url("https://example.org");
    let policy = RetryPolicy { jitter: Jitter::None, ..RetryPolicy::new() };
    let client = client.retry_policy(policy).service(service).build().unwrap();

    let request = Request::new("perplexity/sonar", "Why?");
    let mut stream = client.responses().stream(&request).await.unwrap().resuming(resumes as u32);
    let (mut accumulator, mut sequences, mut error) = (Accumulator::new(), Vec::new(), None);
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                sequences.push(event.sequence_number().unwrap());
                accumulator.push(&event);
            }
            Err(last) => error = Some(last),
        }
    }
    let wire: String = events.iter().map(|(_, event)| format!("data: {event}\n\n")).collect();
    let script = Script::new([Step::pieces([&*wire])]);
    let streamed = script.client().responses().stream(&request).await.unwrap().text().concat().await.unwrap();
    assert_eq!(streamed, text);

    let server = server.lock().unwrap();
    if server.is_document && error.is_none() {
        // The event of a document has no number.
        sequences.pop();
    }
    assert!(sequences.is_sorted_by(|a, b| a < b), "an event twice: {sequences:?}");
    assert!(server.requests <= 2 + faults, "a request without a reason");
    assert!(
        server.requests <= 1 + ATTEMPTS * (1 + resumes * (events.len() + 1)),
        "more requests than the policy allows"
    );
    match error {
        None => {
            let response = accumulator.finish();
            assert_eq!((response.output_text(), response.status.as_str()), (text, status));
            assert_eq!((response.sources().len(), response.function_calls().count()), (searches, calls));
            assert!(!server.is_refused);
        }
        Some(error) => assert!(!is_patient || server.is_refused, "{error:?}"),
    }
}

#[test]
fn the_text_is_that_of_the_history_and_once() {
    simulate(60, |random| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let limit = Duration::from_secs(24 * 60 * 60);
            tokio::time::timeout(limit, run(random)).await.expect("the client does not hang");
        });
    });
}
