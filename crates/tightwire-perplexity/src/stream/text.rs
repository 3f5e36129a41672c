//! Text of a streamed response.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::{EventStream, StreamItem};
use crate::error::Result;

/// Text of a streamed response, as it arrives; see [`EventStream::text`].
///
/// Each part of the text is returned once, whether the server sends deltas, the whole text so far, or both.
/// Items without text are skipped. Otherwise it behaves like the underlying stream.
#[must_use = "streams do nothing unless polled"]
pub struct TextStream<T> {
    items: EventStream<T>,
    /// Text returned so far, to be removed from repeated whole texts. `None` if items were read before,
    /// because their text is unknown.
    returned: Option<String>,
}

impl<T: StreamItem> TextStream<T> {
    pub(super) fn new(items: EventStream<T>) -> Self {
        let returned = (!items.state.has_items).then(String::new);
        Self { items, returned }
    }

    /// Returns the new text of an item.
    fn new_text(&mut self, item: T) -> Option<String> {
        let rest = self.returned.as_deref().and_then(|returned| {
            let whole = item.full_text()?;
            let rest = whole.strip_prefix(returned)?;
            (!rest.is_empty()).then(|| rest.to_owned())
        });
        let piece = item.into_text().filter(|text| !text.is_empty()).or(rest)?;
        if let Some(returned) = &mut self.returned {
            returned.push_str(&piece);
        }
        Some(piece)
    }

    /// Returns the underlying stream.
    pub fn get_ref(&self) -> &EventStream<T> {
        &self.items
    }

    /// Returns the underlying stream. Items already read are lost.
    pub fn into_inner(self) -> EventStream<T> {
        self.items
    }

    /// Returns the next piece of text, or `None` at the end.
    ///
    /// # Errors
    /// Same as [`EventStream::next`].
    pub async fn next(&mut self) -> Option<Result<String>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Reads the remaining text into one string.
    ///
    /// # Errors
    /// Same as [`EventStream::next`]. Text received before an error is lost.
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
                Some(Ok(item)) => self.new_text(item).map(Ok),
                Some(Err(error)) => Some(Err(error)),
                None => return Poll::Ready(None),
            };
            if piece.is_some() {
                return Poll::Ready(piece);
            }
        }
    }
}

impl<T> fmt::Debug for TextStream<T> {
    /// Omits the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextStream").field("items", &self.items).finish_non_exhaustive()
    }
}
