//! Messages on `std::io` streams.

mod elements;
mod parts;

use alloc::vec::Vec;
use core::fmt;
#[cfg(feature = "serde")]
use core::marker::PhantomData;
use std::io::{self, Read, Write};

use crate::default_wire::{Decode, DecodeAs, DecodeOwned, Encode};
use crate::error::{Error, ErrorKind, Fault, Limit};
use crate::message::WireExt;
use crate::options::Options;
use crate::read::{Input, State, varint};
use crate::schema::Fingerprint;
use crate::wire::{Get, Put, StaticWire, Wire};

pub use elements::Elements;

/// Bytes of a message that are buffered without an allocation.
const INLINE: usize = 256;

/// Maximum bytes read at once into a shorter buffer, so that memory grows with the bytes that arrive, whatever an
/// untrusted length says. Also the size of the parts in which [`Elements`] are read and written.
const CHUNK: usize = 8192;

/// Encodes a value to a stream with one `write_all`, or none if the message is empty. Returns the number of bytes written.
/// A list, such as a `Vec` or slice, is written in parts of about 64 KiB, so that memory does not grow with it.
///
/// To write many messages, use [`Encoder`], which reuses its buffer.
///
/// # Errors
///
/// Fails before anything is written if a value does not fit its wire type, except for a list of more than 64 KiB, and if
/// writing fails.
pub fn encode_to_writer<T: Encode + ?Sized>(value: &T, writer: impl Write) -> Result<usize, Error> {
    Encoder::new(writer).encode(value)
}

/// Decodes one message from a stream, reading no bytes beyond its end. The message is buffered, except for a `Vec`, of which
/// about 64 KiB are buffered at once.
///
/// Several reads are needed to find the end of a message, so wrap unbuffered streams in a `BufReader`. To read many
/// messages, values that borrow, or from a stream with a timeout, use [`Decoder`]: this function drops the bytes that it has
/// read when reading fails.
///
/// # Errors
///
/// Fails if the bytes are not a valid message, at the end of the stream, and if reading fails.
///
/// ```
/// let mut stream: &[u8] = &[3, b'h', b'e', b'y', 0xff];
/// assert_eq!(tightwire_parco::decode_from_reader::<String>(&mut stream)?, "hey");
/// assert_eq!(stream, [0xff]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub fn decode_from_reader<T: DecodeOwned>(reader: impl Read) -> Result<T, Error> {
    let mut decoder = Decoder::new(reader);
    let wire = <T as DecodeAs<'_>>::Wire::NEW;
    let list: Option<T> = wire.empty();
    if let Some(list) = list {
        return decoder.decode_parts(list);
    }
    if !decoder.fill(&wire)? {
        return Err(Error::at(ErrorKind::UnexpectedEnd, 0));
    }
    wire.decode_exact(decoder.message())
}

/// Writes messages to a stream, each with one `write_all`, and reuses its buffer. Long lists are written in parts.
///
/// ```
/// let mut encoder = tightwire_parco::Encoder::new(Vec::new());
/// encoder.encode(&1u16)?;
/// encoder.encode("hey")?;
/// assert_eq!(encoder.into_inner(), [1, 0, 3, b'h', b'e', b'y']);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub struct Encoder<W> {
    writer: W,
    buffer: Vec<u8>,
    options: Options,
    /// The fingerprint that precedes the first message, until it is written.
    fingerprint: Option<Fingerprint>,
    /// Writing a message has failed, so the stream may end inside of it.
    has_failed: bool,
}

impl<W: Write> Encoder<W> {
    /// Creates an encoder that writes to this stream.
    pub const fn new(writer: W) -> Self {
        Self::with_options(writer, Options::new())
    }

    /// Creates an encoder with these options.
    pub const fn with_options(writer: W, options: Options) -> Self {
        Self { writer, buffer: Vec::new(), options, fingerprint: None, has_failed: false }
    }

