//! Events from a blocking reader.

use core::fmt;
use core::iter::FusedIterator;
use core::time::Duration;
use std::io::{self, BufRead, BufReader, Read};

use compact_str::CompactString;

use crate::{Decoder, Ending, Error, Event, EventRef, Result, error::Kind};

/// The default size of the buffer of a [`Reader`], in bytes: 8 KiB.
pub const DEFAULT_BUFFER_SIZE: usize = 8 << 10;

/// The buffer behind [`Reader::next_ref`] is given back after an event larger than this, in bytes.
const RETAINED_CAPACITY: usize = 256 << 10;

impl From<io::Error> for Error {
    /// Wraps the failure of a reader; [`Error::is_transport`] holds for it.
    fn from(source: io::Error) -> Self {
        Self::with_source(Kind::Transport, source)
    }
}

/// Decodes events from a blocking reader.
///
/// It is an [`Iterator`] of owned events; [`next_ref`](Self::next_ref) lends each event instead and does not
/// allocate for it.
///
/// # Buffering
///
/// [`new`](Self::new) allocates one buffer of [`DEFAULT_BUFFER_SIZE`] bytes and takes whatever one read gives,
/// so that an event is delivered as soon as the byte that ends it has arrived. A reader with a buffer of its
/// own, such as a byte slice, is used as it is by [`from_buffered`](Self::from_buffered). A block that spans
/// several reads is collected by the decoder, within
/// [`Config::max_event_size`](crate::Config::max_event_size).
///
/// # Errors and the end
///
/// Reads that fail with [`Interrupted`](io::ErrorKind::Interrupted) are repeated. Any other failure is
/// reported as [`Error::is_transport`] and changes nothing else: the next call reads again and goes on where
/// the stream stopped, which suits timeouts and non-blocking sources. A loop that skips errors does not end on
/// a reader that fails for ever. A block past the limit is reported once, as [`Error::is_limit`], and the
/// events after it follow.
///
/// After the end of the input, and after an oversized block under
/// [`Overflow::Terminate`](crate::Overflow::Terminate), the iterator stays at `None` and reads no more.
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
    /// The event that `next_ref` lends.
    lent: Event,
}

impl<R: Read> Reader<BufReader<R>> {
    /// Decodes what `reader` yields, through a buffer of [`DEFAULT_BUFFER_SIZE`] bytes.
    #[inline]
    pub fn new(reader: R) -> Self {
        Self::with_buffer_size(DEFAULT_BUFFER_SIZE, reader)
    }

    /// Decodes what `reader` yields, through a buffer of `bytes` bytes; 0 counts as 1.
    #[inline]
    pub fn with_buffer_size(bytes: usize, reader: R) -> Self {
        // A buffer without room would look like the end of the input.
        Self::from_buffered(BufReader::with_capacity(bytes.max(1), reader))
    }
}

impl<R: BufRead> Reader<R> {
    /// Decodes what `reader` yields, straight from its own buffer.
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
            ending: Ending::Strict,
            ended: false,
            lent: Event::default(),
        }
    }

    /// Replaces the decoder, which carries the limits and a seeded last event id. Default: [`Decoder::new`].
    #[must_use]
    pub fn with_decoder(mut self, decoder: Decoder) -> Self {
        self.decoder = decoder;
        self
    }

    /// Chooses what happens to a block that the end of the input cuts short. Default: [`Ending::Strict`].
    #[must_use]
    pub fn with_ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// The last event id at this point of the stream; empty if none was set.
    pub fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }

    /// The latest reconnection time that the stream asked for.
    pub fn reconnection_time(&self) -> Option<Duration> {
        self.decoder.reconnection_time()
    }

    /// Returns the reader, positioned after the last event that was delivered. Right after the end of the
    /// input or a failed read, the beginning of an unfinished block may have been taken from it as well.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Reads up to the next event and lends it; `None` at the end of the input.
    ///
    /// The event lies in a buffer that all calls share, so that no call allocates unless that has to grow. It
    /// is given back after an event of more than 256 KiB.
    ///
    /// # Errors
    ///
    /// The same as those of the iterator; see [`Reader`].
    pub fn next_ref(&mut self) -> Result<Option<EventRef<'_>>> {
        if self.lent.data.capacity() > RETAINED_CAPACITY {
            self.lent.data = Default::default();
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
            let found =
                self.decoder.next(&mut rest).map(|event| event.map(|event| assign(&mut self.lent, event)));
            let used = chunk.len() - rest.len();
            self.inner.consume(used);
            self.ended = self.decoder.is_terminated();
            if found?.is_some() {
                // Lending here, inside the loop, would keep the loan for the other rounds too.
                break;
            }
        }
        Ok(Some(self.lent.as_ref()))
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

    /// Notes the end of the input and returns the event that a lenient ending makes of what is pending.
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

/// Copies an event over another one and keeps the allocations of that.
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

/// What `reader` has buffered, after a read if that is nothing. Empty at the end of the input, `None` if the
/// read was interrupted.
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
    /// Leaves out the event that was lent last.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("inner", &self.inner)
            .field("decoder", &self.decoder)
            .field("ending", &self.ending)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
