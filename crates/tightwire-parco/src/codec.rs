//! Messages on asynchronous streams, for `tokio_util::codec::{FramedRead, FramedWrite, Framed}`.

use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;
use std::io;

use bytes::{Buf, BytesMut};
use tokio_util::codec::{Decoder, Encoder, LengthDelimitedCodec};

use crate::default_wire::{DecodeAs, DecodeOwned, Encode};
use crate::error::{Error, ErrorKind, Fault, Limit, Segment};
use crate::message::WireExt;
use crate::options::Options;
use crate::read::{Input, State};
use crate::schema::Fingerprint;
use crate::wire::{StaticWire, Wire};

/// Codec for messages that follow each other without framing, as the Go library writes them to a stream.
///
/// Nothing marks the start of a message, so the stream cannot be resynchronized after an error. If both peers support
/// framing, use [`FrameCodec`] instead.
///
/// Bytes are consumed only once a message is complete. When more input arrives, checking resumes after the last
/// complete struct or element, so the work is linear in the size of the message. If fields with `default_on_eof` are
/// missing, the message is complete only at the end of the stream, unless it is an evolve struct.
///
/// A message of zero bytes, such as `()`, cannot be separated from the next one: decoding fails if bytes arrive
/// ([`Error::is_trailing_bytes`]).
///
/// Errors are those of the stream, or contain an [`Error`], which `get_ref` and `downcast` return.
///
/// ```
/// use bytes::BytesMut;
/// use tightwire_parco::StreamCodec;
/// use tokio_util::codec::Decoder;
///
/// let mut codec = StreamCodec::<u32>::new();
/// let mut buffer = BytesMut::from(&[1, 0, 0][..]);
/// assert_eq!(codec.decode(&mut buffer)?, None);
/// buffer.extend_from_slice(&[0, 2]);
/// assert_eq!(codec.decode(&mut buffer)?, Some(1));
/// assert_eq!(buffer.len(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct StreamCodec<T> {
    options: Options,
    /// Size of the buffer at the last attempt.
    seen: usize,
    /// Minimum size of the buffer for the next attempt.
    wanted: usize,
    progress: Progress,
    /// The fingerprints that precede the first message read and written, until they are.
    expected: Option<Fingerprint>,
    header: Option<Fingerprint>,
    message: PhantomData<fn(T) -> T>,
}

impl<T> StreamCodec<T> {
    /// Creates a codec with the default options.
    pub const fn new() -> Self {
        Self::with_options(Options::new())
    }

    /// Creates a codec with these options. [`Limits::max_allocation`](crate::Limits::max_allocation) also limits the
    /// size of a message.
    pub const fn with_options(options: Options) -> Self {
        Self {
            options,
            seen: 0,
            wanted: 0,
            progress: Progress { marks: Vec::new(), open: Vec::new() },
            expected: None,
            header: None,
            message: PhantomData,
        }
    }

    /// Writes this fingerprint before the first message, and expects it before the first message that is read. Default:
    /// none.
    ///
    /// The bytes and the error are those of [`Encoder::with_fingerprint`](crate::Encoder::with_fingerprint) and
    /// [`Decoder::with_fingerprint`](crate::Decoder::with_fingerprint).
    #[must_use]
    pub const fn with_fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.expected = Some(fingerprint);
        self.header = Some(fingerprint);
        self
    }

    /// Starts the next attempt at the beginning of the buffer.
    fn restart(&mut self) {
        (self.seen, self.wanted) = (0, 0);
        self.progress.marks.clear();
    }
}

impl<T> Default for StreamCodec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: DecodeOwned> Decoder for StreamCodec<T> {
    type Item = T;
    type Error = io::Error;

    fn decode(&mut self, source: &mut BytesMut) -> io::Result<Option<T>> {
        if source.len() < self.seen {
            // The buffer is shorter than at the last attempt, so it is a different one.
            self.restart();
        }
        if let Some(fingerprint) = self.expected {
            let header = fingerprint.header().len();
            if source.len() < header {
                return Ok(None);
            }
            fingerprint.strip(source)?;
            source.advance(header);
            self.expected = None;
        }
        if source.len() < self.wanted || source.is_empty() {
            return Ok(None);
        }
        let mut input = PartialInput::new(source, self.options, &mut self.progress);
        let len = match <T as DecodeAs<'_>>::Wire::NEW.walk(&mut input) {
            Ok(()) => input.offset,
            Err(Fault(ErrorKind::UnexpectedEnd)) => {
                let missing = input.state.trace.missing;
                self.seen = source.len();
                self.wanted = source.len().saturating_add(missing);
                // The length is untrusted: reserve at most 64 KiB per step, as bytes arrive.
                source.reserve(missing.min(1 << 16));
                return Ok(None);
            }
            Err(fault) => {
                let error = input.state.trace.into_error(fault, input.offset);
                self.restart();
                return Err(error.into());
            }
        };
        self.restart();
        let value = self.options.decode_exact(&source[..len])?;
        take(source, len)?;
        Ok(Some(value))
    }

    fn decode_eof(&mut self, source: &mut BytesMut) -> io::Result<Option<T>> {
        if let Some(value) = self.decode(source)? {
            return Ok(Some(value));
        }
        if source.is_empty() {
            return Ok(None);
        }
        if let Some(fingerprint) = self.expected {
            // The stream ends inside of it.
            fingerprint.strip(source)?;
        }
        self.restart();
        let (value, rest) = self.options.decode(source)?;
        let len = source.len() - rest.len();
        take(source, len)?;
        Ok(Some(value))
    }
}