    /// Writes this fingerprint before the first message, as eight bytes, little endian. Default: none.
    ///
    /// Use that of the type of the messages. [`Decoder::with_fingerprint`] checks it.
    ///
    /// ```
    /// use tightwire_parco::{Decoder, Encoder, schema};
    ///
    /// let mut encoder = Encoder::new(Vec::new()).with_fingerprint(schema::fingerprint::<u16>());
    /// encoder.encode(&1u16)?;
    /// encoder.encode(&2u16)?;
    /// let stream = encoder.into_inner();
    /// assert_eq!(stream.len(), 8 + 2 + 2);
    ///
    /// let mut decoder = Decoder::new(&*stream).with_fingerprint(schema::fingerprint::<u16>());
    /// assert_eq!(decoder.decode::<u16>()?, Some(1));
    /// let mut decoder = Decoder::new(&*stream).with_fingerprint(schema::fingerprint::<u32>());
    /// assert!(decoder.decode::<u32>().unwrap_err().is_schema_mismatch());
    /// # Ok::<(), tightwire_parco::Error>(())
    /// ```
    #[must_use]
    pub const fn with_fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.fingerprint = Some(fingerprint);
        self
    }

    /// Writes a message and returns the number of bytes written. A list is written in parts of about 64 KiB.
    ///
    /// # Errors
    ///
    /// Fails before anything is written if a value does not fit its wire type, except for a list of more than 64 KiB, and if
    /// writing fails. If the stream may end inside of the message, all later calls fail as well ([`Error::is_io`]).
    pub fn encode<T: Encode + ?Sized>(&mut self, value: &T) -> Result<usize, Error> {
        self.encode_as(&T::Wire::NEW, value)
    }

    /// Writes a value with an explicit wire type and returns the number of bytes written.
    ///
    /// # Errors
    ///
    /// Same as [`encode`](Self::encode).
    pub fn encode_as<F: Put<T>, T: ?Sized>(&mut self, wire: &F, value: &T) -> Result<usize, Error> {
        self.begin()?;
        if Self::is_long(wire, value) {
            return self.encode_parts(wire, value);
        }
        wire.encode_with(self.options, value, &mut self.buffer)?;
        self.write_buffer()
    }

    /// Starts a message in an empty buffer.
    fn begin(&mut self) -> Result<(), Error> {
        if self.has_failed {
            return Err(io::Error::other("an earlier message was written in part").into());
        }
        self.buffer.clear();
        self.buffer.extend(self.fingerprint.iter().flat_map(|fingerprint| fingerprint.header()));
        Ok(())
    }

    /// Writes the buffer, empties it, and returns the number of bytes.
    fn write_buffer(&mut self) -> Result<usize, Error> {
        let len = self.buffer.len();
        self.fingerprint = None;
        if len > 0 {
            self.has_failed = true;
            self.writer.write_all(&self.buffer)?;
            self.has_failed = false;
        }
        self.buffer.clear();
        Ok(len)
    }

    /// Returns a reference to the stream.
    pub const fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Returns a mutable reference to the stream, for example to flush it.
    pub const fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Returns the stream.
    pub fn into_inner(self) -> W {
        self.writer
    }
}

impl<W> fmt::Debug for Encoder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

/// Reads messages from a stream, never beyond the end of a message, and reuses its buffer.
///
/// A message is checked while it arrives, so that every limit applies before memory is allocated, and decoded from the
/// buffer once it is complete. Of evolve structs, only the length is checked while they arrive.
/// [`Limits::max_allocation`](crate::Limits::max_allocation) limits the size of a message.
///
/// The bytes that a message has at least, such as its numbers and the headers of its strings, are read together. Several
/// reads are still needed to find its end, so wrap unbuffered streams in a `BufReader`. A message of up to 256 bytes is
/// buffered without an allocation.
///
/// If reading fails, for example after a timeout, the bytes that arrived remain in the buffer, and the next call continues with
/// them. The same holds if the stream ends inside a message. After a malformed message whose end cannot be found, all later
/// calls fail with an error of the same kind.
///
/// A message of zero bytes, such as `()`, is returned once at the end of the stream, and then the stream ends. To
/// detect the end, the next call reads one byte ahead and buffers it if it belongs to a later message.
///
/// ```
/// let stream: &[u8] = &[3, b'h', b'e', b'y', 1, b'x'];
/// let mut decoder = tightwire_parco::Decoder::new(stream);
/// let mut words = Vec::new();
/// while let Some(word) = decoder.decode::<&str>()? {
///     words.push(word.to_uppercase());
/// }
/// assert_eq!(words, ["HEY", "X"]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub struct Decoder<R> {
    reader: R,
    buffer: Buffer,
    /// Number of bytes of the stream in the buffer. Those after the last message were read to check for the end.
    filled: usize,
    /// Size of the last message, which is at the start of the buffer.
    message: usize,
    options: Options,
    /// The last message had zero bytes, so the stream may have ended.
    was_empty: bool,
    /// The fingerprint that precedes the first message, until it is read.
    fingerprint: Option<Fingerprint>,
    /// The fault and offset of a malformed message, after which the position in the stream is unknown.
    failed: Option<(Fault, usize)>,
}

