//! Messages on asynchronous streams.

use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;
use std::io;

use bytes::BytesMut;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::codec::{Decoder, Encoder, LengthDelimitedCodec};

use crate::options::Options;

/// Codec for `tokio_util::codec::Framed` that receives `In` and sends `Out`, both of which implement serde's traits.
///
/// Each message has a length prefix, by default of four bytes in big endian; a frame has at most 8 MiB. A message that
/// cannot be decoded is skipped. If a type derives the traits of serde and of this crate, the bytes are those of a
/// [`FrameCodec`](crate::FrameCodec), which also explains the errors.
///
/// ```
/// use bytes::BytesMut;
/// use tightwire_parco::serde::SerdeCodec;
/// use tokio_util::codec::{Decoder, Encoder};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// enum Message {
///     Ping,
///     Text(String),
/// }
///
/// let mut codec = SerdeCodec::<Message>::new();
/// let mut buffer = BytesMut::new();
/// codec.encode(&Message::Text("hey".into()), &mut buffer)?;
/// assert_eq!(buffer[..], [0, 0, 0, 5, 1, 3, b'h', b'e', b'y']);
/// assert!(matches!(codec.decode(&mut buffer)?, Some(Message::Text(text)) if text == "hey"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct SerdeCodec<In, Out = In> {
    frames: LengthDelimitedCodec,
    options: Options,
    buffer: Vec<u8>,
    messages: PhantomData<fn(Out) -> In>,
}

impl<In, Out> SerdeCodec<In, Out> {
    /// Creates a codec with the default frames of `LengthDelimitedCodec` and the default options.
    pub fn new() -> Self {
        Self::with_options(LengthDelimitedCodec::new(), Options::new())
    }

    /// Creates a codec with these frames and options.
    pub fn with_options(frames: LengthDelimitedCodec, options: Options) -> Self {
        Self { frames, options, buffer: Vec::new(), messages: PhantomData }
    }
}

impl<In, Out> Default for SerdeCodec<In, Out> {
    fn default() -> Self {
        Self::new()
    }
}

impl<In: DeserializeOwned, Out> Decoder for SerdeCodec<In, Out> {
    type Item = In;
    type Error = io::Error;

    fn decode(&mut self, source: &mut BytesMut) -> io::Result<Option<In>> {
        match self.frames.decode(source)? {
            Some(frame) => Ok(Some(super::decode_exact_with(self.options, &frame)?)),
            None => Ok(None),
        }
    }
}

/// Encodes messages and references to messages.
impl<In, Out: Serialize, M: Borrow<Out>> Encoder<M> for SerdeCodec<In, Out> {
    type Error = io::Error;

    fn encode(&mut self, message: M, target: &mut BytesMut) -> io::Result<()> {
        self.buffer.clear();
        super::encode_with(self.options, message.borrow(), &mut self.buffer)?;
        self.frames.encode(self.buffer.as_slice(), target)
    }
}

impl<In, Out> fmt::Debug for SerdeCodec<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SerdeCodec").field("frames", &self.frames).finish_non_exhaustive()
    }
}
