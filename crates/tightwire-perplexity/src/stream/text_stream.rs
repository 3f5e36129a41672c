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
    /// Texts returned so far, to be removed from repeated whole texts. `None` if items were read before, because their
    /// text is unknown.
    returned: Option<Vec<Part>>,
}

/// Text of a part of the response.
struct Part {
    /// Its identifier, 0 without one, and its position.
    names: [u64; 2],
    text: String,
    /// The current item has the whole text.
    is_visited: bool,
}

impl<T: StreamItem> TextStream<T> {
    pub(super) fn new(items: EventStream<T>) -> Self {
        let returned = (!items.state.has_items).then(Vec::new);
        Self { items, returned }
    }

    /// Returns the new text of an item.
    fn new_text(&mut self, item: T) -> Option<String> {
        let (names, is_last, mut new) = (item.text_part(), item.is_last(), Vec::new());
        if let Some(parts) = &mut self.returned {
            parts.iter_mut().for_each(|part| part.is_visited = false);
            item.whole_texts(&mut |names, _| {
                let named = parts.iter_mut().filter(|part| part.has_id(names));
                named.for_each(|part| part.is_visited = true);
            });
            item.whole_texts(&mut |names, whole| {
                let index = whole_part(parts, names, whole, is_last);
                if let Some(rest) = whole.strip_prefix(&*parts[index].text).filter(|rest| !rest.is_empty()) {
                    new.push((index, rest.to_owned()));
                }
            });
        }
        let piece = item.into_text().filter(|text| !text.is_empty());
        if let Some(parts) = &mut self.returned {
            match &piece {
                Some(piece) => {
                    let is_same = |part: &Part| match names {
                        [0, position] => part.names[1] == position,
                        _ => part.has_id(names),
                    };
                    let index = parts.iter().position(is_same).unwrap_or_else(|| added(parts, names));
                    parts[index].text.push_str(piece);
                }
                None => new.iter().for_each(|(index, text)| parts[*index].text.push_str(text)),
            }
        }
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
    ///
    /// Same as [`EventStream::next`].
    pub async fn next(&mut self) -> Option<Result<String>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Reads the remaining text into one string.
    ///
    /// # Errors
    ///
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

impl Part {
    fn has_id(&self, [id, _]: [u64; 2]) -> bool {
        id != 0 && self.names[0] == id
    }
}

/// Returns the index of the part that the complete text `whole` belongs to, and adds a part if there is none.
/// Identifiers alone do not decide: gateways omit or change them, and positions in the last item may differ.
fn whole_part(parts: &mut Vec<Part>, names: [u64; 2], whole: &str, is_last: bool) -> usize {
    let may_be_same = |part: &Part| !part.is_visited && whole.starts_with(&part.text);
    let at_position = |part: &Part| part.names[1] == names[1] && may_be_same(part);
    let anywhere = |part: &Part| is_last && !part.text.is_empty() && may_be_same(part);
    let index = parts.iter().position(|part| part.has_id(names));
    let index = index.or_else(|| parts.iter().position(at_position));
    let index = index.or_else(|| parts.iter().rposition(anywhere)).unwrap_or_else(|| added(parts, names));
    parts[index].is_visited = true;
    index
}

/// Adds a part and returns its index.
fn added(parts: &mut Vec<Part>, names: [u64; 2]) -> usize {
    parts.push(Part { names, text: String::new(), is_visited: false });
    parts.len() - 1
}

impl<T> fmt::Debug for TextStream<T> {
    /// Omits the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextStream").field("items", &self.items).finish_non_exhaustive()
    }
}
