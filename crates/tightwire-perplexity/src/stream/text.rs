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
/// Items without text are skipped. A response that failed ends with its error. Otherwise it behaves like the underlying
/// stream.
#[must_use = "streams do nothing unless polled"]
pub struct TextStream<T> {
    items: EventStream<T>,
    /// Texts returned so far, to be removed from repeated whole texts, by part. `None` if items were read before,
    /// because their text is unknown.
    returned: Option<Vec<(u64, String)>>,
}

impl<T: StreamItem> TextStream<T> {
    pub(super) fn new(items: EventStream<T>) -> Self {
        let returned = (!items.state.has_items).then(Vec::new);
        Self { items, returned }
    }

    /// Returns the new text of an item.
    fn new_text(&mut self, item: T) -> Option<String> {
        let part = item.text_part();
        let mut rest = Rest { returned: self.returned.take(), new: Vec::new(), all_parts: 0 };
        item.whole_texts(&mut |part, whole| rest.add(part, whole));
        let Rest { mut returned, new, .. } = rest;
        let piece = item.into_text().filter(|text| !text.is_empty());
        if let (Some(returned), Some(piece)) = (&mut returned, &piece) {
            let index = position(returned, part);
            returned[index].1.push_str(piece);
        } else if let Some(returned) = &mut returned {
            for (index, text) in &new {
                returned[*index].1.push_str(text);
            }
        }
        self.returned = returned;
        piece.or_else(|| {
            Some(new.into_iter().map(|(_, text)| text).collect()).filter(|text: &String| !text.is_empty())
        })
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
                None => return Poll::Ready(self.items.state.failure.take().map(Err)),
            };
            if piece.is_some() {
                return Poll::Ready(piece);
            }
        }
    }
}

/// Collects the texts of an item that were not returned before.
struct Rest {
    returned: Option<Vec<(u64, String)>>,
    /// Position in `returned`, and the text.
    new: Vec<(usize, String)>,
    all_parts: usize,
}

impl Rest {
    fn add(&mut self, part: Option<u64>, whole: &str) {
        let Some(returned) = &mut self.returned else { return };
        let index = match part {
            Some(part) => match returned.iter().position(|(known, _)| *known == part) {
                Some(index) => index,
                // Another identifier for the same text.
                None => returned
                    .iter()
                    .rposition(|(_, text)| !text.is_empty() && whole.starts_with(text))
                    .unwrap_or_else(|| position(returned, part)),
            },
            None => {
                self.all_parts += 1;
                if returned.len() < self.all_parts {
                    returned.push((0, String::new()));
                }
                self.all_parts - 1
            }
        };
        if let Some(rest) = whole.strip_prefix(&*returned[index].1).filter(|rest| !rest.is_empty()) {
            self.new.push((index, rest.to_owned()));
        }
    }
}

/// Returns the position of a part, which is added if it is new.
fn position(returned: &mut Vec<(u64, String)>, part: u64) -> usize {
    returned.iter().position(|(known, _)| *known == part).unwrap_or_else(|| {
        returned.push((part, String::new()));
        returned.len() - 1
    })
}

impl<T> fmt::Debug for TextStream<T> {
    /// Omits the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextStream").field("items", &self.items).finish_non_exhaustive()
    }
}