/// Removes a message from the buffer. Rejects messages of zero bytes, which would be returned again on every call.
fn take(source: &mut BytesMut, len: usize) -> Result<(), Error> {
    if len == 0 {
        return Err(Error::at(ErrorKind::TrailingBytes, 0));
    }
    source.advance(len);
    Ok(())
}

/// Progress of a walk over a partial message.
///
/// The next walk over the longer message visits the same values in the same order, so mark number `n` belongs to
/// value number `n` in the order in which values are started. The contents of a complete value are not visited again
/// and their marks are dropped, so the length of the list is at most the nesting depth times the number of fields.
#[derive(Debug)]
struct Progress {
    marks: Vec<Mark>,
    /// Marks of the values that have started but are not complete, outermost first.
    open: Vec<usize>,
}

/// Number of complete parts of a value.
#[derive(Debug)]
struct Mark {
    parts: usize,
    /// Offset of the end of these parts.
    offset: usize,
}

/// A partial message as input.
struct PartialInput<'a> {
    bytes: &'a [u8],
    offset: usize,
    state: State,
    progress: &'a mut Progress,
    /// Index of the mark of the next value that starts.
    next: usize,
}

impl<'a> PartialInput<'a> {
    fn new(bytes: &'a [u8], options: Options, progress: &'a mut Progress) -> Self {
        progress.open.clear();
        Self { bytes, offset: 0, state: State::new(options), progress, next: 0 }
    }

    /// Fails unless `count` more bytes are available, or if they exceed the maximum size of a message.
    #[inline]
    fn need(&mut self, count: usize) -> Result<(), Fault> {
        let (end, most) = (self.offset.saturating_add(count), self.options().limits.allocation);
        if end > most {
            return Err(self.state.exceed(Limit::Allocation, end, most));
        }
        match end.checked_sub(self.bytes.len()) {
            None | Some(0) => Ok(()),
            Some(missing) => {
                self.state.trace.missing = missing;
                Err(Fault(ErrorKind::UnexpectedEnd))
            }
        }
    }
}

impl Input for PartialInput<'_> {
    #[inline]
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        let start = self.offset;
        self.skip(bytes.len())?;
        bytes.copy_from_slice(&self.bytes[start..self.offset]);
        Ok(())
    }

    fn skip(&mut self, count: usize) -> Result<(), Fault> {
        self.need(count)?;
        self.offset += count;
        Ok(())
    }

    fn expect(&mut self, count: usize) -> Result<(), Fault> {
        self.need(count)
    }

    fn at_end(&mut self) -> Result<bool, Fault> {
        // More input may follow; `decode_eof` handles the end of the stream.
        self.need(1).map(|()| false)
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    fn locate(&mut self, fault: Fault, segment: Segment) -> Fault {
        // The decoder retries when more input arrives, so the path is never shown.
        if fault.0 != ErrorKind::UnexpectedEnd {
            self.state.trace.push(segment);
        }
        fault
    }

    fn begin_parts(&mut self) -> usize {
        let Progress { marks, open } = &mut *self.progress;
        open.push(self.next);
        if self.next == marks.len() {
            marks.push(Mark { parts: 0, offset: self.offset });
        }
        let mark = &marks[self.next];
        self.offset = mark.offset;
        self.next += 1;
        mark.parts
    }

    fn record_parts(&mut self, parts: usize) {
        let Progress { marks, open } = &mut *self.progress;
        if let Some(&at) = open.last() {
            self.next = at + 1;
            marks.truncate(self.next);
            marks[at] = Mark { parts, offset: self.offset };
        }
    }

    fn finish_parts(&mut self) {
        self.progress.open.pop();
    }
}

/// Encodes messages and references to messages.
impl<T: Encode, M: Borrow<T>> Encoder<M> for StreamCodec<T> {
    type Error = io::Error;

