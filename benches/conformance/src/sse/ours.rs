//! Entry points of tightwire-sse.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::StreamExt as _;
use tightwire_sse::compat::eventsource_stream as compat;
use tightwire_sse::{
    BytesDecoder, Decoder, Ending, EventStream, EventStreamExt as _, Item, OwnedItem, Reader, SseCodec,
};
use tokio_util::codec::{Decoder as _, FramedRead};

use super::cases::{Case, Expected, millis};
use super::chunked::{Chunked, block_on};
use super::subject::{Outcome, Subject, shared};

pub(super) const SUBJECTS: &[Subject] = &[
    Subject { name: "Decoder::next", decode: next },
    Subject { name: "Decoder::feed", decode: feed },
    Subject { name: "Decoder::feed, one event per call", decode: feed_one },
    Subject { name: "Decoder::next_owned", decode: next_owned },
    Subject { name: "Decoder::next_item", decode: next_item },
    Subject { name: "Reader", decode: reader },
    Subject { name: "Reader::next_ref", decode: reader_lending },
    Subject { name: "EventStream", decode: event_stream },
    Subject { name: "ItemStream", decode: item_stream },
    Subject { name: "BytesDecoder", decode: bytes_decoder },
    Subject { name: "SseCodec", decode: codec },
    Subject { name: "SseCodec in FramedRead", decode: framed_read },
    Subject { name: "compat::eventsource_stream", decode: compat_stream },
];

fn text(error: impl Display) -> String {
    error.to_string()
}

/// Completes the outcome at the end of the input: with the strict end on a copy, then with the lenient one.
fn ended(mut decoder: Decoder, events: Vec<Expected>) -> Result<Outcome, String> {
    let mut strict = decoder.clone();
    strict.finish();
    let mut lenient = events.clone();
    let last = decoder.finish_lenient().map_err(text)?;
    lenient.extend(last.map(Expected::from));
    Ok(Outcome {
        events,
        last_event_id: Some(strict.last_event_id().to_owned()),
        last_retry: Some(strict.reconnection_time().map(millis)),
        lenient: Some(lenient),
        ..Outcome::default()
    })
}

fn next(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = case.decoder();
    let mut events = Vec::new();
    for mut chunk in chunks.iter().copied() {
        while let Some(event) = decoder.next(&mut chunk).map_err(text)? {
            events.push(Expected::from(event));
        }
    }
    ended(decoder, events)
}

fn next_owned(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = case.decoder();
    let mut events = Vec::new();
    for mut chunk in chunks.iter().copied() {
        while let Some(event) = decoder.next_owned(&mut chunk).map_err(text)? {
            events.push(Expected::from(event.as_ref()));
        }
    }
    ended(decoder, events)
}

fn feed(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = case.decoder();
    let mut events = Vec::new();
    let mut failure = None;
    for chunk in chunks {
        decoder.feed(chunk, |event| {
            match event {
                Ok(event) => events.push(Expected::from(event)),
                Err(error) => failure = Some(text(error)),
            }
            ControlFlow::Continue(())
        });
    }
    failure.map_or(Ok(()), Err)?;
    ended(decoder, events)
}

/// Returns `Break` after every event, and feeds the rest of the chunk again.
fn feed_one(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = case.decoder();
    let mut events = Vec::new();
    let mut failure = None;
    for mut chunk in chunks.iter().copied() {
        while !chunk.is_empty() {
            let consumed = decoder.feed(chunk, |event| {
                match event {
                    Ok(event) => events.push(Expected::from(event)),
                    Err(error) => failure = Some(text(error)),
                }
                ControlFlow::Break(())
            });
            chunk = &chunk[consumed..];
        }
    }
    failure.map_or(Ok(()), Err)?;
    ended(decoder, events)
}

fn next_item(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = case.decoder();
    let mut events = Vec::new();
    let mut comments = Vec::new();
    let mut retry_updates = Vec::new();
    for mut chunk in chunks.iter().copied() {
        while let Some(item) = decoder.next_item(&mut chunk).map_err(text)? {
            match item {
                Item::Event(event) => events.push(Expected::from(event)),
                Item::Comment(comment) => comments.push(comment.to_owned()),
                Item::Retry(time) => retry_updates.push(millis(time)),
                _ => return Err(format!("unknown item {item:?}")),
            }
        }
    }
    let outcome = ended(decoder, events)?;
    Ok(Outcome { comments: Some(comments), retry_updates: Some(retry_updates), ..outcome })
}

/// Decodes with the strict and then with the lenient ending, for adaptors with a setting for it.
fn both(case: &Case, decode: impl Fn(Decoder, Ending) -> Result<Outcome, String>) -> Result<Outcome, String> {
    let lenient = decode(case.decoder(), Ending::Lenient)?.events;
    Ok(Outcome { lenient: Some(lenient), ..decode(case.decoder(), Ending::Strict)? })
}

