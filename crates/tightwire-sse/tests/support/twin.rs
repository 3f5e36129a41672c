//! A decoder that follows the text of the standard step by step, over the whole input at once, and the comparison of
//! the real one with it. Property tests and fuzz targets share it.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::ops::ControlFlow;

use tightwire_sse::{Block, Decoder, Item};

/// What a stream gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Type, data, last event id and retry value in milliseconds.
    pub events: Vec<(String, String, String, Option<u128>)>,
    pub retry_updates: Vec<u128>,
    pub comments: Vec<String>,
    pub last_event_id: String,
}

/// Sections 9.2.5 and 9.2.6 of the standard, as they are written: decode, split, process.
pub fn literal(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut outcome = Outcome::default();
    let (mut data, mut event_type, mut id_buffer) = (String::new(), String::new(), String::new());
    let mut retry = None;
    let mut rest = text;
    // A line that nothing ends is no line.
    while let Some(end) = rest.find(['\r', '\n']) {
        let line = &rest[..end];
        let crlf = rest[end..].starts_with("\r\n");
        rest = &rest[end + 1 + usize::from(crlf)..];
        if line.is_empty() {
            outcome.last_event_id = id_buffer.clone();
            let event_type = std::mem::take(&mut event_type);
            let block = std::mem::take(&mut data);
            if let Some(block) = block.strip_suffix('\n') {
                let event_type = if event_type.is_empty() { "message".to_owned() } else { event_type };
                outcome.events.push((event_type, block.to_owned(), id_buffer.clone(), retry.take()));
            }
            continue;
        }
        if let Some(comment) = line.strip_prefix(':') {
            outcome.comments.push(comment.to_owned());
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => event_type = value.to_owned(),
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            "id" if !value.contains('\0') => id_buffer = value.to_owned(),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                // Values past 64 bits are ignored by decision of this crate.
                if let Ok(millis) = value.parse::<u64>() {
                    retry = Some(u128::from(millis));
                    outcome.retry_updates.push(u128::from(millis));
                }
            }
            _ => {}
        }
    }
    outcome
}

/// The real decoder over these chunks, through [`Decoder::next_item`].
pub fn items<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut decoder = Decoder::new();
    let mut outcome = Outcome::default();
    for mut chunk in chunks {
        while let Some(item) = decoder.next_item(&mut chunk).expect("far below the limit") {
            match item {
                Item::Event(event) => outcome.events.push(parts(event)),
                Item::Comment(text) => outcome.comments.push(text.to_owned()),
                Item::Retry(time) => outcome.retry_updates.push(time.as_millis()),
                _ => unreachable!("no other kind of item is known"),
            }
        }
    }
    outcome.last_event_id = decoder.last_event_id().to_owned();
    outcome
}

/// The events alone, through [`Decoder::feed`].
pub fn fed<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String, String, Option<u128>)> {
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    for chunk in chunks {
        let consumed = decoder.feed(chunk, |event| {
            events.push(parts(event.expect("far below the limit")));
            ControlFlow::Continue(())
        });
        assert_eq!(consumed, chunk.len());
    }
    events
}

fn parts(event: tightwire_sse::EventRef<'_>) -> (String, String, String, Option<u128>) {
    (
        event.event_type().to_owned(),
        event.data().to_owned(),
        event.last_event_id().to_owned(),
        event.retry().map(|time| time.as_millis()),
    )
}

/// Cuts `input` into chunks of the sizes that `cuts` gives, over and over; 0 is an empty chunk.
pub fn cut<'a>(mut input: &'a [u8], cuts: &[u8]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    // Without a size above zero the input would never end.
    let cuts = if cuts.iter().all(|cut| *cut == 0) { &[1] } else { cuts };
    for cut in cuts.iter().cycle() {
        if input.is_empty() {
            break;
        }
        let (chunk, rest) = input.split_at(usize::from(*cut).min(input.len()));
        chunks.push(chunk);
        input = rest;
    }
    chunks
}

/// Panics unless the decoder gives what the standard's text gives, whole and in these chunks.
pub fn check_decoding(input: &[u8], cuts: &[u8]) {
    let expected = literal(input);
    assert_eq!(items([input]), expected);
    assert_eq!(fed([input]), expected.events);
    let chunks = cut(input, cuts);
    assert_eq!(items(chunks.iter().copied()), expected);
    assert_eq!(fed(chunks), expected.events);
}

/// Events and offsets of blocks past the limit, through [`Decoder::feed`].
fn limited<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Result<String, Option<u64>>> {
    let mut decoder = Decoder::with_config(tightwire_sse::Config::new().max_event_size(limit));
    let mut items = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, |event| {
            items.push(event.map(|event| event.data().to_owned()).map_err(|error| error.offset()));
            ControlFlow::Continue(())
        });
    }
    items
}

/// Panics unless a decoder with this limit gives the same for the whole input and for these chunks.
pub fn check_limit(input: &[u8], cuts: &[u8], limit: usize) {
    assert_eq!(limited(limit, cut(input, cuts)), limited(limit, [input]));
}

/// Panics unless every event that decoding `input` gives survives encoding and decoding again.
pub fn check_round_trip(input: &[u8], cuts: &[u8]) {
    let mut decoder = Decoder::new();
    let mut chunk = input;
    while let Some(event) = decoder.next_owned(&mut chunk).expect("far below the limit") {
        let mut wire = Vec::new();
        // CR in data cannot come from a decoder, and neither can a line break in a type or an id.
        Block::from(&event).encode(&mut wire).expect("what was decoded can be encoded");
        let mut again = Decoder::new().with_last_event_id("before");
        let mut found = Vec::new();
        for mut chunk in cut(&wire, cuts) {
            while let Some(event) = again.next_owned(&mut chunk).expect("far below the limit") {
                found.push(event);
            }
        }
        assert_eq!(found, [event]);
    }
}
