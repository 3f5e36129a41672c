//! Every decoder case through every entry point of the core, in every chunking.

#[path = "support/cases.rs"]
mod cases;

use std::ops::ControlFlow;

use cases::{Case, Expected};
use sse::{Decoder, Event, EventRef, Item};

fn expected(event: EventRef<'_>) -> Expected {
    Expected {
        event_type: event.event_type().to_owned(),
        data: event.data().to_owned(),
        id: event.last_event_id().to_owned(),
        retry: event.retry().map(|time| time.as_millis() as u64),
    }
}

fn decoder(case: &Case) -> Decoder {
    Decoder::new().with_last_event_id(case.seed.as_deref().unwrap_or_default())
}

/// Runs one entry point over all chunkings of all cases.
fn run(entry: &str, mut events: impl FnMut(&mut Decoder, &[&[u8]]) -> Vec<Expected>) {
    let cases = cases::load();
    assert!(cases.len() >= 183, "only {} cases", cases.len());
    for case in &cases {
        for chunks in case.chunkings() {
            let mut decoder = decoder(case);
            let found = events(&mut decoder, &chunks);
            assert_eq!(found, case.events, "{entry} {} in {} chunks", case.id, chunks.len());
            decoder.finish();
            assert_eq!(decoder.last_event_id(), case.last_event_id, "{entry} {}", case.id);
            assert_eq!(
                decoder.reconnection_time().map(|time| time.as_millis() as u64),
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
            found.push(expected(event));
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
                found.push(expected(event.as_ref()));
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
                found.push(expected(event.unwrap()));
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
                    found.push(expected(event.unwrap()));
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
            let mut decoder = decoder(&case);
            let (mut events, mut comments, mut retries) = (Vec::new(), Vec::new(), Vec::new());
            for mut chunk in chunks {
                while let Some(item) = decoder.next_item(&mut chunk).unwrap() {
                    match item {
                        Item::Event(event) => events.push(expected(event)),
                        Item::Comment(text) => comments.push(text.to_owned()),
                        Item::Retry(time) => retries.push(time.as_millis() as u64),
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
fn lenient_end_of_input_ends_line_and_block() {
    let mut said = 0;
    for case in cases::load() {
        let Some(expected_events) = &case.lenient else { continue };
        said += 1;
        for chunks in case.chunkings() {
            let mut decoder = decoder(&case);
            let mut found = pull(&mut decoder, &chunks);
            found.extend(decoder.finish_lenient().unwrap().map(expected));
            assert_eq!(&found, expected_events, "{}", case.id);
        }
    }
    assert!(said >= 10, "only {said} cases say what a lenient end gives");
}

#[test]
fn a_lent_event_equals_its_owned_copy() {
    let mut decoder = Decoder::new();
    let mut chunk: &[u8] = b"event: e\nid: 1\nretry: 5\ndata: a\ndata: b\n\n";
    let event = decoder.next(&mut chunk).unwrap().unwrap();
    let owned: Event = event.into();
    assert_eq!(owned.as_ref(), event);
    assert_eq!(owned.into_data(), "a\nb");
}
