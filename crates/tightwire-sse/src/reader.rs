//! Event decoder for blocking readers.

use core::fmt;
use core::iter::FusedIterator;
use core::time::Duration;
use std::io::{self, BufRead, BufReader, Read};

use compact_str::CompactString;

use crate::{Decoder, Ending, Error, Event, EventRef, Result, error::Kind};

/// Default buffer size of a [`Reader`]: 8 KiB.
pub const DEFAULT_BUFFER_SIZE: usize = 8 << 10;

/// Maximum capacity of the buffer of [`Reader::next_ref`] between events, in bytes.
const RETAINED_CAPACITY: usize = 256 << 10;

impl From<io::Error> for Error {
    /// Wraps the error of a reader as [`Error::is_transport`].
    fn from(source: io::Error) -> Self {
        Self::with_source(Kind::Transport, source)
    }
}

/// Decodes events from a blocking reader.
///
/// It is an [`Iterator`] of owned events; [`next_ref`](Self::next_ref) returns borrowed events without allocating.
///
/// # Buffering
///
/// [`new`](Self::new) allocates one buffer of [`DEFAULT_BUFFER_SIZE`] bytes. An event is returned as soon as its last
/// byte was read, without waiting for a full buffer. [`from_buffered`](Self::from_buffered) uses the buffer of the
/// reader. A block that spans several reads is buffered in the decoder, up to
/// [`Config::max_event_size`](crate::Config::max_event_size).
///
/// # Errors and the end
///
/// Reads that fail with [`Interrupted`](io::ErrorKind::Interrupted) are retried. Any other error is returned as
/// [`Error::is_transport`]; the next call reads again and continues, as required for timeouts and non-blocking sources.
/// A loop that ignores errors does not terminate if the reader always fails. A block that exceeds the limit is reported
/// once as [`Error::is_limit`], and decoding continues.
///
/// After the end of the input, and after an oversized block with
/// [`Overflow::Terminate`](crate::Overflow::Terminate), the iterator returns `None` and does not read.
///
/// # Examples
///
/// ```
/// let input = "event: greeting\ndata: hello\n\ndata: bye\n\n";
/// let mut texts = Vec::new();
/// for event in tightwire_sse::Reader::new(input.as_bytes()) {
///     texts.push(event?.into_data());
/// }
/// assert_eq!(texts, ["hello", "bye"]);
/// # Ok::<(), tightwire_sse::Error>(())
/// ```
pub struct Reader<R> {
    inner: R,
    decoder: Decoder,
    ending: Ending,
    ended: bool,
    /// Storage of the event returned by `next_ref`.
    current: Event,
}

impl<R: Read> Reader<BufReader<R>> {
    /// Returns a decoder with a buffer of [`DEFAULT_BUFFER_SIZE`] bytes.
    #[inline]
    pub fn new(reader: R) -> Self {
        Self::with_buffer_size(DEFAULT_BUFFER_SIZE, reader)
    }

    /// Returns a decoder with a buffer of `bytes` bytes, at least 1.
    #[inline]
    pub fn with_buffer_size(bytes: usize, reader: R) -> Self {
        // Reads into an empty buffer would look like the end of the input.
        Self::from_buffered(BufReader::with_capacity(bytes.max(1), reader))
    }
}

impl<R: BufRead> Reader<R> {
    /// Returns a decoder that uses the buffer of `reader`.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut reader = tightwire_sse::Reader::from_buffered(&b"data: x\n\n"[..]);
    /// let event = reader.next_ref()?.expect("the input has one event");
    /// assert_eq!(event.data(), "x");
    /// # Ok::<(), tightwire_sse::Error>(())
    /// ```
    #[inline]
    pub fn from_buffered(reader: R) -> Self {
        Self {
            inner: reader,
            decoder: Decoder::new(),
            ending: Ending::default(),
            ended: false,
            current: Event::default(),
        }
    }

