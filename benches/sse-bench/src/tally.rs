//! Check value of a decoding row.

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
    /// Returns a tally of zero events.
    pub fn new(stop: Stop) -> Self {
        Self { stop, events: 0, data: 0 }
    }

    /// Returns the check value of a number of events with this many bytes of data. It fits into the 53 bits of numbers
    /// in JavaScript, for the peers there.
    pub const fn expected(events: u64, data: u64) -> u64 {
        (events << 32) + data
    }

    /// Counts an event. Returns `Break` at the last event of the row.
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

    /// Returns the check value.
    pub fn value(&self) -> u64 {
        Self::expected(self.events, self.data)
    }
}
