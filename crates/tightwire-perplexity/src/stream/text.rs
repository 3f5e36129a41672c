//! The text of an answer.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_core::stream::FusedStream;

use super::{EventStream, StreamItem};
use crate::error::Result;

/// The text of an answer, in the pieces in which it arrives; see [`EventStream::text`].
///
/// Every piece of the text comes once, be it that the server sends what is added, all of the text so far, or both.
/// Items without text are left out. All else is as for the stream below.
#[must_use = "streams do nothing unless polled"]
pub struct TextStream<T> {
    items: EventStream<T>,
    /// What was given so far, to be found again at the start of texts that are sent whole. `None` if items were taken
    /// before, whose text is not known.
    given: Option<String>,
}

impl<T: StreamItem> TextStream<T> {
    pub(super) fn new(items: EventStream<T>) -> Self {
        let given = (!items.has_items).then(String::new);
        Self { items, given }
    }

    /// What an item says that was not said before.
    fn piece(&mut self, item: T) -> Option<String> {
        let rest = self.given.as_deref().and_then(|given| {
            let whole = item.whole_text()?;
            let rest = whole.strip_prefix(given)?;
            (!rest.is_empty()).then(|| rest.to_owned())
        });
        let piece = item.into_text().filter(|text| !text.is_empty()).or(rest)?;
        if let Some(given) = &mut self.given {
            given.push_str(&piece);
        }
        Some(piece)
    }

    /// The stream of items below.
    pub fn get_ref(&self) -> &EventStream<T> {
        &self.items
    }

    /// Returns to the stream of items. Those whose text was taken are gone.
    pub fn into_inner(self) -> EventStream<T> {
        self.items
    }

    /// The next piece, `None` at the end.
    ///
    /// # Errors
    /// As [`EventStream::next`].
    pub async fn next(&mut self) -> Option<Result<String>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// All that is still to come, in one piece.
    ///
    /// # Errors
    /// As [`EventStream::next`]; the text up to the error is lost.
    pub async fn concat(mut self) -> Result<String> {
        let mut text = String::new();
        while let Some(piece) = self.next().await {
            text.push_str(&piece?);
        }
        Ok(text)
    }
}

impl<T: StreamItem> Stream for TextStream<T> {
    type Item = Result<String>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let piece = match ready!(self.items.poll_item(cx)) {
                Some(Ok(item)) => self.piece(item).map(Ok),
                Some(Err(error)) => Some(Err(error)),
                None => return Poll::Ready(None),
            };
            if piece.is_some() {
                return Poll::Ready(piece);
            }
        }
    }
}

impl<T: StreamItem> FusedStream for TextStream<T> {
    fn is_terminated(&self) -> bool {
        self.items.is_terminated()
    }
}

impl<T> fmt::Debug for TextStream<T> {
    /// Tells nothing of the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextStream").field("items", &self.items).finish_non_exhaustive()
    }
}
