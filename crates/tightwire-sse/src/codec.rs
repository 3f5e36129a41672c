//! Codec for the framed readers and writers of tokio-util.

use alloc::vec::Vec;
use core::fmt;

use bytes::{Buf as _, BytesMut};
use tokio_util::codec;

use crate::{Decoder, Ending, Error, Event, Result, SseEvent};

/// Maximum capacity of the encoder's buffer between events, in bytes.
const RETAINED_CAPACITY: usize = 64 << 10;

/// Codec that decodes events for [`FramedRead`](codec::FramedRead) and encodes events for
/// [`FramedWrite`](codec::FramedWrite).
///
/// # Decoding
///
/// The read buffer is consumed completely on every call, so that it does not grow and nothing is scanned twice. An
/// incomplete block is buffered in the decoder, up to [`Config::max_event_size`](crate::Config::max_event_size).
/// `FramedRead` is cancel safe.
///
/// A failed read is [`Error::is_transport`]; a block that exceeds the limit is reported once as [`Error::is_limit`].
/// Events before the error are returned first. After an error, `FramedRead` yields `None` once and continues with the
/// following events when it is polled again.
///
/// An incomplete block at the end of the input is an event, unless [`with_ending`](Self::with_ending) is set.
///
/// # Encoding
///
/// Accepts [`SseEvent`] and [`Event`], by value and by reference. For a value that cannot be encoded, returns
/// [`Error::is_unencodable`] and writes nothing. `FramedWrite` buffers until it is flushed: use `send`, which flushes,
/// for events that must not be delayed.
///
/// # Examples
///
/// ```
/// use futures_util::{SinkExt as _, StreamExt as _};
/// use tightwire_sse::{SseCodec, SseEvent};
/// use tokio_util::codec::{FramedRead, FramedWrite};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let (client, server) = tokio::io::duplex(64);
/// let mut sink = FramedWrite::new(server, SseCodec::new());
/// let mut events = FramedRead::new(client, SseCodec::new());
/// sink.send(SseEvent::new().event("greeting").data("hello")).await?;
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
    /// Returns a codec with the default limits and [`Ending::Lenient`].
    pub fn new() -> Self {
        Self::default()
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

    /// Returns the decoder, which has the last event id and the reconnection time.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }
}

impl fmt::Debug for SseCodec {
    /// Omits the last encoded event.
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
            // Nothing is pending in the second call.
            Ending::Lenient => Ok(self.decoder.finish_lenient()?.map(Event::from)),
        }
    }
}

impl codec::Encoder<&SseEvent<'_>> for SseCodec {
    type Error = Error;

    fn encode(&mut self, event: &SseEvent<'_>, dst: &mut BytesMut) -> Result<()> {
        self.scratch.clear();
        event.encode(&mut self.scratch)?;
        dst.extend_from_slice(&self.scratch);
        if self.scratch.capacity() > RETAINED_CAPACITY {
            self.scratch = Vec::new();
        }
        Ok(())
    }
}

impl codec::Encoder<SseEvent<'_>> for SseCodec {
    type Error = Error;

    fn encode(&mut self, event: SseEvent<'_>, dst: &mut BytesMut) -> Result<()> {
        self.encode(&event, dst)
    }
}

impl codec::Encoder<&Event> for SseCodec {
    type Error = Error;

    fn encode(&mut self, event: &Event, dst: &mut BytesMut) -> Result<()> {
        self.encode(&SseEvent::from(event), dst)
    }
}

impl codec::Encoder<Event> for SseCodec {
    type Error = Error;

    fn encode(&mut self, event: Event, dst: &mut BytesMut) -> Result<()> {
        self.encode(&event, dst)
    }
}