    fn encode(&mut self, message: M, target: &mut BytesMut) -> io::Result<()> {
        let start = target.len();
        target.extend(self.header.iter().flat_map(|fingerprint| fingerprint.header()));
        T::Wire::NEW
            .encode_to_buf_with(self.options, message.borrow(), target)
            .inspect_err(|_| target.truncate(start))?;
        self.header = None;
        Ok(())
    }
}

impl<T> fmt::Debug for StreamCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamCodec").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

/// Codec for messages with a length prefix. A message that cannot be decoded is skipped.
///
/// The frames are those of `LengthDelimitedCodec`, which sets the width and byte order of the length and the maximum
/// size of a frame. A frame contains exactly one message. Errors are those of the stream and of the frames, or contain
/// an [`Error`], which `get_ref` and `downcast` return.
///
/// After an error, `FramedRead` returns `None` once, as at the end of the stream, and then continues with the next
/// frame.
///
/// ```
/// use bytes::BytesMut;
/// use tightwire_parco::FrameCodec;
/// use tokio_util::codec::{Decoder, Encoder, LengthDelimitedCodec};
///
/// let frames = LengthDelimitedCodec::builder().length_field_type::<u16>().little_endian().new_codec();
/// let mut codec = FrameCodec::<String>::new(frames);
/// let mut buffer = BytesMut::new();
/// codec.encode(&"hey".to_owned(), &mut buffer)?;
/// assert_eq!(buffer[..], [4, 0, 3, b'h', b'e', b'y']);
/// assert_eq!(codec.decode(&mut buffer)?.as_deref(), Some("hey"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct FrameCodec<T> {
    frames: LengthDelimitedCodec,
    options: Options,
    fingerprint: Option<Fingerprint>,
    buffer: BytesMut,
    message: PhantomData<fn(T) -> T>,
}

impl<T> FrameCodec<T> {
    /// Creates a codec that decodes messages with the default options.
    pub fn new(frames: LengthDelimitedCodec) -> Self {
        Self::with_options(frames, Options::new())
    }

    /// Creates a codec with these options.
    pub fn with_options(frames: LengthDelimitedCodec, options: Options) -> Self {
        Self { frames, options, fingerprint: None, buffer: BytesMut::new(), message: PhantomData }
    }

    /// Starts each frame with this fingerprint, as eight bytes, little endian, and expects it at the start of each frame.
    /// Default: none.
    ///
    /// A frame with another fingerprint is skipped and reported as [`Error::is_schema_mismatch`]. Error offsets count from
    /// the first byte of the message, after the fingerprint.
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tightwire_parco::{Error, FrameCodec, schema};
    /// use tokio_util::codec::{Decoder, Encoder, LengthDelimitedCodec};
    ///
    /// let frames = LengthDelimitedCodec::builder().length_field_type::<u8>().new_codec();
    /// let mut old = FrameCodec::<u16>::new(frames.clone()).with_fingerprint(schema::fingerprint::<u16>());
    /// let mut new = FrameCodec::<u32>::new(frames).with_fingerprint(schema::fingerprint::<u32>());
    /// let mut buffer = BytesMut::new();
    /// old.encode(7, &mut buffer)?;
    /// assert_eq!(buffer[0], 8 + 2);
    /// let error = new.decode(&mut buffer).unwrap_err();
    /// assert!(error.downcast::<Error>()?.is_schema_mismatch());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn with_fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.fingerprint = Some(fingerprint);
        self
    }
}

impl<T: DecodeOwned> Decoder for FrameCodec<T> {
    type Item = T;
    type Error = io::Error;

    fn decode(&mut self, source: &mut BytesMut) -> io::Result<Option<T>> {
        let Some(frame) = self.frames.decode(source)? else { return Ok(None) };
        let message = match self.fingerprint {
            Some(fingerprint) => fingerprint.strip(&frame)?,
            None => &*frame,
        };
        Ok(Some(self.options.decode_exact(message)?))
    }
}

/// Encodes messages and references to messages.
impl<T: Encode, M: Borrow<T>> Encoder<M> for FrameCodec<T> {
    type Error = io::Error;

    fn encode(&mut self, message: M, target: &mut BytesMut) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.extend(self.fingerprint.iter().flat_map(|fingerprint| fingerprint.header()));
        T::Wire::NEW.encode_to_buf_with(self.options, message.borrow(), &mut self.buffer)?;
        self.frames.encode(self.buffer.split().freeze(), target)
    }
}

impl<T> fmt::Debug for FrameCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameCodec").field("frames", &self.frames).finish_non_exhaustive()
    }
}
