//! One open response, decoded.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::Body;
use tokio::time::Instant;

use super::Message;
use super::silence::Silence;
use super::transport::transport_error;
use crate::error::{Error, Kind};
use crate::{Decoder, Item};

/// How many chunks one poll may read without finding anything to report. A server that sends comments faster
/// than they are skipped would otherwise keep the executor's thread for itself.
const CHUNKS_PER_POLL: usize = 64;

/// What an open connection leads to next.
#[derive(Debug)]
pub(super) enum Step {
    Message(Message),
    /// A block was too large; the connection goes on behind it.
    Skipped(Error),
    /// The connection is over.
    Lost(Error),
    /// A block was too large, and the configuration asks to stop for that.
    Terminated(Error),
}

#[derive(Debug)]
pub(super) struct Connection {
    body: reqwest::Body,
    /// What the decoder has not seen of the latest chunk.
    chunk: Bytes,
    decoder: Decoder,
    opened: Instant,
    comments: bool,
}

impl Connection {
    pub(super) fn new(body: reqwest::Body, decoder: Decoder, comments: bool) -> Self {
        Self { body, chunk: Bytes::new(), decoder, opened: Instant::now(), comments }
    }

    pub(super) fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }

    /// The reconnection time that this connection sent.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.decoder.reconnection_time()
    }

    pub(super) fn age(&self) -> Duration {
        self.opened.elapsed()
    }

    pub(super) fn poll_step(&mut self, silence: &mut Silence, cx: &mut Context<'_>) -> Poll<Step> {
        for _ in 0..CHUNKS_PER_POLL {
            if let Some(step) = self.decode() {
                return Poll::Ready(step);
            }
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
                ready!(silence.poll_limit(cx));
                return Poll::Ready(Step::Lost(Error::new(Kind::Timeout)));
            };
            silence.end();
            match frame {
                // Trailers carry no events.
                Some(Ok(frame)) => self.chunk = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Step::Lost(transport_error(error))),
                None => return Poll::Ready(Step::Lost(Error::new(Kind::Ended))),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Returns the next step from the chunk at hand, `None` if it is used up.
    fn decode(&mut self) -> Option<Step> {
        while !self.chunk.is_empty() {
            let mut rest: &[u8] = &self.chunk;
            let length = rest.len();
            let message = if self.comments {
                self.decoder.next_item(&mut rest).map(|item| item.map(reported))
            } else {
                // Skips comments without storing them.
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

fn reported(item: Item<'_>) -> Option<Message> {
    match item {
        Item::Event(event) => Some(Message::Event(event.to_owned())),
        Item::Comment(text) => Some(Message::Comment(text.into())),
        // Counts when the connection ends; the caller reads it from the event.
        Item::Retry(_) => None,
    }
}
