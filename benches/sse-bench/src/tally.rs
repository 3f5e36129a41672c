//! The check value of a decoding row.

use std::hint::black_box;
use std::ops::ControlFlow;

use benches::event_stream::Stop;

/// Counts events and the bytes of their data, and applies the stop rule of the row.
#[derive(Debug)]
pub struct Tally {
    stop: Stop,
    events: u64,
    data: u64,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(stop: Stop) -> Self {
        Self { stop, events: 0, data: 0 }
    }

    /// The check value of this many events with this much data in bytes: one number that fits the 53 bits of
    /// the peers written in JavaScript.
    pub const fn expected(events: u64, data: u64) -> u64 {
        (events << 32) + data
    }

    /// Counts an event; breaks when the row ends with it.
    #[inline]
    pub fn add(&mut self, data: &str) -> ControlFlow<()> {
        self.events += 1;
        self.data += black_box(data).len() as u64;
        let last = match self.stop {
            Stop::First => true,
            Stop::Done => data == "[DONE]",
            Stop::End => false,
        };
        if last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The check value.
    pub fn value(&self) -> u64 {
        Self::expected(self.events, self.data)
    }
}
