//! Tracing of calls: recorded attributes, and secrets that are not recorded.
//!
//! A separate binary: `tracing` caches globally whether a span has a subscriber, and other tests make calls
//! without one.
#![cfg(feature = "tracing")]

mod support;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use support::{KEY, Script, Step};
use tightwire_perplexity::types::chat::Request;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

type Fields = BTreeMap<String, String>;

/// Records the fields of all spans and events.
#[derive(Clone, Default)]
struct Recorder {
    spans: Arc<Mutex<Vec<Fields>>>,
    events: Arc<Mutex<Vec<Fields>>>,
}

struct Visitor<'a>(&'a mut Fields);

impl Visit for Visitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "perplexity"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut spans = self.spans.lock().unwrap();
        let mut fields = Fields::new();
        attributes.record(&mut Visitor(&mut fields));
        spans.push(fields);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut spans = self.spans.lock().unwrap();
        values.record(&mut Visitor(&mut spans[span.into_u64() as usize - 1]));
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Visitor(&mut fields));
        self.events.lock().unwrap().push(fields);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// Returns selected fields of a span as one text.
fn told(recorder: &Recorder, index: usize, names: &[&str]) -> String {
    let spans = recorder.spans.lock().unwrap();
    let value = |name: &&str| spans[index].get(*name).map_or("-", String::as_str).to_owned();
    names.iter().map(value).collect::<Vec<_>>().join(" | ")
}

#[tokio::test(start_paused = true)]
async fn calls_have_spans() {
    let recorder = Recorder::default();
    let _guard = tracing::subscriber::set_default(recorder.clone());
    let answer =
        r#"{"id":"c","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#;
    let script =
        Script::new([Step::failed(503), Step::ok(answer), Step::status(401, &[], KEY), Step::ok("{")]);
    let client = script.builder().default_query("secret", KEY).build().unwrap();
    let request = Request::new("sonar", "A private question");
    client.chat().create(&request).await.unwrap();
    let names = [
        "otel.name",
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "http.request.method",
        "http.request.resend_count",
        "http.response.status_code",
        "server.address",
        "url.path",
        "perplexity.request_id",
        "error.type",
    ];
    assert_eq!(
        told(&recorder, 0, &names),
        "chat sonar | chat | perplexity | sonar | 3 | 2 | POST | 1 | 200 | example.org | /chat/completions | rid-1 | -"
    );
    let retries = recorder.events.lock().unwrap().clone();
    assert_eq!((&*retries[0]["attempt"], &*retries[0]["delay"]), ("1", "0.5"));

    let failed = ["http.response.status_code", "error.type"];
    client.chat().create(&request).await.unwrap_err();
    assert_eq!(told(&recorder, 1, &failed), "401 | 401");
    client.chat().create(&request).await.unwrap_err();
    assert_eq!(told(&recorder, 2, &failed), "200 | decode");
    let all = format!("{:?} {:?}", recorder.spans.lock().unwrap(), recorder.events.lock().unwrap());
    assert!(!all.contains(KEY) && !all.contains("private"), "{all}");
}

#[tokio::test(start_paused = true)]
async fn stream_spans_last_until_the_stream_ends() {
    let recorder = Recorder::default();
    let _guard = tracing::subscriber::set_default(recorder.clone());
    let (step, feed) = Step::fed();
    let script = Script::new([step]);
    let mut stream = script.client().chat().stream(&Request::new("sonar", "Why?")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    feed.send(
        "data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n",
    );
    stream.next().await.unwrap().unwrap();
    feed.send(
        "data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":9}}\n\n",
    );
    feed.fail();
    stream.next().await.unwrap().unwrap();
    stream.next().await.unwrap().unwrap_err();
    let names = ["perplexity.time_to_first_item", "gen_ai.usage.output_tokens", "error.type"];
    assert_eq!(told(&recorder, 0, &names), "1.5 | 9 | connection");
}
