//! Reference decoder, which follows the text of the standard step by step over the whole input, and checks that compare
//! [`Decoder`] with it. Used by property tests and fuzz targets.

#![allow(dead_code, unreachable_pub, reason = "each user uses a part of this module")]

use std::ops::ControlFlow;

use tightwire_sse::{Config, Decoder, Item, SseEvent};

/// Result of decoding a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Type, data, last event id and retry value in milliseconds.
    pub events: Vec<(String, String, String, Option<u128>)>,
    pub retry_updates: Vec<u128>,
    pub comments: Vec<String>,
    pub last_event_id: String,
}

/// Decodes as described in sections 9.2.5 and 9.2.6 of the standard.
pub fn reference(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut outcome = Outcome::default();
    let (mut data, mut event_type, mut id_buffer) = (String::new(), String::new(), String::new());
    let mut retry = None;
    let mut rest = text;
    // A line without line end is ignored.
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
                // This crate ignores values above 64 bits.
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

/// Decodes the chunks with [`Decoder::next_item`].
pub fn decode_items<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut decoder = Decoder::new();
    let mut outcome = Outcome::default();
    for mut chunk in chunks {
        while let Some(item) = decoder.next_item(&mut chunk).expect("below the limit") {
            match item {
                Item::Event(event) => outcome.events.push(parts(event)),
                Item::Comment(text) => outcome.comments.push(text.to_owned()),
                Item::Retry(time) => outcome.retry_updates.push(time.as_millis()),
                _ => unreachable!("there are no other kinds of items"),
            }
        }
    }
    outcome.last_event_id = decoder.last_event_id().to_owned();
    outcome
}

/// Decodes the events of the chunks with [`Decoder::feed`].
pub fn decode_events<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<(String, String, String, Option<u128>)> {
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    for chunk in chunks {
        let consumed = decoder.feed(chunk, |event| {
            events.push(parts(event.expect("below the limit")));
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

/// Splits `input` into chunks whose sizes repeat `sizes`; 0 is an empty chunk.
pub fn split<'a>(mut input: &'a [u8], sizes: &[u8]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    // At least one size has to be positive.
    let sizes = if sizes.iter().all(|size| *size == 0) { &[1] } else { sizes };
    for size in sizes.iter().cycle() {
        if input.is_empty() {
            break;
        }
        let (chunk, rest) = input.split_at(usize::from(*size).min(input.len()));
        chunks.push(chunk);
        input = rest;
    }
    chunks
}

/// Panics unless the decoder agrees with the reference, for the whole input and for these chunks.
pub fn check_decoding(input: &[u8], sizes: &[u8]) {
    let expected = reference(input);
    assert_eq!(decode_items([input]), expected);
    assert_eq!(decode_events([input]), expected.events);
    let chunks = split(input, sizes);
    assert_eq!(decode_items(chunks.iter().copied()), expected);
    assert_eq!(decode_events(chunks), expected.events);
}

/// Decodes with these limits. Returns the data of each event or the offset of each error.
pub fn decode_limited<'a>(
    config: Config,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Result<String, Option<u64>>> {
    let mut decoder = Decoder::with_config(config);
    let mut items = Vec::new();
    for chunk in chunks {
        let consumed = decoder.feed(chunk, |event| {
            items.push(event.map(|event| event.data().to_owned()).map_err(|error| error.offset()));
            ControlFlow::Continue(())
        });
        assert_eq!(consumed, chunk.len());
    }
    items
}

/// Panics unless decoding with this limit returns the same for the whole input and for these chunks.
pub fn check_limit(input: &[u8], sizes: &[u8], limit: usize) {
    let config = Config::new().max_event_size(limit);
    assert_eq!(decode_limited(config, split(input, sizes)), decode_limited(config, [input]));
}

/// Panics unless every event of `input` round-trips.
pub fn check_round_trip(input: &[u8], sizes: &[u8]) {
    let mut decoder = Decoder::new();
    let mut chunk = input;
    while let Some(event) = decoder.next_owned(&mut chunk).expect("below the limit") {
        let mut wire = Vec::new();
        SseEvent::from(&event).encode(&mut wire).expect("a decoded event can be encoded");
        let mut decoder = Decoder::new().with_last_event_id("before");
        let mut decoded = Vec::new();
        for mut chunk in split(&wire, sizes) {
            while let Some(event) = decoder.next_owned(&mut chunk).expect("below the limit") {
                decoded.push(event);
            }
        }
        assert_eq!(decoded, [event]);
    }
}
