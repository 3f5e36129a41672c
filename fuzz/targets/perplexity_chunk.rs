//! Decodes lines of arbitrary text as chunks of a stream. A decoded chunk must survive a round trip, its deltas must
//! have the same content, and the accumulated text must not be longer than the input.
#![no_main]

use tightwire_perplexity::types::chat::{Accumulator, Completion, DeltaChunk};
use tightwire_perplexity::types::responses;
use serde::Serialize;
use serde::de::DeserializeOwned;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let lines = || input.split(|byte| *byte == b'\n');
    add_up(lines());
    let mut events = responses::Accumulator::new();
    for event in lines().filter_map(decoded::<responses::Event>) {
        events.push(&event);
    }
    events.finish();
});

/// Decodes a chunk, which must survive a round trip.
fn decoded<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(line: &[u8]) -> Option<T> {
    let part: T = tightwire_json::from_slice(line).ok()?;
    let text = tightwire_json::to_string(&part).expect("a part that was read can be written");
    let again: T = tightwire_json::from_str(&text).expect("a part that was written can be read");
    assert_eq!(part, again);
    Some(part)
}

/// Accumulates the chunks of a completion, as they are and with deltas only.
fn add_up<'a>(lines: impl Iterator<Item = &'a [u8]>) {
    let (mut whole, mut length) = (Accumulator::new(), 0);
    for line in lines {
        let Some(part) = decoded::<Completion>(line) else { continue };
        length += line.len();
        let deltas: DeltaChunk = tightwire_json::from_slice(line).expect("a part is a part of deltas as well");
        assert_eq!(deltas.delta_text(), part.delta_text());
        assert_eq!(deltas.is_last(), part.is_last());
        whole.push(&part);
        assert!(whole.text().len() <= length, "text that was in no part");
    }
    let text = whole.text().to_owned();
    let answer = whole.finish();
    // A message with several parts has no single text.
    if let Some(found) = answer.message().and_then(|message| message.text()) {
        assert_eq!(found, text);
    }
}
