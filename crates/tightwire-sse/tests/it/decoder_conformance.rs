//! All decoder cases with every entry point of the decoder, in every chunking.

use std::ops::ControlFlow;

use tightwire_sse::{Decoder, Event, Item};

use crate::cases;
use crate::cases::{Expected, millis};

/// Runs an entry point with all chunkings of all cases.
fn run(entry: &str, mut events: impl FnMut(&mut Decoder, &[&[u8]]) -> Vec<Expected>) {
    let cases = cases::load();
    assert!(cases.len() >= 183, "only {} cases", cases.len());
    for case in &cases {
        for chunks in case.chunkings() {
            let mut decoder = case.decoder();
            let found = events(&mut decoder, &chunks);
            assert_eq!(found, case.events, "{entry} {} in {} chunks", case.id, chunks.len());
            decoder.finish();
            assert_eq!(decoder.last_event_id(), case.last_event_id, "{entry} {}", case.id);
            assert_eq!(
                decoder.reconnection_time().map(millis),
                case.retry_updates.last().copied(),
                "{entry} {}",
                case.id
            );
        }
    }
}

fn pull(decoder: &mut Decoder, chunks: &[&[u8]]) -> Vec<Expected> {
    let mut found = Vec::new();
    for mut chunk in chunks.iter().copied() {
        while let Some(event) = decoder.next(&mut chunk).unwrap() {
            found.push(Expected::from(event));
        }
        assert!(chunk.is_empty());
    }
    found
}

#[test]
fn next() {
    run("next", pull);
}

#[test]
fn next_owned() {
    run("next_owned", |decoder, chunks| {
        let mut found = Vec::new();
        for mut chunk in chunks.iter().copied() {
            while let Some(event) = decoder.next_owned(&mut chunk).unwrap() {
                found.push(Expected::from(event.as_ref()));
            }
        }
        found
    });
}

#[test]
fn feed() {
    run("feed", |decoder, chunks| {
        let mut found = Vec::new();
        for chunk in chunks {
            let consumed = decoder.feed(chunk, |event| {
                found.push(Expected::from(event.unwrap()));
                ControlFlow::Continue(())
            });
            assert_eq!(consumed, chunk.len());
        }
        found
    });
}

#[test]
fn feed_that_breaks_after_every_event() {
    run("feed", |decoder, chunks| {
        let mut found = Vec::new();
        for mut chunk in chunks.iter().copied() {
            while !chunk.is_empty() {
                let consumed = decoder.feed(chunk, |event| {
                    found.push(Expected::from(event.unwrap()));
                    ControlFlow::Break(())
                });
                chunk = &chunk[consumed..];
            }
        }
        found
    });
}

#[test]
fn items_come_in_stream_order() {
    for case in cases::load() {
        for chunks in case.chunkings() {
            let mut decoder = case.decoder();
            let (mut events, mut comments, mut retries) = (Vec::new(), Vec::new(), Vec::new());
            for mut chunk in chunks {
                while let Some(item) = decoder.next_item(&mut chunk).unwrap() {
                    match item {
                        Item::Event(event) => events.push(Expected::from(event)),
                        Item::Comment(text) => comments.push(text.to_owned()),
                        Item::Retry(time) => retries.push(millis(time)),
                        _ => unreachable!("a kind of item that the cases do not know"),
                    }
                }
            }
            assert_eq!(events, case.events, "{}", case.id);
            assert_eq!(retries, case.retry_updates, "{}", case.id);
            if let Some(expected) = &case.comments {
                assert_eq!(&comments, expected, "{}", case.id);
            }
        }
    }
}

#[test]
fn a_lenient_end_ends_line_and_block() {
    let mut said = 0;
    for case in cases::load() {
        let Some(expected_events) = &case.lenient else { continue };
        said += 1;
        for chunks in case.chunkings() {
            let mut decoder = case.decoder();
            let mut found = pull(&mut decoder, &chunks);
            found.extend(decoder.finish_lenient().unwrap().map(Expected::from));
            assert_eq!(&found, expected_events, "{}", case.id);
        }
    }
    assert!(said >= 10, "only {said} cases say what a lenient end gives");
}

#[test]
fn a_borrowed_event_equals_its_owned_copy() {
    let mut decoder = Decoder::new();
    let mut chunk: &[u8] = b"event: e\nid: 1\nretry: 5\ndata: a\ndata: b\n\n";
    let event = decoder.next(&mut chunk).unwrap().unwrap();
    let owned: Event = event.into();
    assert_eq!(owned.as_ref(), event);
    assert_eq!(owned.into_data(), "a\nb");
}
