//! Names and types of eventsource-stream, and differences in behaviour.
#![cfg(feature = "compat-eventsource-stream")]

use std::io;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tightwire_sse::compat::eventsource_stream::{Event, EventStream, EventStreamError, Eventsource};
use tightwire_sse::{Config, Decoder};

async fn decode(chunks: &[&'static str]) -> Vec<Event> {
    stream::iter(chunks.iter().map(Ok::<_, io::Error>)).eventsource().try_collect().await.unwrap()
}

fn event(event: &str, data: &str, id: &str) -> Event {
    Event { event: event.into(), data: data.into(), id: id.into(), retry: None }
}

#[tokio::test]
async fn fields_and_types_are_those_of_eventsource_stream() {
    let found = decode(&["event: add\nid: 1\nretry: 1500\ndata: a\ndata: b\n\n", "data: c\n\n"]).await;
    let first: &Event = &found[0];
    let (kind, data, id, retry): (&String, &String, &String, &Option<Duration>) =
        (&first.event, &first.data, &first.id, &first.retry);
    assert_eq!((kind.as_str(), data.as_str(), id.as_str()), ("add", "a\nb", "1"));
    assert_eq!(*retry, Some(Duration::from_millis(1500)));
    assert_eq!(found[1], event("message", "c", "1"));
    assert_eq!(Event::default(), event("", "", ""));
}

/// User of the stream type: the struct has no bound on its parameter.
struct Holder<S> {
    events: EventStream<S>,
}

impl<S> Holder<S> {
    fn id(&self) -> &str {
        self.events.last_event_id()
    }
}

#[tokio::test]
async fn the_last_event_id_can_be_set_and_read() {
    let chunks = ["data: a\n\ndata: b\n\ndata: c", "\n\nid: 2\ndata: d\n\n"];
    let mut holder = Holder { events: EventStream::new(stream::iter(chunks.map(Ok::<_, io::Error>))) };
    assert_eq!(holder.id(), "");
    holder.events.set_last_event_id("1");
    assert_eq!(holder.id(), "1");
    assert_eq!(holder.events.next().await.unwrap().unwrap(), event("message", "a", "1"));
    // Within a chunk.
    holder.events.set_last_event_id(String::from("9"));
    for (data, id) in [("b", "9"), ("c", "9"), ("d", "2")] {
        assert_eq!(holder.events.next().await.unwrap().unwrap(), event("message", data, id));
        assert_eq!(holder.id(), id);
    }
    assert!(holder.events.next().await.is_none());
}

#[tokio::test]
async fn transport_errors_keep_their_type() {
    #[derive(Debug, PartialEq)]
    struct Broken;
    let chunks = stream::iter([Ok("data: a\n\ndata: b"), Err(Broken), Ok("c\n\n")]);
    let mut events = chunks.eventsource();
    assert_eq!(events.next().await.unwrap(), Ok(event("message", "a", "")));
    assert_eq!(events.next().await.unwrap(), Err(EventStreamError::Transport(Broken)));
    assert_eq!(events.next().await.unwrap(), Ok(event("message", "bc", "")));
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn an_oversized_block_is_a_parser_error_and_skipped() {
    let config = Config::new().max_event_size(10);
    let chunks = stream::iter([Ok::<_, io::Error>("data: 0123456789\n\ndata: ok\n\n")]);
    let mut events = EventStream::with_decoder(chunks, Decoder::with_config(config));
    let error = events.next().await.unwrap().unwrap_err();
    assert!(matches!(&error, EventStreamError::Parser(error) if error.is_limit()));
    assert!(error.to_string().contains("10 bytes"), "{error}");
    let _: &dyn std::error::Error = &error;
    assert_eq!(events.next().await.unwrap().unwrap().data, "ok");
}

#[tokio::test]
async fn the_stream_ends_permanently() {
    let mut events = stream::iter(["data: a\n\ndata: lost\n"].map(Ok::<_, io::Error>)).eventsource();
    assert!(events.next().await.is_some());
    // `Iter` may be polled after its end.
    assert!(events.next().await.is_none());
    assert!(events.next().await.is_none());
}
