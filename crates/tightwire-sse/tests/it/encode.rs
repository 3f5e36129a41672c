//! Output of the encoder, and round trips with the decoder.

use std::time::Duration;

use proptest::prelude::*;
use tightwire_sse::{Decoder, Event, Item, KEEP_ALIVE, SseEvent};

fn encode(event: &SseEvent<'_>) -> String {
    let mut out = Vec::new();
    event.encode(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn fields_are_written_in_a_fixed_order() {
    let event = SseEvent::new().data("d").retry(Duration::from_millis(1500)).id("i").event("e").comment("c");
    assert_eq!(encode(&event), ": c\nevent: e\nid: i\nretry: 1500\ndata: d\n\n");
    assert_eq!(encode(&SseEvent::new()), "\n");
}

#[test]
fn every_line_of_data_becomes_a_data_line() {
    for (data, lines) in [
        ("", "data: \n"),
        ("a\n", "data: a\ndata: \n"),
        ("\na", "data: \ndata: a\n"),
        ("a\r\nb\rc\nd", "data: a\ndata: b\ndata: c\ndata: d\n"),
        ("a\n\r\nb", "data: a\ndata: \ndata: b\n"),
        (" leading", "data:  leading\n"),
        ("a\u{2028}b", "data: a\u{2028}b\n"),
    ] {
        assert_eq!(encode(&SseEvent::new().data(data)), format!("{lines}\n"), "{data:?}");
    }
}

#[test]
fn an_empty_id_is_written_and_an_empty_type_is_not() {
    assert_eq!(encode(&SseEvent::new().id("").event("").data("x")), "id: \ndata: x\n\n");
}

#[test]
fn retry_values_are_truncated_to_milliseconds() {
    assert_eq!(encode(&SseEvent::new().retry(Duration::ZERO)), "retry: 0\n\n");
    assert_eq!(encode(&SseEvent::new().retry(Duration::MAX)), "retry: 18446744073709551615\n\n");
    assert_eq!(encode(&SseEvent::new().retry(Duration::from_micros(1999))), "retry: 1\n\n");
}

#[test]
fn a_built_event_equals_the_decoded_one() {
    let retry = Duration::from_micros(1999);
    for (event, text) in [
        (Event::builder(), "data:\n\n"),
        (Event::builder().data("a\nb"), "data: a\ndata: b\n\n"),
        (
            Event::builder().event_type("e").data("d").last_event_id("i").retry(retry),
            "event: e\nid: i\nretry: 1\ndata: d\n\n",
        ),
    ] {
        let event = event.build();
        assert_eq!(Decoder::new().next_owned(&mut text.as_bytes()).unwrap(), Some(event.clone()));
    }
}

#[test]
fn invalid_fields_are_errors_and_nothing_is_written() {
    for (event, offset) in [
        (SseEvent::new().event("a\nb").data("x"), 1),
        (SseEvent::new().event("\r"), 0),
        (SseEvent::new().id("ab\r"), 2),
        (SseEvent::new().id("ab\ndata: injected"), 2),
        (SseEvent::new().event("ok").id("abc\0"), 3),
    ] {
        let mut out = b"before".to_vec();
        let error = event.encode(&mut out).unwrap_err();
        assert!(error.is_unencodable());
        assert_eq!(error.offset(), Some(offset));
        assert_eq!(out, b"before");
        assert!(!error.to_string().contains("injected"));
    }
}

#[test]
fn a_keep_alive_is_not_an_event() {
    let mut decoder = Decoder::new();
    let mut chunk: &[u8] = KEEP_ALIVE;
    assert!(matches!(decoder.next_item(&mut chunk), Ok(Some(Item::Comment("")))));
    assert!(decoder.next_item(&mut chunk).unwrap().is_none());
}

fn field() -> impl Strategy<Value = String> {
    "[^\r\n\0]{0,40}"
}

proptest! {
    #[test]
    fn blocks_round_trip(
        comment in proptest::option::of("(?s).{0,40}"),
        event in proptest::option::of(field()),
        id in proptest::option::of(field()),
        retry in proptest::option::of(any::<u64>()),
        data in proptest::option::of("(?s)[ab\r\n:é \0]{0,60}"),
        chunk_size in 1usize..80,
    ) {
        let mut outgoing = SseEvent::new();
        if let Some(comment) = &comment { outgoing = outgoing.comment(comment); }
        if let Some(event) = &event { outgoing = outgoing.event(event); }
        if let Some(id) = &id { outgoing = outgoing.id(id); }
        if let Some(retry) = retry { outgoing = outgoing.retry(Duration::from_millis(retry)); }
        if let Some(data) = &data { outgoing = outgoing.data(data); }
        let encoded = encode(&outgoing.into_owned());

        let lf = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
        let mut decoder = Decoder::new();
        let (mut events, mut comments, mut retries) = (Vec::new(), Vec::new(), Vec::new());
        for mut chunk in encoded.as_bytes().chunks(chunk_size) {
            while let Some(item) = decoder.next_item(&mut chunk).unwrap() {
                match item {
                    Item::Event(event) => events.push(event.to_owned()),
                    // The encoder writes a space before the text of a comment.
                    Item::Comment(text) => comments.push(text[1..].to_owned()),
                    Item::Retry(time) => retries.push(time),
                    _ => unreachable!(),
                }
            }
        }
        prop_assert_eq!(comments, comment.iter().flat_map(|text| lf(text).split('\n').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>());
        prop_assert_eq!(retries, retry.map(Duration::from_millis).into_iter().collect::<Vec<_>>());
        prop_assert_eq!(decoder.last_event_id(), id.as_deref().unwrap_or_default());
        match data {
            None => prop_assert!(events.is_empty()),
            Some(data) => {
                prop_assert_eq!(events.len(), 1);
                let found = &events[0];
                prop_assert_eq!(found.data(), lf(&data));
                prop_assert_eq!(found.event_type(), event.as_deref().filter(|event| !event.is_empty()).unwrap_or("message"));
                prop_assert_eq!(found.last_event_id(), id.as_deref().unwrap_or_default());
                prop_assert_eq!(found.retry(), retry.map(Duration::from_millis));
                // The event round-trips, too.
                let again = encode(&SseEvent::from(found));
                let mut chunk = again.as_bytes();
                let mut decoder = Decoder::new().with_last_event_id("before");
                prop_assert_eq!(&decoder.next_owned(&mut chunk).unwrap().unwrap(), found);
            }
        }
    }
}
