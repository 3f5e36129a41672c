//! Messages on `std::io` streams.

use alloc::vec::Vec;
use core::{fmt, mem};
use std::io::{self, Read, Write};

use crate::default_wire::{Decode, DecodeAs, DecodeOwned, Encode};
use crate::error::{Error, ErrorKind, Fault};
use crate::message::WireExt;
use crate::options::Options;
use crate::read::{Input, State};
use crate::schema::Fingerprint;
use crate::wire::{Get, Put, StaticWire, Wire};

/// Maximum bytes read at once for an untrusted length, so that memory grows with the bytes that arrive.
const CHUNK: usize = 8192;

/// Encodes a value to a stream with one `write_all`, or none if the message is empty.
///
/// To write many messages, use [`Encoder`], which reuses its buffer.
///
/// # Errors
///
/// Fails before anything is written if a value does not fit its wire type, and if writing fails.
pub fn encode_to_writer<T: Encode + ?Sized>(value: &T, writer: impl Write) -> Result<(), Error> {
    Encoder::new(writer).encode(value)
}

/// Decodes one message from a stream, reading no bytes beyond its end.
///
/// Each number is read separately, so wrap unbuffered streams in a `BufReader`. To read many messages, or values that
/// borrow, use [`Decoder`].
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
    if !decoder.fill(&wire)? {
        return Err(Error::at(ErrorKind::UnexpectedEnd, 0));
    }
    wire.decode_exact(&decoder.buffer)
}

/// Writes messages to a stream, each with one `write_all`, and reuses its buffer.
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
}

impl<W: Write> Encoder<W> {
    /// Creates an encoder that writes to this stream.
    pub const fn new(writer: W) -> Self {
        Self::with_options(writer, Options::new())
    }

    /// Creates an encoder with the maximum depth of these options.
    pub const fn with_options(writer: W, options: Options) -> Self {
        Self { writer, buffer: Vec::new(), options, fingerprint: None }
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

    /// Writes a message.
    ///
    /// # Errors
    ///
    /// Fails before anything is written if a value does not fit its wire type, and if writing fails.
    pub fn encode<T: Encode + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.encode_as(&T::Wire::NEW, value)
    }

    /// Writes a value with an explicit wire type.
    ///
    /// # Errors
    ///
    /// Same as [`encode`](Self::encode).
    pub fn encode_as<F: Put<T>, T: ?Sized>(&mut self, wire: &F, value: &T) -> Result<(), Error> {
        self.buffer.clear();
        self.buffer.extend(self.fingerprint.iter().flat_map(|fingerprint| fingerprint.header()));
        wire.encode_with(self.options, value, &mut self.buffer)?;
        self.fingerprint = None;
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.writer.write_all(&self.buffer).map_err(Error::io)
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
/// Each number is read separately, so wrap unbuffered streams in a `BufReader`.
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
    buffer: Vec<u8>,
    options: Options,
    /// First byte of the next message, if it was read to check for the end of the stream.
    lookahead: Option<u8>,
    /// The last message had zero bytes, so the stream may have ended.
    was_empty: bool,
    /// The fingerprint that precedes the first message, until it is read.
    fingerprint: Option<Fingerprint>,
}

impl<R: Read> Decoder<R> {
    /// Creates a decoder that reads from this stream.
    pub const fn new(reader: R) -> Self {
        Self::with_options(reader, Options::new())
    }