impl<R: Read> Decoder<R> {
    /// Creates a decoder that reads from this stream.
    pub const fn new(reader: R) -> Self {
        Self::with_options(reader, Options::new())
    }

    /// Creates a decoder with these options.
    pub const fn with_options(reader: R, options: Options) -> Self {
        let buffer = Buffer { inline: [0; INLINE], heap: Vec::new() };
        Self {
            reader,
            buffer,
            filled: 0,
            message: 0,
            options,
            was_empty: false,
            fingerprint: None,
            failed: None,
        }
    }

    /// Expects this fingerprint before the first message, as [`Encoder::with_fingerprint`] writes it. Default: none.
    ///
    /// Another fingerprint is the error [`Error::is_schema_mismatch`]; no message is then decoded. Messages of an older type
    /// that this type can decode have the fingerprint of the older type.
    #[must_use]
    pub const fn with_fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.fingerprint = Some(fingerprint);
        self
    }

    /// Reads a message. Returns `None` at the end of the stream.
    ///
    /// The value may borrow from the decoder until the next message is read.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid message, if the stream ends inside a message, and if reading fails. The type says
    /// which errors are final.
    pub fn decode<'de, T: Decode<'de>>(&'de mut self) -> Result<Option<T>, Error> {
        self.decode_as(&<T as DecodeAs<'de>>::Wire::NEW)
    }

    /// Reads a value with an explicit wire type. Returns `None` at the end of the stream.
    ///
    /// # Errors
    ///
    /// Same as [`decode`](Self::decode).
    pub fn decode_as<'de, F: Get<'de, T>, T>(&'de mut self, wire: &F) -> Result<Option<T>, Error> {
        if !self.begin()? {
            return Ok(None);
        }
        let found = self.fill(wire)?;
        self.was_empty = self.message == 0;
        if !found {
            return Ok(None);
        }
        wire.decode_exact_with(self.options, self.message()).map(Some)
    }

    /// Prepares for the next message. Returns false at the end of the stream.
    fn begin(&mut self) -> Result<bool, Error> {
        if let Some((fault, offset)) = self.failed {
            return Err(Error::at(fault.0, offset));
        }
        Ok((!self.was_empty || self.peek()?) && self.read_fingerprint()?)
    }

    fn message(&self) -> &[u8] {
        &self.buffer.bytes()[..self.message]
    }

    /// Reads and checks the fingerprint, if there is one. Returns false at the end of the stream.
    fn read_fingerprint(&mut self) -> Result<bool, Error> {
        let Some(fingerprint) = self.fingerprint else { return Ok(true) };
        let mut header = fingerprint.header();
        if self.read(|input| input.fill(&mut header))?.is_none() {
            return Ok(false);
        }
        fingerprint.strip(&header).inspect_err(|error| self.failed = Some((error.fault(), 0)))?;
        self.fingerprint = None;
        Ok(true)
    }

    /// Reads one message into the buffer. Returns false at the end of the stream.
    #[inline]
    fn fill<F: Wire>(&mut self, wire: &F) -> Result<bool, Error> {
        self.read(|input| wire.walk(input)).map(|found| found.is_some())
    }

    /// Reads a message into the buffer with `walk`. Returns `None` at the end of the stream.
    #[inline]
    fn read<T>(
        &mut self,
        walk: impl FnOnce(&mut StreamInput<'_, '_, R>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Error> {
        let mut source = self.source();
        let mut input = StreamInput::new(&mut source);
        let walked = walk(&mut input);
        let offset = input.offset;
        source.finish(walked, offset)
    }

    /// Reads and decodes a message of a serde type in the format `F`.
    #[cfg(feature = "serde")]
    pub(crate) fn decode_serde<F: crate::wire::Format, T: serde::de::DeserializeOwned>(
        &mut self,
    ) -> Result<T, Error> {
        let decoded =
            self.read(|input| crate::serde::de::get_from(Formatted::<F, _>(input, PhantomData), CHUNK))?;
        decoded.ok_or_else(|| Error::at(ErrorKind::UnexpectedEnd, 0))
    }

    /// Reads the first byte of the next message. Returns false at the end of the stream.
    fn peek(&mut self) -> Result<bool, Error> {
        let mut source = self.source();
        let read = StreamInput::new(&mut source).need(1);
        source.finish(read, 0).map(|found| found.is_some())
    }

    /// Removes the last message from the buffer and creates a source of the rest and the stream.
    #[inline]
    fn source(&mut self) -> Source<'_, R> {
        self.buffer.bytes_mut().copy_within(self.message..self.filled, 0);
        self.filled -= self.message;
        self.message = 0;
        Source {
            state: State::new(self.options),
            decoder: self,
            fault: Fault(ErrorKind::UnexpectedEnd),
            error: None,
            ended: false,
        }
    }

    /// Returns a reference to the stream.
    pub const fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns a mutable reference to the stream. Bytes read through it are not part of any message.
    pub const fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the stream. Its position is after the last message, or one byte further after several messages of zero
    /// bytes in a row.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R> fmt::Debug for Decoder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Bytes of a stream, then zeros. Only messages of more than [`INLINE`] bytes cause an allocation.
struct Buffer {
    inline: [u8; INLINE],
    /// Used instead of `inline` once it is not empty.
    heap: Vec<u8>,
}

impl Buffer {
    #[inline]
    fn bytes(&self) -> &[u8] {
        if self.heap.is_empty() { &self.inline } else { &self.heap }
    }

    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        if self.heap.is_empty() { &mut self.inline } else { &mut self.heap }
    }

    fn grow(&mut self, size: usize) {
        if self.heap.is_empty() {
            // Cheaper than growing it, or zeroed memory. Messages are often read in many small steps.
            self.heap = Vec::with_capacity(size.max(4 * INLINE));
            self.heap.extend_from_slice(&self.inline);
        }
        self.heap.resize(size, 0);
    }
}

/// The decoder that a [`StreamInput`] reads with, and the state of its walk except for the cursor.
struct Source<'a, R> {
    decoder: &'a mut Decoder<R>,
    state: State,
    /// The fault that stopped the last `pull`, if one did.
    fault: Fault,
    error: Option<io::Error>,
    /// Whether the stream has ended.
    ended: bool,
}

