//! Check value of a decoding row, and the streams that are decoded.

use std::error::Error;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::pin::pin;

use benches::event_stream::Stop;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

/// Counts events and the bytes of their data, and applies the stop rule of the row.
pub(crate) struct Tally {
    stop: Stop,
    events: u64,
    data: u64,
}

impl Tally {
    pub(crate) fn new(stop: Stop) -> Self {
        Self { stop, events: 0, data: 0 }
    }

    /// Returns the check value of a number of events with this many bytes of data. It fits into the 53 bits of numbers
    /// in JavaScript, for the peers there.
    pub(crate) const fn expected(events: u64, data: u64) -> u64 {
        (events << 32) + data
    }

    /// Counts an event. Returns `Break` at the last event of the row.
    #[inline]
    pub(crate) fn add(&mut self, data: &str) -> ControlFlow<()> {
        self.events += 1;
        self.data += black_box(data).len() as u64;
        let last = match self.stop {
            Stop::First => true,
            Stop::Done => data == "[DONE]",
            Stop::End => false,
        };
        if last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(crate) fn value(&self) -> u64 {
        Self::expected(self.events, self.data)
    }
}

/// A stream of chunks: those of an input, or of a response.
pub(crate) trait Chunks:
    Stream<Item = Result<Bytes, <Self as Chunks>::Failure>> + Send + Unpin + 'static
{
    type Failure: Error + Send + Sync + 'static;
}

impl<S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static, E: Error + Send + Sync + 'static> Chunks
    for S
{
    type Failure = E;
}

/// Reads a stream to its end, its first error or the end of the row, and returns the check value. For a decoder that
/// rejects its input, only the events before the error count, which fails the check. `data` returns the data of an event,
/// `None` for an item that is not an event.
pub(crate) async fn drain<T, E>(
    events: impl Stream<Item = Result<T, E>>,
    stop: Stop,
    data: impl Fn(&T) -> Option<&str>,
) -> u64 {
    let (mut events, mut tally) = (pin!(events), Tally::new(stop));
    while let Some(Ok(event)) = events.next().await {
        if data(&black_box(event)).is_some_and(|data| tally.add(data).is_break()) {
            break;
        }
    }
    tally.value()
}
