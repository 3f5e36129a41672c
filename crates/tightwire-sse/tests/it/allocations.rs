//! Number and size of allocations.

use std::ops::ControlFlow;

use tightwire_sse::{Decoder, Event, SseEvent};

use test_support::counting::allocations;

/// Returns the number of allocations and of events of a new decoder, for both entry points that borrow.
fn decode(input: &[u8], chunk_size: usize) -> (usize, usize) {
    let feed = |decoder: &mut Decoder, chunk: &[u8]| {
        let mut events = 0_usize;
        decoder.feed(chunk, |event| {
            event.unwrap();
            events += 1;
            ControlFlow::Continue(())
        });
        events
    };
    let next = |decoder: &mut Decoder, mut chunk: &[u8]| {
        std::iter::from_fn(|| decoder.next(&mut chunk).unwrap().map(drop)).count()
    };
    let [fed, pulled] = [&feed as &dyn Fn(&mut Decoder, &[u8]) -> usize, &next].map(|method| {
        allocations(|| {
            let mut decoder = Decoder::new();
            input.chunks(chunk_size).map(|chunk| method(&mut decoder, chunk)).sum::<usize>()
        })
    });
    assert_eq!(fed, pulled);
    fed
}

#[test]
fn construction_does_not_allocate() {
    assert_eq!(allocations(Decoder::new).0, 0);
    assert_eq!(allocations(Event::default).0, 0);
}

#[test]
fn blocks_within_a_chunk_do_not_allocate() {
    let simple = b"data: {\"test\": \"value\"}\n\n";
    assert_eq!(decode(simple, simple.len()), (0, 1));
    let stream = "data: {\"id\":\"1\",\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n".repeat(6);
    assert_eq!(decode(stream.as_bytes(), stream.len()), (0, 6));
    let comments = b": This is a comment\n: Another comment\ndata: {\"actual\": \"data\"}\n\n";
    assert_eq!(decode(comments, comments.len()), (0, 1));
    let fields = b"event: message\nid: msg-456\nretry: 1000\ndata: {\"status\": \"processing\"}\n\n";
    assert_eq!(decode(fields, fields.len()), (0, 1));
}

#[test]
fn joining_lines_allocates_once() {
    let lines =
        b"data: {\"chunk\": \"line1\"}\ndata: {\"chunk\": \"line2\"}\ndata: {\"chunk\": \"line3\"}\n\n";
    assert_eq!(decode(lines, lines.len()), (1, 1));
    // The buffer is reused for the next event.
    assert_eq!(decode(&lines.repeat(100), lines.len() * 100), (1, 100));
}

#[test]
fn a_long_stream_in_chunks_reuses_a_few_buffers() {
    let event = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\" caf\u{e9}\"}}]}\n\n";
    let stream = event.repeat(20_000);
    for chunk_size in [8192, 65536, 17] {
        let (count, events) = decode(stream.as_bytes(), chunk_size);
        assert_eq!(events, 20_000);
        assert!(count <= 10, "{count} allocations in chunks of {chunk_size}");
    }
}

#[test]
fn comments_do_not_allocate() {
    let comments = ": keep-alive\n:\n\n".repeat(10_000);
    for chunk_size in [1, 7, 8192] {
        assert_eq!(decode(comments.as_bytes(), chunk_size), (0, 0), "{chunk_size}");
    }
    let line = [b':'; 100_000];
    assert_eq!(decode(&line, 1), (0, 0));
}

#[test]
fn unknown_fields_are_not_buffered() {
    let line = [b"databases: ".as_slice(), &[b'x'; 100_000]].concat();
    let (count, _) = decode(&line, 3);
    assert!(count <= 1, "{count} allocations");
}

#[test]
fn an_owned_event_allocates_its_data() {
    let mut chunk: &[u8] = b"event: delta\nid: msg-123\ndata: {\"a\":1}\n\n";
    let mut decoder = Decoder::new();
    let (count, event) = allocations(|| decoder.next_owned(&mut chunk).unwrap().unwrap());
    assert_eq!((count, event.data()), (1, "{\"a\":1}"));
    let (count, data) = allocations(|| event.into_data());
    assert_eq!((count, data.as_str()), (0, "{\"a\":1}"));
}

#[test]
fn buffers_are_freed_after_a_large_event() {
    let mut decoder = Decoder::new();
    let large = [b"data: ".as_slice(), &vec![b'a'; 4 << 20], b"\n\n"].concat();
    for mut chunk in large.chunks(8192) {
        let _ = decoder.next(&mut chunk).unwrap();
    }
    // The next large event has to allocate again.
    let next = [b"data: ".as_slice(), &[b'b'; 100_000], b"\n\n"].concat();
    let (count, ()) = allocations(|| {
        for mut chunk in next.chunks(8192) {
            let _ = decoder.next(&mut chunk).unwrap();
        }
    });
    assert!(count > 0);
}