impl<R: Read> Source<'_, R> {
    /// Reads until the buffer, which has `filled` bytes, has `count` bytes after `offset`. If more bytes are available,
    /// reads up to `pending` more, which are all part of the message. Returns the number of bytes in the buffer, or `None`
    /// after a [`fault`](Self::fault), because an `Option` of a number is returned in registers.
    #[inline(never)]
    fn pull(&mut self, mut filled: usize, offset: usize, count: usize, pending: usize) -> Option<usize> {
        let Decoder { reader, buffer, options, filled: total, .. } = &mut *self.decoder;
        // The offset never exceeds the limit.
        let left = options.limits.allocation - offset;
        if count > left {
            self.fault =
                self.state.exceed(Limit::Allocation, offset.saturating_add(count), options.limits.allocation);
            return None;
        }
        let (end, most) = (offset + count, offset + count.saturating_add(pending).min(left));
        while filled < end {
            let mut bytes = buffer.bytes_mut();
            if filled == bytes.len() {
                buffer.grow(most.min(filled + CHUNK.max(filled)));
                bytes = buffer.bytes_mut();
            }
            let target = most.min(bytes.len());
            match reader.read(&mut bytes[filled..target]) {
                Ok(0) => {
                    self.ended = true;
                    self.fault = Fault(ErrorKind::UnexpectedEnd);
                    self.state.trace.missing = end - filled;
                    return None;
                }
                Ok(read) => {
                    filled += read;
                    *total = filled;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.error = Some(error);
                    self.fault = Fault(ErrorKind::Io);
                    return None;
                }
            }
        }
        Some(filled)
    }

    /// Marks the bytes before `offset` as the message. Returns `None` if the stream ended before it.
    #[inline]
    fn finish<T>(self, walked: Result<T, Fault>, offset: usize) -> Result<Option<T>, Error> {
        if self.ended && self.decoder.filled == 0 {
            return Ok(None);
        }
        match walked {
            Ok(value) => {
                self.decoder.message = offset;
                Ok(Some(value))
            }
            Err(fault) => Err(self.into_error(fault, offset)),
        }
    }

    #[cold]
    fn into_error(self, fault: Fault, offset: usize) -> Error {
        if let Some(error) = self.error {
            return Error::io(error);
        }
        let error = self.state.trace.into_error(fault, offset);
        if fault.0 != ErrorKind::UnexpectedEnd {
            self.decoder.failed = Some((fault, error.offset().unwrap_or(offset)));
        }
        error
    }
}

/// A stream as [`Input`]. Everything it reads is appended to the buffer of the decoder.
///
/// As in a [`Reader`](crate::Reader), the cursor is separate from the rest, so that the compiler keeps it in registers.
struct StreamInput<'s, 'a, R> {
    source: &'s mut Source<'a, R>,
    /// Number of bytes walked over.
    offset: usize,
    /// Number of bytes in the buffer.
    filled: usize,
    /// Minimum number of bytes after the value that is walked over.
    pending: usize,
}

