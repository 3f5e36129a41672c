//! The decoder of this workspace, one function per way of using it.

use std::hint::black_box;
use std::ops::ControlFlow;

use sse::{Decoder, EventRef};

use crate::sse::payload::Input;
use crate::sse::tally::Tally;

/// Looks at all parts of an event.
#[inline]
fn count(tally: &mut Tally, event: EventRef<'_>) -> ControlFlow<()> {
    black_box((event.event_type(), event.last_event_id()));
    tally.add(event.data())
}

/// [`Decoder::feed`]: borrowed events, handed to a callback.
pub fn push_borrowed(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut decoder = Decoder::new();
    for chunk in input.slices() {
        let consumed = decoder.feed(chunk, |event| match event {
            Ok(event) => count(&mut tally, event),
            Err(_) => ControlFlow::Break(()),
        });
        if consumed < chunk.len() {
            break;
        }
    }
    tally.value()
}

/// [`Decoder::next`]: borrowed events, one at a time.
pub fn pull_borrowed(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut decoder = Decoder::new();
    for mut chunk in input.slices() {
        while let Ok(Some(event)) = decoder.next(&mut chunk) {
            if count(&mut tally, event).is_break() {
                return tally.value();
            }
        }
    }
    tally.value()
}

/// [`Decoder::next_owned`]: events to keep.
pub fn push_owned(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut decoder = Decoder::new();
    for mut chunk in input.slices() {
        while let Ok(Some(event)) = decoder.next_owned(&mut chunk) {
            let event = black_box(event);
            if tally.add(event.data()).is_break() {
                return tally.value();
            }
        }
    }
    tally.value()
}
