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
use crate::{Decoder, Item};

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
}

impl Connection {
    pub(super) fn new(body: reqwest::Body, decoder: Decoder, comments: bool) -> Self {
        Self { body, chunk: Bytes::new(), decoder, opened: Instant::now(), comments }
    }

    pub(super) fn set_decoder(&mut self, decoder: Decoder) {
        self.decoder = decoder;
    }

    pub(super) fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }

    /// Returns the reconnection time received on this connection.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.decoder.reconnection_time()
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
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
                return timeouts.poll_error(cx).map(Step::Lost);
            };
            timeouts.read.reset();
            match frame {
                // Trailers contain no events.
                Some(Ok(frame)) => self.chunk = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Step::Lost(transport_error(error))),
                None => return Poll::Ready(Step::Lost(Error::new(Kind::Ended))),
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