impl<'s, 'a, R: Read> StreamInput<'s, 'a, R> {
    #[inline]
    fn new(source: &'s mut Source<'a, R>) -> Self {
        let filled = source.decoder.filled;
        Self { source, offset: 0, filled, pending: 0 }
    }

    /// Makes `count` bytes after the offset available, and the next `pending` bytes if the stream has them.
    #[inline(always)]
    fn read(&mut self, count: usize, pending: usize) -> Result<(), Fault> {
        match self.source.pull(self.filled, self.offset, count, pending) {
            Some(filled) => {
                self.filled = filled;
                Ok(())
            }
            None => {
                self.filled = self.source.decoder.filled;
                Err(self.source.fault)
            }
        }
    }

    /// Makes `count` bytes after the offset available.
    #[inline(always)]
    fn need(&mut self, count: usize) -> Result<(), Fault> {
        if self.filled - self.offset < count { self.read(count, self.pending) } else { Ok(()) }
    }
}

impl<R: Read> Input for StreamInput<'_, '_, R> {
    #[inline]
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        let start = self.offset;
        self.skip(bytes.len())?;
        bytes.copy_from_slice(&self.source.decoder.buffer.bytes()[start..self.offset]);
        Ok(())
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    #[inline(always)]
    fn varint(&mut self) -> Result<u64, Fault> {
        self.need(1)?;
        let byte = self.source.decoder.buffer.bytes()[self.offset];
        if byte < 0x80 {
            self.offset += 1;
            return Ok(byte.into());
        }
        // A copy of the cursor, so that the address of the cursor does not escape.
        let Self { offset, filled, pending, .. } = *self;
        let mut input = StreamInput { source: &mut *self.source, offset, filled, pending };
        let value = long_varint(&mut input);
        (self.offset, self.filled) = (input.offset, input.filled);
        value
    }

    #[inline(always)]
    fn skip(&mut self, count: usize) -> Result<(), Fault> {
        self.need(count)?;
        self.offset += count;
        Ok(())
    }

    #[inline]
    fn expect(&mut self, count: usize) -> Result<(), Fault> {
        // The size of the stream is unknown, so only the limit can be checked.
        let (end, most) = (self.offset.saturating_add(count), self.options().limits.allocation);
        if end <= most { Ok(()) } else { Err(self.state_mut().exceed(Limit::Allocation, end, most)) }
    }

    fn at_end(&mut self) -> Result<bool, Fault> {
        if self.filled > self.offset {
            return Ok(false);
        }
        // The next value may have no bytes, so the first byte may be one of those after it.
        match self.read(1, self.pending.saturating_sub(1)) {
            Ok(()) => Ok(false),
            Err(_) if self.source.ended => Ok(true),
            Err(fault) => Err(fault),
        }
    }

    #[inline]
    fn announce(&mut self, size: usize) {
        self.pending = self.pending.wrapping_add(size);
    }

    #[inline]
    fn start(&mut self, size: usize) {
        self.pending = self.pending.wrapping_sub(size);
    }

    #[inline]
    fn state(&self) -> &State {
        &self.source.state
    }

    #[inline]
    fn state_mut(&mut self) -> &mut State {
        &mut self.source.state
    }
}

/// A stream of values of serde types in the format `F`.
#[cfg(feature = "serde")]
struct Formatted<F, I>(I, PhantomData<F>);

#[cfg(feature = "serde")]
impl<'s, 'a, 'de, F: crate::wire::Format, R: Read> crate::serde::de::Origin<'de>
    for Formatted<F, &mut StreamInput<'s, 'a, R>>
{
    type Format = F;
    type Input = StreamInput<'s, 'a, R>;

    #[inline]
    fn input(&mut self) -> &mut StreamInput<'s, 'a, R> {
        self.0
    }

    #[inline]
    fn position(&self) -> usize {
        self.0.offset
    }

    fn since(&self, position: usize) -> &[u8] {
        &self.0.source.decoder.buffer.bytes()[position..self.0.offset]
    }

    #[inline]
    fn bytes(&mut self, len: usize) -> Result<crate::serde::de::Octets<'_, 'de>, Fault> {
        let start = self.0.offset;
        self.0.skip(len)?;
        Ok(crate::serde::de::Octets::Buffered(&self.0.source.decoder.buffer.bytes()[start..self.0.offset]))
    }
}

#[cold]
#[inline(never)]
fn long_varint<R: Read>(input: &mut StreamInput<'_, '_, R>) -> Result<u64, Fault> {
    varint(input)
}