    /// Creates a decoder with these options.
    pub const fn with_options(reader: R, options: Options) -> Self {
        Self { reader, buffer: Vec::new(), options, lookahead: None, was_empty: false, fingerprint: None }
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
    /// Fails if the bytes are not a valid message, if the stream ends inside a message, and if reading fails. The
    /// position in the stream is unspecified after an error.
    pub fn decode<'de, T: Decode<'de>>(&'de mut self) -> Result<Option<T>, Error> {
        self.decode_as(&<T as DecodeAs<'de>>::Wire::NEW)
    }

    /// Reads a value with an explicit wire type. Returns `None` at the end of the stream.
    ///
    /// # Errors
    ///
    /// Same as [`decode`](Self::decode).
    pub fn decode_as<'de, F: Get<'de, T>, T>(&'de mut self, wire: &F) -> Result<Option<T>, Error> {
        if self.was_empty && !self.peek()? || !self.read_fingerprint()? {
            return Ok(None);
        }
        let found = self.fill(wire)?;
        self.was_empty = self.buffer.is_empty();
        if !found {
            return Ok(None);
        }
        wire.decode_exact_with(self.options, &self.buffer).map(Some)
    }

    /// Reads and checks the fingerprint, if there is one. Returns false at the end of the stream.
    fn read_fingerprint(&mut self) -> Result<bool, Error> {
        let Some(fingerprint) = self.fingerprint else { return Ok(true) };
        let mut input = self.input();
        let mut header = fingerprint.header();
        match input.fill(&mut header) {
            Ok(()) => fingerprint.strip(&header)?,
            Err(_) if input.ended && input.buffer.is_empty() => return Ok(false),
            Err(fault) => return Err(input.into_error(fault)),
        };
        self.fingerprint = None;
        Ok(true)
    }

    /// Reads one message into the buffer. Returns false at the end of the stream.
    fn fill<F: Wire>(&mut self, wire: &F) -> Result<bool, Error> {
        let mut input = self.input();
        let walked = wire.walk(&mut input);
        if input.ended && input.buffer.is_empty() {
            return Ok(false);
        }
        match walked {
            Ok(()) => {
                self.lookahead = if input.lookahead { input.buffer.pop() } else { None };
                Ok(true)
            }
            Err(fault) => Err(input.into_error(fault)),
        }
    }

    /// Reads the first byte of the next message. Returns false at the end of the stream.
    fn peek(&mut self) -> Result<bool, Error> {
        let mut input = self.input();
        match input.at_end() {
            Ok(false) => {
                self.lookahead = input.buffer.pop();
                Ok(true)
            }
            Ok(true) => Ok(false),
            Err(fault) => Err(input.into_error(fault)),
        }
    }

    /// Creates an input over the stream with an empty buffer, except for the byte that was read ahead.
    fn input(&mut self) -> StreamInput<'_, R> {
        self.buffer.clear();
        let lookahead = self.lookahead.take();
        self.buffer.extend(lookahead);
        StreamInput {
            reader: &mut self.reader,
            buffer: &mut self.buffer,
            state: State::new(self.options),
            error: None,
            lookahead: lookahead.is_some(),
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

/// A stream as [`Input`]. Everything it reads is appended to the buffer.
struct StreamInput<'a, R> {
    reader: &'a mut R,
    buffer: &'a mut Vec<u8>,
    state: State,
    error: Option<io::Error>,
    /// The last byte of the buffer was read ahead and is not consumed yet.
    lookahead: bool,
    /// True once the stream has ended.
    ended: bool,
}

impl<R: Read> StreamInput<'_, R> {
    /// Appends `count` bytes of the stream to the buffer, which grows by at most [`CHUNK`] before they arrive.
    fn pull(&mut self, count: usize) -> Result<(), Fault> {
        let lookahead = usize::from(count > 0 && mem::take(&mut self.lookahead));
        let mut left = count - lookahead;
        while left > 0 {
            let chunk = left.min(CHUNK);
            if let Err(fault) = self.pull_chunk(chunk) {
                let trace = &mut self.state.trace;
                trace.missing += left - chunk;
                trace.rewind += count - left;
                return Err(fault);
            }
            left -= chunk;
        }
        Ok(())
    }

    fn pull_chunk(&mut self, count: usize) -> Result<(), Fault> {
        let start = self.buffer.len();
        let end = start + count;
        if end > self.options().limits.allocation {
            return Err(Fault(ErrorKind::Limit));
        }
        self.buffer.resize(end, 0);
        let mut filled = start;
        while filled < end {
            match self.reader.read(&mut self.buffer[filled..]) {
                Ok(0) => {
                    self.ended = true;
                    self.buffer.truncate(filled);
                    self.state.trace.missing = end - filled;
                    self.state.trace.rewind = filled - start;
                    return Err(Fault(ErrorKind::UnexpectedEnd));
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.buffer.truncate(filled);
                    self.error = Some(error);
                    return Err(Fault(ErrorKind::Io));
                }
            }
        }
        Ok(())
    }

    fn into_error(self, fault: Fault) -> Error {
        match self.error {
            Some(error) => Error::io(error),
            None => self.state.trace.into_error(fault, self.buffer.len()),
        }
    }
}

impl<R: Read> Input for StreamInput<'_, R> {
    #[inline]
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        self.pull(bytes.len())?;
        bytes.copy_from_slice(&self.buffer[self.buffer.len() - bytes.len()..]);
        Ok(())
    }

    fn skip(&mut self, count: usize) -> Result<(), Fault> {
        self.pull(count)
    }

    fn expect(&mut self, count: usize) -> Result<(), Fault> {
        // The size of the stream is unknown, so only the limit can be checked.
        match self.buffer.len().checked_add(count) {
            Some(end) if end <= self.options().limits.allocation => Ok(()),
            _ => Err(Fault(ErrorKind::Limit)),
        }
    }

    fn at_end(&mut self) -> Result<bool, Fault> {
        if !self.lookahead {
            match self.pull(1) {
                Ok(()) => self.lookahead = true,
                Err(_) if self.ended => return Ok(true),
                Err(fault) => return Err(fault),
            }
        }
        Ok(false)
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }
}
