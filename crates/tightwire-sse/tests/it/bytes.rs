//! Events that share the memory of their chunk. The decoder cases are in `entry_points`.
#![cfg(feature = "bytes")]

use bytes::Bytes;
use tightwire_sse::{BytesDecoder, EventBytes};

fn is_slice_of(part: &Bytes, whole: &Bytes) -> bool {
    let (part, whole) = (part.as_ptr_range(), whole.as_ptr_range());
    whole.start <= part.start && part.end <= whole.end
}

fn one(decoder: &mut BytesDecoder) -> EventBytes {
    decoder.next().unwrap().expect("a complete event")
}

#[test]
fn data_of_one_line_in_one_chunk_is_shared() {
    let chunk = Bytes::from("event: e\nid: 7\ndata: one\n\ndata: caf\u{e9}\n\n".to_owned());
    let mut decoder = BytesDecoder::new();
    decoder.push(chunk.clone());
    let first = one(&mut decoder);
    assert_eq!((first.event_type(), first.data(), first.last_event_id()), ("e", "one", "7"));
    assert!(is_slice_of(first.data_bytes(), &chunk));
    let second = one(&mut decoder);
    assert_eq!((second.event_type(), second.data()), ("message", "caf\u{e9}"));
    assert!(is_slice_of(&second.clone().into_data(), &chunk));
    assert_eq!(second.into_data(), "caf\u{e9}");
    assert!(decoder.next().unwrap().is_none());
}

#[test]
fn other_data_is_copied() {
    for (input, expected) in
        [(&b"data: a\ndata: b\n\n"[..], "a\nb"), (b"data: \xff\n\n", "\u{fffd}"), (b"data: x\n\n", "x")]
    {
        let whole = Bytes::copy_from_slice(input);
        let mut decoder = BytesDecoder::new();
        // Splits the first data line.
        let chunks = [whole.slice(..7), whole.slice(7..)];
        let [first, second] = chunks.clone();
        decoder.push(first);
        decoder.push(second);
        let event = one(&mut decoder);
        assert_eq!(event.data(), expected);
        assert!(chunks.iter().all(|chunk| !is_slice_of(event.data_bytes(), chunk)));
    }
}

#[test]
fn consumed_chunks_are_released() {
    let chunk = Bytes::from(b"data: a\n\nda".to_vec());
    let mut decoder = BytesDecoder::new();
    decoder.push(chunk.clone());
    drop(one(&mut decoder));
    assert!(decoder.next().unwrap().is_none());
    assert!(chunk.is_unique());
}

#[test]
fn chunks_stay_in_order_whenever_they_are_pushed() {
    let mut decoder = BytesDecoder::new();
    decoder.push(Bytes::from("data: 1\n\n"));
    decoder.push(Bytes::from("data: 2\n\n"));
    assert_eq!(one(&mut decoder).data(), "1");
    // The current chunk is consumed and another one is queued.
    decoder.push(Bytes::from("data: 3\n\n"));
    decoder.push(Bytes::new());
    decoder.push(Bytes::from("data: 4\n\n"));
    for expected in ["2", "3", "4"] {
        assert_eq!(one(&mut decoder).data(), expected);
    }
    assert!(decoder.next().unwrap().is_none());
}

#[test]
fn reconnect_only_keeps_the_last_event_id() {
    let mut decoder = BytesDecoder::new();
    decoder.push(Bytes::from("id: 7\nretry: 9\ndata: a\n\ndata: lost\n"));
    assert_eq!(one(&mut decoder).retry().unwrap().as_millis(), 9);
    decoder.push(Bytes::from("data: lost as well\n\n"));
    decoder.reconnect();
    decoder.push(Bytes::from("\u{feff}data: b\n\n"));
    let event = one(&mut decoder);
    assert_eq!((event.data(), event.last_event_id()), ("b", "7"));
    assert_eq!(decoder.last_event_id(), "7");
    assert_eq!(decoder.reconnection_time().unwrap().as_millis(), 9);
}

#[cfg(feature = "futures")]
#[test]
fn events_of_a_stream_share_its_chunks() {
    use futures_util::{FutureExt as _, StreamExt as _, stream};
    use tightwire_sse::EventStreamExt as _;

    let chunk = Bytes::from("data: one\n\ndata: two\n\n".to_owned());
    let mut events = stream::iter([Ok::<_, std::io::Error>(chunk.clone())]).sse_bytes();
    for expected in ["one", "two"] {
        let event = events.next().now_or_never().unwrap().unwrap().unwrap();
        assert_eq!(event.data(), expected);
        assert!(is_slice_of(event.data_bytes(), &chunk));
    }
    assert!(events.next().now_or_never().unwrap().is_none());
}

#[test]
fn debug_output_omits_the_input() {
    let mut decoder = BytesDecoder::new();
    decoder.push(Bytes::from("data: hunter2\n\ndata: hunter2\n"));
    decoder.push(Bytes::from("data: hunter2"));
    one(&mut decoder);
    let text = format!("{decoder:?}");
    assert!(!text.contains("hunter2"), "{text}");
}
