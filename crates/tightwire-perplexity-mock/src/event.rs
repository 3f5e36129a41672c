//! Events of a scripted stream.

use bytes::Bytes;
use serde::Serialize;

/// One block of an event stream.
///
/// Unusual blocks are possible: without data, with only an ID, or with data that is not JSON.
#[derive(Debug, Clone, Default)]
pub struct Event {
    text: String,
    is_raw: bool,
}

impl Event {
    /// Creates an event with this data.
    pub fn data(data: &str) -> Self {
        Self::default().with("data", data)
    }

    /// Creates an event with JSON data on one line.
    ///
    /// # Panics
    ///
    /// Panics if the data cannot be encoded, for example if it contains NaN.
    pub fn json<T: Serialize + ?Sized>(data: &T) -> Self {
        Self::data(&tightwire_json::to_string(data).expect("data that can be encoded"))
    }

    /// Creates the `[DONE]` event that ends a stream of the API.
    pub fn done() -> Self {
        Self::data("[DONE]")
    }

    /// Creates an event with a type and no data.
    pub fn named(name: &str) -> Self {
        Self::default().with("event", name)
    }

    /// Creates a comment.
    pub fn comment(text: &str) -> Self {
        Self::default().with("", text)
    }

    /// Creates raw text, which need not be a complete block.
    pub fn raw(text: &str) -> Self {
        Self { text: text.to_owned(), is_raw: true }
    }

    /// Adds a field, one line per line of the value. An empty name makes a comment.
    #[must_use]
    pub fn with(mut self, field: &str, value: &str) -> Self {
        for line in value.split('\n') {
            self.text += field;
            self.text += ": ";
            self.text += line;
            self.text.push('\n');
        }
        self
    }

    pub(crate) fn into_bytes(mut self) -> Bytes {
        if !self.is_raw {
            self.text.push('\n');
        }
        self.text.into()
    }
}
