//! Simulation of streams of the Agent API that are resumed, on a paused clock: a server model sends the same history over
//! connections that fail in many ways. All decisions come from a seed.
#![cfg(feature = "client")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use test_support::simulation::{Random, simulate};
use tightwire_json::{Value, json};
use tightwire_perplexity::Client;
use tightwire_perplexity::retry::{Jitter, RetryPolicy};
use tightwire_perplexity::types::responses::{Accumulator, Request, Status};
use tower::service_fn;

use crate::support::{Feed, KEY, Step, play};

/// Requests of a call: the first one and two retries.
const ATTEMPTS: usize = 3;

/// Events with their sequence numbers, the text, and the status.
struct History {
    events: Vec<(u64, Value)>,
    text: String,
    status: Status,
}

impl History {
    fn new(random: &mut Random) -> Self {
        let (mut events, mut text, mut sequence) = (Vec::new(), String::new(), 0);
        let mut push = |random: &mut Random, mut event: Value| {
            event["sequence_number"] = sequence.into();
            events.push((sequence, event));
            sequence += 1 + random.below(2) as u64;
        };
        let response = |status: &str, output: Value| json!({"id": "r", "status": status, "output": output});
        push(random, json!({"type": "response.created", "response": response("in_progress", json!([]))}));
        for _ in 0..random.below(8) {
            let delta = random.pick(&["Hello", " ", "wörld", "\n", "data: x\n\n", "!"]);
            text += delta;
            let event = json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": delta});
            push(random, event);
        }
        if random.chance(50) {
            let event = json!({"type": "response.output_text.done", "item_id": "m", "output_index": 0, "content_index": 0, "text": text.as_str()});
            push(random, event);
        }
        let status = random.pick(&["completed", "incomplete", "cancelled"]);
        let content = json!([{"type": "output_text", "text": text.as_str()}]);
        let message = json!([{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}]);
        let output = if random.chance(50) { message } else { json!([]) };
        push(random, json!({"type": format!("response.{status}"), "response": response(status, output)}));
        let status = match status {
            "completed" => Status::Completed,
            "incomplete" => Status::Incomplete,
            _ => Status::Cancelled,
        };
        Self { events, text, status }
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
}

impl Server {
    fn reply(&mut self, uri: &http::Uri) -> Step {
        self.requests += 1;
        assert!(self.requests < 200, "requests without end");
        let cursor = uri.query().and_then(|query| query.split_once("starting_after=")).map(|(_, value)| {
            let digits = value.split('&').next().unwrap();
            digits.parse::<u64>().unwrap()
        });
        let next = self.history.events.iter().position(|(sequence, _)| Some(*sequence) > cursor).unwrap();
        let is_faulty = self.faults > 0;
        self.faults -= usize::from(is_faulty);
        // Without a response, the call itself fails.
        if is_faulty && (cursor.is_some() || self.requests < ATTEMPTS) {
            match self.random.below(6) {
                0 => return Step::status(429, &[("retry-after", self.random.pick(&["1", "60"]))], ""),
                1 if cursor.is_some() => return Step::failed(503),
                2 if cursor.is_some() => return Step::Broken,
                3 if cursor.is_some() => return Step::Silent,
                _ => {}
            }
        }
        self.stream(next, cursor.is_some(), is_faulty)
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
    let (text, status, events) = (history.text.clone(), history.status.clone(), history.events.len());
    let faults = random.below(8);
    let is_patient = random.chance(70);
    let resumes = if is_patient { faults } else { random.below(3) };
    let server = Server { random: random.clone(), history, faults, requests: 0, silent: Vec::new() };
    let server = Arc::new(Mutex::new(server));
    let shared = Arc::clone(&server);
    let service = service_fn(move |request: http::Request<reqwest::Body>| {
        let step = shared.lock().unwrap().reply(request.uri());
        play(step)
    });
    let client = Client::builder().without_environment().api_key(KEY).base_url("https://example.org");
    let policy = RetryPolicy { jitter: Jitter::None, ..RetryPolicy::new() };
    let client = client.retry_policy(policy).service(service).build().unwrap();

    let mut stream = client
        .responses()
        .stream(&Request::new("perplexity/sonar", "Why?"))
        .await
        .unwrap()
        .resuming(resumes as u32);
    let (mut accumulator, mut deltas, mut sequences, mut error) =
        (Accumulator::new(), String::new(), Vec::new(), None);
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                deltas += event.delta_text().unwrap_or_default();
                sequences.push(event.sequence_number().unwrap());
                accumulator.push(&event);
            }
            Err(last) => error = Some(last),
        }
    }
    let server = server.lock().unwrap();
    assert!(sequences.is_sorted_by(|a, b| a < b), "an event twice: {sequences:?}");
    assert!(text.starts_with(&deltas), "{deltas:?} of {text:?}");
    assert!(server.requests <= 1 + faults, "a request without a reason");
    assert!(
        server.requests <= ATTEMPTS * (1 + resumes * (events + 1)),
        "more requests than the policy allows"
    );
    match error {
        None => {
            let response = accumulator.finish();
            assert_eq!((response.output_text(), response.status), (text, status));
        }
        Some(error) => assert!(!is_patient, "{error:?}"),
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
