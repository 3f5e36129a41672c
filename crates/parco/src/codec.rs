//! Messages on asynchronous streams, for `tokio_util::codec::{FramedRead, FramedWrite, Framed}`.

use core::fmt;
use core::marker::PhantomData;
use std::io;

use bytes::BytesMut;
use tokio_util::codec::{Decoder, Encoder, LengthDelimitedCodec};

use crate::error::Error;
use crate::form::{DecodeForm, DecodeOwned, Encode};
use crate::message;
use crate::options::Options;
use crate::read::{Context, Reader};
use crate::wire::{StaticWire, Wire};

/// Messages one after the other, with nothing between them: the form that the Go library writes to a stream.
///
/// Nothing marks where a message starts, so after an error the rest of the stream is lost. Where the other side can
/// frame its messages, [`FrameCodec`] is the safer one.
///
/// Bytes are taken only when a message is complete. What is missing is remembered, so that a long message is not
/// walked over again for each packet. Where the fields for which the end of the input can stand (`default_on_eof`) are
/// not there, the message is complete at the end of the stream and not before.
///
/// Errors are those of the stream, or hold an [`Error`], which `get_ref` and `downcast` give.
///
/// ```
/// use bytes::BytesMut;
/// use parco::StreamCodec;
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
    /// The least size that the buffer must have before another look is worth it.
    wanted: usize,
    message: PhantomData<fn(T) -> T>,
}

impl<T> StreamCodec<T> {
    /// A codec with the default options.
    pub const fn new() -> Self {
        Self::with_options(Options::new())
    }

    /// A codec that decodes so. [`Limits::max_allocation`](crate::Limits::max_allocation) also bounds how much of an
    /// unfinished message is kept.
    pub const fn with_options(options: Options) -> Self {
        Self { options, wanted: 0, message: PhantomData }
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
        if source.len() < self.wanted || source.is_empty() {
            return Ok(None);
        }
        let mut context = Context::of_part(source, self.options);
        let mut reader = Reader::new(source, &mut context);
        if let Err(fault) = <T as DecodeForm<'_>>::Form::NEW.walk(&mut reader) {
            let error = reader.into_error(fault);
            let Some(missing) = error.missing() else { return Err(error.into()) };
            self.wanted = source.len().saturating_add(missing);
            if self.wanted > self.options.limits.allocation {
                return Err(Error::at(crate::error::Kind::Limit, source.len()).into());
            }
            // A length is a claim: room for what it claims is taken in steps, as the bytes arrive.
            source.reserve(missing.min(1 << 16));
            return Ok(None);
        }
        let len = reader.offset();
        self.wanted = 0;
        let value = self.options.decode_exact(&source[..len])?;
        bytes::Buf::advance(source, len);
        Ok(Some(value))
    }

    fn decode_eof(&mut self, source: &mut BytesMut) -> io::Result<Option<T>> {
        if source.is_empty() {
            return Ok(None);
        }
        self.wanted = 0;
        let (value, rest) = self.options.decode(source)?;
        let len = source.len() - rest.len();
        bytes::Buf::advance(source, len);
        Ok(Some(value))
    }
}

impl<T: Encode> Encoder<&T> for StreamCodec<T> {
    type Error = io::Error;

    fn encode(&mut self, message: &T, target: &mut BytesMut) -> io::Result<()> {
        Ok(message::encode_to_buf(message, target)?)
    }
}

impl<T: Encode> Encoder<T> for StreamCodec<T> {
    type Error = io::Error;

    fn encode(&mut self, message: T, target: &mut BytesMut) -> io::Result<()> {
        self.encode(&message, target)
    }
}

impl<T> fmt::Debug for StreamCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamCodec").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

/// Messages in frames with a length in front, so that one that cannot be decoded is skipped.
///
/// The frames are those of `LengthDelimitedCodec`, which says how wide the length is, in which byte order, and how
/// large a frame may be. A frame is exactly one message. Errors are those of the stream and of the frames, or hold an
/// [`Error`], which `get_ref` and `downcast` give.
///
/// `FramedRead` answers an error with that error and then one `None`, as if the stream had ended; the next frame comes
/// behind that.
///
/// ```
/// use bytes::BytesMut;
/// use parco::FrameCodec;
/// use tokio_util::codec::{Decoder, Encoder, LengthDelimitedCodec};
///
/// let frames = LengthDelimitedCodec::builder().length_field_type::<u16>().little_endian().new_codec();
/// let mut codec = FrameCodec::<String>::new(frames);
/// let mut buffer = BytesMut::new();
/// codec.encode(&"hey".to_owned(), &mut buffer)?;
/// assert_eq!(buffer[..], [5, 0, 3, 0, b'h', b'e', b'y']);
/// assert_eq!(codec.decode(&mut buffer)?.as_deref(), Some("hey"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct FrameCodec<T> {
    frames: LengthDelimitedCodec,
    options: Options,
    buffer: BytesMut,
    message: PhantomData<fn(T) -> T>,
}

impl<T> FrameCodec<T> {
    /// Messages in these frames, decoded with the default options.
    pub fn new(frames: LengthDelimitedCodec) -> Self {
        Self::with_options(frames, Options::new())
    }

    /// Messages in these frames, decoded so.
    pub fn with_options(frames: LengthDelimitedCodec, options: Options) -> Self {
        Self { frames, options, buffer: BytesMut::new(), message: PhantomData }
    }
}

impl<T: DecodeOwned> Decoder for FrameCodec<T> {
    type Item = T;
    type Error = io::Error;

    fn decode(&mut self, source: &mut BytesMut) -> io::Result<Option<T>> {
        match self.frames.decode(source)? {
            Some(frame) => Ok(Some(self.options.decode_exact(&frame)?)),
            None => Ok(None),
        }
    }
}

impl<T: Encode> Encoder<&T> for FrameCodec<T> {
    type Error = io::Error;

    fn encode(&mut self, message: &T, target: &mut BytesMut) -> io::Result<()> {
        self.buffer.clear();
        message::encode_to_buf(message, &mut self.buffer)?;
        self.frames.encode(self.buffer.split().freeze(), target)
    }
}

impl<T: Encode> Encoder<T> for FrameCodec<T> {
    type Error = io::Error;

    fn encode(&mut self, message: T, target: &mut BytesMut) -> io::Result<()> {
        self.encode(&message, target)
    }
}

impl<T> fmt::Debug for FrameCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameCodec").field("frames", &self.frames).finish_non_exhaustive()
    }
}