    /// Sets the decoder, which has the limits and the initial last event id. Default: [`Decoder::new`].
    #[must_use]
    pub fn with_decoder(mut self, decoder: Decoder) -> Self {
        self.decoder = decoder;
        self
    }

    /// Sets the handling of an incomplete block at the end of the input. Default: [`Ending::Lenient`].
    #[must_use]
    pub fn with_ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Returns the last event id. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }

    /// Returns the latest valid `retry` value of the stream.
    pub fn reconnection_time(&self) -> Option<Duration> {
        self.decoder.reconnection_time()
    }

    /// Returns the reader, positioned after the last returned event. After the end of the input or a failed read, the
    /// start of an incomplete block may have been consumed as well.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Decodes the next event and returns a reference to it, `None` at the end of the input.
    ///
    /// All calls share one buffer, so that a call only allocates to grow it. The buffer is freed after an event of more
    /// than 256 KiB.
    ///
    /// # Errors
    ///
    /// See [`Reader`].
    pub fn next_ref(&mut self) -> Result<Option<EventRef<'_>>> {
        if self.current.data.capacity() > RETAINED_CAPACITY {
            self.current.data = Default::default();
        }
        loop {
            if self.ended {
                return Ok(None);
            }
            let Some(chunk) = fill(&mut self.inner)? else { continue };
            if chunk.is_empty() {
                return self.finish();
            }
            let mut rest = chunk;
            let event =
                self.decoder.next(&mut rest).map(|event| event.map(|event| assign(&mut self.current, event)));
            let used = chunk.len() - rest.len();
            self.inner.consume(used);
            self.ended = self.decoder.is_terminated();
            if event?.is_some() {
                // Returning here would extend the borrow to the other iterations.
                break;
            }
        }
        Ok(Some(self.current.as_ref()))
    }

    fn next_owned(&mut self) -> Result<Option<Event>> {
        while !self.ended {
            let Some(chunk) = fill(&mut self.inner)? else { continue };
            if chunk.is_empty() {
                return Ok(self.finish()?.map(Event::from));
            }
            let mut rest = chunk;
            let result = self.decoder.next_owned(&mut rest);
            let used = chunk.len() - rest.len();
            self.inner.consume(used);
            match result {
                Ok(None) => {}
                Ok(event) => return Ok(event),
                Err(error) => {
                    self.ended = self.decoder.is_terminated();
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// Handles the end of the input. Returns the event of an incomplete block if the ending is lenient.
    #[cold]
    fn finish(&mut self) -> Result<Option<EventRef<'_>>> {
        self.ended = true;
        match self.ending {
            Ending::Strict => {
                self.decoder.finish();
                Ok(None)
            }
            Ending::Lenient => self.decoder.finish_lenient(),
        }
    }
}

/// Copies an event into `target` and reuses its allocations.
#[inline]
fn assign(target: &mut Event, event: EventRef<'_>) {
    target.data.clear();
    target.data.push_str(event.data);
    target.retry = event.retry;
    assign_text(&mut target.event_type, event.event_type);
    assign_text(&mut target.last_event_id, event.last_event_id);
}

#[inline]
fn assign_text(target: &mut CompactString, text: &str) {
    // Most events have neither a type nor an id.
    if !(text.is_empty() && target.is_empty()) {
        target.clear();
        target.push_str(text);
    }
}

/// Returns the buffered input of `reader`, after a read if the buffer is empty. Empty at the end of the input, `None`
/// if the read was interrupted.
#[inline]
fn fill<R: BufRead>(reader: &mut R) -> Result<Option<&[u8]>> {
    match reader.fill_buf() {
        Ok(chunk) => Ok(Some(chunk)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Event>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_owned().transpose()
    }
}

impl<R: BufRead> FusedIterator for Reader<R> {}

impl<R: fmt::Debug> fmt::Debug for Reader<R> {
    /// Omits the current event.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("inner", &self.inner)
            .field("decoder", &self.decoder)
            .field("ending", &self.ending)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
