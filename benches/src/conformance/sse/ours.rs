//! Every way into the decoder of this workspace.

use std::ops::ControlFlow;

use sse::{Decoder, EventRef, Item};

use super::cases::{Case, Expected};
use super::subject::{Outcome, Subject};

pub(super) const SUBJECTS: &[Subject] = &[
    Subject { name: "Decoder::next", decode: next },
    Subject { name: "Decoder::feed", decode: feed },
    Subject { name: "Decoder::feed, one event per call", decode: feed_one },
    Subject { name: "Decoder::next_owned", decode: next_owned },
    Subject { name: "Decoder::next_item", decode: next_item },
];

fn decoder(case: &Case) -> Decoder {
    Decoder::new().with_last_event_id(case.seed.as_deref().unwrap_or_default())
}

fn expected(event: EventRef<'_>) -> Expected {
    Expected {
        event_type: event.event_type().to_owned(),
        data: event.data().to_owned(),
        id: event.last_event_id().to_owned(),
        retry: event.retry().map(millis),
    }
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What the decoder knows at the end of input: the strict end on a copy, then the lenient one.
fn ended(mut decoder: Decoder, events: Vec<Expected>) -> Result<Outcome, String> {
    let mut strict = decoder.clone();
    strict.finish();
    let mut lenient = events.clone();
    let last = decoder.finish_lenient().map_err(|error| error.to_string())?;
    lenient.extend(last.map(expected));
    Ok(Outcome {
        events,
        last_event_id: Some(strict.last_event_id().to_owned()),
        last_retry: Some(strict.reconnection_time().map(millis)),
        lenient: Some(lenient),
        ..Outcome::default()
    })
}

fn next(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = decoder(case);
    let mut events = Vec::new();
    for mut chunk in chunks.iter().copied() {
        while let Some(event) = decoder.next(&mut chunk).map_err(|error| error.to_string())? {
            events.push(expected(event));
        }
    }
    ended(decoder, events)
}

fn next_owned(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = decoder(case);
    let mut events = Vec::new();
    for mut chunk in chunks.iter().copied() {
        while let Some(event) = decoder.next_owned(&mut chunk).map_err(|error| error.to_string())? {
            events.push(expected(event.as_ref()));
        }
    }
    ended(decoder, events)
}

fn feed(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = decoder(case);
    let mut events = Vec::new();
    let mut failure = None;
    for chunk in chunks {
        decoder.feed(chunk, |event| {
            match event {
                Ok(event) => events.push(expected(event)),
                Err(error) => failure = Some(error.to_string()),
            }
            ControlFlow::Continue(())
        });
    }
    failure.map_or(Ok(()), Err)?;
    ended(decoder, events)
}

/// Breaks after every event, so that the rest of the chunk comes in again.
fn feed_one(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = decoder(case);
    let mut events = Vec::new();
    let mut failure = None;
    for mut chunk in chunks.iter().copied() {
        while !chunk.is_empty() {
            let consumed = decoder.feed(chunk, |event| {
                match event {
                    Ok(event) => events.push(expected(event)),
                    Err(error) => failure = Some(error.to_string()),
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
    let mut decoder = decoder(case);
    let mut events = Vec::new();
    let mut comments = Vec::new();
    let mut retry_updates = Vec::new();
    for mut chunk in chunks.iter().copied() {
        while let Some(item) = decoder.next_item(&mut chunk).map_err(|error| error.to_string())? {
            match item {
                Item::Event(event) => events.push(expected(event)),
                Item::Comment(comment) => comments.push(comment.to_owned()),
                Item::Retry(time) => retry_updates.push(millis(time)),
                _ => return Err(format!("unknown item {item:?}")),
            }
        }
    }
    let outcome = ended(decoder, events)?;
    Ok(Outcome { comments: Some(comments), retry_updates: Some(retry_updates), ..outcome })
}