fn outcome(events: Vec<Expected>, last_event_id: &str, retry: Option<Duration>) -> Outcome {
    Outcome {
        events,
        last_event_id: Some(last_event_id.to_owned()),
        last_retry: Some(retry.map(millis)),
        ..Outcome::default()
    }
}

fn reader(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    both(case, |decoder, ending| {
        let mut reader = Reader::new(Chunked::new(chunks)).with_decoder(decoder).with_ending(ending);
        let mut events = Vec::new();
        for event in &mut reader {
            events.push(Expected::from(event.map_err(text)?.as_ref()));
        }
        Ok(outcome(events, reader.last_event_id(), reader.reconnection_time()))
    })
}

fn reader_lending(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    both(case, |decoder, ending| {
        let mut reader = Reader::new(Chunked::new(chunks)).with_decoder(decoder).with_ending(ending);
        let mut events = Vec::new();
        while let Some(event) = reader.next_ref().map_err(text)? {
            events.push(Expected::from(event));
        }
        Ok(outcome(events, reader.last_event_id(), reader.reconnection_time()))
    })
}

fn event_stream(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    both(case, |decoder, ending| {
        let mut stream = EventStream::new(Chunked::new(chunks)).with_decoder(decoder).with_ending(ending);
        let mut events = Vec::new();
        block_on(async {
            while let Some(event) = stream.next().await {
                events.push(Expected::from(event.map_err(text)?.as_ref()));
            }
            Ok::<_, String>(())
        })?;
        Ok(outcome(events, stream.last_event_id(), stream.reconnection_time()))
    })
}

fn item_stream(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut stream = Chunked::new(chunks).sse_items().with_decoder(case.decoder());
    let (mut events, mut comments, mut retry_updates) = (Vec::new(), Vec::new(), Vec::new());
    block_on(async {
        while let Some(item) = stream.next().await {
            match item.map_err(text)? {
                OwnedItem::Event(event) => events.push(Expected::from(event.as_ref())),
                OwnedItem::Comment(comment) => comments.push(comment),
                OwnedItem::Retry(time) => retry_updates.push(millis(time)),
                item => return Err(format!("unknown item {item:?}")),
            }
        }
        Ok(())
    })?;
    let outcome = outcome(events, stream.last_event_id(), stream.reconnection_time());
    Ok(Outcome { comments: Some(comments), retry_updates: Some(retry_updates), ..outcome })
}

fn bytes_decoder(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    both(case, |decoder, ending| {
        let mut decoder = BytesDecoder::with_decoder(decoder);
        let mut events = Vec::new();
        for chunk in shared(case, chunks) {
            decoder.push(chunk);
            while let Some(event) = decoder.next().map_err(text)? {
                events.push(Expected::from(event.to_event().as_ref()));
            }
        }
        match ending {
            Ending::Lenient => {
                let last = decoder.finish_lenient().map_err(text)?;
                events.extend(last.map(|event| Expected::from(event.to_event().as_ref())));
            }
            _ => decoder.finish(),
        }
        Ok(outcome(events, decoder.last_event_id(), decoder.reconnection_time()))
    })
}

fn codec(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    both(case, |decoder, ending| {
        let mut codec = SseCodec::new().with_decoder(decoder).with_ending(ending);
        let mut buffer = BytesMut::new();
        let mut events = Vec::new();
        for chunk in chunks {
            buffer.extend_from_slice(chunk);
            while let Some(event) = codec.decode(&mut buffer).map_err(text)? {
                events.push(Expected::from(event.as_ref()));
            }
        }
        while let Some(event) = codec.decode_eof(&mut buffer).map_err(text)? {
            events.push(Expected::from(event.as_ref()));
        }
        Ok(outcome(events, codec.decoder().last_event_id(), codec.decoder().reconnection_time()))
    })
}

fn framed_read(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    both(case, |decoder, ending| {
        let codec = SseCodec::new().with_decoder(decoder).with_ending(ending);
        let mut framed = FramedRead::new(Chunked::new(chunks), codec);
        let mut events = Vec::new();
        block_on(async {
            while let Some(event) = framed.next().await {
                events.push(Expected::from(event.map_err(text)?.as_ref()));
            }
            Ok::<_, String>(())
        })?;
        let decoder = framed.decoder().decoder();
        Ok(outcome(events, decoder.last_event_id(), decoder.reconnection_time()))
    })
}

/// The types of eventsource-stream, which has no accessor for the reconnection time.
fn compat_stream(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut stream = compat::EventStream::with_decoder(Chunked::new(chunks), case.decoder());
    let mut events = Vec::new();
    block_on(async {
        while let Some(event) = stream.next().await {
            let event = event.map_err(text)?;
            events.push(Expected {
                event_type: event.event,
                data: event.data,
                id: event.id,
                retry: event.retry.map(millis),
            });
        }
        Ok::<_, String>(())
    })?;
    Ok(Outcome { events, last_event_id: Some(stream.last_event_id().to_owned()), ..Outcome::default() })
}
