//! The codec of tokio-util's framed readers and writers.

use alloc::vec::Vec;
use core::fmt;

use bytes::{Buf as _, BytesMut};
use tokio_util::codec;

use crate::{Block, Decoder, Ending, Error, Event, Result};

/// The encoder's buffer is given back after a block larger than this, in bytes.
const RETAINED_CAPACITY: usize = 64 << 10;

/// Decodes events for [`FramedRead`](codec::FramedRead) and encodes blocks for
/// [`FramedWrite`](codec::FramedWrite).
///
/// # Decoding
///
/// Every byte is taken out of the read buffer as soon as the decoder has seen it, so that the buffer does not
/// grow and nothing is scanned twice; an unfinished block lies in the decoder, within
/// [`Config::max_event_size`](crate::Config::max_event_size). `FramedRead` is cancel safe: all state lies in
/// it, and a future of `next()` may be dropped at any time.
///
/// A failed read is reported as [`Error::is_transport`], a block past the limit once, as
/// [`Error::is_limit`]. Events ahead of the error are delivered first. `FramedRead` yields `None` once
/// after any error; polled again, it goes on with the events that follow.
///
/// The end of the input drops an unfinished block, unless [`with_ending`](Self::with_ending) says otherwise.
///
/// # Encoding
///
/// Accepts [`Block`] and [`Event`], by value and by reference. A value that cannot be encoded is refused as
/// [`Error::is_unencodable`] and nothing of it is written. `FramedWrite` buffers until it is flushed: use
/// `send`, which flushes, for events that must not wait.
///
/// # Examples
///
/// ```
/// use futures_util::{SinkExt as _, StreamExt as _};
/// use tightwire_sse::{Block, SseCodec};
/// use tokio_util::codec::{FramedRead, FramedWrite};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let (client, server) = tokio::io::duplex(64);
/// let mut sink = FramedWrite::new(server, SseCodec::new());
/// let mut events = FramedRead::new(client, SseCodec::new());
/// sink.send(Block::new().event("greeting").data("hello")).await?;
/// let event = events.next().await.expect("one event")?;
/// assert_eq!((event.event_type(), event.data()), ("greeting", "hello"));
/// # Ok::<(), tightwire_sse::Error>(()) }).unwrap();
/// ```
#[derive(Default)]
pub struct SseCodec {
    decoder: Decoder,
    ending: Ending,
    scratch: Vec<u8>,
}

impl SseCodec {
    /// A codec with the default limits and a strict ending.
    pub fn new() -> Self {
        Self::default()
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

    /// The decoder, which knows the last event id and the reconnection time.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }
}

impl fmt::Debug for SseCodec {
    /// Leaves out the block that was encoded last.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseCodec")
            .field("decoder", &self.decoder)
            .field("ending", &self.ending)
            .finish_non_exhaustive()
    }
}

impl codec::Decoder for SseCodec {
    type Item = Event;
    type Error = Error;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Event>> {
        let mut rest: &[u8] = src;
        let event = self.decoder.next_owned(&mut rest);
        let used = src.len() - rest.len();
        src.advance(used);
        event
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Event>> {
        if let Some(event) = self.decode(src)? {
            return Ok(Some(event));
        }
        match self.ending {
            Ending::Strict => {
                self.decoder.finish();
                Ok(None)
            }
            // The second call finds nothing pending.
            Ending::Lenient => Ok(self.decoder.finish_lenient()?.map(Event::from)),
        }
    }
}

impl codec::Encoder<&Block<'_>> for SseCodec {
    type Error = Error;

    fn encode(&mut self, block: &Block<'_>, dst: &mut BytesMut) -> Result<()> {
        self.scratch.clear();
        block.encode(&mut self.scratch)?;
        dst.extend_from_slice(&self.scratch);
        if self.scratch.capacity() > RETAINED_CAPACITY {
            self.scratch = Vec::new();
        }
        Ok(())
    }
}

impl codec::Encoder<Block<'_>> for SseCodec {
    type Error = Error;

    fn encode(&mut self, block: Block<'_>, dst: &mut BytesMut) -> Result<()> {
        self.encode(&block, dst)
    }
}

impl codec::Encoder<&Event> for SseCodec {
    type Error = Error;

    fn encode(&mut self, event: &Event, dst: &mut BytesMut) -> Result<()> {
        self.encode(&Block::from(event), dst)
    }
}

impl codec::Encoder<Event> for SseCodec {
    type Error = Error;

    fn encode(&mut self, event: Event, dst: &mut BytesMut) -> Result<()> {
        self.encode(&event, dst)
    }
}
