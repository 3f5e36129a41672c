//! Other decoders, with the same outcome type.

use std::convert::Infallible;
use std::fmt::Debug;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::{Stream, stream};

use super::cases::{Case, Expected, millis};
use super::subject::{Outcome, Subject, shared};

pub(super) const SUBJECTS: &[Subject] = &[
    Subject { name: "eventsource-stream 0.2.3", decode: eventsource_stream },
    Subject { name: "sse-core 0.2.3", decode: sse_core },
    Subject { name: "sse-stream 0.3.0", decode: sse_stream },
    Subject { name: "sseer 0.3.1", decode: sseer },
    Subject { name: "sse-parse 0.1.0", decode: sse_parse },
];

fn event<T: Into<String>>(event_type: T, data: T, id: T, retry: Option<u64>) -> Expected {
    Expected { event_type: event_type.into(), data: data.into(), id: id.into(), retry }
}

fn ready_stream<'a>(
    case: &Case,
    chunks: &'a [&'a [u8]],
) -> impl Stream<Item = Result<Bytes, Infallible>> + Unpin + use<'a> {
    stream::iter(shared(case, chunks).map(Ok))
}

/// Calls `on_item` for every item of a stream that is always ready.
fn drain<T, E: Debug>(
    events: &mut (impl Stream<Item = Result<T, E>> + Unpin),
    mut on_item: impl FnMut(T),
) -> Result<(), String> {
    let mut events = Pin::new(events);
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(item)) = events.as_mut().poll_next(&mut context) {
        on_item(item.map_err(|error| format!("{error:?}"))?);
    }
    Ok(())
}

fn eventsource_stream(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut stream = eventsource_stream::EventStream::new(ready_stream(case, chunks));
    stream.set_last_event_id(case.seed.clone().unwrap_or_default());
    let mut events = Vec::new();
    drain(&mut stream, |event| {
        events.push(self::event(event.event, event.data, event.id, event.retry.map(millis)));
    })?;
    Ok(Outcome { events, last_event_id: Some(stream.last_event_id().to_owned()), ..Outcome::default() })
}

fn sseer(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut stream = sseer::EventStream::new(ready_stream(case, chunks));
    stream.set_last_event_id(case.seed.clone().unwrap_or_default());
    let mut events = Vec::new();
    drain(&mut stream, |event| {
        events.push(self::event(&*event.event, &*event.data, &*event.id, event.retry.map(millis)));
    })?;
    Ok(Outcome { events, last_event_id: Some(stream.last_event_id().to_string()), ..Outcome::default() })
}

fn sse_core(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = sse_core::SseDecoder::new();
    decoder.reconnect_with_id(case.seed.as_deref().map(Into::into));
    let mut events = Vec::new();
    let mut retry_updates = Vec::new();
    let mut retry = None;
    for mut chunk in chunks.iter().copied() {
        while let Some(item) = decoder.next(&mut chunk) {
            match item.map_err(|error| error.to_string())? {
                sse_core::SseEvent::Message(message) => events.push(Expected {
                    event_type: message.event.into_owned(),
                    data: message.data,
                    id: message.last_event_id.as_deref().unwrap_or_default().to_owned(),
                    retry: retry.take(),
                }),
                sse_core::SseEvent::Retry(millis) => {
                    retry = Some(u64::from(millis));
                    retry_updates.extend(retry);
                }
            }
        }
    }
    let last_event_id = decoder.last_event_id().map(|id| id.to_string()).unwrap_or_default();
    let retry_updates = Some(retry_updates);
    Ok(Outcome { events, last_event_id: Some(last_event_id), retry_updates, ..Outcome::default() })
}

/// Returns raw blocks. This function applies the rules of the standard, as its users have to.
fn sse_stream(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut stream = sse_stream::SseByteStream::new(ready_stream(case, chunks));
    let mut events = Vec::new();
    let mut retry_updates = Vec::new();
    let mut last_event_id = case.seed.clone().unwrap_or_default();
    let mut retry = None;
    drain(&mut stream, |block| {
        if let Some(id) = block.id {
            last_event_id = id;
        }
        if block.retry.is_some() {
            retry = block.retry;
            retry_updates.extend(retry);
        }
        if let Some(data) = block.data {
            let event_type =
                block.event.filter(|name| !name.is_empty()).unwrap_or_else(|| "message".to_owned());
            events.push(Expected { event_type, data, id: last_event_id.clone(), retry: retry.take() });
        }
    })?;
    let retry_updates = Some(retry_updates);
    Ok(Outcome { events, last_event_id: Some(last_event_id), retry_updates, ..Outcome::default() })
}

fn sse_parse(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut parser = sse_parse::SseParser::with_last_event_id(case.seed.clone().unwrap_or_default());
    let mut events = Vec::new();
    for chunk in chunks {
        parser.feed(chunk);
        while let Some(event) = parser.next_event() {
            events.push(self::event(event.event, event.data, event.id, event.retry.map(millis)));
        }
    }
    parser.finish();
    Ok(Outcome {
        events,
        last_event_id: Some(parser.last_event_id().to_owned()),
        last_retry: Some(parser.retry().map(millis)),
        ..Outcome::default()
    })
}