#[test]
fn encoding_into_a_buffer_with_capacity_does_not_allocate() {
    let mut out = Vec::with_capacity(4096);
    let (count, result) =
        allocations(|| SseEvent::new().event("delta").id("7").data("two\nlines").encode(&mut out));
    result.unwrap();
    assert_eq!(count, 0);
}

/// 1000 events of one line and one type each.
#[cfg(feature = "std")]
fn typed_events() -> Vec<u8> {
    b"event: delta\nid: 7\ndata: {\"text\":\"a token\"}\n\n".repeat(1000)
}

#[cfg(feature = "std")]
#[test]
fn a_reader_allocates_its_buffer_and_the_events() {
    let input = typed_events();
    let (count, events) = allocations(|| tightwire_sse::Reader::new(&input[..]).map(Result::unwrap).count());
    // The buffer, the data of each event, and one line that is split by the end of the buffer.
    assert_eq!(events, 1000);
    assert!((1001..1010).contains(&count), "{count}");

    let (count, events) =
        allocations(|| tightwire_sse::Reader::from_buffered(&input[..]).map(Result::unwrap).count());
    assert_eq!((count, events), (1000, 1000));
}

#[cfg(feature = "std")]
#[test]
fn borrowed_events_share_one_allocation() {
    let input = typed_events();
    let (count, events) = allocations(|| {
        let mut reader = tightwire_sse::Reader::from_buffered(&input[..]);
        let mut events = 0;
        while reader.next_ref().unwrap().is_some() {
            events += 1;
        }
        events
    });
    assert_eq!((count, events), (1, 1000));
}

#[cfg(feature = "bytes")]
#[test]
fn events_that_share_the_chunk_do_not_allocate() {
    let chunk = bytes::Bytes::from_static(b"event: delta\nid: 7\ndata: a token\n\ndata: b\n\n");
    let (count, events) = allocations(|| {
        let mut decoder = tightwire_sse::BytesDecoder::new();
        let mut events = 0;
        for _ in 0..100 {
            decoder.push(chunk.clone());
            while decoder.next().unwrap().is_some() {
                events += 1;
            }
        }
        events
    });
    assert_eq!((count, events), (0, 200));
}

#[cfg(feature = "futures")]
#[test]
fn a_stream_allocates_only_the_events() {
    use futures_util::{FutureExt as _, StreamExt as _, stream};
    use tightwire_sse::EventStreamExt as _;

    let chunks = [Ok::<_, std::convert::Infallible>("data: a\n\ndata: b\n\n"); 50];
    let (count, events) =
        allocations(|| stream::iter(chunks).sse().map(Result::unwrap).count().now_or_never().unwrap());
    assert_eq!((count, events), (100, 100));
}

#[cfg(feature = "codec")]
#[test]
fn a_codec_allocates_only_the_events() {
    use tokio_util::codec::Decoder as _;

    let mut codec = tightwire_sse::SseCodec::new();
    let mut buffer = bytes::BytesMut::with_capacity(1024);
    let (count, events) = allocations(|| {
        let mut events = 0;
        for _ in 0..50 {
            buffer.extend_from_slice(b"data: a\n\ndata: b\n\n");
            while codec.decode(&mut buffer).unwrap().is_some() {
                events += 1;
            }
            // Like `FramedRead` before a read.
            buffer.reserve(1);
        }
        events
    });
    // The read buffer is reused.
    assert_eq!(events, 100);
    assert!((100..110).contains(&count), "{count}");
    assert!(buffer.capacity() <= 2048);
}

#[cfg(feature = "body")]
#[test]
fn small_frames_share_allocations() {
    use futures_util::{FutureExt as _, stream};
    use http_body_util::BodyExt as _;

    let blocks: Vec<_> =
        (0..1000).map(|_| Ok::<_, std::convert::Infallible>(SseEvent::new().data("a token"))).collect();
    let mut body = std::pin::pin!(tightwire_sse::SseBody::new(stream::iter(blocks)).without_keep_alive());
    let (count, frames) = allocations(|| {
        let mut frames = 0;
        while let Some(frame) = body.frame().now_or_never().unwrap() {
            drop(frame.unwrap());
            frames += 1;
        }
        frames
    });
    assert_eq!(frames, 1000);
    assert!(count < 20, "{count}");
}
