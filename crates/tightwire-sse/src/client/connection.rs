//! Open response and its decoder.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::Body;
use tokio::time::Instant;

use super::Message;
use super::idle_timer::Timeouts;
use super::transport::transport_error;
use crate::error::{Error, Kind};
use crate::{Decoder, Ending, Item};

/// Maximum number of chunks per poll without a message, so that a fast stream of comments does not block the executor.
const CHUNKS_PER_POLL: usize = 64;

/// Next step of an open connection.
#[derive(Debug)]
pub(super) enum Step {
    Message(Message),
    /// An oversized block was skipped.
    Skipped(Error),
    /// The connection has ended or failed.
    Lost(Error),
    /// A block was oversized, with `Overflow::Terminate`.
    Terminated(Error),
}

#[derive(Debug)]
pub(super) struct Connection {
    body: reqwest::Body,
    /// Unconsumed part of the last chunk.
    chunk: Bytes,
    decoder: Decoder,
    opened: Instant,
    comments: bool,
    ending: Ending,
    /// The body has ended.
    ended: bool,
    /// First bytes of the body, for the error if it turns out to be no event stream.
    pub(super) sample: Option<Vec<u8>>,
}

/// Maximum size of [`Connection::sample`].
pub(super) const MAX_SAMPLE: usize = 64 << 10;

impl Connection {
    pub(super) fn new(body: reqwest::Body, decoder: Decoder, comments: bool, ending: Ending) -> Self {
        let (chunk, opened) = (Bytes::new(), Instant::now());
        Self { body, chunk, decoder, opened, comments, ending, ended: false, sample: None }
    }

    pub(super) fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }

    pub(super) fn into_decoder(self) -> Decoder {
        self.decoder
    }

    pub(super) fn age(&self) -> Duration {
        self.opened.elapsed()
    }

    pub(super) fn poll_step(&mut self, timeouts: &mut Timeouts, cx: &mut Context<'_>) -> Poll<Step> {
        for _ in 0..CHUNKS_PER_POLL {
            if let Some(step) = self.decode() {
                if !matches!(step, Step::Message(Message::Comment(_))) {
                    timeouts.event.reset();
                }
                return Poll::Ready(step);
            }
            if self.ended {
                return Poll::Ready(Step::Lost(Error::new(Kind::Ended)));
            }
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
                return timeouts.poll_error(cx).map(Step::Lost);
            };
            timeouts.read.reset();
            match frame {
                // Trailers contain no events.
                Some(Ok(frame)) => {
                    self.chunk = frame.into_data().unwrap_or_default();
                    if let Some(sample) = &mut self.sample {
                        let free = MAX_SAMPLE - sample.len();
                        sample.extend_from_slice(&self.chunk[..self.chunk.len().min(free)]);
                    }
                }
                Some(Err(error)) => return Poll::Ready(Step::Lost(transport_error(error))),
                None => {
                    self.ended = true;
                    if self.ending == Ending::Lenient {
                        match self.decoder.finish_lenient() {
                            Ok(Some(event)) => {
                                return Poll::Ready(Step::Message(Message::Event(event.to_owned())));
                            }
                            Ok(None) => {}
                            Err(error) => return Poll::Ready(Step::Skipped(error)),
                        }
                    }
                }
            }
        }
        cx.waker().wake_by_ref();
        // A fast stream without events never has to wait for data.
        timeouts.poll_error(cx).map(Step::Lost)
    }

    /// Decodes the next step from the chunk. Returns `None` when the chunk is consumed.
    fn decode(&mut self) -> Option<Step> {
        while !self.chunk.is_empty() {
            let mut rest: &[u8] = &self.chunk;
            let length = rest.len();
            let message = if self.comments {
                self.decoder.next_item(&mut rest).map(|item| item.map(to_message))
            } else {
                // Skips comments without buffering them.
                self.decoder.next_owned(&mut rest).map(|event| event.map(|event| Some(Message::Event(event))))
            };
            let used = length - rest.len();
            self.chunk.advance(used);
            match message {
                Ok(Some(Some(message))) => return Some(Step::Message(message)),
                Ok(Some(None)) => {}
                Ok(None) => self.chunk = Bytes::new(),
                Err(error) if self.decoder.is_terminated() => return Some(Step::Terminated(error)),
                Err(error) => return Some(Step::Skipped(error)),
            }
        }
        None
    }
}

fn to_message(item: Item<'_>) -> Option<Message> {
    match item {
        Item::Event(event) => Some(Message::Event(event.to_owned())),
        Item::Comment(text) => Some(Message::Comment(text.into())),
        // Used when the connection ends, and part of the next event.
        Item::Retry(_) => None,
    }
}
