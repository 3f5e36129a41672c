//! Decoding and encoding of a streamed chat completion.

use std::hint::black_box;
use std::ops::ControlFlow;

use tightwire_sse::{Decoder, SseEvent};

const EVENTS: usize = 200;

fn stream() -> Vec<u8> {
    let mut stream = String::new();
    for number in 0..EVENTS {
        stream +=
            &format!("data: {{\"id\":\"chatcmpl-5d2a\",\"index\":{number},\"content\":\" naïve\"}}\n\n");
    }
    stream.into_bytes()
}

/// Returns the total length of the data of all events.
fn total(stream: &[u8], chunk: usize) -> u64 {
    let (mut decoder, mut total) = (Decoder::new(), 0);
    for chunk in stream.chunks(chunk) {
        decoder.feed(chunk, |event| match event {
            Ok(event) => {
                total += event.data().len() as u64;
                ControlFlow::Continue(())
            }
            Err(_) => ControlFlow::Break(()),
        });
    }
    total
}

pub(crate) fn decode() -> impl FnMut() -> u64 {
    let stream = stream();
    move || total(black_box(&stream), 1400)
}

pub(crate) fn decode_tiny_chunks() -> impl FnMut() -> u64 {
    let stream = stream();
    move || total(black_box(&stream), 7)
}

pub(crate) fn encode() -> impl FnMut() -> u64 {
    let (text, mut buffer) = (format!("{:0200}\n{:080}", 1, 2), Vec::new());
    move || {
        buffer.clear();
        let block = SseEvent::new().event("message").id("17").data(black_box(text.as_str()));
        block.encode(&mut buffer).map_or(0, |()| black_box(&buffer).len() as u64)
    }
}
